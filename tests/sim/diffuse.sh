#!/usr/bin/env bash
# A hundred hosts map a guest that nobody plans, whether it comes in at one host or is scattered over all of them:
# balanced, J near that of a plan, and no host has made one.
set -u

. "${top_srcdir:-$(dirname "$0")/../..}/tests/sim/lbsim_lib.sh"

lbctl=$top_builddir/client/lbctl
"$lbctl" gen tri:5000 -o "$scratch/g.graph" || fail "lbctl gen"
"$lbctl" plan "$scratch/g.graph" --hosts mesh:10x10 --json >"$scratch/plan" || fail "lbctl plan"
plan=$(figure hop_bytes "$scratch/plan")
[ -n "$plan" ] || exit 1

# $1: percent of the plan's J; the rest: options.
maps() {
    local bound=$1 text="${*:2}"
    shift
    "$sim" scale --hosts mesh:10x10 --guest tri:5000 --start diffuse --churn 0 --minutes 0.01 --json "$@" \
        >"$scratch/run" || fail "$text: it does not settle"
    [ "$(figure plans "$scratch/run")" = 0 ] || fail "$text: somebody planned"
    [ $((100 * $(figure hop_bytes "$scratch/run"))) -le $((bound * plan)) ] ||
        fail "$text: J is $(figure hop_bytes "$scratch/run"), of a plan $plan"
    awk -v i="$(figure imbalance "$scratch/run")" 'BEGIN { exit !(i <= 0.0301) }' || fail "$text: imbalance $(figure imbalance "$scratch/run")"
}

maps 110 --holders 1
maps 140 --holders 100 --scatter # single runs differ by a tenth

# 144 hosts hold stripes two and a half rows wide: they gather neighbours before labels are annealed. The plan's J is 8588.
"$sim" scale --formed --hosts mesh:12x12 --guest lattice:375x375 --start diffuse --holders 144 --churn 0 --minutes 0.01 --json \
    >"$scratch/run" || fail "stripes: it does not settle"
[ "$(figure hop_bytes "$scratch/run")" -le 9300 ] || fail "stripes: J is $(figure hop_bytes "$scratch/run"), of a plan 8588"
exit "$failed"
