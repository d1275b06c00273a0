#!/usr/bin/env bash
# Sixteen real daemons on mesh:4x4, and an application on each that refines its part of a mesh and coarsens it again: a front
# moves through the mesh, each vertex in it becomes four, and those behind it one again.
#
#   bench/adaptive.sh [-g GUEST]... [-s STEPS] [-t SECONDS] [-n] [-j DIRECTORY] [-p DIRECTORY] [BUILD_DIRECTORY]
#
# GUEST is a METIS file without weights, or what lbctl gen makes; 4elt of ../shared/graphs unless told, or airfoil:15000 if that is
# absent. STEPS is 20, a step takes SECONDS at least, 8. -j writes the numbers as JSON, -p draws them, a file for each guest.
#
# Of each step: how uneven loads become, after how long they are within 5 % and stay so; what moved next to the least flow over
# links that leaves no host with more than 1.03 of its share; J next to that of a fresh plan, the middle one of fifteen. -n leaves the
# comparison with others out: mapping from scratch and remapping by Scotch, and METIS from scratch with parts relabelled so that
# little moves.
set -eu

guests=() steps=20 seconds=8 peers=(--peers) json='' plot=''
while getopts g:s:t:nj:p: option; do
    case $option in
    g) guests+=("$OPTARG") ;;
    s) steps=$OPTARG ;;
    t) seconds=$OPTARG ;;
    n) peers=() ;;
    j) json=$(realpath -m "$OPTARG") ;;
    p) plot=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" tests/cluster/refiner
needs python3
if [ "${#guests[@]}" -eq 0 ]; then
    guests=(airfoil:15000)
    [ ! -f "$top/../shared/graphs/4elt.graph.gz" ] || guests=("$top/../shared/graphs/4elt.graph.gz")
fi
status=0
for guest in "${guests[@]}"; do
    report=()
    name=$(basename "$guest")
    name=${name%%.*}
    [ -z "$json" ] || { mkdir -p "$json" && report+=(--json "$json/$name.json"); }
    [ -z "$plot" ] || { mkdir -p "$plot" && report+=(--plot "$plot/$name.svg"); }
    python3 "$top/bench/adaptive.py" "$build" "$guest" --steps "$steps" --seconds "$seconds" "${peers[@]}" "${report[@]}" || status=1
done
exit "$status"
