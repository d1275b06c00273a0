#!/usr/bin/env bash
# A seventeenth host joins sixteen on which the mesh 4elt has settled and applications work; later it drains and
# leaves. Measured: how long until it is active, until all has settled, and what moved.
#   JOIN_RUNS   how often (1)
#   JOIN_LINK   hosts the new one is linked to (5,6,9,10)
# Nothing is lost and nobody twice, and at most 2 fair shares move. With JOIN_RUNS, on a machine that does nothing else:
# active within 2 s, settled within 15 s, 1.5 fair shares moved. Seventeen hosts on one busy machine measure that machine.
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
runs=${JOIN_RUNS:-1}
measured=${JOIN_RUNS+yes}
link=${JOIN_LINK:-5,6,9,10}

handoffs() { ask 0 jobs job | awk '$1 == "job" { for (i = 1; i <= NF; i++) if ($i ~ /%$/ || $i == "%") { print $(i + 1); exit } }'; }
# mapped FILE: where each vertex is.
mapped() { expect_map "where each vertex is" 0 job "$1"; }
seconds_since() { awk -v a="$1" -v b="$(now_us)" 'BEGIN { printf "%.1f", (b - a) / 1e6 }'; }
# bounded TEXT VALUE BOUND
bounded() {
    if at_most "$2" "$3"; then
        ok "$1: $2, at most $3"
    elif [ -n "$measured" ]; then
        bad "$1: $2, more than $3"
    else
        echo "$1: $2 (on a machine of its own at most $3)"
    fi
}
# moves TEXT SECONDS HANDOFFS: since then; compares the mappings in before and after.
moves() {
    local moved
    paste -d' ' "$scratch/before.part" "$scratch/after.part" | awk -v text="$1" -v share=$((vertices / 17)) -v seconds="$2" \
        -v handoffs="$3" '
        $1 != $2 { n++; part[$1]; part[$2] }
        END {
            for (h = 0; h <= 16; h++) if (h in part) hosts = hosts " " h
            printf "%s: settled after %s s, %d vertices elsewhere (%.2f shares of %d), %d handoffs; hosts that took part:%s\n",
                text, seconds, n, n / share, share, handoffs, hosts
            print n / share
        }' >"$scratch/moves"
    head -n 1 "$scratch/moves"
    moved=$(tail -n 1 "$scratch/moves")
    at_most "$moved" 2 || bad "$1: $moved fair shares moved"
    bounded "$1: fair shares moved" "$moved" 1.5
    bounded "$1: settled, seconds" "$2" 15
}
# settled TEXT BEGIN HANDOFFS
settled() {
    local seconds
    sleep 0.5 # so that rounds have begun
    settles 0 job >"$scratch/output" 2>&1 || bad "$1: $(tail -n 3 "$scratch/output")"
    seconds=$(seconds_since "$2")
    mapped "$scratch/after.part"
    moves "$1" "$seconds" $(($(handoffs) - $3))
    one_owner job "$vertices"
    until_true 20 "$1: in sync" in_sync
    until_true 20 "$1: every vertex is worked on" all_worked_on
    mapped "$scratch/before.part"
}

field_start mesh:4x4
mapped "$scratch/before.part"
new=16
for ((i = 1; i <= runs; i++)); do
    count=$(handoffs)
    begin=$(now_us)
    if [ "$i" -eq 1 ]; then
        expect "join $i" "$lbctl" -q cluster add --link "$link" --dir "$dir" --daemon "$daemon"
    else
        expect "join $i" ask "$new" join
        until_true 5 "join $i" is_state "$new" ACTIVE
    fi
    seconds=$(seconds_since "$begin")
    bounded "join $i: active, seconds" "$seconds" 2
    [ "$i" -gt 1 ] || work "$new"
    settled "join $i" "$begin" "$count"
    count=$(handoffs)
    begin=$(now_us)
    expect "leave $i" ask 0 leave "$new" --timeout 600
    until_true 60 "leave $i" is_state "$new" LEFT
    echo "leave $i: left after $(seconds_since "$begin") s"
    settled "leave $i" "$begin" "$count"
done
field_end
[ "$failed" -eq 0 ] || tail -n 3 "$dir"/h*/lbmapd.log
exit "$failed"
