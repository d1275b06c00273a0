#!/usr/bin/env bash
# lbctl run: four real daemons start docs/examples/heat.c where vertices are, gather what it writes, and start it again
# when it is killed. lbctl jobs shows a host without its program within 3 s; where the program cannot be started again
# its vertices go to others. The temperatures are those of one loop, bit for bit. Ctrl-C ends the programs.
#   RUN_RUNS  how often (1)
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
runs=${RUN_RUNS:-1}
steps=600
hosts=4
export PACED=$top_builddir/tests/cluster/heat_paced WORK=$scratch
lbctl_pid=''
end_run() {
    [ -z "$lbctl_pid" ] || kill "$lbctl_pid" 2>/dev/null
    finish
}
trap end_run EXIT

# The program: where the file bad.HOST is it cannot work.
cat >"$scratch/program" <<'PROGRAM'
#!/bin/sh
[ ! -e "$WORK/bad.$LBMAP_HOST" ] || exit 3
echo "pid $$ of $LBMAP_JOB at $LBMAP_HOST: $1"
exec "$PACED" "$LBMAP_JOB" "$2" "$WORK/field" "$LBMAP_SOCKET" "$WORK/hurry" 2>/dev/null
PROGRAM
cat >"$scratch/waits" <<'PROGRAM'
#!/bin/sh
trap 'echo ends; exit 0' TERM
echo waits
while :; do sleep 0.1; done
PROGRAM
chmod +x "$scratch/program" "$scratch/waits"

said() { [ "$(grep -cE -- "$1" "$scratch/out")" -ge "${2:-1}" ]; }
pid_of() { sed -n "s/^h$1: pid \([0-9]*\) of .*/\1/p" "$scratch/out" | tail -n 1; }
# job NAME FILTER: what lbctl jobs says at host 0, which is not the one that loses its program.
job() { ask 0 jobs "$1" --json | python3 -c "import json, sys; job = json.load(sys.stdin)[0]; print($2)"; }
works() { [ "$(job "$1" "len([p for p in job['programs'] if p['works']])")" = "$2" ]; }
is_degraded() {
    job "$1" "job['state'], job['idle'], job['reason']" >"$scratch/state"
    grep -q "DEGRADED.*no program works at host $2" "$scratch/state"
}
has_no_vertices() { [ "$(job "$1" "[h['vertices'] for h in job['hosts'] if h['host'] == $2]")" = "[0]" ]; }
is_settled() { [ "$(job "$1" "job['state'], job['idle']")" = "SETTLED 0" ]; }
is_over() { ! kill -0 "$lbctl_pid" 2>/dev/null; }

# within SECONDS TEXT COMMAND...
within() {
    local limit=$1 text=$2 began=$SECONDS
    shift 2
    until "$@"; do
        [ $((SECONDS - began)) -le "$limit" ] || { bad "$text: not within $limit s: $(cat "$scratch/state")"; return; }
        sleep 0.1
    done
    ok "$text"
}

# run NUMBER
run() {
    local job=mesh$1 status
    rm -f "$scratch/hurry" "$scratch"/bad.* "$scratch/field"
    expect "run $1: submit" ask 0 submit "$scratch/mesh.graph" --name "$job"
    expect "run $1: settles" settles 0 "$job"
    (cd "$scratch" && exec "$lbctl" -s "$dir/h0/lbmapd.sock" run "$job" --env WORK,PACED,PATH -- ./program "a  b" "$steps") \
        >"$scratch/out" 2>"$scratch/err" &
    lbctl_pid=$!
    until_true 20 "run $1: a program at every host" works "$job" "$hosts"
    until_true 30 "run $1: what they write is here, with the name of the host" said '^h[0-3]: pid [0-9]+ of .*: a  b$' 4
    is_settled "$job" || bad "run $1: programs work everywhere, and the job is $(job "$job" "job['state'], job['reason']")"

    touch "$scratch/bad.2"
    kill -KILL "$(pid_of 2)"
    within 3 "run $1: the program of host 2 is killed: seen" is_degraded "$job" 2
    kill -KILL "$(pid_of 1)"
    within 3 "run $1: that of host 1: seen" is_degraded "$job" 1
    until_true 20 "run $1: it is started again" said "^h1: pid" 2
    until_true 30 "run $1: that of host 2 is given up, and its vertices are elsewhere" has_no_vertices "$job" 2
    until_true 20 "run $1: all is well without host 2" is_settled "$job"
    is_over && bad "run $1: the programs were too quick: nothing was lost"
    ask 2 events | grep -q "the program of job $job: it ended with status 3: it is given up" ||
        bad "run $1: no event says so: $(ask 2 events | tail -n 3)"
    touch "$scratch/hurry"
    until_true 60 "run $1: it ends" is_over
    wait "$lbctl_pid"
    status=$?
    lbctl_pid=''
    [ "$status" -eq 0 ] || bad "run $1: status $status: $(cat "$scratch/err")"
    grep -q 'host 2 (h2): it ended with status 3; it is given up' "$scratch/err" ||
        bad "run $1: lbctl does not say it: $(cat "$scratch/err")"
    if cmp "$scratch/field" "$scratch/alone"; then
        ok "run $1: $(wc -l <"$scratch/alone") temperatures are those of one loop"
    else
        bad "run $1: temperatures differ"
    fi
    refused 1 'is done' ask 0 run "$job" -- true
    expect "run $1: cancel" ask 0 cancel "$job"
}

log=local start ring:$hosts
expect "a mesh" "$lbctl" -q gen airfoil:400 -o "$scratch/mesh.graph"
"$top_builddir/tests/cluster/heat_alone" "$scratch/mesh.graph" "$steps" >"$scratch/alone" || bad "heat_alone fails"
for number in $(seq "$runs"); do run "$number"; done

expect "submit" ask 0 submit "$scratch/mesh.graph" --name other
refused 127 'cannot be executed: No such file' ask 0 run other -- "$scratch/missing"
refused 2 'which program' ask 0 run other
env --default-signal=INT "$lbctl" -s "$dir/h0/lbmapd.sock" run other -- "$scratch/waits" >"$scratch/out" 2>"$scratch/err" &
lbctl_pid=$!
until_true 20 "programs that wait" said '^h[0-3]: waits$' 4
refused 1 'a program is run for job other already' ask 1 run other -- true
kill -INT "$lbctl_pid"
until_true 20 "Ctrl-C ends it" is_over
wait "$lbctl_pid"
status=$?
lbctl_pid=''
[ "$status" -eq 130 ] || bad "Ctrl-C: status $status: $(cat "$scratch/err")"
said '^h[0-3]: ends$' 4 || bad "Ctrl-C: not all programs have ended in order: $(cat "$scratch/out")"
pgrep -f "$scratch/waits" >/dev/null && bad "programs are left: $(pgrep -fa "$scratch/waits")"
ask 0 jobs other --json | grep -q '"runs_program": false' || bad "the control log has the run still"

exit "$failed"
