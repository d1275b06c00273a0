#!/usr/bin/env bash
# lbctl trace on a real cluster: while loads change, a host gets another capacity and one leaves, a trace is recorded;
# its end is what the cluster has at that time. Then lbsim replay runs policies over it.
#   TRACE_HOSTS   mesh:2x2
#   TRACE_GUEST   lattice:40x40
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
export LOADS=$scratch/loads
guest=${TRACE_GUEST:-lattice:40x40}
side=${guest##*x}
trace=$scratch/trace

# cost AWK-CONDITION: vertices for which it holds, in x and y, cost 200, all others 100.
cost() {
    awk -v n="$vertices" -v w="$side" "BEGIN { for (v = 0; v < n; v++) { x = v % w; y = int(v / w); print ($1) ? 200 : 100 } }" \
        >"$LOADS.new"
    mv "$LOADS.new" "$LOADS"
}
# owners_at_end FILE: the host of each vertex, by the trace.
owners_at_end() {
    awk '$1 == "vertex" { own[$2] = $4; n++ } $1 == "own" { for (i = 3; i <= NF; i++) own[$i] = $2 }
        END { for (v = 0; v < n; v++) print own[v] }' "$1"
}
# loads_at_end FILE: the load of each host, by the trace.
loads_at_end() {
    awk '$1 == "vertex" { own[$2] = $4; work[$2] = $3; n++ } $1 == "own" { for (i = 3; i <= NF; i++) own[$i] = $2 }
        $1 == "load" { for (i = 2; i <= NF; i++) { split($i, p, ":"); work[p[1]] = p[2] } }
        END { for (v = 0; v < n; v++) load[own[v]] += work[v]; for (h in load) print h, load[h] }' "$1" | sort -n
}
has_line() { grep -qE "$1" "$trace"; }
# loads_stored: the load of each host that is there, by its own database.
loads_stored() {
    for ((host = 0; host < hosts - 1; host++)); do
        sqlite3 -readonly "$dir/h$host/lbmap.db" "select sum(work) from vertex where stage = 1"
    done
}
# is_even: settled within 5 %, of what hosts have stored, since others hear of it later. Host 2 has half a host's share.
is_even() {
    ask 0 jobs | awk 'NR == 2 { exit !($2 == "SETTLED") }' &&
        loads_stored | awk '{ share[NR] = NR == 3 ? 0.5 : 1; load[NR] = $1; all += $1; due += share[NR] }
            END { for (h in load) if (load[h] > 1.05 * all * share[h] / due) exit 1 }'
}
# is_traced: the trace ends with the owners that there are.
is_traced() {
    ask 0 map job -o "$scratch/part" 2>/dev/null
    owners_at_end "$trace" | cmp -s - "$scratch/part"
}

start "${TRACE_HOSTS:-mesh:2x2}"
hosts=$(find "$dir" -maxdepth 1 -name 'h*' | wc -l)
expect "gen" "$lbctl" -q gen "$guest" -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job --imbalance 0.02 --seed 7
expect "it settles" settles 0 job --json
vertices=$(figure vertices "$scratch/output")

refused 1 "there is no job named nonsense" ask 0 trace nonsense -o "$trace"
refused 2 "compress it when it is complete" ask 0 trace job -o "$trace.gz" --seconds 1
refused 2 "--output FILE is missing" ask 0 trace job
refused 2 "standard output" ask 0 trace job -o - --json
refused 1 "No such file" ask 0 trace job -o "$scratch/none/trace"
refused 3 "no daemon listens there" "$lbctl" -s "$scratch/none.sock" trace job -o "$trace"
[ -e "$trace" ] && bad "a refusal has made a file"
echo kept >"$scratch/kept"
refused 1 "there is no job named nonsense" ask 0 trace nonsense -o "$scratch/kept"
[ "$(cat "$scratch/kept")" = kept ] || bad "a recording that cannot begin has written over a file"

# A settled job: nothing happens, and nothing is written.
expect "a trace of rest" ask 1 trace job -o "$scratch/rest" --seconds 1.5 --every 0.2
if [ "$(grep -c '^at' "$scratch/rest")" -eq 0 ] && tail -n 1 "$scratch/rest" | grep -q '^end 1\.[5-9]'; then
    ok "a trace of rest has no step"
else
    bad "a trace of rest: $(tail -n 3 "$scratch/rest")"
fi
grep -q '^job job 0.02 auto 7$' "$scratch/rest" || bad "the job: $(grep '^job' "$scratch/rest")"
ask 0 map job -o "$scratch/part" 2>/dev/null
owners_at_end "$scratch/rest" | cmp -s - "$scratch/part" || bad "owners at the beginning"

cost 0
for ((host = 0; host < hosts; host++)); do work "$host"; done
until_true 30 "every vertex is worked on" all_worked_on
[ "$failed" -eq 0 ] || exit 1
ask 1 trace job -o "$trace" --every 0.5 --seconds 60 2>"$scratch/recorder" &
recorder=$!
until_true 10 "the recorder has begun" grep -qs '^begin' "$trace"
cost "x < $side / 2 && y < $side / 2"
until_true 20 "loads are traced" has_line '^load .*:(19[0-9]|200)'
expect "a capacity" ask 0 set 2 --capacity 0.5
until_true 10 "the capacity is traced" has_line '^host 2 h2 0.5'
until_true 30 "moves are traced" has_line '^own 0'
expect "host 3 leaves" ask 0 -q leave 3 --timeout 600
until_true 10 "the leave is traced" has_line '^left 3'
end_work TERM "${!worker_pid[@]}" # nothing changes any more
settles 0 job >"$scratch/output" 2>&1 || bad "$(tail -n 2 "$scratch/output")"
until_true 40 "loads are even" is_even
until_true 20 "all moves are traced" is_traced
kill -INT "$recorder" 2>/dev/null # a shell's background job ignores it
kill -TERM "$recorder" 2>/dev/null
wait "$recorder" 2>/dev/null
ask 0 map job -o "$scratch/part" --json >"$scratch/map" 2>&1 || bad "the map: $(tail -n 2 "$scratch/map")"
if is_traced; then
    ok "owners are what the trace says"
else
    bad "owners: $(owners_at_end "$trace" | diff - "$scratch/part" | head -n 5)"
fi
loads_at_end "$trace" | cut -d' ' -f2 | paste -sd' ' >"$scratch/loads_traced"
loads_stored | paste -sd' ' >"$scratch/loads_stored"
if cmp -s "$scratch/loads_traced" "$scratch/loads_stored"; then
    ok "loads are what the trace says"
else
    bad "loads: $(cat "$scratch/loads_traced"), not $(cat "$scratch/loads_stored")"
fi
echo "$(grep -c '^at' "$trace") steps, $(wc -c <"$trace") bytes"

# Ctrl-C ends a trace as it should end; so does a daemon that goes away, with another status.
env --default-signal=INT "$lbctl" -s "$dir/h0/lbmapd.sock" trace job -o "$scratch/interrupted" --every 0.2 --json >"$scratch/output" 2>&1 &
recorder=$!
until_true 10 "the recorder has begun" grep -qs '^begin' "$scratch/interrupted"
kill -INT "$recorder"
wait "$recorder" || bad "Ctrl-C: status $?: $(tail -n 2 "$scratch/output")"
tail -n 1 "$scratch/interrupted" | grep -q '^end ' || bad "Ctrl-C: $(tail -n 1 "$scratch/interrupted")"
[ "$(figure vertices "$scratch/output")" = "$vertices" ] || bad "the report: $(cat "$scratch/output")"
ask 1 trace job -o "$scratch/orphan" --every 0.2 >"$scratch/output" 2>&1 &
recorder=$!
until_true 10 "the recorder has begun" grep -qs '^begin' "$scratch/orphan"
"$lbctl" -q cluster kill 1 --dir "$dir"
wait "$recorder"
[ $? -eq 3 ] || bad "a daemon that is gone: $(tail -n 2 "$scratch/output")"
tail -n 1 "$scratch/orphan" | grep -q '^end ' || bad "a daemon that is gone: $(tail -n 1 "$scratch/orphan")"

# The same again in virtual time: the same twice, two policies next to what happened, with hosts and loads as recorded.
sim=$top_builddir/sim/lbsim
expect "a replay" "$sim" replay "$trace" --policy none,gde --json
cp "$scratch/output" "$scratch/first"
expect "a replay again" "$sim" replay "$trace" --policy none,gde --json
cmp -s "$scratch/first" "$scratch/output" || bad "a replay differs from the one before"
[ "$(grep -c '"settled": true' "$scratch/first")" -eq 3 ] || bad "a replay: $(grep -o '"policy[^}]*"why": "[^"]*"' "$scratch/first")"
at_most "$(figure changes "$scratch/first")" 20 || bad "phases: $(figure changes "$scratch/first")"
for run in 1 2 3; do
    uneven=$(grep '"policy"' "$scratch/first" | sed -n "${run}p" | grep -o '"imbalance": *[0-9.]*' | sed 's/.*: *//')
    at_most "$uneven" 0.1 || bad "run $run ends with imbalance $uneven"
done
head=$(sed -n '1,/^begin/p' "$trace" | wc -c)
cut=$((head + ($(wc -c <"$trace") - head) / 2))
expect "a cut trace" "$sim" replay <(head -c "$cut" "$trace") --rest 120
grep -q "was cut" "$scratch/output" || bad "not told that the trace was cut"
grep -q '^recorded ' "$scratch/output" || bad "no table: $(head -n 4 "$scratch/output")"
expect "a compressed trace" "$sim" replay <(gzip -c "$scratch/rest") -q
"$sim" replay "$scratch/rest" --phases >"$scratch/output" || bad "--phases"
grep -q '^ *start' "$scratch/output" || bad "--phases: $(head -n 9 "$scratch/output")"

head -n 3 "$trace" >"$scratch/bad"
refused 2 "bad:4: the trace ends before its guest is complete" "$sim" replay "$scratch/bad"
sed 's/^begin/begun/' "$trace" >"$scratch/bad"
refused 2 "\"begun\" is no word of a trace" "$sim" replay "$scratch/bad"
refused 2 "none: " "$sim" replay "$scratch/none"
refused 2 "TRACE is missing" "$sim" replay
refused 2 "one operand too many" "$sim" replay "$trace" "$trace"
refused 2 "--policy: 'nonsense' is none of none, diffusion" "$sim" replay "$trace" --policy gde,nonsense
refused 2 "'nonsense' is none of plain, overlapped, pipelined" "$sim" replay "$trace" --schedule nonsense
refused 2 "'nonsense' is none of plan, centre, random, coordinator, coarse, diffuse, trace" "$sim" replay "$trace" --start nonsense
refused 2 "is not a number from 1e-06 to 1, or a percentage such as 3%" "$sim" replay "$trace" --imbalance 0
refused 2 "'-1' is not a number from 0 to 1000000 seconds" "$sim" replay "$trace" --cooldown=-1
refused 2 "is not a whole number" "$sim" replay "$trace" --in-flight 1.5
refused 2 "no such option" "$sim" replay "$trace" --nonsense
refused 2 "--seed: a value is missing" "$sim" replay "$trace" --seed
refused 0 "usage: lbsim replay" "$sim" replay --help
exit "$failed"
