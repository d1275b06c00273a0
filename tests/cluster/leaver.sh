#!/usr/bin/env bash
# A host between others leaves: the way through it stays, so what clients ask of the hosts on both sides is answered, and
# numbers in a file of pins are ids.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"

# is_at VERTEX HOST
is_at() {
    expect "vertex $1 is located" ask 0 locate pinned "$1" --json
    if grep -q "\"host\": $2" "$scratch/output"; then ok "it is on host $2"; else bad "$(cat "$scratch/output")"; fi
}

start chain:4
expect "gen" "$lbctl" -q gen lattice:20x20 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job
expect "the host between leaves" ask 0 leave 1 --timeout 600
expect "the others settle, and a client sees it" settles 0 job
expect_map "the mapping" 0 job "$scratch/part"
expect "a picture" ask 0 plot job -o "$scratch/job.svg"
expect "a trace" ask 0 trace job -o "$scratch/trace" --seconds 1
expect "it can be replayed" "$top_builddir/sim/lbsim" replay "$scratch/trace" -q

printf '%s\n' "7 h3" "8 2" "9 3" >"$scratch/pins"
expect "submit with pins" ask 0 -q submit "$scratch/guest.graph" --name pinned --pin "$scratch/pins"
expect "that settles" settles 0 pinned
is_at 7 3
is_at 8 2
is_at 9 3
echo "7 1" >"$scratch/pins"
refused 2 "'1' is not a host that takes part" ask 0 submit "$scratch/guest.graph" --name no --pin "$scratch/pins"
exit "$failed"
