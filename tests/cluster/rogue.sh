#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who has no certificate of the cluster's authority is nobody: the shipped daemon with another cluster's identity, run by
# another user where that can be; a certificate signed by itself; and a member that is revoked while it works. No
# member more, no vertex moved, and strangers get a line a minute in the log at most.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
rogues=()
trap 'kill -KILL "${rogues[@]}" 2>/dev/null; finish' EXIT

# Another cluster, whose identities are at hand.
"$lbctl" -q cluster up --hosts ring:3 --dir "$scratch/alien" --daemon "$daemon" || exit 1
"$lbctl" -q cluster down --dir "$scratch/alien"
log=local
start ring:4
"$lbctl" -q gen lattice:40x40 -o "$scratch/g.graph"
expect "a job" ask 0 -q submit "$scratch/g.graph" --name job
expect "it settles" settles 0 job
expect_map "its map" 0 job "$scratch/before"
members() { ask 0 hosts | awk 'NR > 1 { print $1, $2, $3 }'; }
vertices() { ask 0 hosts | awk 'NR > 1 { print $1, $8 }'; }
members >"$scratch/members"
vertices >"$scratch/vertices"
addresses=$(ask 0 hosts | awk 'NR > 1 { print $1, $NF }')

# rogue NAME IDENTITY HOST: a daemon with that identity that asks the members to let it in.
rogue() {
    local where=$scratch/$1 port
    port=$((20000 + RANDOM % 10000))
    mkdir -p "$where"
    cp -a "$2" "$where/identity"
    rm -f "$where/identity/found"
    echo "$addresses" >"$where/identity/contacts"
    sed -i "/^$3 /d" "$where/identity/contacts"
    cat >"$where/lbmapd.conf" <<CONF
host = { name = "rogue"; capacity = 1000000.0; };
listen = "127.0.0.1:$port"; identity = "identity"; data = "lbmap.db"; control = "lbmapd.sock";
CONF
    local as=()
    if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
        chmod 711 "$scratch"
        chown -R 65534:65534 "$where"
        setpriv --reuid 65534 --clear-groups test -x "$daemon" 2>/dev/null && as=(setpriv --reuid 65534 --clear-groups)
    fi
    "${as[@]}" "$daemon" -c "$where/lbmapd.conf" >"$where/log" 2>&1 &
    rogues+=($!)
    disown
}
nothing_has_changed() {
    [ "$(members)" = "$(cat "$scratch/members")" ] && ok "$1: no member more" || bad "$1: members: $(members)"
    [ "$(vertices)" = "$(cat "$scratch/vertices")" ] && ok "$1: no vertex moved" || bad "$1: vertices: $(vertices)"
}
refusals() { grep -c 'refused a connection' "$dir/h$1/lbmapd.log"; }

# ---- another cluster's host --------------------------------------------------------------------------------
rogue alien "$scratch/alien/h1/identity" 1
until_true 20 "a refusal" eval 'grep -q "refused a connection from 127.0.0.1:" "$dir/h0/lbmapd.log"' &&
    ok "the log says who was refused"
sleep 8
nothing_has_changed "another cluster's host"
for host in 0 2 3; do
    [ "$(refusals "$host")" -le 1 ] && ok "host $host says so once" || bad "host $host: $(refusals "$host") lines"
done
grep -qE 'no connection to host 0 .*yet' "$scratch/alien/log" && ok "nor does the stranger believe the members" || bad "$(cat "$scratch/alien/log")"
kill "${rogues[0]}"

# ---- signed by itself --------------------------------------------------------------------------------------
if command -v openssl >/dev/null; then
    cluster=$(openssl x509 -in "$dir/h0/identity/host.pem" -noout -ext subjectAltName | grep -o 'lbmap://[0-9a-f]*')
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$scratch/own.key" -out "$scratch/own.pem" \
        -days 10 -subj '/CN=host 1' -addext "subjectAltName=URI:$cluster/host/1" \
        -addext 'extendedKeyUsage=serverAuth,clientAuth' -addext 'basicConstraints=critical,CA:FALSE' 2>/dev/null
    address=$(echo "$addresses" | awk '$1 == 0 { print $2 }')
    (sleep 1; echo hello) | timeout 10 openssl s_client -connect "$address" -alpn lbmap-peer/1 -cert "$scratch/own.pem" \
        -key "$scratch/own.key" >"$scratch/own.log" 2>&1
    grep -q 'alert' "$scratch/own.log" && ok "a certificate signed by itself is refused" || bad "$(tail -n 5 "$scratch/own.log")"
    nothing_has_changed "a certificate signed by itself"
else
    skip "a certificate signed by itself: openssl is not installed"
fi

# ---- revoked -----------------------------------------------------------------------------------------------
refused 1 'orders the control log; promote another one first' ask 1 revoke 0
refused 1 'there is no host 77' ask 1 revoke 77
refused 1 'is neither id nor name of a host' ask 1 revoke nobody
expect "host 2 is revoked" ask 1 revoke h2
began=$SECONDS
refused 1 'is revoked already' ask 1 revoke 2
# silent HOST: it has heard nothing of host 2 for two seconds and more.
silent() { ask "$1" hosts --all | awk '$1 == 2 { exit !($5 + 0 >= 2 || $3 == "EVICTED") }'; }
sleep 5
for host in 0 1 3; do
    silent "$host" && ok "host $host hears it no more, 5 s later" || bad "host $host: $(ask "$host" hosts)"
done
evicted() { ask 0 hosts --all | grep -q ' h2 *EVICTED'; }
until_true 60 "it is evicted" evicted && ok "it is evicted after $((SECONDS - began)) s; its backup goes on"
all_are_there() { [ "$(ask 0 hosts | awk 'NR > 1 && $3 == "ACTIVE" { n += $8 } END { print n }')" -eq 1600 ]; }
until_true 60 "all vertices are there" all_are_there && ok "all its vertices are on the others"
expect "the job settles without it" settles 0 job
"$lbctl" -q cluster kill 2 --dir "$dir"
"$daemon" -c "$dir/h2/lbmapd.conf" >>"$dir/h2/lbmapd.log" 2>&1 &
rogues+=($!)
disown
sleep 5
evicted && ok "started again it does not come back" || bad "$(ask 0 hosts)"
all_are_there || bad "vertices: $(ask 0 hosts)"
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
