#!/usr/bin/env bash
# Loads of sixteen real daemons drift, as their applications report them: a corner gets twice as expensive in three steps.
# Loads become even again, nothing is lost, and what is constant, or noise, moves nothing. How fast and how far is printed;
# bench/drift.sh is longer.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed (apt-get install python3)"; exit 77; }
exec python3 "${top_srcdir:?run by make check}/bench/drift.py" "$(cd "${top_builddir:?run by make check}" && pwd)" \
    "${DRIFT_GUEST:-tri:4000}" --ramps 1 --steps 3 --seconds "${DRIFT_SECONDS:-18}" --still 10 --noise 15 --check
