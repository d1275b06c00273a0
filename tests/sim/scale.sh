#!/usr/bin/env bash
# lbsim scale from outside: a cluster of 36 hosts settles, stays balanced while hosts join, leave and are lost,
# runs the same again, and what is wrong on the command line is said.
set -u

. "${top_srcdir:-$(dirname "$0")/../..}/tests/sim/lbsim_lib.sh"

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
# Hosts that are members from the beginning.
"$sim" scale --hosts mesh:4x4 --guest tri:2000 --churn 0 --minutes 0.01 --formed >"$scratch/d" || fail "--formed does not settle"
grep -q ': 0 joined, 0 left, 0 lost; 16 active' "$scratch/d" || fail "--formed: $(cat "$scratch/d")"

refused scale <<'END'
--formed|--formed: hosts join and leave: give --churn 0 too
--hosts nonsense|nonsense: no such topology
--hosts chain:1|--hosts: chain:1 is one host alone
--guest nonsense:1|no such graph
--churn 50|--churn: '50' is not a number from 0 to 40
--churn x|--churn: 'x' is not a number
--minutes=-1|--minutes: '-1' is not a number from 0 to 600
--seed=-1|--seed: '-1' is not a whole number
--loss 1|--loss: '1' is not
--nonsense|--nonsense: there is no such option
--hosts|--hosts: a value is missing
END
"$sim" scale --help | grep -q -- --churn || fail "--help"
exit "$failed"
