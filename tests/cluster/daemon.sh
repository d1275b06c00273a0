#!/usr/bin/env bash
# lbmapd as a process: options, refusals, life and death.
set -u

lbmapd=${top_builddir:?run by make check}/daemon/lbmapd
lbctl=$top_builddir/client/lbctl
scratch=$(mktemp -d) || exit 99
started=()
failed=0

finish() {
    for pid in "${started[@]}"; do
        kill -KILL "$pid" 2>/dev/null
    done
    rm -rf "$scratch"
}
trap finish EXIT
cd "$scratch" || exit 99

ok() { printf 'ok: %s\n' "$1"; }
bad() {
    printf 'FAILED: %s\n' "$1"
    failed=1
}
skip() { printf 'skipped: %s\n' "$1"; }

# A port nobody listens at. Taken from a range below the one the system gives to connections.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 10000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# identity DIR: the identity of the host that founds a cluster.
identity() {
    "$lbctl" -q init test --dir "$1" --name leader --address 127.0.0.1:1 --no-start >/dev/null
}
identity alone

# configuration NAME [LINE]...: NAME.conf of a leader, with further lines.
configuration() {
    local name=$1
    shift
    {
        echo "cluster = \"test\"; identity = \"${identity:-alone}/identity\";"
        echo "host = { name = \"$name\"; };"
        echo "listen = \"127.0.0.1:${port:?}\";"
        echo "data = \"${data:-$name.db}\"; control = \"${control:-$name.sock}\"; pid_file = \"$name.pid\";"
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } >"$name.conf"
}

# refused STATUS TEXT COMMAND...: the command ends with that status and says that.
refused() {
    local status=$1 text=$2
    shift 2
    timeout 120 "$@" >output 2>&1 </dev/null
    local got=$?
    if [ "$got" -ne "$status" ]; then
        bad "$text: exit status $got, not $status: $(cat output)"
    elif ! grep -q -- "$text" output; then
        bad "not told \"$text\": $(cat output)"
    else
        ok "$text"
    fi
}

# await NAME TEXT: until the log of NAME says that, or its process is gone.
await() {
    for _ in $(seq 1200); do
        grep -q -- "$2" "$1.log" && return 0
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
    grep -q -- "$2" "$1.log"
}

# start NAME: run NAME.conf and wait until it is ready; pid is its process.
start() {
    : >"$1.log" # before it runs: that an earlier life was ready says nothing
    "$lbmapd" -c "$1.conf" 2>"$1.log" &
    pid=$!
    started+=("$pid")
    await "$1" 'ready:' && return 0
    bad "$1 does not start: $(cat "$1.log")"
    return 1
}

# founded NAME: its host is an active member.
founded() {
    for _ in $(seq 600); do
        "$lbctl" -s "$1.sock" hosts 2>/dev/null | grep -q ACTIVE && return 0
        sleep 0.05
    done
    return 1
}

# stop NAME SIGNAL: end the daemon started last, with status 0.
stop() {
    kill "-$2" "$pid"
    for _ in $(seq 1200); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
    if kill -0 "$pid" 2>/dev/null; then
        bad "SIG$2 does not stop $1"
        kill -KILL "$pid"
    fi
    wait "$pid"
    local got=$?
    [ "$got" -eq 0 ] && ok "SIG$2 stops $1" || bad "SIG$2: exit status $got: $(cat "$1.log")"
    [ ! -e "$1.sock" ] && [ ! -e "$1.pid" ] || bad "$1 leaves its socket or pid file behind"
}

# ---- options -----------------------------------------------------------------------------------------------
refused 0 'usage: lbmapd' "$lbmapd" --help
refused 0 'another process has the database' "$lbmapd" -h
refused 0 '^lbmapd [0-9]' "$lbmapd" --version
refused 2 'unrecognized option' "$lbmapd" --frobnicate
refused 2 'requires an argument' "$lbmapd" --config
refused 2 '"extra" is not an option' "$lbmapd" extra
refused 2 'missing.conf: cannot be read' "$lbmapd" -c missing.conf

# ---- configuration -----------------------------------------------------------------------------------------
port=$(free_port)
configuration good
refused 0 'good.conf: good' "$lbmapd" --check-config -c good.conf
[ ! -e good.db ] && ok "--check-config creates nothing" || bad "--check-config creates the database"
configuration wrong 'colour = "blue";'
refused 2 'wrong.conf:5: there is no setting colour' "$lbmapd" -c wrong.conf
refused 2 'wrong.conf:5: there is no setting colour' "$lbmapd" --check-config --config=wrong.conf
sed 's/127.0.0.1:/0.0.0.0:/' good.conf >everywhere.conf
refused 2 'everywhere.conf: address is missing' "$lbmapd" -c everywhere.conf
echo 'cluster = {' >syntax.conf
refused 2 'syntax.conf:.*syntax error' "$lbmapd" -c syntax.conf
data=missing/x.db configuration nodata
refused 1 'missing/x.db' "$lbmapd" -c nodata.conf
control=missing/x.sock configuration nocontrol
refused 1 'missing/x.sock.lease: cannot create the lease page of the control socket' "$lbmapd" -c nocontrol.conf

# ---- identity ----------------------------------------------------------------------------------------------
identity=nobody configuration stranger
refused 1 'nobody/identity: there is no identity of this host' "$lbmapd" -c stranger.conf
cp -a alone readable && chmod 640 readable/identity/host.key
identity=readable configuration readable
refused 1 'readable/identity/host.key: can be read by others' "$lbmapd" -c readable.conf
identity another && cp -a alone mixed && cp another/identity/host.pem mixed/identity/
identity=mixed configuration mixed
refused 1 'mixed/identity/host.pem: is not the certificate of the key next to it' "$lbmapd" -c mixed.conf
cp another/identity/host.key mixed/identity/
refused 1 'mixed/identity/host.pem: the certificate is not signed by the cluster' "$lbmapd" -c mixed.conf
cp -a alone lost && rm lost/identity/found
identity=lost configuration lost
refused 1 'neither founds a cluster nor knows a member of one' "$lbmapd" -c lost.conf
rm -f lost.db* # its own from the first start on

# ---- a life ------------------------------------------------------------------------------------------------
if start good; then
    [ "$(stat -c %a good.sock)" = 660 ] && ok "the socket is for user and group" || bad "mode of the socket"
    [ "$(cat good.pid)" = "$pid" ] && ok "the pid file names the process" || bad "content of the pid file"

    "$lbctl" -s good.sock status >output 2>&1
    case $? in # 5: it is no member yet
        0 | 5) grep -q 'good' output && ok "lbctl asks for its status" || bad "lbctl status: $(cat output)" ;;
        *) bad "lbctl status: $(cat output)" ;;
    esac

    data=good.db port=$(free_port) configuration second
    refused 3 'good.db' "$lbmapd" -c second.conf
    configuration third # the same port, its own database
    refused 3 'another process listens there' "$lbmapd" -c third.conf
    control=good.sock port=$(free_port) configuration fourth
    refused 3 'is lbmapd running already' "$lbmapd" -c fourth.conf
    [ -S good.sock ] && ok "the daemon keeps its socket" || bad "another daemon removed the socket"

    echo 'log = "debug";' >>good.conf
    kill -HUP "$pid"
    await good 'read the log level again' && ok "SIGHUP reads the log level" || bad "SIGHUP: $(cat good.log)"
    echo 'dimensions = 9;' >>good.conf
    kill -HUP "$pid"
    await good 'good.conf:6: dimensions' && ok "SIGHUP survives a bad file" || bad "SIGHUP, bad file: $(cat good.log)"
    sed -i 5,6d good.conf
    founded good && ok "the cluster is founded" || bad "no cluster is founded"
    stop good TERM
fi

start good && stop good INT

# ---- after a kill -------------------------------------------------------------------------------------------
if start good; then
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    [ -S good.sock ] && ok "a killed daemon leaves its socket" || bad "the killed daemon's socket is gone"
    start good && ok "and the next one replaces it" && stop good TERM
fi

# ---- the database --------------------------------------------------------------------------------------------
sed 's/alone/another/' good.conf >elsewhere.conf
refused 1 'the database belongs to cluster' "$lbmapd" -c elsewhere.conf
cp good.db damaged.db
printf 'overwritten by something else' | dd of=damaged.db bs=1 seek=4200 conv=notrunc status=none
head -c 64 /dev/urandom | dd of=damaged.db bs=1 seek=0 conv=notrunc status=none
before=$(cksum <damaged.db)
data=damaged.db configuration damaged
refused 1 'damaged.db' "$lbmapd" -c damaged.conf
[ "$(cksum <damaged.db)" = "$before" ] && ok "a damaged database is kept" || bad "the damaged database was changed"

# ---- a disk that is full ---------------------------------------------------------------------------------------
# The leader may write files of 160 KiB; hosts join until its log of writes is longer.
port=$(free_port)
configuration full
(
    ulimit -f 160
    exec "$lbmapd" -c full.conf 2>full.log
) &
pid=$! leader=$!
started+=("$leader")
leader_port=$port
if await full 'ready:' && founded full; then
    token=$("$lbctl" token create --dir alone --uses 20)
    for i in $(seq 1 20); do
        kill -0 "$leader" 2>/dev/null || break
        port=$(free_port)
        "$lbctl" -q enroll "127.0.0.1:$leader_port" "$token" --dir "joiner$i" --name "joiner$i" \
            --listen "127.0.0.1:$port" --daemon "$lbmapd" >/dev/null 2>&1 || break
        started+=("$(cat "joiner$i/lbmapd.pid")")
    done
    for _ in $(seq 100); do kill -0 "$leader" 2>/dev/null && sleep 0.05; done # it may be about to end
    kill -0 "$leader" 2>/dev/null && kill -KILL "$leader"
    wait "$leader"
    got=$?
    [ "$got" -eq 1 ] && grep -q 'full.db' full.log && ok "a full disk ends the daemon" ||
        bad "full disk: exit status $got: $(cat full.log)"
    for joiner in "${started[@]}"; do
        [ "$joiner" != "$leader" ] && kill "$joiner" 2>/dev/null
    done
    start full && ok "and it starts again when there is room" && stop full TERM
else
    bad "the leader does not start: $(cat full.log)"
fi

# ---- without permission --------------------------------------------------------------------------------------
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed && chmod 500 closed
    control=closed/x.sock configuration denied
    refused 1 'closed/x.sock.lease: cannot create the lease page of the control socket: Permission denied' "$lbmapd" -c denied.conf
elif command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups test -x "$lbmapd" 2>/dev/null; then
    mkdir -m 755 closed
    mkdir -m 777 open
    chmod 755 .
    cp -a alone nobodys && chown -R 65534 nobodys
    identity=nobodys data=open/x.db control=closed/x.sock configuration denied
    refused 1 'closed/x.sock.lease: cannot create the lease page of the control socket: Permission denied' \
        setpriv --reuid 65534 --clear-groups "$lbmapd" -c denied.conf
else
    skip "no permission for the socket's folder: needs setpriv and a build tree others may read"
fi

exit $failed
