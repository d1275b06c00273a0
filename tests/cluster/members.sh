#!/usr/bin/env bash
# Hosts come and go under applications that work all the time: capacity changes, a host leaves and joins again, a
# daemon is restarted, a host dies, is evicted, and comes back. Whatever happens, a vertex has one executor at a
# time and no checkpointed step is lost.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
worker=$top_builddir/tests/cluster/worker
judge=$tests/history_check.sh
workers=

end_workers() {
    # shellcheck disable=SC2086
    [ -z "$workers" ] || kill $workers 2>/dev/null
    # shellcheck disable=SC2086
    wait $workers 2>/dev/null
    workers=
}
trap 'end_workers; finish' EXIT

# The judge finds what it is for.
printf '%s\n' "10 acquire 1 1 0" "30 release 1 1 5 30" >"$scratch/a"
for case in "20 acquire 1 2 5" "40 acquire 1 1 5" "40 acquire 1 2 4"; do
    echo "$case" >"$scratch/b"
    bash "$judge" "$scratch/a" "$scratch/b" >/dev/null && bad "the judge does not see \"$case\""
done
echo "40 acquire 1 2 5" >"$scratch/b"
expect "the judge passes what is right" bash "$judge" "$scratch/a" "$scratch/b"
echo "40 acquire 1 2 0" >"$scratch/b"
printf '%s\n' "10 acquire 1 1 0" "30 release 1 1 5 30" "35 away" >"$scratch/a"
expect "and what a daemon that went had only read" bash "$judge" "$scratch/a" "$scratch/b"
for case in "30 release 1 1 5 30|45 away" "20 checkpoint 1 1 5|30 release 1 1 5 30|35 away" "20 away|30 release 1 1 5 30"; do
    printf '%s\n' "10 acquire 1 1 0" "$case" | tr '|' '\n' >"$scratch/a"
    bash "$judge" "$scratch/a" "$scratch/b" >/dev/null && bad "the judge does not see the loss after \"$case\""
done

# Columns of lbctl hosts, as host 0 sees it: id name state heard unreachable(2) capacity vertices backup insync ...
field() { ask 0 hosts --all | awk -v host="$1" -v field="$2" '$1 == host { print $field }'; }
state() { field "$1" 3; }
empty() { if [ "$(field "$1" 8)" -eq 0 ]; then ok "$2"; else bad "host $1 still has $(field "$1" 8) vertices"; fi; }
is_state() { [ "$(state "$1")" = "$2" ]; }
until_state() {
    if patiently 30 is_state "$1" "$2"; then ok "host $1 is $2"; else bad "host $1 is $(state "$1"), not $2"; fi
}
# until_sync: every host that takes part has its copy with its backup.
in_sync() { ask 0 hosts | awk '$3 ~ /ACTIVE|DRAINING|JOINING/ && $10 != "yes" { bad = 1 } END { exit bad }'; }
until_sync() {
    patiently 30 in_sync || bad "not in sync: $(ask 0 hosts)"
}
# whole TEXT: the job settles and every vertex is somewhere.
whole() {
    expect "$1: settles" settles 0 job
    expect_map "$1: every vertex is on a host" 0 job "$scratch/job.part"
}
work() {
    "$worker" job "$dir/h$1/lbmapd.sock" "$scratch/history$1" 2>>"$scratch/worker$1" &
    workers="$workers $!"
}

log=local
start mesh:2x2
expect "a mesh" "$lbctl" -q gen airfoil:1500 -o "$scratch/mesh.graph"
expect "submit" ask 0 submit "$scratch/mesh.graph" --name job
for host in 0 1 2 3; do work "$host"; done
whole "four hosts"

refused 1 "takes part" ask 0 join 2
refused 1 "orders the control log" ask 1 drain 0
refused 1 "neither id nor name" ask 0 drain nobody
refused 2 "HOST is empty" ask 0 evict --lost ""
refused 2 "nothing to set" ask 0 set 1
refused 2 "give other hosts" ask 0 set 1 --links 2,2
refused 2 "numbers from 0 to 1" ask 0 set 1 --site 0.5,2
refused 3 "no daemon" "$lbctl" -s "$scratch/none.sock" drain

expect "a host gets twice the capacity" ask 1 set h2 --capacity 2
sleep 1
whole "a larger host"
awk '$1 == 2 { n++ } END { exit !(n > 0.35 * NR) }' "$scratch/job.part" && ok "and takes more" || bad "it does not take more"

expect "host 3 leaves" ask 0 leave 3 --timeout 600
until_state 3 LEFT
whole "three hosts"
empty 3 "host 3 is empty"
refused 1 "ask that one" ask 0 join 3
expect "it joins again by its own daemon" ask 3 join
until_state 3 ACTIVE
whole "four hosts again"
until_sync

lost=$(grep -c revoke "$scratch/history1")
expect "daemon 1 crashes" "$lbctl" -q cluster kill 1 --dir "$dir"
sleep 1
expect "and starts again" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
sleep 2
if [ "$(grep -c revoke "$scratch/history1")" -eq "$lost" ]; then
    ok "its application went on"
else
    bad "its application lost $(($(grep -c revoke "$scratch/history1") - lost)) vertices"
fi
whole "after a restart"
until_sync

expect "daemon 2 crashes" "$lbctl" -q cluster kill 2 --dir "$dir"
sleep 1
expect "host 2 is evicted" ask 0 evict 2
refused 1 "is EVICTED" ask 0 evict 2
has_nothing() { [ "$(field "$1" 8)" = 0 ]; }
patiently 30 has_nothing 2
whole "after an eviction"
empty 2 "its successor has what it had"
ask 0 events | grep -q "host 2 is evicted" && ok "events tell of it" || bad "events: $(ask 0 events)"
expect "daemon 2 comes back" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
until_state 2 ACTIVE
whole "all back"
sleep 1

end_workers
cat "$scratch"/worker* >&2
expect "one executor of a vertex at a time, and no kept step lost" bash "$judge" "$scratch"/history?
exit "$failed"
