#!/usr/bin/env bash
# lbsim scale from outside: a cluster of 36 hosts settles, stays balanced while hosts join, leave and are lost,
# runs the same again, and what is wrong on the command line is said.
set -u

top_builddir=${top_builddir:-$(pwd)}
sim=$top_builddir/sim/lbsim
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

"$sim" scale --hosts mesh:6x6 --guest lattice:60x60 --minutes 0.5 --json >"$scratch/a" || fail "mesh:6x6 does not settle"
grep -q '"settled": true' "$scratch/a" || fail "--json"
for part in joined left lost; do
    grep -q "\"$part\": [1-9]" "$scratch/a" || fail "nobody has $part"
done
# Another machine loses, joins and leaves the same: links of unequal cost and no plane.
"$sim" scale --hosts hypercube:4 --guest tri:2000 --minutes 0.2 --seed 3 >"$scratch/b" || fail "hypercube:4 does not settle"
"$sim" scale --hosts hypercube:4 --guest tri:2000 --minutes 0.2 --seed 3 >"$scratch/c"
hash=$(sed -n 's/.* hash //p' "$scratch/b")
[ -n "$hash" ] && [ "$hash" = "$(sed -n 's/.* hash //p' "$scratch/c")" ] || fail "the same seed is another run"

for wrong in "--hosts nonsense" "--hosts chain:1" "--guest nonsense" "--churn 50" "--churn x" "--minutes -1" \
    "--seed -1" "--nonsense" "--hosts"; do
    # shellcheck disable=SC2086 # words of a command
    "$sim" scale $wrong >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 2 ] && [ -s "$scratch/err" ] || fail "lbsim scale $wrong: status or message"
done
"$sim" scale --help | grep -q -- --churn || fail "--help"
exit "$failed"
