#!/usr/bin/env bash
# Applications report loads; a corner of the guest becomes twice as expensive, then the opposite one instead. Vertices
# move until loads are even again, while they are worked on: nothing is lost, nobody works twice. How long it takes and
# what moves is printed.
#   LOAD_HOSTS   mesh:2x2
#   LOAD_GUEST   lattice:40x40
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local # balancing is what this is about
. "$tests/field_lib.sh"
export LOADS=$scratch/loads
guest=${LOAD_GUEST:-lattice:40x40}

# cost AWK-CONDITION: vertices for which it holds, in x and y, cost 200, all others 100.
side=${guest##*x}
cost() {
    awk -v n="$vertices" -v w="$side" "BEGIN { for (v = 0; v < n; v++) { x = v % w; y = int(v / w); print ($1) ? 200 : 100 } }" \
        >"$LOADS.new"
    mv "$LOADS.new" "$LOADS"
}
# uneven: how much the largest load exceeds the mean, by the file of loads and where vertices are.
uneven() {
    ask 0 map job -o "$scratch/part" >"$scratch/output" 2>&1 || return 1
    paste -d' ' "$scratch/part" "$LOADS" | awk -v n="$hosts" '{ l[$1] += $2; all += $2 }
        END { for (h in l) if (l[h] > most) most = l[h]; printf "%.4f\n", most * n / all - 1 }'
}
is_even() { at_most "$(uneven)" 0.05; }
# known: what hosts and workers have to say when loads stay uneven.
known() {
    local host
    for ((host = 0; host < hosts; host++)); do
        echo "host $host: $(sqlite3 -readonly "$dir/h$host/lbmap.db" "select stage, sum(work) from vertex group by stage" 2>&1)"
        tail -n 2 "$scratch/worker$host"
    done
    ask 0 jobs
}
changes() {
    local begin seconds
    cp "$scratch/part" "$scratch/before"
    cost "$2"
    begin=$(now_us)
    until_true 60 "$1: loads are even" is_even
    seconds=$(awk -v a="$begin" -v b="$(now_us)" 'BEGIN { printf "%.1f", (b - a) / 1e6 }')
    sleep 3
    settles 0 job >"$scratch/output" 2>&1 || bad "$1: $(tail -n 2 "$scratch/output")"
    echo "$1: within 5 % after $seconds s; at rest $(uneven), $(paste -d' ' "$scratch/before" "$scratch/part" |
        awk '$1 != $2 { n++ } END { print n + 0 }') vertices elsewhere"
    # small differences between what is reported and what is known are followed later
    if until_true 30 "$1: even at rest" is_even; then ok "$1: even at rest"; else bad "$1: $(uneven) $(known)"; fi
    one_owner job "$vertices"
}

start "${LOAD_HOSTS:-mesh:2x2}"
expect "gen" "$lbctl" -q gen "$guest" -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job --json
vertices=$(figure vertices "$scratch/output")
hosts=$(find "$dir" -maxdepth 1 -name 'h*' | wc -l)
cost 0
for ((host = 0; host < hosts; host++)); do work "$host"; done
until_true 30 "every vertex is worked on" all_worked_on
[ "$failed" -eq 0 ] || exit 1
sleep 8 # until what is reported is what is known
settles 0 job >"$scratch/output" 2>&1 || bad "$(tail -n 2 "$scratch/output")"
echo "at first: $(uneven)"
changes "a corner" "x < $side / 2 && y < $side / 2"
changes "the other corner" "x >= $side / 2 && y >= $side / 2"
until_true 20 "every vertex is worked on" all_worked_on
field_end
exit "$failed"
