#!/usr/bin/env bash
# The Python binding on four real daemons: heat, with states of two lengths, gives what one loop in C gives, bit for
# bit. An exception in a step, and an error of liblbmap, are raised. docs/examples/gossip.py, by messages and
# checkpoints, comes to the right sums although one of its programs is killed and started again.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
export PYTHONPATH=$top_srcdir/bindings/python PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
python3 -c 'import lbmap; lbmap.version()' 2>/dev/null || { echo "skipped: liblbmap is not a shared library"; exit 77; }
steps=60

start mesh:2x2
expect "a mesh" "$lbctl" -q gen airfoil:400 -o "$scratch/mesh.graph"
expect "submit" ask 0 submit "$scratch/mesh.graph" --name mesh
"$top_builddir/tests/cluster/heat_alone" "$scratch/mesh.graph" "$steps" >"$scratch/alone"
pids=()
for host in 0 1 2 3; do
    timeout 120 python3 "$tests/heat_python.py" mesh "$steps" "$scratch/field.$host" "$dir/h$host/lbmapd.sock" \
        2>"$scratch/error.$host" </dev/null &
    pids+=($!)
done
for host in 0 1 2 3; do
    if wait "${pids[$host]}"; then ok "host $host ends"; else bad "host $host: $(tail -n 3 "$scratch/error.$host")"; fi
done
if python3 - "$scratch/field.0" "$scratch/alone" <<'PYTHON'; then
import sys
field, alone = ([float.fromhex(line) for line in open(name)] for name in sys.argv[1:])
sys.exit(not field or field != alone)
PYTHON
    ok "$(wc -l <"$scratch/alone") temperatures are those of one loop in C"
else
    bad "temperatures differ"
fi

expect "submit again" ask 0 submit "$scratch/mesh.graph" --name other
expect "it settles" settles 0 other
timeout 60 python3 "$tests/heat_python.py" fail other "$dir/h0/lbmapd.sock" >"$scratch/output" 2>&1 </dev/null
grep -qx 'raised: step 0' "$scratch/output" && ok "an exception is raised" || bad "not raised: $(cat "$scratch/output")"
grep -q '^refused: 7 ' "$scratch/output" && ok "an error is raised" || bad "not refused: $(cat "$scratch/output")"

if python3 - "$dir"/h?/lbmapd.sock >"$scratch/output" 2>&1 <<'PYTHON'; then
import sys, lbmap
where = {}
for socket in sys.argv[1:]:
    with lbmap.Map('other', socket) as map:
        where.update({vertex: map.host for vertex, token in map.owned() if token > 0})
        located = map.locate(range(map.vertices))
assert len(where) == len(located) == 400 and [where[v] for v in range(400)] == located, (len(where), located)
PYTHON
    ok "hosts own what they are located at"
else
    bad "owned, locate: $(cat "$scratch/output")"
fi

# ---- messages and checkpoints: a program is killed and started again ------------------------------------------------
rounds=400
python3 - "$scratch/mesh.graph" $rounds >"$scratch/sums" <<'PYTHON'
import sys
lines = open(sys.argv[1]).read().split('\n')
n = int(lines[0].split()[0])
weighted = len(lines[0].split()) > 2
neighbours = [[int(word) - 1 for word in line.split()] for line in lines[1:n + 1]]
assert not weighted
value = [v + 1 for v in range(n)]
for _ in range(int(sys.argv[2])):
    value = [(value[v] + sum(value[u] for u in neighbours[v])) % 2**32 for v in range(n)]
print(*(f'{v} {value[v]}' for v in range(n)), sep='\n')
PYTHON
gossip() {
    python3 "$top_srcdir/docs/examples/gossip.py" gossip $rounds "$scratch/sums.$1" \
        "$dir/h$1/lbmapd.sock" 2>"$scratch/error.$1" </dev/null &
    pids[$1]=$!
}
trap 'kill -KILL "${pids[@]}" 2>/dev/null; finish' EXIT
expect "submit once more" ask 0 submit "$scratch/mesh.graph" --name gossip
pids=()
for host in 0 1 2 3; do gossip $host; done
sleep 3
kill -KILL "${pids[2]}" 2>/dev/null || bad "the program of host 2 has ended already: more rounds are needed"
wait "${pids[2]}" 2>/dev/null
gossip 2
for host in 0 1 2 3; do
    if wait "${pids[$host]}"; then ok "host $host ends"; else bad "host $host: $(tail -n 3 "$scratch/error.$host")"; fi
done
sort -nu "$scratch"/sums.? | cmp - "$scratch/sums" && ok "all sums are right" || bad "sums differ"

exit "$failed"
