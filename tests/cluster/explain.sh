#!/usr/bin/env bash
# Real daemons say why a vertex is where it is: by the plan, by balance when its load grows, by a drain; also when the
# daemon that gave it away has started again or left. What cannot be asked is refused.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local # balancing is what this is about

# moves VERTEX HOST: what that host says of the moves of a vertex.
moves() { ask "$2" explain job "$1" >"$scratch/moves" 2>"$scratch/said"; }
# has VERTEX HOST TEXT PATTERN: there is such a line in it.
has() {
    moves "$1" "$2"
    if grep -qE "$4" "$scratch/moves"; then ok "$3"; else bad "$3: $(cat "$scratch/moves" "$scratch/said")"; fi
}
# on_host N: a vertex that is there.
on_host() { awk -v h="$1" '$1 == h { print NR - 1; exit }' "$scratch/part"; }

start mesh:2x2
expect "gen" "$lbctl" -q gen lattice:20x20 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job
expect_map "the mapping" 0 job "$scratch/part"

v=$(on_host 3)
has "$v" 1 "it is said where the vertex is" "^vertex $v of job is on host 3, at epoch [0-9]+$"
has "$v" 1 "a planned vertex began at the coordinator" "^ *1 +0 +arrived .*submit"
has "$v" 1 "and went where the plan has it" "^ *[0-9]+ +0 +3 .*arrived.* plan"
ask 2 explain job "$v" --json >"$scratch/json"
expect "JSON has what it took" grep -qE '"took_s": [0-9.e-]+' "$scratch/json"
if [ "$(figure host "$scratch/json")" = 3 ] && [ "$(figure unexplained "$scratch/json")" = 0 ]; then
    ok "JSON: host 3, nothing unexplained"
else
    bad "JSON: $(cat "$scratch/json")"
fi

refused 1 "there is no job named nobody; lbctl jobs lists them" ask 0 explain nobody 1
refused 1 "vertex 400: the guest has vertices 0 to 399" ask 0 explain job 400
refused 2 "VERTEX: 'first' is not a whole number from 0 to" ask 0 explain job first
refused 2 "VERTEX" ask 0 explain job
refused 2 "JOB is empty" ask 0 explain "" 1

expect "host 0 starts again" "$lbctl" -q cluster kill 0 --dir "$dir"
expect "host 0 is back" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
has "$v" 1 "the taker knows the reason that the giver has forgotten" "^ *[0-9]+ +0 +3 .*arrived.* plan"

expect "host 3 leaves" ask 0 leave 3 --timeout 600
has "$v" 1 "the vertex says that its host was drained" "^ *[0-9]+ +3 +[012] .*arrived.* drain"
has "$v" 1 "and is elsewhere" "is on host [012], at epoch"
exit "$failed"
