#!/usr/bin/env bash
# Each race of the protocol as a scenario (tests/races/*.scn): it passes, and with the mistake planted that its
# comment names it fails, by the invariant named there ("--": by what the scenario itself expects).
set -u

top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$top_srcdir/tests/sim/lbsim_lib.sh"
mistakes=0

for file in "$top_srcdir"/tests/races/*.scn; do
    name=$(basename "$file")
    "$sim" scenario -q "$file" >"$scratch/out" 2>&1 || fail "$(cat "$scratch/out")"
    read -r mistake invariant < <(sed -n 's/^# mistake: \(.*\), violates: \(.*\)$/\1 \2/p' "$file")
    [ -n "${mistake:-}" ] || continue
    mistakes=$((mistakes + 1))
    "$bugs" scenario --bug "$mistake" "$file" >"$scratch/out" 2>&1
    [ $? -eq 1 ] || fail "$name does not meet $mistake"
    grep -q "fails at [0-9.]* s: $invariant " "$scratch/out" || fail "$name, $mistake: $(cat "$scratch/out")"
    mistake=
done
[ "$mistakes" -ge 30 ] || fail "only $mistakes mistakes are met"

# What is wrong in a file is said with its line.
while IFS='|' read -r line text; do
    printf 'hosts chain:3\n%s\n' "$line" >"$scratch/wrong.scn"
    "$sim" scenario "$scratch/wrong.scn" >"$scratch/out" 2>&1
    [ $? -eq 2 ] || fail "'$line' is taken"
    grep -qF "wrong.scn:2: $text" "$scratch/out" || fail "'$line': $(cat "$scratch/out")"
done <<'END'
crash 5 none|there is no host 5
crash 1 maybe|maybe is none of none|some|all
crash 1|the form is `crash HOST none|some|all`
nonsense 1|nonsense is no command
run 1 h|h is no unit of time
run x s|x is not a number
run 99999999999 s|99999999999 is more than
hold nonsense 0 1|nonsense is no kind of message
await "text within 5 s|a " is missing
guest nonsense:3|
hosts chain:3|the hosts are known already
a b c d e f g h i j k|more than 10 words
END
printf 'run 1 s\n' >"$scratch/wrong.scn"
"$sim" scenario "$scratch/wrong.scn" 2>&1 | grep -q 'hosts SPEC' || fail "a scenario without hosts"
printf 'hosts chain:3\nrun 1 s\nseed 4\n' >"$scratch/wrong.scn"
"$sim" scenario "$scratch/wrong.scn" 2>&1 | grep -q 'wrong.scn:3: .*before line 2' || fail "a setting too late"
printf 'hosts chain:3\n' >"$scratch/wrong.scn"
"$sim" scenario "$scratch/wrong.scn" 2>&1 | grep -q 'nothing happens' || fail "a scenario without commands"
refused scenario <<END
|FILE is missing
$scratch/none.scn|none.scn: No such file
--nonsense|--nonsense: there is no such option
--bug|--bug: a value is missing
--bug ACK_UNACKED x|--bug: nothing can be planted in this build
END

# What fails is said with line, time and reason, and ends with status 1.
printf 'hosts chain:3\nawait "nonsense" within 1 s\n' >"$scratch/fails.scn"
"$sim" scenario "$scratch/fails.scn" >"$scratch/out"
[ $? -eq 1 ] && grep -q 'fails.scn:2: fails at 2.000 s: -- it does not come' "$scratch/out" || fail "await"
printf 'hosts chain:3\nstart 1\n' >"$scratch/fails.scn"
"$sim" scenario "$scratch/fails.scn" | grep -q ':2: fails .* host 1 is up' || fail "a host that is up is started"
"$sim" scenario --trace "$top_srcdir/tests/races/01-successor-waits-for-the-lease.scn" >"$scratch/trace"
grep -q 'host 0  note: took over from host 2' "$scratch/trace" || fail "--trace"
grep -q 'gets lease from' "$scratch/trace" && fail "--trace prints what happens all the time"
"$sim" scenario --commands | grep -q '^settle' || fail "--commands"
"$sim" scenario --help | grep -q -- --trace-all || fail "--help"
exit "$failed"
