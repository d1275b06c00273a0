#!/usr/bin/env bash
# lbsim disturb from outside: a job that diffuses settles on what is left although a host stands still or is killed while
# it maps, a link is slow or messages are lost; it is never said to have settled while it is uneven; J is near that of a
# run without the fault. The bounds are of single runs, which differ by a tenth.
set -u

. "${top_srcdir:-$(dirname "$0")/../..}/tests/sim/lbsim_lib.sh"

# row FAULT KEY: a figure of that fault's run in $scratch/out.
row() { grep "\"fault\": \"$1\"" "$scratch/out" >"$scratch/row" && figure "$2" "$scratch/row"; }
# within A B PERCENT: A is at most that much of B.
within() { awk -v a="$1" -v b="$2" -v percent="$3" 'BEGIN { exit !(a > 0 && b > 0 && 100 * a <= percent * b) }'; }

# judge ARGUMENTS: all faults.
judge() {
    local fault like
    "$sim" disturb "$@" --json >"$scratch/out" || fail "disturb $*: $(cat "$scratch/out")"
    for fault in stops dies lags loses; do
        like=none
        [ "$fault" = stops ] || [ "$fault" = dies ] && like=absent
        # Not even (vertices are missing) or uneven: neither may be said to have settled.
        awk -v x="$(row $fault first_imbalance)" 'BEGIN { exit !(x > 0 && x <= 0.033) }' ||
            fail "$*, $fault: said to have settled at $(row $fault first_imbalance)"
        within "$(row $fault dilation)" "$(row $like dilation)" 115 ||
            fail "$*, $fault: $(row $fault dilation) hops, without it $(row $like dilation)"
    done
    # Until a host is known to be lost, and its lease is over, takes nine seconds.
    for fault in stops dies; do
        awk -v a="$(row $fault virtual_s)" -v b="$(row absent virtual_s)" -v after="$after" \
            'BEGIN { exit !(a > 0 && b > 0 && a <= after + 9 + 1.3 * b) }' ||
            fail "$*, $fault: $(row $fault virtual_s) s, without that host $(row absent virtual_s)"
    done
    within "$(row lags virtual_s)" "$(row none virtual_s)" 250 || fail "$*, lags: $(row lags virtual_s) s"
    none="$none $(row none virtual_s)" loses="$loses $(row loses virtual_s)"
}
none='' loses=''
for after in 0.3 1.8; do
    judge --seed 1 --after "$after"
done
after=1
for seed in 3 4; do
    judge --seed "$seed" --after 1 --guest tri:2000 --hosts torus:3x3
done
# Times come in steps of half a second: only those of all runs together say something.
sum() { tr ' ' '\n' <<<"$1" | awk '{ s += $1 } END { print s }'; }
within "$(sum "$loses")" "$(sum "$none")" 130 || fail "loses: $loses s, without that $none s"

"$sim" disturb --fault dies >"$scratch/a" && "$sim" disturb --fault dies >"$scratch/b" || fail "--fault dies"
cmp "$scratch/a" "$scratch/b" || fail "the same seed is another run"
"$sim" disturb --fault none --parts 4 --shuffle --guest tri:500 --trace | grep -q 'note: ' || fail "--trace"

refused disturb <<'END'
--hosts nonsense|nonsense: no such topology
--guest nonsense:1|no such graph
--fault nonsense|--fault: 'nonsense' is none of
--host 6|--host: from 1 to 5
--parts 7|--parts: there are 6 hosts
--after x|--after: 'x' is not a number
END
exit "$failed"
