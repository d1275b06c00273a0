#!/usr/bin/env bash
# Sixteen real daemons on mesh:4x4 and an application on each that reports what its vertices cost. The load of a 4-host corner
# doubles over 60 s, in ten steps, then the next corner's instead, and so on; then loads are constant; then there is 10 % of
# noise on every report.
#
#   bench/drift.sh [-g GUEST]... [-r RAMPS] [-s STILL_SECONDS] [-n NOISE_SECONDS] [-S SEED] [-o GATE=VALUE]... [-j DIRECTORY]
#            [BUILD_DIRECTORY]
#
# GUEST is a METIS file without weights, or what lbctl gen makes; 4elt and delaunay_n15 of ../shared/graphs unless told, or two
# that are generated if those are absent. RAMPS is 4, STILL_SECONDS 300, NOISE_SECONDS 180, SEED of the job 1. -o sets a gate
# of lbctl set, e.g. cooldown=5. -j writes the numbers as JSON, a file for each guest.
#
# Of each step: how uneven true loads become, after how long they are within 5 % and stay so, and how uneven they are at its end.
# J is compared with fifteen fresh plans twice in a ramp: with the middle one, since they differ by several parts of a hundred, and with
# the luckiest. What moved is compared with the least flow over links that leaves no host with more than 1.03 of its share, found
# step by step.
set -eu

guests=() ramps=4 still=300 noise=180 seed=1 gates=() json=
while getopts g:r:s:n:S:o:j: option; do
    case $option in
    g) guests+=("$OPTARG") ;;
    r) ramps=$OPTARG ;;
    s) still=$OPTARG ;;
    n) noise=$OPTARG ;;
    S) seed=$OPTARG ;;
    o) gates+=(--set "$OPTARG") ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" tests/cluster/drifter
needs python3
if [ "${#guests[@]}" -eq 0 ]; then
    if [ -f "$top/../shared/graphs/4elt.graph.gz" ]; then
        guests=("$top/../shared/graphs/4elt.graph.gz" "$top/../shared/graphs/delaunay_n15.graph.gz")
    else
        guests=(airfoil:15000 tri:32000)
    fi
fi
status=0
for guest in "${guests[@]}"; do
    report=()
    if [ -n "$json" ]; then
        mkdir -p "$json"
        name=$(basename "$guest")
        report=(--json "$json/${name%%.*}.json")
    fi
    python3 "$top/bench/drift.py" "$build" "$guest" --ramps "$ramps" --still "$still" --noise "$noise" --seed "$seed" \
        "${gates[@]}" "${report[@]}" ||
        status=1
done
exit "$status"
