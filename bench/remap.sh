#!/usr/bin/env bash
# Remapping on 16 hosts: what moves, and what J becomes next to a fresh plan, when a host joins, when one leaves, when
# the load of a corner doubles. Migration costs are multiples of lbctl's own.
#
#   bench/remap.sh [-s SEED] [-c COST,COST...] [-g GUEST,...] [-j FILE] [-p FILE.svg] [BUILD_DIRECTORY]
#
# SEED is 1; COSTs are 0,0.25,0.5,0.75,1,1.5,2,4; guests are lattice:64x64, 4elt, delaunay_n15 (files of ../shared/graphs,
# skipped where they are not there). -j writes the numbers as JSON, -p draws J against moved weight.
# Bounds: a join moves at most 12 % of the weight, a leave 1.5 times the leaver's, a doubled corner 1.5 times what is
# unavoidable; J is at most 1.15 of a fresh plan's, no host over 3 %. Exit: 1 if a situation is in bounds at no cost.
set -eu

seed=1 costs=0,0.25,0.5,0.75,1,1.5,2,4 guests=lattice:64x64,4elt,delaunay_n15 json= plot=
while getopts s:c:g:j:p: option; do
    case $option in
    s) seed=$OPTARG ;;
    c) costs=$OPTARG ;;
    g) guests=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    p) plot=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" client/lbctl
needs python3
exec python3 "$top/bench/remap.py" "$build/client/lbctl" "$top/../shared/graphs" "$seed" "$costs" "$guests" "$json" "$plot"
