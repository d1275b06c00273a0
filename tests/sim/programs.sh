#!/usr/bin/env bash
# Programs of the application library in virtual time: seeds run clean, the same seed is the same run, and mistakes that
# are planted in the library are found. SEEDS=N runs more.
set -u

. "${top_srcdir:-$(dirname "$0")/../..}/tests/sim/lbsim_lib.sh"
seeds=${SEEDS:-12}

for kind in steps send; do
    "$sim" cluster --programs $kind --hosts 3..6 --seeds "$seeds" -q ||
        fail "$kind: seeds 1 to $seeds violate something"
    "$sim" cluster --programs $kind --hosts 3..6 --seeds 3 -q --hashes "$scratch/first" || fail "--hashes"
    "$sim" cluster --programs $kind --hosts 3..6 --seeds 3 -q --hashes "$scratch/second" || fail "--hashes, again"
    cmp "$scratch/first" "$scratch/second" || fail "$kind: the same seeds are other runs"
done

# Seeds that did not end once, as long as the draws are what they were: neighbours at different steps, with parts of
# states for each (two causes; 13 has the first yet); a job that is done, and nobody says so to a host that comes back.
for seed in 13 38 86 71; do
    "$sim" cluster --programs steps --seed $seed -q || fail "seed $seed violates something"
done
# Vertices that come back with states that nobody needs any more.
"$sim" cluster --programs steps --seed 8300010044 --hosts 3..8 -q || fail "seed 8300010044 violates something"
# A collector that leaves while another host's daemon is away, which never hears of it.
"$sim" cluster --programs steps --seed 8300000419 -q || fail "seed 8300000419 violates something"
# A collector that begins again, and nobody has noticed: it lacks what the one before had.
"$sim" cluster --programs steps --seed 8500000951 -q || fail "seed 8500000951 violates something"
# A fifth of all messages is lost, and a state that was lost was asked for again later and later.
"$sim" cluster --programs steps --seed 8530000244 --hosts 3..64 -q || fail "seed 8530000244 violates something"
# A program that stands still until its lease holds again keeps what it had before; one that is cut off meanwhile.
for seed in 8460000260 8470000413; do
    "$sim" cluster --programs send --seed $seed -q || fail "seed $seed violates something"
done

# Mistakes are found within a few runs, each of which is its own.
while read -r kind mistake; do
    seed=1
    while [ $seed -le 20 ] &&
        "$bugs" cluster --programs "$kind" --bug "$mistake" --hosts 3..5 --seed $seed -q >"$scratch/out" 2>&1; do
        seed=$((seed + 1))
    done
    grep -q "violates P[0-9] " "$scratch/out" || fail "$mistake is not found in 20 seeds: $(cat "$scratch/out")"
done <<'END'
send LETTER_TAKEN_TWICE
send LETTER_GAP
steps STATES_DROPPED
END

refused <<'END'
cluster --programs nonsense|--programs: 'nonsense' is no kind: give steps or send
cluster --programs|--programs: a value is missing
END
exit "$failed"
