#!/usr/bin/env bash
# lbsim change: when the load of one of 256 hosts grows by a tenth, at most 25 hosts have to do with it; the same is the same
# again, and what is wrong on the command line is said.
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
# figure KEY FILE: the first number of that name.
figure() { grep -o "\"$1\": *[-0-9.e]*" "$2" | head -n 1 | sed 's/.*: *//'; }

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

for wrong in "--hosts nonsense" "--hosts chain:1" "--guest nonsense" "--factor x" "--factor 0" "--host 256" "--host -1" \
    "--changes 0" "--changes 65" "--hosts ring:4 --changes 4" "--seed x" "--nonsense" "--hosts"; do
    # shellcheck disable=SC2086 # words of a command
    "$sim" change $wrong >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 2 ] && [ -s "$scratch/err" ] || fail "lbsim change $wrong: status or message"
done
"$sim" change --help | grep -q -- --factor || fail "--help"
[ "$failed" -eq 0 ] && echo "a change touches $touched of 256 hosts"
exit "$failed"
