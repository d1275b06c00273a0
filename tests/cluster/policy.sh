#!/usr/bin/env bash
# Sixteen real daemons on hypercube:4: a pile of vertices on host 0 is balanced by every load policy, and settles
# within 3 % with one owner of each vertex. Then daemons are killed in the middle and started again: nothing is lost
# or doubled.
#   POLICY_KILLS   how often (1)
#   POLICY_SEED    which hosts, and when
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local # balancing is what this is about
kills=${POLICY_KILLS:-1}
RANDOM=${POLICY_SEED:-$$}
echo "seed of this run: POLICY_SEED=${POLICY_SEED:-$$}"

vertices=1600
expect "a guest" "$lbctl" -q gen lattice:40x40 -o "$scratch/guest.graph"
start hypercube:4

# level NAME OPTION...: submit the pile, wait, look. No quotes in what jobs --json has of names.
level() {
    local name=$1
    shift
    expect "$name: submitted" ask 0 -q submit --name "$name" --start coordinator "$@" "$scratch/guest.graph"
    expect "$name: settles" settles 0 "$name"
    ask 3 jobs "$name" --json >"$scratch/job"
    if at_most "$(figure imbalance "$scratch/job")" 0.0301; then ok "$name: within 3 %"; else bad "$name: $(cat "$scratch/job")"; fi
}

schedules=(plain overlapped pipelined)
n=0
for policy in diffusion second-order chebyshev dimension-exchange gde oem dem dem-table edge-remap auto; do
    level "$policy" --policy "$policy" --schedule "${schedules[n++ % 3]}"
    flow=$(figure flow "$scratch/job")
    if [ "${flow:-0}" -ge 1500 ]; then ok "$policy: $flow units over links"; else bad "$policy moved $flow units"; fi
    [ $((n % 3)) -ne 0 ] || one_owner "$policy" "$vertices"
    expect "$policy: cancelled" ask 0 -q cancel "$policy"
done

# What these hosts cannot run.
refused 1 'needs what no host knows' ask 0 submit --name cwa --policy cwa "$scratch/guest.graph"
refused 2 'policy' ask 0 submit --name none --policy steepest "$scratch/guest.graph"
refused 1 'there is no job named' ask 0 set nobody --policy gde
refused 2 'goes with --policy' ask 0 set nobody --schedule plain

# Another policy for a job that has settled.
level again --policy none
expect "again: another policy" ask 5 -q set again --policy chebyshev --schedule plain
ask 5 jobs again --json >"$scratch/job"
if grep -q '"policy": *"chebyshev"' "$scratch/job"; then ok "again: has it"; else bad "again: $(cat "$scratch/job")"; fi
expect "again: settles" settles 0 again
expect "again: cancelled" ask 0 -q cancel again

for ((run = 1; run <= kills; run++)); do
    name=killed$run
    expect "$name: submitted" ask 0 -q submit --name "$name" --start coordinator --policy gde \
        --schedule "${schedules[RANDOM % 3]}" "$scratch/guest.graph"
    sleep "0.$((RANDOM % 9))"
    victims="$((1 + RANDOM % 15)) $((RANDOM % 16))"
    for host in $victims; do "$lbctl" cluster kill "$host" --dir "$dir" >/dev/null 2>&1; done
    sleep 1
    expect "$name: hosts $victims are back" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
    expect "$name: settles" settles 0 "$name"
    one_owner "$name" "$vertices"
    expect "$name: cancelled" ask 0 -q cancel "$name"
done
exit "$failed"
