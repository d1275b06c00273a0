#!/usr/bin/env bash
# Payloads of 128 KiB: 80 MB of them, more than a connection carries at a time. They move by exchanges and when a host
# leaves, have copies, and an application that begins again gets them all.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local # balancing is what this is about
. "$tests/field_lib.sh"
export PAYLOAD=131072 CHECKPOINT_MS=1000 STEP_MS=50
vertices=640

# all_kept: every vertex that is worked on was checkpointed.
all_kept() { ! awk '$2 == "acquire" { kept[$3] = 0 } $2 == "checkpoint" { kept[$3] = 1 } $2 ~ /release|revoke/ { kept[$3] = 1 }
    END { for (v in kept) if (!kept[v]) print v }' "${history_of[@]}" | grep -q .; }
# has HOST N: its application has that many vertices.
has() { [ "$(held "${history_of[$1]}" | wc -l)" -eq "$2" ]; }
# has_fewer HOST N: fewer than that.
has_fewer() { [ "$(held "${history_of[$1]}" | wc -l)" -lt "$2" ]; }

start chain:3
expect "gen" "$lbctl" -q gen lattice:32x20 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job
for host in 0 1 2; do work "$host"; done
until_true 30 "every vertex is worked on" all_worked_on
until_true 60 "every payload is kept" all_kept
expect "a host becomes faster" ask 0 set 2 --capacity 2
until_true 60 "it gets what the others have too much" has_fewer 0 180
expect "it settles again" settles 0 job
for host in 1 2; do expect "host $host leaves" ask 0 leave "$host" --timeout 600; done
until_true 60 "host 0 has all of it" has 0 "$vertices"
until_true 60 "and has kept it" all_kept
end_work KILL 0
work 0
until_true 60 "an application that begins again gets all of it" has 0 "$vertices"
end_work TERM 0
if grep -h "not its own" "$scratch"/worker*; then bad "payloads were mixed up"; fi
if grep -hE "cut off|giving up|cannot go on" "$dir"/h*/lbmapd.log; then bad "connections were given up"; fi
exit "$failed"
