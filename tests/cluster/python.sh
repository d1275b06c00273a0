#!/usr/bin/env bash
# The Python binding on four real daemons: heat, with states of two lengths, gives what one loop in C gives, bit for
# bit. An exception in a step, and an error of liblbmap, are raised.
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

exit "$failed"
