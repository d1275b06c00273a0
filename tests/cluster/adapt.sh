#!/usr/bin/env bash
# Applications change their guest while it runs, and hear of what others change. Changes that cannot be are
# refused and change nothing. Then, on four real daemons, a mesh is refined and coarsened step by step; in the
# first step a host loses power in the middle of it, and comes back. After each step the cluster has the
# vertices and the edges that there should be, each vertex with one owner, and applications have been told so.
# bench/adaptive.sh is longer.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed (apt-get install python3)"; exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
start chain:2
expect "gen" "$lbctl" -q gen lattice:6x6 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job
trace=$scratch/trace
ask 0 trace job -o "$trace" --every 0.2 --seconds 300 >/dev/null 2>&1 &
recorder=$!
for ((i = 0; i < 600; i++)); do grep -qs '^begin' "$trace" && break || sleep 0.1; done
"$top_builddir/tests/cluster/linker" job "$dir/h0/lbmapd.sock" "$dir/h1/lbmapd.sock" 6 || failed=1
"$top_builddir/tests/cluster/refiner" refused job "$dir/h1/lbmapd.sock" || failed=1
one_owner job 0
expect_map "the map has no vertex that is not there" 0 job "$scratch/part"
n=$(wc -l <"$scratch/part")
if [ "$n" -eq 35 ]; then ok "one came, two went"; else bad "$n vertices"; fi
# by_trace: how many vertices and edges there are in the end.
by_trace() {
    awk '$1 == "vertex" { n++; for (i = 5; i <= NF; i++) { split($i, p, ":"); edge[$2 " " p[1]] = 1 } }
        $1 == "add" { n += NF - 2 }
        $1 == "edge" { for (i = 3; i <= NF; i++) {
            split($i, p, ":")
            delete edge[$2 " " p[1]]
            delete edge[p[1] " " $2]
            if (p[2] > 0) edge[$2 " " p[1]] = 1 } }
        $1 == "remove" { for (i = 2; i <= NF; i++) {
            n--
            for (e in edge) { split(e, p, " "); if (p[1] == $i || p[2] == $i) delete edge[e] } } }
        END { for (e in edge) m++; print n, m + 0 }' "$trace"
}
expect "the map has edges too" ask 0 map job --format graphml -o "$scratch/map.graphml"
there="$(grep -c '<node ' "$scratch/map.graphml") $(grep -c '<edge ' "$scratch/map.graphml")"
for ((i = 0; i < 300; i++)); do [ "$(by_trace)" = "$there" ] && break || sleep 0.2; done
kill -TERM "$recorder"
wait "$recorder" 2>/dev/null
for word in add edge remove; do grep -q "^$word " "$trace" || bad "the trace has no $word"; done
if [ "$(by_trace)" = "$there" ]; then ok "the trace has the vertices and edges that there are"; else
    bad "$(by_trace) by the trace, $there"
fi
expect "it is replayed" "$top_builddir/sim/lbsim" replay "$trace"
python3 "$top_srcdir/bench/adaptive.py" "$(cd "$top_builddir" && pwd)" "${ADAPT_GUEST:-airfoil:1200}" --hosts mesh:2x2 \
    --steps "${ADAPT_STEPS:-3}" --seconds 2 --lose 1 --check || failed=1
exit "$failed"
