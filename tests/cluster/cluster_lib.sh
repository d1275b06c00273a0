# What the tests of real clusters share; sourced. Needs top_builddir, top_srcdir.
# shellcheck shell=bash disable=SC2034
set -u

lbctl=${top_builddir:?run by make check}/client/lbctl
daemon=$top_builddir/daemon/lbmapd
tests=${top_srcdir:?run by make check}/tests/cluster
shared=$top_srcdir/../shared
scratch=$(mktemp -d /tmp/lbmap-test.XXXXXX) || exit 99 # short: sockets go there
dir=$scratch/c
failed=0

finish() {
    "$lbctl" -q cluster down --dir "$dir" >/dev/null 2>&1
    rm -rf "$scratch"
}
trap finish EXIT

ok() { printf 'ok: %s\n' "$1"; }
# bad TEXT: at most a few lines of it.
bad() {
    printf "FAILED: %s\n" "$(printf %s "$1" | head -c 1500)"
    failed=1
}
skip() { printf 'skipped: %s\n' "$1"; }

# expect TEXT COMMAND...: the command succeeds.
expect() {
    local text=$1
    shift
    if "$@" >"$scratch/output" 2>&1 </dev/null; then ok "$text"; else bad "$text: $(tail -n 5 "$scratch/output")"; fi
}

# refused STATUS TEXT COMMAND...: the command ends with that status and says that.
refused() {
    local status=$1 text=$2
    shift 2
    timeout 120 "$@" >"$scratch/output" 2>&1 </dev/null
    local got=$?
    if [ "$got" -ne "$status" ]; then
        bad "$text: exit status $got, not $status: $(cat "$scratch/output")"
    elif ! grep -q -- "$text" "$scratch/output"; then
        bad "not told \"$text\": $(cat "$scratch/output")"
    else
        ok "status $status: $text"
    fi
}

# found NAME PORT: a cluster of one host, in a folder of that name.
found() {
    expect "$1 is founded" "$lbctl" -q init "$1" --dir "$dir/$1" --name "$1" --daemon "$daemon" \
        --listen "127.0.0.1:$2" --address "127.0.0.1:$2"
}

# start SPEC: a cluster; then `ask N ...` is lbctl at host N. With log=local a host orders its control log.
start() {
    expect "a cluster on $1 is up" "$lbctl" -q cluster up --hosts "$1" --log "${log:-auto}" --copies "${copies:-1}" --dir "$dir" --daemon "$daemon"
    [ "$failed" -eq 0 ] || { tail -n 3 "$dir"/h*/lbmapd.log; exit 1; }
}
cat >"$scratch/ask" <<'ASK'
#!/bin/sh
host=$1
shift
exec "$LBCTL" -s "$CLUSTER/h$host/lbmapd.sock" "$@"
ASK
chmod +x "$scratch/ask"
export LBCTL=$lbctl CLUSTER=$dir PATH=$scratch:$PATH

# A machine that has other work makes everything later: tests wait as long as something happens, not that many seconds.
# What changes when the cluster gets on: what its daemons and applications wrote, and where its vertices are.
progress() {
    cat "$dir"/h*/lbmapd.log "$scratch"/history* 2>/dev/null | wc -c
    ask "${1:-0}" jobs --json 2>/dev/null | grep -oE '"(phase|sweep|moved|load_max|vertices|imbalance|in_flight|counter)": *[^,}]*'
    ask "${1:-0}" hosts 2>/dev/null | awk '{ print $1, $3, $8, $10 }'
}
# patiently SECONDS COMMAND...: the command succeeds, now or again and again. Given up once nothing has changed for that
# long, or after ten times as long.
patiently() {
    local limit=$1 began=$SECONDS since=$SECONDS before='' now
    shift
    until "$@"; do
        if [ $((SECONDS - since)) -ge "$limit" ]; then
            now=$(progress)
            [ "$now" != "$before" ] || return 1
            before=$now
            since=$SECONDS
        fi
        [ $((SECONDS - began)) -lt $((10 * limit)) ] || return 1
        sleep 0.1
    done
}
# settles HOST JOB [OPTION]...: lbctl wait, at that host. What is refused is not tried again; status 4 and 5: not yet.
settles() {
    wait_status=4
    patiently 60 has_answered "$@"
    return "$wait_status"
}
has_answered() {
    local host=$1
    shift
    ask "$host" wait "$@" --timeout 15
    wait_status=$?
    [ "$wait_status" -ne 4 ] && [ "$wait_status" -ne 5 ]
}

# expect_map TEXT HOST JOB FILE: the mapping is written. Hosts of a busy machine may answer too late for one, so it is
# asked for again.
expect_map() {
    local try
    for try in $(seq 30); do
        [ "$try" -eq 1 ] || sleep 1
        if ask "$2" map "$3" -o "$4" >"$scratch/output" 2>&1 </dev/null; then
            ok "$1"
            return
        fi
    done
    bad "$1: $(head -n 3 "$scratch/output")"
}

# figure KEY FILE: a number of a JSON report.
figure() { grep -o "\"$1\": *[-0-9.e]*" "$2" | head -n 1 | sed 's/.*: *//'; }
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }

# one_owner NAME VERTICES: over all databases every vertex of the job has exactly one owner. They are read one after
# the other, so a vertex that is handed over meanwhile may be seen twice or not at all: then they are read again, and
# what is wrong stays wrong.
one_owner() {
    local id try
    id=$(ask 0 jobs "$1" --json | grep -o '"id": *"[^"]*"' | sed 's/.*"\(0x[^"]*\)"/\1/')
    for try in $(seq 30); do
        [ "$try" -eq 1 ] || sleep 2
        if bash "$tests/owners.sh" -n "$2" "$id" "$dir"/h*/lbmap.db >"$scratch/owners" 2>&1; then
            ok "$1: every vertex has exactly one owner over all databases"
            return
        fi
    done
    bad "$1: owners: $(head -n 5 "$scratch/owners")"
}
