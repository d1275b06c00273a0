#!/usr/bin/env bash
# The examples of liblbmap on real daemons. docs/examples/owned.c: together the hosts own every vertex once, as
# lbctl map says; a host answers for itself while another is dead. docs/examples/steps.c: works until the job is
# cancelled.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
owned=$top_builddir/docs/examples/owned
steps=$top_builddir/docs/examples/steps

start mesh:2x2
expect "a mesh" "$lbctl" -q gen airfoil:3000 -o "$scratch/mesh.graph"
expect "submit" ask 0 submit "$scratch/mesh.graph" --name mesh
expect "it settles" settles 0 mesh
expect "map is written" ask 0 map mesh -o "$scratch/mesh.part"
vertices=$(wc -l <"$scratch/mesh.part")

for host in 0 1 2 3; do
    "$owned" mesh "$dir/h$host/lbmapd.sock" 2>"$scratch/told" >"$scratch/mine" </dev/null
    awk -v host="$host" '{ print $1, host }' "$scratch/mine" >>"$scratch/owners"
    if grep -qx "host $host owns $(wc -l <"$scratch/mine") of $vertices vertices" "$scratch/told"; then
        ok "host $host says how many it owns"
    else
        bad "host $host: $(cat "$scratch/told")"
    fi
    place=$(head -n 1 "$scratch/mesh.part")
    grep -qx "vertex 0 is on host $place" "$scratch/told" && ok "and where vertex 0 is" || bad "not host $place"
    awk '$2 < 1 { exit 1 }' "$scratch/mine" && ok "tokens are positive" || bad "a token is not positive"
done
if sort -n "$scratch/owners" | cmp -s - <(awk '{ print NR - 1, $1 }' "$scratch/mesh.part"); then
    ok "together they own what lbctl map says"
else
    bad "owners differ: $(sort -n "$scratch/owners" | diff - <(awk '{ print NR - 1, $1 }' "$scratch/mesh.part") | head -n 5)"
fi

refused 1 "there is no job named nothing" "$owned" nothing "$dir/h1/lbmapd.sock"
refused 1 "cannot reach the daemon: not reachable" "$owned" mesh "$scratch/none.sock"
refused 2 "usage" "$owned"
"$steps" mesh "$dir/h1/lbmapd.sock" >"$scratch/steps" 2>&1 </dev/null &
working=$!
all="steps: $(grep -cx 1 "$scratch/mesh.part") vertices are here"
for _ in $(seq 600); do
    grep -qx "$all" "$scratch/steps" && break
    sleep 0.1
done
if grep -qx "$all" "$scratch/steps"; then
    ok "the second example works on all vertices of host 1"
else
    bad "steps: $(cat "$scratch/steps")"
fi
refused 1 "serves mesh on this host already" "$steps" mesh "$dir/h1/lbmapd.sock"
expect "host 3 dies" "$lbctl" -q cluster kill 3 --dir "$dir"
refused 1 "cannot reach the daemon" "$owned" mesh "$dir/h3/lbmapd.sock"
expect "host 1 still says what it owns" "$owned" mesh "$dir/h1/lbmapd.sock"
expect "the job is cancelled" ask 0 cancel mesh
if wait "$working"; then ok "then the second example ends"; else bad "steps: $(cat "$scratch/steps")"; fi

exit "$failed"
