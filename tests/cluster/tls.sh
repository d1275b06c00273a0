#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is refused at a daemon's port, by openssl s_client; and tokens: expired, used up, revoked, of another cluster.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
command -v openssl >/dev/null || { skip "openssl is not installed"; exit 77; }
port=$((20000 + RANDOM % 10000))
mkdir -p "$dir"
trap 'kill $(cat "$dir"/*/lbmapd.pid 2>/dev/null) 2>/dev/null; sleep 0.5; rm -rf "$scratch"' EXIT
found one "$port"
found two $((port + 1))
# A second host of the first cluster, whose certificate s_client shows.
token=$("$lbctl" token create --dir "$dir/one" --uses 2)
expect "a host enrols" "$lbctl" -q enroll "127.0.0.1:$port" "$token" --dir "$dir/guest" --name guest --no-start
[ "$failed" -eq 0 ] || exit 1
mine=(-cert "$dir/guest/identity/host.pem" -key "$dir/guest/identity/host.key")

# cut_off TEXT OPTION...: the daemon ends the connection, before the ten seconds are over.
cut_off() {
    local text=$1 log=$scratch/client.$BASHPID
    shift
    { sleep 0.7; echo line; sleep 9; } | timeout 20 openssl s_client -connect "127.0.0.1:$port" "$@" >"$log" 2>&1
    grep -qiE 'alert|closed|errno|no peer certificate|:error:' "$log" && ok "refused: $text" ||
        { bad "$text: $(tail -n 4 "$log")"; : >"$scratch/kept"; }
}
good=(-alpn lbmap-peer/1 "${mine[@]}")
{ sleep 1; } | timeout 10 openssl s_client -connect "127.0.0.1:$port" "${good[@]}" >"$scratch/client" 2>&1
grep -q 'TLSv1.3, Cipher is TLS_AES_128_GCM_SHA256' "$scratch/client" && grep -q 'ALPN protocol: lbmap-peer/1' "$scratch/client" &&
    ok "a host with its certificate is spoken to" || bad "$(cat "$scratch/client")"
grep -qi 'new session ticket' "$scratch/client" && bad "a ticket was given" || ok "no ticket is given"
cut_off "TLS 1.2" -tls1_2 "${good[@]}" &
cut_off "no protocol" "${mine[@]}" &
cut_off "another protocol" -alpn h2 "${mine[@]}" &
cut_off "no certificate" -alpn lbmap-peer/1 &
cut_off "no certificate of a user" -alpn lbmap-control/1 &
cut_off "a host that asks as an operator" -alpn lbmap-control/1 "${mine[@]}" &
cut_off "no frame of a host" "${good[@]}" &
cut_off "a certificate of another cluster" -alpn lbmap-peer/1 -cert "$dir/two/identity/host.pem" -key "$dir/two/identity/host.key" &
cut_off "the daemon's own certificate" -alpn lbmap-peer/1 -cert "$dir/one/identity/host.pem" -key "$dir/one/identity/host.key" &
cut_off "another group" -groups P-521 "${good[@]}" &
cut_off "another cipher" -ciphersuites TLS_AES_128_CCM_SHA256 "${good[@]}" &
for job in $(jobs -p); do wait "$job" || true; done
[ ! -e "$scratch/kept" ] || failed=1

# Keys that change again and again.
{ sleep 1; for _ in $(seq 60); do echo K; sleep 0.02; done; sleep 3; } | timeout 20 openssl s_client -connect "127.0.0.1:$port" "${good[@]}" >"$scratch/client" 2>&1
[ "$(grep -c KEYUPDATE "$scratch/client")" -lt 60 ] && ok "many changes of keys end the connection" || bad "$(tail -n 3 "$scratch/client")"

# Plain bytes, half a handshake, silence: each ends within the time for a handshake.
for bytes in 'GET / HTTP/1.0\r\n\r\n' '\x16\x03\x01\x02\x00\x01\x00' ''; do
    began=$SECONDS
    (exec 3<>"/dev/tcp/127.0.0.1/$port" && printf "$bytes" >&3 && timeout 20 cat <&3) >/dev/null 2>&1
    [ $((SECONDS - began)) -le 8 ] && ok "cut off in time: \"$bytes\"" || bad "\"$bytes\" is kept for $((SECONDS - began)) s"
done
[ "$(grep -c 'refused a connection' "$dir/one/lbmapd.log")" -le 2 ] && ok "the log has a line a minute at most" || bad "$(cat "$dir/one/lbmapd.log")"
expect "the daemon is well" "$lbctl" -s "$dir/one/lbmapd.sock" status

# ---- tokens ------------------------------------------------------------------------------------------------
cat >"$scratch/enrol" <<'ENROL'
#!/bin/sh
place=$(mktemp -d "$CLUSTER/tryXXXXXX")
exec "$LBCTL" -q enroll "$1" "$2" --dir "$place" --name "${place##*/}" --no-start
ENROL
chmod +x "$scratch/enrol"
here=127.0.0.1:$port
refused 2 'is no token' enrol "$here" lbm1-nonsense
refused 1 'is not a host of the cluster that made this token; nothing was sent to it' enrol "127.0.0.1:$((port + 1))" "$token"
grep -q 'no certificate for' "$dir/two/lbmapd.log" && bad "the other cluster was asked: $(cat "$dir/two/lbmapd.log")" || ok "the other cluster was asked for nothing"
last=${token: -1}
refused 1 'unknown, used up' enrol "$here" "${token%?}$([ "$last" = a ] && echo b || echo a)"
refused 1 'another one' "$lbctl" -q enroll "$here" "$token" --dir "$dir/try90" --name one --no-start
expect "a token is used again" enrol "$here" "$token"
refused 1 'unknown, used up' enrol "$here" "$token"
token=$("$lbctl" token create --dir "$dir/one" --uses 5)
name=$("$lbctl" token list --dir "$dir/one" | awk '$2 == 5 { print $1 }')
expect "a token is revoked" "$lbctl" token revoke "$name" --dir "$dir/one"
refused 1 'unknown, used up' enrol "$here" "$token"
token=$("$lbctl" token create --dir "$dir/one" --hours 0.001)
sleep 4
refused 1 'its time is over' enrol "$here" "$token"
refused 1 'tokens are made on a host that has the key' "$lbctl" token create --dir "$dir/guest"
refused 2 'belongs to a cluster already' "$lbctl" -q enroll "$here" "$token" --dir "$dir/guest" --name guest
refused 2 'belongs to a cluster already' "$lbctl" init three --dir "$dir/one" --name one
refused 3 'refused' enrol 127.0.0.1:1 "$token"
grep -rqF "${token: -32}" "$dir/one" && bad "the secret is in a file" || ok "no secret is kept"
exit "$failed"
