#!/usr/bin/env bash
# Six real daemons that keep two copies of each record, with an application each. Again and again a host and one that
# keeps its copy are lost for good, at the same moment: daemons and applications are killed and their folders are
# emptied. Others work on all that both had, with higher tokens and the payloads that were kept. Then both come back,
# with nothing.
#   COPIES_RUNS    how often (1)
#   COPIES_SEED    which hosts
#   COPIES_GUEST   vertices of a mesh (200)
#   COPIES_HOSTS   host graph (mesh:3x2)
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
export PAYLOAD=200 CHECKPOINT_MS=1000
runs=${COPIES_RUNS:-1}
RANDOM=${COPIES_SEED:-$$}
echo "seed of this run: COPIES_SEED=${COPIES_SEED:-$$}"

# take_away HOST...: all at once.
take_away() {
    local host
    local -a pids=()
    for host; do pids+=("${worker_pid[$host]}" "$(cat "$dir/h$host/lbmapd.pid")"); done
    kill -KILL "${pids[@]}"
    for host; do
        unset "worker_pid[$host]"
        find "$dir/h$host" -mindepth 1 ! -name lbmapd.conf ! -path "*/identity*" -delete
    done
}

# moved: of what they had (file lost) is now worked on elsewhere; prints how many, and when the last came.
moved() {
    local host
    for host in "${!worker_pid[@]}"; do tail -c "+$((${size[$host]} + 1))" "${history_of[$host]}"; done |
        awk -v lost="$scratch/lost" '
        BEGIN { while ((getline line < lost) > 0) { split(line, part, " "); token[part[1]] = part[2] } }
        $2 == "acquire" && ($3 in token) && $4 > token[$3] && !($3 in first) { first[$3] = $1 }
        END { for (v in first) { n++; if (first[v] > last) last = first[v] } printf "%d %.0f\n", n, last }'
}

# Host 0 orders the control log: without it nobody is evicted. Sets pair.
choose() {
    local host both
    while :; do
        host=$((1 + RANDOM % (hosts - 1)))
        IFS=, read -ra both <<<"$(field "$host" 9)"
        [ "${#both[@]}" -eq 2 ] || { bad "host $host has ${#both[@]} backups"; return 1; }
        pair=("$host" "${both[RANDOM % 2]}")
        [ "${pair[1]}" -eq 0 ] || return 0
    done
}

# run NUMBER
run() {
    local other begin n last wanted seconds host
    declare -A size
    choose || return
    for host in "${pair[@]}"; do held "${history_of[$host]}"; done >"$scratch/lost"
    wanted=$(wc -l <"$scratch/lost")
    for other in "${!worker_pid[@]}"; do size[$other]=$(stat -c %s "${history_of[$other]}"); done
    begin=$(now_us)
    take_away "${pair[@]}"
    run_elsewhere() { read -r n last < <(moved); [ "$n" -ge "$wanted" ]; }
    if ! patiently 60 run_elsewhere; then
        bad "run $1: hosts ${pair[*]}: $n of $wanted vertices run elsewhere"
        return
    fi
    seconds=$(awk -v a="$begin" -v b="$last" 'BEGIN { printf "%.2f", (b - a) / 1e6 }')
    echo "$seconds" >>"$scratch/seconds"
    ok "run $1: hosts ${pair[*]} are lost; all $wanted vertices that they had run elsewhere after $seconds s"
    [ "$1" -lt "$runs" ] || return
    "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon" >"$scratch/output" 2>&1 || bad "run $1: $(cat "$scratch/output")"
    for host in "${pair[@]}"; do
        work "$host"
        until_true 60 "run $1: host $host is back" is_state "$host" ACTIVE
    done
    settles 0 job >"$scratch/output" 2>&1 || bad "run $1: does not settle: $(tail -n 3 "$scratch/output")"
    until_true 60 "run $1: in sync" in_sync
    until_true 60 "run $1: every vertex is worked on" all_worked_on
}

log=local
copies=2
field_start "${COPIES_HOSTS:-mesh:3x2}" "airfoil:${COPIES_GUEST:-200}"
until_true 60 "all copies are there" in_sync
for ((i = 1; i <= runs && failed == 0; i++)); do run "$i"; done
until_true 60 "every vertex is worked on" all_worked_on
until_true 10 "nothing is lost, all is well" ask 0 jobs job # what daemons say of themselves is a second old
field_end
if grep -h "not its own" "$scratch"/worker*; then bad "payloads are not those that were kept"; else ok "all payloads are those that were kept"; fi
distribution "runs, seconds until all runs elsewhere" 20 <"$scratch/seconds"
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
