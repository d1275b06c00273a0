#!/usr/bin/env bash
# kill -9 of three random daemons of sixteen at random moments of mapping and balancing, restart: every
# vertex ends with exactly one owner and the job settles. CRASH_RUNS says how often (3).
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"

runs=${CRASH_RUNS:-3}
RANDOM=${CRASH_SEED:-$$}
echo "seed of this run: CRASH_SEED=${CRASH_SEED:-$$}"
start mesh:4x4
"$lbctl" -q gen lattice:32x32 -o "$scratch/lattice.graph"
"$lbctl" -q gen airfoil:8000 -o "$scratch/airfoil.graph"

for run in $(seq 1 "$runs"); do
    if [ $((run % 2)) -eq 0 ]; then start=centre guest=lattice; else start=plan guest=airfoil; fi
    job=run$run
    killed=
    ask 0 -q submit "$scratch/$guest.graph" --name "$job" --start "$start" >"$scratch/output" 2>&1 ||
        bad "submit $job: $(cat "$scratch/output")"
    for _ in 1 2 3; do
        sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
        host=$((RANDOM % 16))
        "$lbctl" cluster kill "$host" --dir "$dir" >/dev/null 2>&1
        killed="$killed $host"
    done
    sleep "0.$((RANDOM % 10))"
    "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon" >"$scratch/output" 2>&1 ||
        bad "restart in $job: $(cat "$scratch/output")"
    expect "run $run, $guest from $start, killed$killed: settles" settles 0 "$job" --json
    one_owner "$job" "$(figure vertices "$scratch/output")"
    ask 0 -q cancel "$job"
done
exit $failed
