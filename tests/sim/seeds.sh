#!/usr/bin/env bash
# The simulator from outside: seeds run clean, the same seed is the same run, planted mistakes are found and
# a replay fails again, and what is wrong on the command line is said. SEEDS=N runs more.
set -u

. "${top_srcdir:-$(dirname "$0")/../..}/tests/sim/lbsim_lib.sh"
seeds=${SEEDS:-500}

"$sim" cluster --seeds "$seeds" -q || fail "seeds 1 to $seeds violate something"

# Seeds that did not come to rest once, as long as the draws are what they were: two losses within a few seconds; a
# surplus that no neighbour took any more, with room behind it; a leader with old records among hosts that drain; records of a
# job that was given up before a crash; a host that leaves while one of the last two others is dead; a leader
# that lost its disk and is asked about as an earlier incarnation; a host that lost its disk and became the successor
# of one that came back; a host that lost its disk, and the host that it was told to ask; a host that lost its disk, and is
# answered about offers that its disk held, before its backup reaches it; a host that runs out of memory while it
# anneals labels; hosts in two stages of a mapping, of which one has told nothing of its own; a member that claims entries
# of the control log, and does not answer when it is asked for them; the last entry that a host orders, lost with its
# disk; the same, stored so slowly that its proposal ends before.
for seed in 980005347 980005809 995006276 995007299 1100016893 997000983 1910000563 \
    1930002509 2020002418 2203300123 2302800413 2000000126 2000000907 2000001712 4000000689 4000007388; do
    "$sim" cluster --seed $seed --hosts 3..64 -q || fail "seed $seed violates something"
done
"$sim" cluster --seeds 8 -q --hashes "$scratch/first" || fail "--hashes"
"$sim" cluster --seeds 8 -q --hashes "$scratch/second" || fail "--hashes, again"
cmp "$scratch/first" "$scratch/second" || fail "the same seeds are other runs"
[ "$(sort -u -k2 "$scratch/first" | wc -l)" -eq 8 ] || fail "different seeds are the same run"

kinds=$("$sim" cluster --faults list | wc -l)
[ "$kinds" -ge 24 ] || fail "only $kinds kinds of faults"
"$sim" cluster --seeds 40 --json | grep -q '"failed": 0, ' || fail "--json"

# A mistake that is known to be found soon: the replay that is printed fails in the same way.
"$bugs" cluster --bug TAKE_OVER_SAME_EPOCH --faults=-memory --seeds 100 >"$scratch/table" || fail "the mistake is not found"
seed=$(awk '$1 == "TAKE_OVER_SAME_EPOCH" { print $3 }' "$scratch/table")
"$bugs" cluster --bug TAKE_OVER_SAME_EPOCH --faults=-memory --seed "$seed" >"$scratch/failure" && fail "seed $seed runs clean"
replay=$(sed -n 's/^  to replay: lbsim-bugs //p' "$scratch/failure")
# shellcheck disable=SC2086 # words of a command
"$bugs" $replay >"$scratch/trace" && fail "the replay runs clean"
grep -q 'log entry 1: found' "$scratch/trace" || fail "the replay has no trace"
"$sim" cluster --bug TAKE_OVER_SAME_EPOCH 2>/dev/null && fail "an ordinary node takes a mistake"

# Many mistakes are seen in the first few runs: the checks look at what would happen, not at what did.
"$bugs" cluster --bug all --hosts 3..5 --seeds 16 >"$scratch/table"
found=$(grep -c '  I[0-9]' "$scratch/table")
[ "$found" -ge 12 ] || fail "only $found mistakes are found in 16 seeds"

# What is left out is left out, told as a list or as what remains.
"$sim" cluster --seeds 30 --faults=-drain,-leave --json | grep -q '"drain": 0, .*"leave": 0, ' || fail "--faults=-drain,-leave"
"$sim" cluster --seeds 5 --faults drain --json | grep -q '"leave": 0, ' || fail "--faults drain"

refused <<'END'
cluster --seeds 0|--seeds: '0' is not a whole number from 1
cluster --seeds|--seeds: a value is missing
cluster --seeds 4 --seeds 4|--seeds: given twice
cluster --seed 4 --seeds 3|leave out --seeds and --first
cluster --seed -1|--seed: a value is missing
cluster --hosts 9..3|--hosts: '3' is not a whole number from 9 to 64
cluster --hosts 3..|--hosts: the value is empty; give LEAST..MOST
cluster --hosts x|--hosts: 'x' is not a whole number
cluster --hosts 1111111111111111111111111111111111111111111111111111111111111111111111111111111|--hosts:
cluster --faults nonsense|--faults: 'nonsense' is no fault
cluster --faults=-nonsense|--faults: 'nonsense' is no fault
cluster --without 64|--without: '64' is not a whole number from 0 to 63
cluster --without 1,,2|--without: the value is empty
cluster --nonsense|--nonsense: there is no such option
cluster --bug nonsense|--bug: nothing can be planted in this build
cluster --hashes /nonexistent/file|/nonexistent/file: No such file
cluster 7|7: no operand is wanted
nonsense|nonsense: there is no such command
sc|sc: may be scenario, scale
|a command is missing
END
[ "$("$sim" --help | sed -n '/^commands:/,/^$/p' | grep -c '^  [a-z]')" -ge 9 ] || fail "--help lists no commands"
"$sim" --version | grep -q '^lbsim [0-9]' || fail "--version"
exit "$failed"
