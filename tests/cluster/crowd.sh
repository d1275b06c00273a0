#!/usr/bin/env bash
# docs/examples/crowd.c under lbctl run on four real daemons: random numbers, and a value of the whole job that steps
# depend on. Meanwhile programs are killed, a daemon is killed and started again, and, if asked for, a host is lost for
# good. Every count of all people is exact, and in the end all stand where one loop over all vertices puts them.
#   CROWD_RUNS   how often (1)
#   CROWD_LOSS   1: a host is lost for good (0)
#   CROWD_STEPS  steps of a vertex (1500)
#   CROWD_SEED   which hosts, and which mesh
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
runs=${CROWD_RUNS:-1}
steps=${CROWD_STEPS:-1500}
RANDOM=${CROWD_SEED:-$$}
echo "seed of this run: CROWD_SEED=${CROWD_SEED:-$$}"
lbctl_pid=''
end_run() {
    [ -z "$lbctl_pid" ] || kill "$lbctl_pid" 2>/dev/null
    finish
}
trap end_run EXIT

cat >"$scratch/program" <<'PROGRAM'
#!/bin/sh
echo "pid $$"
exec "$1" "$LBMAP_JOB" "$2" "$3"
PROGRAM
chmod +x "$scratch/program"
pid_of() { sed -n "s/^h$1: pid \([0-9]*\)$/\1/p" "$scratch/out" | tail -n 1; }
started() { [ "$(grep -c "^h$1: pid" "$scratch/out")" -ge "$2" ]; }
has_got_to() { grep -q "^h0: $1 steps" "$scratch/out"; }
is_over() { ! kill -0 "$lbctl_pid" 2>/dev/null; }

# run NUMBER
run() {
    local first second lost status people seed=$RANDOM began=$SECONDS
    read -r first second lost <<<"$(seq 1 3 | shuf --random-source=<(yes "$RANDOM") | tr '\n' ' ')"
    log=local start ring:4
    rm -f "$scratch/field"
    expect "run $1: a mesh" "$lbctl" -q gen airfoil:400 --seed "$seed" -o "$scratch/mesh.graph"
    "$top_builddir/tests/cluster/crowd_alone" "$scratch/mesh.graph" "$steps" >"$scratch/alone" || bad "crowd_alone fails"
    people=$(awk '{ sum += $1 } END { print sum }' "$scratch/alone")
    expect "run $1: submit" ask 0 submit "$scratch/mesh.graph" --name mesh
    expect "run $1: settles" settles 0 mesh
    "$lbctl" -s "$dir/h0/lbmapd.sock" run mesh -- "$scratch/program" "$top_builddir/docs/examples/crowd" "$steps" \
        "$scratch/field" >"$scratch/out" 2>"$scratch/err" &
    lbctl_pid=$!
    until_true 20 "run $1: it has begun" has_got_to 100
    for host in "$first" "$second"; do
        kill -KILL "$(pid_of "$host")" || bad "run $1: the program of host $host has ended already"
        until_true 20 "run $1: the program of host $host is started again" started "$host" 2
    done
    expect "run $1: the daemon of host $second dies" "$lbctl" -q cluster kill "$second" --dir "$dir"
    expect "run $1: and is started again" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
    if [ "${CROWD_LOSS:-0}" = 1 ]; then
        until_true 30 "run $1: in sync" in_sync
        "$lbctl" cluster kill "$lost" --dir "$dir"
        find "$dir/h$lost" -mindepth 1 ! -name lbmapd.conf -delete
        until_true 60 "run $1: host $lost is evicted" is_state "$lost" EVICTED
    fi
    is_over && bad "run $1: all was done before: more CROWD_STEPS are needed"
    until_true 60 "run $1: it ends" is_over
    wait "$lbctl_pid"
    status=$?
    lbctl_pid=''
    [ "$status" -eq 0 ] || bad "run $1: status $status: $(cat "$scratch/err")"
    if awk -v people="$people" '$3 == "steps:" { n++; bad += $4 != people } END { exit !(n > 100 && bad == 0) }' \
        "$scratch/out"; then
        ok "run $1: all $(grep -c 'steps:' "$scratch/out") counts found $people people"
    else
        bad "run $1: counts differ: $(grep 'steps:' "$scratch/out" | grep -v " $people people" | head -n 3)"
    fi
    if cmp "$scratch/field" "$scratch/alone"; then
        ok "run $1: after $steps steps all stand where one loop puts them"
    else
        bad "run $1: they stand elsewhere"
    fi
    echo "run $1: $((SECONDS - began)) s"
    "$lbctl" -q cluster down --dir "$dir" >/dev/null 2>&1
    rm -rf "$dir"
}
for number in $(seq "$runs"); do run "$number"; done

exit "$failed"
