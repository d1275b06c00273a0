#!/usr/bin/env bash
# docs/examples/amr.c on four real daemons: the cells at the end, and what each has, are those of one loop, although
# cells split and merge, capacities change, and a program is killed and started again meanwhile.
#   AMR_SIDE   coarse cells of a side (6)
#   AMR_STEPS  (56)
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
side=${AMR_SIDE:-6} steps=${AMR_STEPS:-56}
amr=$top_builddir/docs/examples/amr
declare -a pid
trap 'kill -KILL "${pid[@]}" 2>/dev/null; finish' EXIT

# begin HOST: its program.
begin() {
    "$amr" run mesh "$side" "$steps" "$scratch/mesh.$1" "$dir/h$1/lbmapd.sock" 2>"$scratch/error.$1" </dev/null &
    pid[$1]=$!
}
have_ended() { ! kill -0 "${pid[@]}" 2>/dev/null; }
has_cells() { [ "$(ask 0 hosts | awk '$3 == "ACTIVE" { n += $8 } END { print n + 0 }')" -ge "$1" ]; }

expect "one loop" "$amr" alone "$side" "$steps" "$scratch/alone"
leaves=$(wc -l <"$scratch/alone.cells")
start ring:4
"$amr" graph "$side" >"$scratch/mesh.graph"
expect "submit" ask 0 submit "$scratch/mesh.graph" --name mesh
expect "it settles" settles 0 mesh
for host in 0 1 2 3; do begin "$host"; done
until_true 30 "cells split" has_cells $((side * side + 12))
expect "host 1 gets a larger share" ask 0 set h1 --capacity 3
kill -KILL "${pid[2]}" && ok "a program is killed" || bad "all is done already: more AMR_STEPS are needed"
wait "${pid[2]}" 2>/dev/null
begin 2
patiently 60 have_ended || bad "the programs do not end: $(tail -qn 2 "$scratch"/error.?)"
for host in 0 1 2 3; do
    kill -0 "${pid[host]}" 2>/dev/null || wait "${pid[host]}" || bad "host $host: $(tail -n 3 "$scratch/error.$host")"
done
cat "$scratch"/mesh.?.cells >"$scratch/cells" 2>/dev/null
if cmp "$scratch/cells" "$scratch/alone.cells"; then
    ok "after $steps steps there are the $leaves cells of one loop, with their values"
else
    bad "cells differ: $(diff "$scratch/cells" "$scratch/alone.cells" | head -n 5)"
fi
cat "$scratch"/mesh.? | cmp - "$scratch/alone" || bad "pictures differ"

refused 2 'usage: amr' "$amr" alone 1 10 "$scratch/none"
refused 1 'no job named nothing' "$amr" run nothing 5 10 "$scratch/none" "$dir/h0/lbmapd.sock"
exit "$failed"
