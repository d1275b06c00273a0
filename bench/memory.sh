#!/usr/bin/env bash
# How much memory daemons need when each reads a part of a guest (lbctl submit --parallel), until the job has
# settled, next to their share of what one daemon needs that has all of the guest.
#
#   bench/memory.sh [-c] [-g GUEST] [-H HOSTS] [-t SECONDS] [-j FILE] [BUILD_DIRECTORY]
#
# GUEST is lattice:1000x1000, HOSTS mesh:4x4, SECONDS 600 (until the job has settled). Memory is the most that a
# daemon has grown over an idle one (VmHWM); that of the one daemon by the number of hosts is the share. -c:
# exit status 1 if a daemon needs more than three times its share. -j writes JSON.
set -eu

guest=lattice:1000x1000 hosts=mesh:4x4 seconds=600 json= check=
while getopts cg:H:t:j: option; do
    case $option in
    c) check=--check ;;
    g) guest=$OPTARG ;;
    H) hosts=$OPTARG ;;
    t) seconds=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" daemon/lbmapd
needs python3
exec python3 "$top/bench/memory.py" "$build" "$guest" --hosts "$hosts" --seconds "$seconds" \
    $check ${json:+--json "$json"}
