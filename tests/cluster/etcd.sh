#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The control log in a real ensemble of etcd: three members on loopback, four daemons. Members are killed, the
# ensemble loses its majority and gets it back, a long log is compacted, TLS and a login are used.
# ENTRIES: length of the long log, 100000 unless set.
for program in etcd openssl python3; do
    command -v "$program" >/dev/null || { echo "skipped: $program is not installed (scripts/deps --optional)"; exit 77; }
done
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
gate="python3 $tests/etcd_gate.py"
# Ports that nobody listens at, below those that the kernel gives away: clients at port + 0 .. 2, peers at + 10 ..
# 12, daemons at + 20 ..
is_taken() {
    local at
    for at in 0 1 2 10 11 12 20 21 22 23; do
        (exec 3<>"/dev/tcp/127.0.0.1/$(($1 + at))") 2>/dev/null && return 0
    done
    return 1
}
port=$((10240 + RANDOM % 22000))
while is_taken "$port"; do port=$((10240 + RANDOM % 22000)); done
entries=${ENTRIES:-100000}
finish_all() {
    kill -9 $(cat "$scratch"/*.pid 2>/dev/null) 2>/dev/null
    rm -rf "$scratch"
}
trap finish_all EXIT
mkdir -p "$dir"

# member N: start one, with the options of $tls.
scheme=http tls=()
member() {
    local peers="e0=http://127.0.0.1:$((port + 10)),e1=http://127.0.0.1:$((port + 11)),e2=http://127.0.0.1:$((port + 12))"
    etcd --name "e$1" --data-dir "$scratch/$scheme-e$1" --log-level error \
        --listen-client-urls "$scheme://127.0.0.1:$((port + $1))" \
        --advertise-client-urls "$scheme://127.0.0.1:$((port + $1))" \
        --listen-peer-urls "http://127.0.0.1:$((port + 10 + $1))" \
        --initial-advertise-peer-urls "http://127.0.0.1:$((port + 10 + $1))" \
        --initial-cluster "$peers" --initial-cluster-state new "${tls[@]}" >>"$scratch/e$1.log" 2>&1 &
    echo $! >"$scratch/e$1.pid"
    disown # no word of the shell when it is killed
}
kill_member() {
    kill -9 "$(cat "$scratch/e$1.pid")"
    rm "$scratch/e$1.pid"
}

# daemon N MORE: host N, in a ring of four, with more settings of etcd.
host() {
    local n=$1 url="$scheme://127.0.0.1"
    mkdir -p "$dir/h$n"
    [ -d "$dir/h$n/identity" ] || cp -a "$scratch/made/h$n/identity" "$dir/h$n/identity"
    cat >"$dir/h$n/lbmapd.conf" <<CONF
cluster = "test";
host = { name = "h$n"; links = ( { host = $(((n + 1) % 4)); } ); };
listen = "127.0.0.1:$((port + 20 + n))";
data = "lbmap.db";
control = "lbmapd.sock";
identity = "identity";
log_engine = "etcd";
etcd = {
    endpoints = [ "$url:$port", "$url:$((port + 1))", "$url:$((port + 2))" ];
    ${2:-}
};
CONF
    "$daemon" -c "$dir/h$n/lbmapd.conf" >>"$dir/h$n/lbmapd.log" 2>&1 &
    echo $! >"$scratch/h$n.pid"
    disown
}
# within SECONDS TEXT COMMAND...: the command succeeds in that time, or in ten times as long where the machine is busy.
within() {
    local until=$((SECONDS + 10 * $1)) text=$2
    shift 2
    while ! "$@" >"$scratch/output" 2>&1 </dev/null; do
        [ $SECONDS -lt $until ] || { bad "$text: $(tail -n 5 "$scratch/output")"; return; }
        sleep 0.2
    done
    ok "$text"
}
active() { [ "$(ask "$1" hosts | grep -c ACTIVE)" = "$2" ]; }
stop_all() {
    local pid
    for pid in $(cat "$scratch"/h?.pid); do
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    done
    rm -f "$scratch"/h?.pid
}
# Certificates of four hosts.
"$lbctl" -q cluster up --hosts ring:4 --log local --dir "$scratch/made" --daemon "$daemon" || exit 1
"$lbctl" -q cluster down --dir "$scratch/made"
"$lbctl" -q gen lattice:32x32 -o "$scratch/g.graph"

# ---- members die ------------------------------------------------------------------------------------------
for n in 0 1 2; do member "$n"; done
for n in 0 1 2; do host "$n"; done
within 20 "three hosts found a cluster in etcd" active 2 3
[ "$failed" -eq 0 ] || { tail -n 5 "$dir"/h*/lbmapd.log; exit 1; }
expect "a job" ask 0 submit "$scratch/g.graph" --name one
expect "it settles" settles 1 one
kill_member 2
expect "a member of three is dead: a job is taken" ask 1 submit "$scratch/g.graph" --name two
member 2
sleep 3
kill_member 0
expect "so is the one that was asked: a job is taken" ask 2 submit "$scratch/g.graph" --name three
within 20 "a host that asks another member by now hears of it" ask 0 jobs three
expect "and settles" settles 0 three
one_owner three 1024

# ---- no majority ------------------------------------------------------------------------------------------
expect "a job from the centre, which takes a while" ask 0 submit "$scratch/g.graph" --name moving --start centre
kill_member 2
ask 1 submit "$scratch/g.graph" --name frozen >"$scratch/frozen" 2>&1 &
frozen=$!
expect "no majority: what is there settles" settles 0 moving
one_owner moving 1024
ask 2 jobs | grep -q frozen && bad "a job is taken without a majority" || ok "no job is taken without a majority"
member 0
wait "$frozen"
within 30 "one member is back: the job of the meantime is taken" ask 0 locate frozen 0
member 2

# ---- a long log -------------------------------------------------------------------------------------------
sleep 3
expect "$entries entries" $gate "http://127.0.0.1:$port" fill /lbmap "$entries"
last=$(cat "$scratch/output")
applied() { [ "$(ask "$1" status --json | grep -o '"view": *[0-9]*' | grep -o '[0-9]*$')" -ge "$last" ]; }
within 120 "they are applied" applied 0
short() { [ "$($gate "http://127.0.0.1:$port" count /lbmap)" -lt 8192 ]; }
within 10 "the log is short" short
host 3
within 5 "a new host begins at the snapshot" applied 3
within 20 "and takes part" active 3 4
grep -q 'begins at a snapshot' "$dir/h3/lbmapd.log" && ok "it read no more" || bad "no snapshot: $(cat "$dir/h3/lbmapd.log")"
kill -9 "$(cat "$scratch/h3.pid")"
sleep 0.2
host 3
within 10 "it starts again from its database" active 3 4
stop_all
for n in 0 1 2; do kill_member "$n"; done

# ---- certificates and a login -----------------------------------------------------------------------------
cd "$scratch" || exit 99
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem 2>/dev/null
for name in server client; do
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout $name.key -out $name.csr 2>/dev/null
    openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out $name.pem \
        -extfile <(echo 'subjectAltName=IP:127.0.0.1') 2>/dev/null
done
scheme=https
tls=(--cert-file "$scratch/server.pem" --key-file "$scratch/server.key" --trusted-ca-file "$scratch/ca.pem" --client-cert-auth)
dir=$scratch/tls
export CLUSTER=$dir
for n in 0 1 2; do member "$n"; done
host 0 "ca = \"$scratch/ca.pem\";"
sleep 4
ask 0 hosts | grep -q ACTIVE && bad "a daemon without a certificate is let in" || ok "a daemon without a certificate is not let in"
stop_all
certificates="ca = \"$scratch/ca.pem\"; cert = \"$scratch/client.pem\"; key = \"$scratch/client.key\";"
for n in 0 1 2; do host "$n" "$certificates"; done
within 20 "with certificates three hosts are a cluster" active 2 3
stop_all
for n in 0 1 2; do kill_member "$n"; done

scheme=http tls=() dir=$scratch/login
export CLUSTER=$dir
rm -rf "$scratch"/http-e?
for n in 0 1 2; do member "$n"; done
url=http://127.0.0.1:$port
within 10 "a user" $gate "$url" call /v3/auth/user/add '{"name": "root", "password": "secret"}'
expect "a role" $gate "$url" call /v3/auth/role/add '{"name": "root"}'
expect "the role is the user's" $gate "$url" call /v3/auth/user/grant '{"user": "root", "role": "root"}'
expect "logins are asked for" $gate "$url" call /v3/auth/enable '{}'
echo wrong >"$scratch/wrong"
echo secret >"$scratch/secret"
host 0 "user = \"root\"; password_file = \"$scratch/wrong\";"
sleep 4
ask 0 hosts | grep -q ACTIVE && bad "a wrong password is let in" || ok "a wrong password is not let in"
stop_all
for n in 0 1 2; do host "$n" "user = \"root\"; password_file = \"$scratch/secret\";"; done
within 20 "with the right one three hosts are a cluster" active 2 3
exit $failed
