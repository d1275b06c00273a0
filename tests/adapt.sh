#!/usr/bin/env bash
# Applications refine and coarsen their guest while it runs, on four real daemons; in the first step a host loses power in
# the middle of it, and comes back. After each step the cluster has the vertices and the edges that there should be, each
# vertex with one owner. bench/adaptive.sh is longer.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed (apt-get install python3)"; exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
exec python3 "${top_srcdir:?run by make check}/bench/adaptive.py" "$(cd "${top_builddir:?run by make check}" && pwd)" \
    "${ADAPT_GUEST:-airfoil:1200}" --hosts mesh:2x2 --steps "${ADAPT_STEPS:-3}" --seconds 2 --lose 1 --check
