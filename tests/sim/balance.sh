#!/usr/bin/env bash
# lbsim balance and lbsim advise from outside: every policy on every kind of hosts conserves the load and settles, or says why
# not; JSON is JSON; loads from every source; what is wrong on the command line is said in one line.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$top/tests/sim/lbsim_lib.sh"

# The number of a field of the JSON on standard input.
field() {
    sed -nE "s/.*\"$1\": ([-0-9.e+]+|true|false).*/\1/p"
}

conserved() { # the total after is that before, to 1e-9 of it; whole units exactly
    awk -v a="$(field total_before <"$1")" -v b="$(field total_after <"$1")" -v whole="$2" \
        'BEGIN { d = a > b ? a - b : b - a; exit !(a != "" && d <= (whole ? 0 : 1e-9 * a)) }'
}

# Hosts in a file: a planar grid with diagonals, 5 by 5.
awk 'BEGIN { n = 5; for (i = 0; i < n * n; i++) { x = i % n; y = int(i / n)
    if (x < n - 1) { e[i] = e[i] " " i + 2; e[i + 1] = e[i + 1] " " i + 1; m++ }
    if (y < n - 1) { e[i] = e[i] " " i + n + 1; e[i + n] = e[i + n] " " i + 1; m++ }
    if (x < n - 1 && y < n - 1) { e[i] = e[i] " " i + n + 2; e[i + n + 1] = e[i + n + 1] " " i + 1; m++ } }
    print n * n, m; for (i = 0; i < n * n; i++) print e[i] }' >"$scratch/planar.graph"
hosts="ring:15 mesh:5x4 torus:6x5 hypercube:4 star:9 tree:2,3 complete:5 chain:1 file:$scratch/planar.graph"
irregular=$top/../shared/hosts/irr24.graph # a network of 24 hosts, where the tree's companion folder is present
[ -e "$irregular" ] && hosts="$hosts file:$irregular"

policies="diffusion second-order chebyshev dimension-exchange gde random-load oem dem dem-table cwa edge-remap auto ops potentials metropolis optimized random-matching whole-diffusion"
settled=0
for h in $hosts; do
    for policy in $policies; do
        for whole in "" --integer; do
            # shellcheck disable=SC2086 # no word if real
            "$sim" balance --hosts "$h" --policy "$policy" $whole --json >"$scratch/out" 2>"$scratch/err"
            case $? in
                0) conserved "$scratch/out" "$whole" || fail "$h $policy $whole: $(cat "$scratch/out")"
                    settled=$((settled + 1)) ;;
                2) [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$h $policy $whole: $(cat "$scratch/err")"
                    grep -qE "CYB89|XL95|SAN|RJK03|HEI97|Muthukrishnan|Diekmann|Hu and Blake|Xiao and Boyd|Rabani|accelerate" "$scratch/err" ||
                        fail "$h $policy $whole: no source: $(cat "$scratch/err")" ;;
                *) fail "$h $policy $whole: $(cat "$scratch/out" "$scratch/err")" ;;
            esac
        done
    done
    "$sim" advise --hosts "$h" >"$scratch/out" || fail "advise $h"
    grep -q '^auto: ' "$scratch/out" || fail "advise $h says nothing"
done
[ "$settled" -ge 150 ] || fail "only $settled runs settled"

# Theorem 1 explains what does not level.
"$sim" balance --hosts ring:8 --policy diffusion --alpha 0.5 >"$scratch/out"
[ $? -eq 1 ] && grep -q 'CYB89 Theorem 1' "$scratch/out" || fail "theorem 1"

# A file with an alpha for each link says what one alpha says; what is wrong with it is told with its line.
printf '# of a ring\n0 1 0.3\n2 1 0.3\r\n\n2 3 .3\n3 0 3e-1 # the last\n' >"$scratch/alpha"
"$sim" balance --hosts ring:4 --policy diffusion --alpha 0.3 --json >"$scratch/one"
"$sim" balance --hosts ring:4 --policy diffusion --alpha "file:$scratch/alpha" --json >"$scratch/file"
for figure in steps moved net_flow; do
    [ "$(field $figure <"$scratch/one")" = "$(field $figure <"$scratch/file")" ] || fail "alpha of links: $figure"
done
while IFS='|' read -r lines message; do
    printf '%b' "$lines" >"$scratch/alpha"
    "$sim" balance --hosts ring:4 --policy diffusion --alpha "file:$scratch/alpha" >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 2 ] && [ ! -s "$scratch/out" ] && grep -qF -- "$message" "$scratch/err" || fail "$lines: $(cat "$scratch/err")"
done <<'END'
0 1 0.3\n1 2 0.3\n2 3 0.3\n|has no alpha for the link of hosts 0 and 3
0 2 0.3\n|alpha:1: hosts 0 and 2 are not linked
0 1 0.3\n1 0 0.2\n|alpha:2: the link of hosts 1 and 0 has its alpha already
\n0 1 much\n|alpha:2: 'much' is not an alpha
0 1 -0.1\n|alpha:1: '-0.1' is not an alpha
0 1 nan\n|alpha:1: 'nan' is not an alpha
0 1\n|alpha:1: '1' does not begin with a host
-1 0 0.3\n|alpha:1: '-1 0 0.3' does not begin with a host
END

# RJK03's figs 18 and 19, and loads of every kind.
"$sim" balance --hosts hypercube:3 --policy dem --integer --loads list:15,1,1,1,1,1,1,1 --schedule --json >"$scratch/out"
[ "$(field plain <"$scratch/out") $(field overlapped <"$scratch/out") $(field pipelined <"$scratch/out")" = "12 10 7" ] ||
    fail "schedules: $(cat "$scratch/out")"
# Section 5: CWA collects all loads first, OEM takes some of the dimensions; max - min is told.
for low in 0 2 4; do
    "$sim" balance --hosts hypercube:4 --policy cwa --low "$low" --integer --json >"$scratch/out" || fail "--low $low"
    [ "$(field collection <"$scratch/out")" = $((2 * (4 - low))) ] || fail "collection: $(cat "$scratch/out")"
    [ "$(field rounds <"$scratch/out")" = $((12 - 2 * low)) ] || fail "rounds: $(cat "$scratch/out")"
    [ "$(field spread <"$scratch/out")" -le $(((low + 1) / 2 + (low < 4))) ] || fail "spread: $(cat "$scratch/out")"
done
"$sim" balance --hosts hypercube:4 --policy cwa --integer | grep -q '^max - min   [01]$' || fail "max - min"
"$sim" balance --hosts hypercube:3 --policy cwa --low 4 --integer 2>"$scratch/err"
[ $? -eq 2 ] && grep -q '4 dimensions of 3' "$scratch/err" || fail "--low 4: $(cat "$scratch/err")"
"$sim" balance --hosts hypercube:3 --policy oem --low 1 --integer 2>"$scratch/err"
[ $? -eq 2 ] && grep -q 'only cwa leaves dimensions to OEM' "$scratch/err" || fail "--low of oem: $(cat "$scratch/err")"
printf '3\n0 1\n' >"$scratch/loads"
for loads in uniform:4 uniform:0 point:9 point:9,2 "list:1,2,3" "file:$scratch/loads"; do
    "$sim" balance --hosts chain:3 --loads "$loads" --integer -q || fail "$loads"
done
printf '1 2 4\n' >"$scratch/capacities"
"$sim" balance --hosts "chain:3@cap=$scratch/capacities" --loads point:7 --bound 1e-9 --trace >"$scratch/out" ||
    fail "capacities"
grep -q 'loads 1 \.\. 4$' "$scratch/out" || fail "loads are not in proportion to capacities"
"$sim" balance --hosts hypercube:3 --policy diffusion --arrivals 4,2,4 --steps 20000 --json |
    field variance | awk '{ exit !($1 > 30 && $1 < 36) }' || fail "arrivals"
"$sim" balance --hosts ring:8 --runs 5 --json | grep -q '"runs": 5, ' || fail "--runs"
"$sim" advise --hosts ring:8 --ports all --json | grep -q '"candidates": \[{"policy": ' || fail "advise --json"

refused <<'END'
balance|--hosts SPEC is missing
balance --hosts|--hosts: a value is missing
balance --hosts nonsense:3|nonsense:3: no such topology
balance --hosts ring:8 --policy nonsense|--policy: 'nonsense' is none of diffusion,
balance --hosts ring:8 --loads nonsense|--loads: nonsense is none of uniform:MEAN,
balance --hosts ring:8 --loads list:1,2|--loads: 2 loads for 8 hosts
balance --hosts ring:2 --loads list:1,2,3|--loads: more loads than the 2 hosts
balance --hosts ring:8 --loads point:1,8|--loads: there is no host 8
balance --hosts ring:8 --loads list:-1|--loads: load 1, -1, is not a number >= 0
balance --hosts ring:8 --lambda 0|--lambda: '0' is not a number from 1e-06 to 1
balance --hosts ring:8 --alpha much|--alpha: 'much' is not optimal, safe, feasible, metropolis, optimized
balance --hosts ring:8 --alpha 2|--alpha: '2' is not a number from 0 to 1
balance --hosts ring:8 --bound=-1|--bound: '-1' is not a number
balance --hosts ring:8 --schedule|--schedule: needs --integer, and one run
balance --hosts ring:8 --runs 0|--runs: '0' is not a whole number
balance --hosts ring:8 --arrivals 1,1,1|arrivals: a mean of 1 with a deviation of 1
balance --hosts ring:8 --arrivals 1,1|--arrivals: '1,1' is not MEAN,DEVIATION,SERVICE
balance --hosts ring:8 --arrivals 1,1,1,1|--arrivals: '1,1,1,1' is more than MEAN,DEVIATION,SERVICE
balance --hosts ring:8 --arrivals 1,x,1|--arrivals: 'x' is not a number
balance --hosts ring:8 --stop quiescent|need a bound above 0 to stop at
balance --hosts file:/nonexistent|/nonexistent: cannot be opened
balance --hosts ring:8 --loads file:/nonexistent|/nonexistent: cannot be opened
advise|--hosts SPEC is missing
advise --hosts ring:8 --trace|--trace: there is no such option
END

exit "$failed"
