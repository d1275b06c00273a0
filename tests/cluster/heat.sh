#!/usr/bin/env bash
# docs/examples/heat.c on sixteen real daemons, a program on each host. While it runs two programs are killed and
# started again, then a daemon, a host joins, another one drains, and a third is lost for good with its program and its files. The
# temperatures are those of one loop over all vertices (heat_alone.c), bit for bit.
#   HEAT_RUNS   how often (1)
#   HEAT_STEPS  steps of a vertex (300)
#   HEAT_SEED   which hosts, and which mesh
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
runs=${HEAT_RUNS:-1}
steps=${HEAT_STEPS:-300}
RANDOM=${HEAT_SEED:-$$}
echo "seed of this run: HEAT_SEED=${HEAT_SEED:-$$}"
hosts=16
export HEAT_PACED=$top_builddir/tests/cluster/heat_paced

# heat HOST: its program.
heat() {
    (
        "$HEAT_PACED" mesh "$steps" "$scratch/field.$1" "$dir/h$1/lbmapd.sock" "$scratch/hurry" 2>"$scratch/error.$1" &
        echo "$!" >"$scratch/pid.$1"
        wait "$!"
        echo "$?" >"$scratch/status.$1"
    ) 2>/dev/null &
    worker_pid[$1]=$!
}
serves() { [ "$(ask "$1" status --json | sed -n 's/.*"applications": *\([0-9]*\).*/\1/p')" -ge 1 ]; }
runs_still() { kill -0 "$(cat "$scratch/pid.$1")" 2>/dev/null; }
kill_program() {
    kill -KILL "$(cat "$scratch/pid.$1")"
    wait "${worker_pid[$1]}"
    unset "worker_pid[$1]"
}
end_programs() {
    for host in "${!worker_pid[@]}"; do kill -KILL "$(cat "$scratch/pid.$host")" 2>/dev/null; done
    kill -KILL "${worker_pid[@]}" 2>/dev/null
    finish
}
trap end_programs EXIT
have_ended() {
    local host
    for host; do [ -s "$scratch/status.$host" ] || return 1; done
}
# Four different hosts of 1 .. 15.
choose() { seq 1 $((hosts - 1)) | shuf -n 4 --random-source=<(yes "$RANDOM") | tr '\n' ' '; }

# run NUMBER
run() {
    local host first second third lost new began=$SECONDS
    read -r first second third lost <<<"$(choose)"
    start mesh:4x4
    rm -f "$scratch/hurry" "$scratch"/status.* "$scratch"/field.*
    expect "run $1: a mesh" "$lbctl" -q gen "airfoil:${HEAT_VERTICES:-1500}" --seed "$RANDOM" -o "$scratch/mesh.graph"
    "$top_builddir/tests/cluster/heat_alone" "$scratch/mesh.graph" "$steps" >"$scratch/alone" || bad "heat_alone fails"
    expect "run $1: submit" ask 0 submit "$scratch/mesh.graph" --name mesh
    for host in $(seq 0 $((hosts - 1))); do heat "$host"; done
    settles 0 mesh >"$scratch/output" 2>&1 || bad "run $1: does not settle: $(tail -n 3 "$scratch/output")"

    for host in "$first" "$second"; do
        runs_still "$host" || bad "run $1: the program of host $host has ended already"
        kill_program "$host"
        rm -f "$scratch/status.$host"
        heat "$host"
    done
    until_true 30 "run $1: the program of host $first serves" serves "$first"
    expect "run $1: the daemon of host $first dies" "$lbctl" -q cluster kill "$first" --dir "$dir"
    expect "run $1: and is started again" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
    expect "run $1: a host joins" "$lbctl" -q cluster add --link "0,1" --dir "$dir" --daemon "$daemon"
    new=$hosts
    heat "$new"
    expect "run $1: host $third drains" ask 0 drain "$third"
    until_true 30 "run $1: in sync" in_sync
    runs_still "$lost" || bad "run $1: the program of host $lost has ended already"
    kill_program "$lost"
    "$lbctl" cluster kill "$lost" --dir "$dir"
    find "$dir/h$lost" -mindepth 1 ! -name lbmapd.conf -delete
    until_true 60 "run $1: host $lost is evicted" is_state "$lost" EVICTED
    runs_still 0 || bad "run $1: all was done before the host was lost: more HEAT_STEPS are needed"
    echo "run $1: programs of hosts $first and $second killed, $new joined, $third drained, $lost lost" \
        "after $((SECONDS - began)) s"

    touch "$scratch/hurry"
    if patiently 60 have_ended 0 "$first" "$second" "$third" "$new"; then
        for host in 0 "$first" "$second" "$new"; do
            [ "$(cat "$scratch/status.$host")" -eq 0 ] ||
                bad "run $1: host $host: $(tail -n 3 "$scratch/error.$host")"
        done
        # It has left before the end, or not.
        [ "$(cat "$scratch/status.$third")" -eq 0 ] ||
            grep -q 'this host has left the cluster' "$scratch/error.$third" ||
            bad "run $1: host $third, which drains: $(tail -n 3 "$scratch/error.$third")"
    else
        bad "run $1: the programs do not end"
    fi
    if awk '$1 == "stable" && $2 <= last { exit 1 } { last = $2 } END { exit last != '"$steps"' || NR < 3 }' \
        "$scratch/error.0"; then
        ok "run $1: what all have kept grew $(wc -l <"$scratch/error.0") times"
    else
        bad "run $1: what all have kept does not grow to $steps: $(tail -n 5 "$scratch/error.0")"
    fi
    if cmp "$scratch/field.0" "$scratch/alone"; then
        ok "run $1: $(wc -l <"$scratch/alone") temperatures after $steps steps are those of one loop"
    else
        bad "run $1: temperatures differ"
    fi
    for host in "${!worker_pid[@]}"; do
        [ -s "$scratch/status.$host" ] || kill "$(cat "$scratch/pid.$host")" 2>/dev/null
        wait "${worker_pid[$host]}"
        unset "worker_pid[$host]"
    done
    echo "run $1: $((SECONDS - began)) s"
    "$lbctl" -q cluster down --dir "$dir" >/dev/null 2>&1
    rm -rf "$dir"
}
for number in $(seq "$runs"); do run "$number"; done

exit "$failed"
