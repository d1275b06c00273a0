#!/usr/bin/env bash
# Payloads of 64 MiB, the longest there are. Four hosts keep them with their backups; they move when a host is drained,
# and survive the death of one that loses its disk: every byte is looked at by the program that gets the vertex. No
# daemon needs much more memory for all that: it has pieces in memory, not payloads.
#   BLOB_BYTES      of a payload (67108864)
#   BLOB_KIB        memory that a daemon may need beyond what it had before, KiB (98304)
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
export PAYLOAD=${BLOB_BYTES:-67108864} CHECKPOINT_MS=20000 STEP_MS=200
most_kib=${BLOB_KIB:-98304}
vertices=8

# memory HOST: the most that its daemon has had, KiB.
memory() { awk '/^VmHWM/ { print $2 }' "/proc/$(cat "$dir/h$1/lbmapd.pid")/status"; }
# all_kept: every vertex that is worked on was checkpointed.
all_kept() { ! awk '$2 == "acquire" { kept[$3] = 0 } $2 ~ /checkpoint|release|revoke/ { kept[$3] = 1 }
    END { for (v in kept) if (!kept[v]) print v }' "${history_of[@]}" | grep -q .; }
# has_none HOST: its application has no vertex.
has_none() { [ -z "$(held "${history_of[$1]}")" ]; }
# bounded TEXT: no daemon has had more memory than it may.
bounded() {
    local host now
    for host in "${!before[@]}"; do
        now=$(memory "$host")
        echo "$1: host $host had $((now - ${before[$host]})) KiB more than ${before[$host]}"
        [ "$((now - ${before[$host]}))" -le "$most_kib" ] || bad "$1: host $host needed more"
    done
}

start complete:4
expect "gen" "$lbctl" -q gen lattice:4x2 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job
declare -A before
for host in 0 1 2 3; do before[$host]=$(memory "$host"); done
for host in 0 1 2 3; do work "$host"; done
until_true 30 "every vertex is worked on" all_worked_on
until_true 120 "every payload is kept" all_kept
bounded "kept"

expect "host 1 leaves" ask 0 leave 1 --timeout 300
until_true 60 "its application has nothing" has_none 1
until_true 120 "all of it is worked on" all_worked_on
until_true 120 "and kept" all_kept
until_true 60 "the others have copies" in_sync
bounded "moved"
end_work TERM 1
unset "before[1]"

echo "host 3 dies: $(held "${history_of[3]}" | wc -l) vertices"
kill -KILL "${worker_pid[3]}" "$(cat "$dir/h3/lbmapd.pid")"
unset "worker_pid[3]" "before[3]"
find "$dir/h3" -mindepth 1 ! -name lbmapd.conf ! -path "*/identity*" -delete
until_true 120 "the others work on all of it" all_worked_on
bounded "taken over"
end_work KILL 0
expect "one executor of a vertex at a time, and no kept step lost" bash "$tests/history_check.sh" "$scratch"/history.*
work 0
until_true 120 "an application that begins again gets all of it" all_worked_on
end_work TERM 0
cat "$scratch"/worker* 2>/dev/null | sort | uniq -c | head -n 20
if grep -h "not its own" "$scratch"/worker*; then bad "payloads were mixed up"; fi
if grep -hE "cut off|giving up|cannot go on|damaged" "$dir"/h*/lbmapd.log; then bad "connections were given up"; fi
exit "$failed"
