# What the tests measure that take hosts away from real clusters under work; sourced after cluster_lib.sh.
# shellcheck shell=bash disable=SC2154
worker=$top_builddir/tests/cluster/worker
declare -A worker_pid history_of
histories=0

# The clock of the histories, microseconds.
now_us() { awk '{ printf "%.0f\n", $1 * 1e6 }' /proc/uptime; }

# work HOST: an application on it, with a history of its own. Steps and checkpoints are slow enough for a
# small machine that has all hosts.
work() {
    histories=$((histories + 1))
    history_of[$1]=$scratch/history.$histories
    : >"${history_of[$1]}"
    "$worker" job "$dir/h$1/lbmapd.sock" "${history_of[$1]}" 1e9 "${STEP_MS:-20}" "${CHECKPOINT_MS:-5000}" \
        2>>"$scratch/worker$1" &
    worker_pid[$1]=$!
    disown
}
# end_work SIGNAL HOST...: end their applications, and wait for it.
end_work() {
    local signal=$1 host left
    shift
    for host; do kill "-$signal" "${worker_pid[$host]}" 2>/dev/null; done
    for host; do
        left=100
        while kill -0 "${worker_pid[$host]}" 2>/dev/null && [ "$left" -gt 0 ]; do
            sleep 0.1
            left=$((left - 1))
        done
        unset "worker_pid[$host]"
    done
}
trap 'kill -CONT "${worker_pid[@]}" 2>/dev/null; kill -KILL "${worker_pid[@]}" 2>/dev/null; finish' EXIT

# Columns of lbctl hosts, as host 0 sees it: id name state heard unreachable(2) capacity vertices backup insync ...
field() { ask 0 hosts --all | awk -v host="$1" -v field="$2" '$1 == host { print $field }'; }
state() { field "$1" 3; }

# until_true SECONDS TEXT COMMAND...: the command succeeds, patiently.
until_true() {
    local limit=$1 text=$2
    shift 2
    patiently "$limit" "$@" || {
        bad "not in time: $text: $(ask 0 hosts)"
        return 1
    }
}
is_state() { [ "$(state "$1")" = "$2" ]; }
# Every host that takes part has its copy with its backup.
in_sync() {
    ask 0 hosts >"$scratch/hosts" &&
        awk '$3 ~ /ACTIVE|DRAINING|JOINING/ && $10 != "yes" { bad = 1 } END { exit bad }' "$scratch/hosts"
}
# Settled, and nothing is on its way.
has_settled() { ask 0 wait job --timeout 10 >"$scratch/output" 2>&1; }
# held HISTORY: vertices and tokens that its application has.
held() { awk '$2 == "acquire" { t[$3] = $4 } $2 ~ /release|revoke/ { delete t[$3] } END { for (v in t) print v, t[v] }' "$1"; }
all_worked_on() {
    local host n=0
    for host in "${!worker_pid[@]}"; do n=$((n + $(held "${history_of[$host]}" | wc -l))); done
    [ "$n" -eq "$vertices" ]
}

# field_start SPEC [GUEST]: a cluster with the job `job`, that guest or the mesh 4elt, where an application works on each
# host and everything has settled. It evicts as often as it sees reason, or as `evict` says: "" by default.
field_start() {
    local graph=$shared/graphs/4elt.graph.gz host
    start "$1"
    if [ $# -gt 1 ] || [ ! -r "$graph" ]; then
        graph=$scratch/mesh.graph
        "$lbctl" -q gen "${2:-airfoil:15606}" -o "$graph" || exit 99
    fi
    expect "it stops" "$lbctl" -q cluster down --dir "$dir"
    for host in "$dir"/h*; do echo "${evict-evict = { percent = 100.0; \};}" >>"$host/lbmapd.conf"; done
    expect "and is up" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
    expect "submit" ask 0 -q submit "$graph" --name job
    expect "it settles" settles 0 job --json
    vertices=$(figure vertices "$scratch/output")
    hosts=$(find "$dir" -maxdepth 1 -name 'h*' | wc -l)
    for ((host = 0; host < hosts; host++)); do work "$host"; done
    until_true 30 "every vertex is worked on" all_worked_on
    [ "$failed" -eq 0 ] || exit 1
    ok "$vertices vertices are worked on by $hosts applications"
}

# field_end: nobody worked on a vertex while somebody else did, and no kept step was lost.
field_end() {
    end_work TERM "${!worker_pid[@]}"
    cat "$scratch"/worker* 2>/dev/null | sort | uniq -c | head -n 20 >&2
    expect "one executor of a vertex at a time, and no kept step lost" bash "$tests/history_check.sh" "$scratch"/history.*
}

# distribution TEXT BOUND: numbers on standard input, one a line.
distribution() {
    sort -n | awk -v text="$1" -v bound="$2" '
        { x[NR] = $1; within += $1 <= bound }
        END {
            if (NR) printf "%s: %d, least %.1f, median %.1f, 9 of 10 %.1f, 99 of 100 %.1f, most %.1f; %d within %s\n", text, NR,
                x[1], x[int((NR + 1) / 2)], x[int(NR * 0.9 + 0.999)], x[int(NR * 0.99 + 0.999)], x[NR], within, bound
        }'
}
