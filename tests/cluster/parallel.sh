#!/usr/bin/env bash
# Four real daemons read a guest in four parts: no daemon gets the whole, the mapping is as good as a plan, and parts that do not
# fit together are refused.
. "$(dirname "$0")/cluster_lib.sh"

"$lbctl" -q gen airfoil:3000 -o "$scratch/g.graph" || exit 99
vertices=$(head -n 1 "$scratch/g.graph" | cut -d ' ' -f 1)
expect "a guest is written in parts" "$lbctl" -q convert "$scratch/g.graph" "$scratch/part" --parts 4
refused 2 "this is no part of a guest" "$lbctl" submit --parallel "$scratch/g.graph"
"$lbctl" -q gen lattice:3x3 -o "$scratch/small.graph"
refused 2 "each part needs a vertex" "$lbctl" convert "$scratch/small.graph" "$scratch/many" --parts 10
refused 2 "parts are METIS files" "$lbctl" convert "$scratch/small.graph" - --parts 2
refused 2 "parts are METIS files" "$lbctl" convert "$scratch/small.graph" "$scratch/two" --parts 2 --to scotch
start mesh:2x2
ask() { "$lbctl" -s "$dir/h$1/lbmapd.sock" "${@:2}"; }

# together NAME PREFIX: every host reads its part; says what each answered.
together() {
    local pids=() status=0 i
    for i in 0 1 2 3; do
        ask "$i" -q submit --parallel "$2.$i" --name "$1" >"$scratch/said.$i" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || status=1; done
    cat "$scratch"/said.?
    return "$status"
}

refused 2 "starts by diffusion" "$lbctl" -s "$dir/h0/lbmapd.sock" submit --parallel "$scratch/part.0" --start centre
expect "four hosts read a part each" together job "$scratch/part"
expect "the job settles" settles 0 job
ask 0 -q map job -o "$scratch/map"
[ "$(wc -l <"$scratch/map")" -eq "$vertices" ] && ok "every vertex is somewhere" || bad "$(wc -l <"$scratch/map") of $vertices vertices"
"$lbctl" -q plan "$scratch/g.graph" --hosts mesh:2x2 -o "$scratch/plan"
j() { "$lbctl" eval "$scratch/g.graph" "$1" --hosts mesh:2x2 --json | python3 -c 'import json, sys; q = json.load(sys.stdin); print(q["hop_bytes"], int(1e4 * q["imbalance"]))'; }
read -r got uneven < <(j "$scratch/map")
read -r best _ < <(j "$scratch/plan")
[ $((100 * got)) -le $((110 * best)) ] && ok "J is $got, that of a plan $best" || bad "J is $got, that of a plan $best"
[ "$uneven" -le 330 ] && ok "loads are within the bound" || bad "imbalance $uneven / 10000"
# More vertices than a daemon is asked for at once: it keeps what its client has yet to read.
"$lbctl" -q gen lattice:400x400 -o "$scratch/large.graph"
expect "a large guest is submitted" ask 0 -q submit "$scratch/large.graph" --name large
hop_bytes() { python3 -c 'import json, sys; print(json.load(sys.stdin)["hop_bytes"])'; }
told=$(settles 0 large --json | hop_bytes)
ask 1 -q map large -o "$scratch/map"
[ "$(wc -l <"$scratch/map")" -eq 160000 ] && ok "its map has every vertex" || bad "$(wc -l <"$scratch/map") of 160000 vertices"
is=$("$lbctl" eval "$scratch/large.graph" "$scratch/map" --hosts mesh:2x2 --json | hop_bytes)
[ "$is" -le 1000 ] && [ "$is" = "$told" ] && ok "J is $is, as was told" || bad "J is $is, told was $told"
expect "it is cancelled" ask 0 -q cancel large
refused 1 "exists already" "$lbctl" -s "$dir/h1/lbmapd.sock" submit --parallel "$scratch/part.1" --name job

# One host reads it, and spreads it.
refused 2 "a whole guest without payloads is spread" "$lbctl" -s "$dir/h0/lbmapd.sock" submit --spread --start plan "$scratch/g.graph"
expect "a guest is spread as it is read" ask 1 -q submit --spread --start diffuse "$scratch/g.graph" --name spread
expect "it settles" settles 0 spread
ask 0 -q map spread -o "$scratch/map"
read -r got uneven < <(j "$scratch/map")
[ $((100 * got)) -le $((115 * best)) ] && [ "$uneven" -le 330 ] && ok "J of what was spread is $got, that of a plan $best" ||
    bad "J of what was spread is $got, that of a plan $best, imbalance $uneven / 10000"
expect "it is cancelled" ask 0 -q cancel spread

# One side of an edge is missing: a row of part 2 has another neighbour than it should.
for i in 0 1 3; do cp "$scratch/part.$i" "$scratch/bad.$i"; done
python3 - "$scratch/part.2" "$scratch/bad.2" <<'END'
import sys
lines = open(sys.argv[1]).read().split("\n")
mark = lines[0].split()
neighbours = lines[2].split()
first = int(mark[3]) + 1
other = next(i for i in range(1, int(mark[4]) + 2) if str(first) not in neighbours and i not in map(int, neighbours))
neighbours[-1] = str(other)
lines[2] = " ".join(sorted(neighbours, key=int))
open(sys.argv[2], "w").write("\n".join(lines))
END
if together torn "$scratch/bad" >"$scratch/output" 2>&1; then
    bad "parts that contradict one another are taken"
elif grep -q "in the row of one of its vertices only" "$scratch/output"; then
    ok "parts that contradict one another are refused"
else
    bad "$(cat "$scratch/output")"
fi
ask 0 -q jobs | grep -q torn && bad "the job that was refused is there" || ok "and there is no such job"
expect "the same name may be used again" together torn "$scratch/part"
expect "which settles" settles 3 torn

# Two hosts with the same part.
ask 0 -q submit --parallel "$scratch/part.0" --name twice >/dev/null 2>&1 &
first=$!
sleep 1
refused 1 "comes from host 0 already" "$lbctl" -s "$dir/h1/lbmapd.sock" submit --parallel "$scratch/part.0" --name twice
kill "$first" 2>/dev/null
exit "$failed"
