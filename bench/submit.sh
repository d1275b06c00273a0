#!/usr/bin/env bash
# How good the mapping is that a cluster of real daemons settles with after `lbctl submit`, next to `lbctl plan --effort normal` of the
# same guest, from every start; how long it takes, and how much memory a daemon needs.
#
#   bench/submit.sh [-g GUEST]... [-H HOSTS]... [-S START]... [-s SEED]... [-t SECONDS] [-j FILE] [BUILD_DIRECTORY]
#
# GUEST is a METIS file (.gz too) or what lbctl gen makes; lattice:64x64 and 4elt, wing_nodal and delaunay_n15 of ../shared/graphs
# unless told, or two that are generated if those are absent. HOSTS are mesh:4x4 and torus:4x4, START plan, centre,
# random, parallel (lbctl submit --parallel, a part for each host), diffuse, and the same from four parts
# (diffuse-four) and from 16 whose vertices are strangers to one another (diffuse-random); SEED 1, SECONDS 300 (until a job has settled). -j writes JSON.
#
# J and loads are computed here from the guest and from what `lbctl map` gives.
set -eu

guests=() hosts=() starts=() seeds=() seconds=300 json=
while getopts g:H:S:s:t:j: option; do
    case $option in
    g) guests+=("$OPTARG") ;;
    H) hosts+=("$OPTARG") ;;
    S) starts+=("$OPTARG") ;;
    s) seeds+=("$OPTARG") ;;
    t) seconds=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" daemon/lbmapd
needs python3
if [ "${#guests[@]}" -eq 0 ]; then
    guests=(lattice:64x64)
    if [ -f "$top/../shared/graphs/4elt.graph.gz" ]; then
        for name in 4elt wing_nodal delaunay_n15; do
            guests+=("$top/../shared/graphs/$name.graph.gz")
        done
    else
        guests+=(airfoil:15000 tri:32000)
    fi
fi
[ "${#hosts[@]}" -ne 0 ] || hosts=(mesh:4x4 torus:4x4)
[ "${#starts[@]}" -ne 0 ] || starts=(plan centre random parallel diffuse diffuse-four diffuse-random)
[ "${#seeds[@]}" -ne 0 ] || seeds=(1)
exec python3 "$top/bench/submit.py" "$build" --seconds "$seconds" --guests "${guests[@]}" --hosts "${hosts[@]}" \
    --starts "${starts[@]}" --seeds "${seeds[@]}" ${json:+--json "$json"}
