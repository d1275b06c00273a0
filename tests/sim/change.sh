#!/usr/bin/env bash
# lbsim change: when the load of one of 256 hosts grows by a tenth, at most 25 hosts have to do with it; the same is the same
# again, and what is wrong on the command line is said.
set -u

. "${top_srcdir:-$(dirname "$0")/../..}/tests/sim/lbsim_lib.sh"

"$sim" change --hosts mesh:16x16 --json >"$scratch/a" || fail "mesh:16x16 does not settle: $(figure why "$scratch/a")"
touched=$(figure touched_most "$scratch/a")
awk -v n="${touched:-999}" 'BEGIN { exit !(n >= 3 && n <= 25) }' || fail "$touched hosts are touched"
awk -v a="$(figure imbalance_before "$scratch/a")" -v b="$(figure imbalance "$scratch/a")" \
    'BEGIN { exit !(a > 0.06 && b <= 0.045) }' || fail "imbalance: $(grep -o '"imbalance[^,]*' "$scratch/a")"
# Nobody asks everybody where a vertex is.
grep -q '"where"' "$scratch/a" && fail "hosts ask everybody"

"$sim" change --hosts torus:5x5 --guest lattice:40x40 --changes 3 --seed 4 >"$scratch/b" || fail "torus:5x5 does not settle"
"$sim" change --hosts torus:5x5 --guest lattice:40x40 --changes 3 --seed 4 >"$scratch/c"
cut -d' ' -f1-20 "$scratch/b" | sed 's/[0-9]* MiB//' >"$scratch/d"
cut -d' ' -f1-20 "$scratch/c" | sed 's/[0-9]* MiB//' | cmp -s - "$scratch/d" || fail "the same seed is another run"
[ "$(grep -cE '^ +[0-9]+ +[0-9.]+ ' "$scratch/b")" -eq 3 ] || fail "three changes: $(cat "$scratch/b")"

# With a mapping each host begins with its square block: the one that grows gives to its neighbours.
for ((v = 0; v < 1600; v++)); do echo $((v / 40 / 8 * 5 + v % 40 / 8)); done >"$scratch/blocks"
"$sim" change --hosts mesh:5x5 --guest lattice:40x40 --map "$scratch/blocks" --json >"$scratch/e" || fail "blocks do not settle"
awk -v a="$(figure imbalance_before "$scratch/e")" 'BEGIN { exit !(a > 0.0955 && a < 0.0957) }' ||
    fail "blocks are uneven at first: $(figure imbalance_before "$scratch/e")"
head -n 1599 "$scratch/blocks" >"$scratch/short"

refused change <<END
--hosts mesh:5x5 --guest lattice:40x40 --map $scratch/absent|absent
--hosts mesh:5x5 --guest lattice:40x40 --map $scratch/short|short
--hosts mesh:4x4 --guest lattice:40x40 --map $scratch/blocks|blocks
END
refused change <<'END'
--hosts nonsense|nonsense: no such topology
--hosts chain:1|--hosts: chain:1 is one host alone
--guest nonsense|nonsense: no such graph
--factor x|--factor: 'x' is not a number from 0.1 to 100
--factor 0|--factor: '0' is not a number from 0.1 to 100
--host 256|--host: there are hosts 0 to 255
--host -1|--host: a value is missing
--changes 0|--changes: '0' is not a whole number from 1 to 64
--changes 65|--changes: '65' is not
--hosts ring:4 --changes 4|--changes: one of the 4 hosts stays as it is
--hosts ring:8 --changes 3 --apart 4|--apart: 3 hosts are not so far apart
--apart 0|--apart: '0' is not a whole number
--seed x|--seed: 'x' is not a whole number
--nonsense|--nonsense: there is no such option
--hosts|--hosts: a value is missing
x|x: no operand is wanted
END
"$sim" change --help | grep -q -- --factor || fail "--help"
[ "$failed" -eq 0 ] && echo "a change touches $touched of 256 hosts"
exit "$failed"
