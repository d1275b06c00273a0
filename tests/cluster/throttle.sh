#!/usr/bin/env bash
# Gates of a job are set while it runs, in real daemons: they show, a budget is kept, and what cannot be set is refused.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local # balancing is what this is about

start mesh:2x2
expect "gen" "$lbctl" -q gen lattice:20x20 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job

# shown KEY VALUE: what host 2 says of the job.
shown() {
    local try got=
    for try in 1 2 3 4 5 6 7 8 9 10; do
        [ "$try" -eq 1 ] || sleep 0.2
        ask 2 jobs job --json >"$scratch/json"
        got=$(figure "$1" "$scratch/json")
        [ "$got" != "$2" ] || { ok "$1 is $2"; return; }
    done
    bad "$1 is $got, not $2"
}
shown cooldown_s 0.0
expect "a cool-down and a payback" ask 1 set job --cooldown 2.5 --payback 30
expect "a budget" ask 0 set job --budget 1500 --in-flight 8
shown cooldown_s 2.5
shown payback_s 30.0
shown bytes_per_s 1500
shown in_flight 8

refused 1 "there is no job named nobody" ask 0 set nobody --budget 1
refused 2 "which job?" ask 0 set --budget 1
refused 2 "is a job's: change a host by another command" ask 0 set job --budget 1 --capacity 2
refused 2 "goes with --policy" ask 0 set job --schedule plain --cooldown 1
refused 2 "--cooldown" ask 0 set job --cooldown -1
refused 2 "--budget" ask 0 set job --budget many
shown bytes_per_s 1500

# A hundred vertices of host 3, some 5,000 bytes: one second's worth may go at once, the rest takes its time.
now_ms() { echo $(($(date +%s%N) / 1000000)); }
expect_map "the mapping" 0 job "$scratch/part"
n=$(grep -cx 3 "$scratch/part")
begin=$(now_ms)
expect "host 3 leaves" ask 0 leave 3 --timeout 600
took=$(($(now_ms) - begin)) bytes=0
for v in $(awk '$1 == 3 { print NR - 1 }' "$scratch/part" | head -n 20); do
    ask 0 explain job "$v" --json >"$scratch/json"
    bytes=$((bytes + $(grep -o '"bytes": *[0-9]*' "$scratch/json" | tail -n 1 | grep -o '[0-9]*$')))
done
bytes=$((bytes * n / 20))
echo "$n vertices, $bytes bytes in $took ms"
if [ "$((took * 1500 / 1000 + 1500 + 200))" -ge "$bytes" ] && [ "$bytes" -gt 2000 ]; then
    ok "the budget is kept"
else
    bad "$bytes bytes in $took ms, with 1500 a second"
fi
expect "no budget" ask 0 set job --budget 0 --in-flight 0
expect "it settles again" settles 0 job
exit "$failed"
