#!/usr/bin/env bash
# How much memory daemons need to map a guest, of which each reads a part (lbctl submit --parallel) or which one
# submits, until the job has settled, next to their share of what one daemon needs that has all of the guest.
#
#   bench/memory.sh [-c] [-g GUEST] [-H HOSTS] [-S START] [-t SECONDS] [-j FILE] [BUILD_DIRECTORY]
#
# GUEST is lattice:1000x1000, HOSTS mesh:4x4, START parallel, or one of lbctl submit from host 0; SECONDS 600 (until the
# job has settled). Memory is the most that a daemon has grown over an idle one (VmHWM); that of the one daemon by the
# number of hosts is the share. -c: exit status 1 if a daemon needs more than three times its share. -j writes JSON.
set -eu

guest=lattice:1000x1000 hosts=mesh:4x4 start=parallel seconds=600 json= check=
while getopts cg:H:S:t:j: option; do
    case $option in
    c) check=--check ;;
    g) guest=$OPTARG ;;
    H) hosts=$OPTARG ;;
    S) start=$OPTARG ;;
    t) seconds=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" daemon/lbmapd
needs python3
exec python3 "$top/bench/memory.py" "$build" "$guest" --hosts "$hosts" --seconds "$seconds" --start "$start" \
    $check ${json:+--json "$json"}
