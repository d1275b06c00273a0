#!/usr/bin/env bash
# Applications change their guest while it runs, and hear of what others change. Changes that cannot be are
# refused and change nothing. Then, on four real daemons, a mesh is refined and coarsened step by step; in the
# first step a host loses power in the middle of it, and comes back. After each step the cluster has the
# vertices and the edges that there should be, each vertex with one owner, and applications have been told so.
# bench/adaptive.sh is longer.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed (apt-get install python3)"; exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster_lib.sh"
start chain:2
expect "gen" "$lbctl" -q gen lattice:6x6 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" ask 0 wait job --timeout 60
"$top_builddir/tests/linker" job "$dir/h0/lbmapd.sock" "$dir/h1/lbmapd.sock" 6 || failed=1
"$top_builddir/tests/refiner" refused job "$dir/h1/lbmapd.sock" || failed=1
one_owner job 0
expect_map "the map has no vertex that is not there" 0 job "$scratch/part"
if [ "$(wc -l <"$scratch/part")" -eq 35 ]; then ok "one came, two went"; else bad "$(wc -l <"$scratch/part") vertices"; fi
python3 "$top_srcdir/bench/adaptive.py" "$(cd "$top_builddir" && pwd)" "${ADAPT_GUEST:-airfoil:1200}" --hosts mesh:2x2 \
    --steps "${ADAPT_STEPS:-3}" --seconds 2 --lose 1 --check || failed=1
exit "$failed"
