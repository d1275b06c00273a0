#!/usr/bin/env bash
# The k-th call of a class of functions fails, once, in one process (tests/unit/store/failing_calls.c): memory, writes, syncs, opens,
# accepts. Three processes are tried.
#   daemon   host 1 of two. It starts on what the run before left, takes a job, hands vertices over and gets others,
#            stops. It goes on, or ends with a documented status and says why; and when it has started without the
#            shim every vertex of the first job has one owner, and no token fell.
#   store    a database alone: what was reported stored is there.
#   plan     lbctl plan, offline: a result, or a documented status and a message.
# For each class k is 1, 1 + step, ..., so that there are about KTH_RUNS of them (daemon: 1, store and plan: 12 here);
# KTH_RUNS=all takes every k. KTH_CLASSES and KTH_WHAT choose; with KTH_PART=2/8 every eighth k from 2 on, so that
# eight of this can share the work: a run waits most of the time.
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local # balancing is what this is about
shim=$top_builddir/tests/unit/store/.libs/failing_calls.so
[ -r "$shim" ] || { echo "skipped: no shared modules here"; exit 77; }
nm -D "$daemon" 2>/dev/null | grep -q __asan && { echo "skipped: the sanitizer has the allocator"; exit 77; }
store=$top_builddir/tests/unit/store/store_writer
counts=$scratch/counts
read -ra classes <<<"${KTH_CLASSES:-memory write sync open accept}"
read -ra subjects <<<"${KTH_WHAT:-store plan daemon}"
IFS=/ read -r part parts <<<"${KTH_PART:-1/1}"

# number OFFSET: of the shim's counts.
number() { od -An -j "$1" -N 8 -t u8 "$counts" | tr -d ' '; }

# under CLASS K COMMAND...: it becomes the command.
under() {
    local class=$1 k=$2
    shift 2
    exec env KTH_CLASS="$class" KTH_K="$k" KTH_COUNT="$counts" LD_PRELOAD="$shim" "$@"
}

# documented WHAT STATUS LOG: 0, or 1 to 3 with a message that is not empty.
documented() {
    case $2 in
    0) return 0 ;;
    1 | 2 | 3) [ -s "$3" ] && return 0 ;;
    esac
    bad "$1: exit status $2: $(tail -n 3 "$3")"
    return 1
}

# ---- the store alone --------------------------------------------------------------------------------------
run_store() {
    local acked status
    rm -f "$scratch"/s.db*
    (under "$1" "$2" timeout 20 "$store" "$scratch/s.db" 2>"$scratch/err" >/dev/null)
    status=$?
    documented "store, $1 $2" "$status" "$scratch/err" || return
    acked=$(sed -n 's/^stored //p' "$scratch/err" | tail -n 1)
    LD_PRELOAD='' "$store" -c "$scratch/s.db" "${acked:-0}" >"$scratch/output" 2>&1 ||
        bad "store, $1 $2: after $acked were stored: $(cat "$scratch/output")"
    ended="$status"
}

# ---- lbctl plan -------------------------------------------------------------------------------------------
run_plan() {
    (under "$1" "$2" timeout 20 "$lbctl" plan "$scratch/tiny.graph" --hosts mesh:2x2 -o "$scratch/plan.part" \
        >"$scratch/out" 2>"$scratch/err")
    ended=$?
    documented "plan, $1 $2" "$ended" "$scratch/err"
}

# ---- the daemon -------------------------------------------------------------------------------------------

# tokens: the highest epoch of every vertex of the first job; none may fall or go.
tokens() {
    local host
    for host in 0 1; do
        sqlite3 -cmd '.timeout 5000' -separator ' ' "$dir/h$host/lbmap.db" \
            "SELECT v, epoch FROM vertex WHERE job = $job"
    done | awk '$2 > e[$1] { e[$1] = $2 } END { for (v in e) print v, e[v] }' | sort -n
}

# not_lower: the tokens are at least those in the file, vertex by vertex, and take their place.
not_lower() {
    tokens >"$scratch/tokens.now"
    awk 'NR == FNR { e[$1] = $2; n++; next } { m++; if ($2 < e[$1]) bad = 1 } END { exit bad || m < n }' \
        "$scratch/tokens" "$scratch/tokens.now" || return 1
    mv "$scratch/tokens.now" "$scratch/tokens"
}

# ended PID: within ten seconds.
has_ended() {
    local left=1200
    while kill -0 "$1" 2>/dev/null; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 1
        sleep 0.05
    done
}

# is_libconfig CLASS K: it ended by SIGSEGV in libconfig, which does not look at what malloc returns. Nothing is open
# then. How many allocations reading the configuration takes, lbmapd --check-config tells.
reading=0
is_libconfig() { [ "$1" = memory ] && [ "$2" -le "$reading" ] && [ "$ended" -eq 139 ] && [ ! -s "$scratch/log" ]; }
count_reading() {
    (under memory 0 "$daemon" --check-config -c "$dir/h1/lbmapd.conf" >"$scratch/output" 2>&1)
    reading=$(number 0)
}

runs=0
script() {
    local _
    for _ in $(seq 300); do
        grep -q 'ready: host' "$scratch/log" && break
        kill -0 "$1" 2>/dev/null || return
        sleep 0.03
    done
    timeout 5 "$lbctl" -q -s "$dir/h1/lbmapd.sock" submit "$scratch/tiny.graph" --name "run$runs" || return
    timeout 5 ask 0 -q set 1 --capacity $((1 + runs % 2 * 3))
    timeout 5 "$lbctl" -s "$dir/h1/lbmapd.sock" map first -o "$scratch/first.part"
    timeout 5 ask 1 wait "run$runs" --timeout 1
    timeout 5 ask 1 -q cancel "run$runs"
}

run_daemon() {
    local pid
    runs=$((runs + 1))
    : >"$scratch/log"
    (under "$1" "$2" "$daemon" -c "$dir/h1/lbmapd.conf" 2>"$scratch/log") &
    pid=$!
    script "$pid" >"$scratch/output" 2>&1
    kill -TERM "$pid" 2>/dev/null
    if ! has_ended "$pid"; then
        bad "daemon, $1 $2: hangs: $(tail -n 3 "$scratch/log")"
        kill -KILL "$pid"
    fi
    wait "$pid" 2>/dev/null
    ended=$?
    is_libconfig "$1" "$2" && return
    documented "daemon, $1 $2" "$ended" "$scratch/log" || return
    not_lower || bad "daemon, $1 $2: a token fell: $(tail -n 3 "$scratch/log")"
}

rest() {
    "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon" >"$scratch/output" 2>&1 ||
        bad "after $1: does not start: $(cat "$scratch/output")"
    settles 0 first >"$scratch/output" 2>&1 || bad "after $1: no rest: $(tail -n 3 "$scratch/output")"
    not_lower || bad "after $1: a token fell"
    one_owner first 64
    "$lbctl" cluster kill 1 --signal TERM --dir "$dir"
    sleep 0.5
}

# ---- all of them --------------------------------------------------------------------------------------------
# try_all WHAT CLASS: how many calls there are, then one after the other fails.
try_all() {
    local k=1 n step tried=0 hit=0 wanted=${KTH_RUNS:-}
    declare -A statuses=()
    "run_$1" "$2" 0
    [ "$ended" -eq 0 ] || bad "$1, $2: without a failure: status $ended: $(tail -n 3 "$scratch/err" "$scratch/log" 2>/dev/null)"
    n=$(number 0)
    [ "$wanted" ] || { [ "$1" = daemon ] && wanted=1 || wanted=12; }
    [ "$wanted" = all ] && step=$parts || step=$((n / wanted + 1))
    for ((k = step > parts ? 1 + RANDOM % step : part; k <= n; k += step)); do
        "run_$1" "$2" "$k"
        tried=$((tried + 1))
        hit=$((hit + $(number 8)))
        statuses[$ended]=$((${statuses[$ended]:-0} + 1))
    done
    printf '%s: %s: %d calls, %d runs, %d with a failure; ends:' "$1" "$2" "$n" "$tried" "$hit"
    for status in "${!statuses[@]}"; do printf ' %d with status %d' "${statuses[$status]}" "$status"; done
    echo
    [ "$1" != daemon ] || rest "$2"
}

RANDOM=${KTH_SEED:-$$}
echo "seed of this run: KTH_SEED=${KTH_SEED:-$$}"
"$lbctl" -q gen lattice:8x8 -o "$scratch/tiny.graph" || exit 99
for subject in "${subjects[@]}"; do
    if [ "$subject" = daemon ]; then
        start chain:2
        expect "submit" ask 0 submit "$scratch/tiny.graph" --name first
        expect "it settles" settles 0 first
        job=$(($(ask 0 jobs first --json | grep -o '"id": *"[^"]*"' | sed 's/.*"\(0x[^"]*\)"/\1/')))
        tokens >"$scratch/tokens"
        "$lbctl" cluster kill 1 --signal TERM --dir "$dir"
        sleep 0.5
        count_reading
    fi
    for class in "${classes[@]}"; do try_all "$subject" "$class"; done
done
exit "$failed"
