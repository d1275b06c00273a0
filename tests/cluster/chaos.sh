#!/usr/bin/env bash
# Applications work on six real daemons while five of them are killed, frozen and started again at random, some for
# so long that they are evicted. Then all is well again, and at all times a vertex had one executor and kept what
# was checkpointed. CHAOS_SECONDS says how long (20), CHAOS_SEED which accidents.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
worker=$top_builddir/tests/cluster/worker
seconds=${CHAOS_SECONDS:-20}
RANDOM=${CHAOS_SEED:-$$}
echo "seed of this run: CHAOS_SEED=${CHAOS_SEED:-$$}"
workers=

end_workers() {
    # shellcheck disable=SC2086
    [ -z "$workers" ] || kill $workers 2>/dev/null
    # shellcheck disable=SC2086
    wait $workers 2>/dev/null
    workers=
}
trap 'end_workers; finish' EXIT

# One accident, from its beginning to its end.
restart() {
    "$lbctl" cluster kill "$1" --dir "$dir"
    sleep "$2"
    "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
}
freeze() {
    "$lbctl" cluster kill "$1" --signal STOP --dir "$dir"
    sleep "$2"
    "$lbctl" cluster kill "$1" --signal CONT --dir "$dir"
}

start mesh:3x2
expect "a mesh" "$lbctl" -q gen airfoil:1200 -o "$scratch/mesh.graph"
expect "submit" ask 0 -q submit "$scratch/mesh.graph" --name job
for host in 0 1 2 3 4 5; do
    "$worker" job "$dir/h$host/lbmapd.sock" "$scratch/history$host" 2>>"$scratch/worker" &
    workers="$workers $!"
done
expect "it settles" settles 0 job

accidents=
end=$((SECONDS + seconds))
while [ "$SECONDS" -lt "$end" ]; do
    host=$((1 + RANDOM % 5)) # host 0 orders the control log: without it nobody is evicted
    case $((RANDOM % 4)) in
    0) accidents="$accidents restart:$host" && restart "$host" $((RANDOM % 3)) ;;
    1) accidents="$accidents freeze:$host" && freeze "$host" $((RANDOM % 4)) ;;
    2) accidents="$accidents lose:$host" && restart "$host" $((7 + RANDOM % 8)) ;;
    3) accidents="$accidents stall:$host" && freeze "$host" $((6 + RANDOM % 8)) ;;
    esac >>"$scratch/accidents" 2>&1
    sleep $((RANDOM % 4))
done
echo "accidents:$accidents"
sleep 15
expect "it settles after all" settles 0 job
expect_map "every vertex is on a host" 0 job "$scratch/job.part"
end_workers
[ ! -s "$scratch/worker" ] || bad "a worker ended: $(head -n 3 "$scratch/worker")"
expect "one executor of a vertex at a time, and no kept step lost" bash "$tests/history_check.sh" "$scratch"/history?
# What everybody did with the first vertex that is told of, in the order of time.
vertex=$(grep -o 'vertex [0-9]*' "$scratch/output" | head -n 1)
[ "$failed" -eq 0 ] || [ -z "$vertex" ] || grep -H " ${vertex#vertex } " "$scratch"/history? |
    sed 's/.*history//; s/:/ /' | awk -v v="${vertex#vertex }" '$4 == v' | sort -k2,2n | tail -n 30
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
