#!/usr/bin/env bash
# lbsim converge from outside: diffusion converges in spite of delay and loss, the later and the more is lost the slower,
# and not at all where it is given no time; the same seed gives the same sweeps.
set -u

. "${top_srcdir:-$(dirname "$0")/../..}/tests/sim/lbsim_lib.sh"

sweeps() { # arguments of lbsim converge, of one run
    "$sim" converge "$@" --json >"$scratch/out" || fail "converge $*: $(cat "$scratch/out")"
    sed -n 's/.*"sweeps": \([0-9]*\).*/\1/p' "$scratch/out"
}

plain=$(sweeps --delay 0 --loss 0)
late=$(sweeps --delay 5 --loss 0)
lost=$(sweeps --delay 0 --loss 50%)
both=$(sweeps --delay 10 --loss 0.5)
[ "$plain" -ge 230 ] && [ "$plain" -le 350 ] || fail "$plain sweeps; one host alone needs 233"
[ "$late" -gt $((3 * plain / 2)) ] && [ "$late" -lt $((3 * plain)) ] || fail "$late sweeps with a delay of 5, $plain without"
[ "$lost" -gt $((11 * plain / 10)) ] && [ "$lost" -lt $((2 * plain)) ] || fail "$lost sweeps with half lost, $plain without"
[ "$both" -gt "$late" ] && [ "$both" -lt $((5 * plain)) ] || fail "$both sweeps with delay and loss, $plain without"
[ "$(sweeps --delay 10 --loss 0.5)" -eq "$both" ] || fail "the same seed gives other sweeps"
[ "$(sweeps --delay 1 --loss 0 --follow --side 16 --hosts mesh:2x2)" -gt 40 ] || fail "--follow"

"$sim" converge --side 16 --hosts mesh:2x2 >"$scratch/table" || fail "the table: $(cat "$scratch/table")"
[ "$(wc -l <"$scratch/table")" -eq 8 ] || fail "the table has other rows"
[ "$(tail -n 1 "$scratch/table" | wc -w)" -eq 9 ] || fail "the table has other columns"
# Neighbours that are 100 sweeps late, of a large lattice: more than the daemon gives it.
"$sim" converge --side 64 --delay 100 --loss 0.9 >"$scratch/out" 2>&1 && fail "a run that cannot converge"
grep -q 'cells is left' "$scratch/out" || fail "why it gave up"

refused converge <<'END'
--hosts nonsense|nonsense: no such topology
--hosts chain:1|--hosts: chain:1 is one host alone
--hosts mesh:2x2x2|has sites in space
--side 3|--side: '3' is not a whole number from 4
--loss 1|--loss: '1' is not
--cells 0|--cells: '0' is not a number from 0.07
END
exit "$failed"
