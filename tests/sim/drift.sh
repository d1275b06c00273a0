#!/usr/bin/env bash
# lbsim drift: loads of a corner that double are followed within 5 s, without moving much more than that asks for or cutting
# much more than a fresh plan; what is constant, or noise, moves nothing; a run is the same again.
set -u

. "${top_srcdir:-$(dirname "$0")/../..}/tests/sim/lbsim_lib.sh"

"$sim" drift --guest tri:4000 --seed 2 --ramps 1 --still 30 --noisy 60 --json >"$scratch/a" || fail "the cluster fails: $(figure why "$scratch/a")"
holds() { awk -v a="$(figure "$1" "$scratch/a")" "BEGIN { exit !(a $2) }" || fail "$1 is $(figure "$1" "$scratch/a"), not $2"; }
holds late '== 0'
holds hop_bytes_ratio_most '<= 1.15'
awk -v all="$(figure hop_bytes_ratio_luckiest "$scratch/a")" -v middle="$(figure hop_bytes_ratio_most "$scratch/a")" \
    'BEGIN { exit !(all > middle && middle > 0.5) }' || fail "of five plans the luckiest is no better than the middle one"
holds still_handed '== 0'
holds noise_a_minute '<= 0.001'
awk -v moved="$(figure moved "$scratch/a")" -v flow="$(figure flow "$scratch/a")" 'BEGIN { exit !(moved > flow / 2 && moved <= 2 * flow) }' ||
    fail "$(figure moved "$scratch/a") moved where $(figure flow "$scratch/a") would do"

mkdir "$scratch/maps"
"$sim" drift --guest tri:1000 --hosts mesh:2x2 --ramps 1 --steps 3 --plans 3 --still 1 --noisy 1 --maps "$scratch/maps" >"$scratch/b" || fail "mesh:2x2"
"$sim" drift --guest tri:1000 --hosts mesh:2x2 --ramps 1 --steps 3 --plans 3 --still 1 --noisy 1 | cmp -s - "$scratch/b" || fail "the same seed is another run"
[ "$(wc -l <"$scratch/maps/after-3.part")" -eq 1000 ] && [ -f "$scratch/maps/after-0.part" ] || fail "--maps: $(ls "$scratch/maps")"
"$sim" drift --guest tri:1000 --hosts mesh:2x2 --ramps 1 --steps 2 --plans 2 --remap 0 >"$scratch/c" || fail "--remap"
grep -q 'of the least flow' "$scratch/c" || fail "--remap: $(cat "$scratch/c")"

refused drift <<'END'
--hosts nonsense|nonsense: no such topology
--hosts chain:1|--hosts: chain:1 is one host alone
--guest nonsense:1|no such graph
--guest absent.graph|absent.graph
--ramps 40 --steps 100|--steps: no more than 400
--noise 2|--noise
--fresh 0|--fresh
--nonsense|--nonsense: there is no such option
END
[ "$failed" -eq 0 ] && echo "J at most $(figure hop_bytes_ratio_most "$scratch/a") of a fresh plan"
exit "$failed"
