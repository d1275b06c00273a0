#!/usr/bin/env bash
# Four real daemons map a guest that nobody plans, from one host and from parts at four: J is near that of a plan, loads are
# within the bound, each vertex moves about once, and the daemons say that they made no plan.
. "$(dirname "$0")/cluster_lib.sh"

"$lbctl" -q gen airfoil:3000 -o "$scratch/g.graph" || exit 99
vertices=$(head -n 1 "$scratch/g.graph" | cut -d ' ' -f 1)
"$lbctl" -q convert "$scratch/g.graph" "$scratch/part" --parts 4 || exit 99
"$lbctl" -q plan "$scratch/g.graph" --hosts mesh:2x2 -o "$scratch/plan" || exit 99
j() { "$lbctl" eval "$scratch/g.graph" "$1" --hosts mesh:2x2 --json | python3 -c '
import json, sys
q = json.load(sys.stdin)
print(q["hop_bytes"], int(1e4 * q["imbalance"]))'; }
read -r best _ < <(j "$scratch/plan")
start mesh:2x2
ask() { "$lbctl" -s "$dir/h$1/lbmapd.sock" "${@:2}"; }
total() { for i in 0 1 2 3; do ask "$i" status --json; done | python3 -c '
import json, sys
text, at, sum_ = sys.stdin.read(), 0, 0
while text[at:].strip():
    status, end = json.JSONDecoder().raw_decode(text[at:].lstrip())
    at += len(text[at:]) - len(text[at:].lstrip()) + end
    sum_ += status[sys.argv[1]]
print(sum_)' "$1"; }

# judge NAME: the mapping of a job that has settled.
judge() {
    ask 1 -q map "$1" -o "$scratch/map"
    rows=$(wc -l <"$scratch/map")
    [ "$rows" -eq "$vertices" ] && ok "$1: every vertex is somewhere" || bad "$rows of $vertices vertices"
    read -r got uneven < <(j "$scratch/map")
    [ $((100 * got)) -le $((125 * best)) ] && ok "$1: J is $got, that of a plan $best" || bad "$1: J is $got, that of a plan $best"
    [ "$uneven" -le 330 ] && ok "$1: loads are within the bound" || bad "$1: imbalance $uneven / 10000"
    plans=$(total plans)
    [ "$plans" -eq 0 ] && ok "$1: nobody made a plan" || bad "$1: $plans plans were made"
}

expect "a guest is submitted at one host" ask 2 -q submit "$scratch/g.graph" --name one --start diffuse
expect "it settles" settles 0 one
judge one
moved=$(total handoffs)
[ $((10 * moved)) -le $((13 * vertices)) ] && ok "$moved handoffs of $vertices vertices" || bad "$moved handoffs of $vertices vertices"
expect "it is cancelled" ask 0 -q cancel one

pids=()
for i in 0 1 2 3; do
    ask "$i" -q submit --parallel "$scratch/part.$i" --name four --start diffuse >"$scratch/said.$i" 2>&1 &
    pids+=($!)
done
status=0
for i in "${pids[@]}"; do wait "$i" || status=1; done
[ "$status" -eq 0 ] && ok "four hosts read a part each" || bad "$(cat "$scratch"/said.?)"
expect "it settles" settles 0 four
judge four
exit "$failed"
