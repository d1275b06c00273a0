#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Operators on other machines: lbctl -s ADDRESS:PORT with certificates of users, each with its rights; what belongs to
# whom; who is revoked; certificates that are refused; and more clients than there is room for. Three real daemons.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
export HOME=$scratch/home XDG_CONFIG_HOME=
mkdir -p "$HOME/.config/lbmap"
start ring:3
authority=$dir/h0
port_of() { ask 0 hosts | awk -v host="$1" 'NR > 1 && $1 == host { sub(/.*:/, "", $NF); print $NF }'; }
port0=$(port_of 0) port1=$(port_of 1)
# made USER OPTION...: a certificate in the folder $scratch/USER.
made() {
    local user=$1
    shift
    expect "a certificate of $user: $*" "$lbctl" -q pki user "$user" --dir "$authority" -o "$scratch/$user" "$@"
}
# as USER HOST COMMAND...: lbctl from another machine.
cat >"$scratch/as" <<'AS'
#!/bin/sh
user=$1 port=$2
shift 2
exec "$LBCTL" -s "127.0.0.1:$port" --identity "$(dirname "$0")/$user" "$@"
AS
chmod +x "$scratch/as"

made rita --group read --uid 61001
made ann --group submit --uid 61002
made bob --group submit --uid 61003
made adam --group admin --uid 61004
[ "$failed" -eq 0 ] || exit 1
[ "$(find "$scratch/ann" -type f -perm 600 | wc -l)" -eq 3 ] && [ "$(stat -c %a "$scratch/ann")" = 700 ] &&
    ok "nobody else reads a user's folder" || bad "$(ls -la "$scratch/ann")"
refused 2 "has an identity already" "$lbctl" pki user ann --dir "$authority" -o "$scratch/ann" --uid 61002
refused 1 "is no user of this machine" "$lbctl" pki user no-such-user --dir "$authority" -o "$scratch/nobody"
refused 2 "root administers" "$lbctl" pki user root --dir "$authority" -o "$scratch/nobody"
[ -e "$scratch/nobody" ] && bad "a folder was made all the same" || ok "nothing is written of what is refused"
refused 1 "made on a host that has the key" "$lbctl" pki user ann --dir "$dir/h1" -o "$scratch/nobody" --uid 5

# ---- rights ------------------------------------------------------------------------------------------------
"$lbctl" -q gen lattice:30x30 -o "$scratch/g.graph"
for what in status hosts jobs network "log show" events; do
    # shellcheck disable=SC2086
    expect "a reader looks from elsewhere: $what" as rita "$port0" $what
done
refused 7 "user 61001 may not submit jobs: its certificate says read" as rita "$port0" submit "$scratch/g.graph" --name r
expect "ann submits at host 1" as ann "$port1" submit "$scratch/g.graph" --name a
expect "it settles" as ann "$port0" wait a --timeout 120
expect "its map comes to another machine" as rita "$port0" map a -o "$scratch/map"
[ "$(grep -c . "$scratch/map")" -ge 900 ] && ok "all of it" || bad "$(wc "$scratch/map")"
as ann "$port0" jobs a --json | grep -q '"owner": 61002' && ok "the job is ann's" || bad "$(as ann "$port0" jobs a --json)"
refused 7 "user 61003 may not cancel job a: it belongs to user 61002" as bob "$port0" cancel a
refused 7 "user 61002 may not change hosts: its certificate says submit" as ann "$port0" drain 1
expect "an administrator changes a host from elsewhere" as adam "$port0" set 1 --capacity 2
cp -r "$scratch/adam" "$HOME/.config/lbmap/identity"
expect "the folder in the home is found, and a name resolved" "$lbctl" -s "localhost:$port0" status

# Who works on vertices gets their payloads, and has a lease: at the daemon of its own machine alone.
python3 - "$port0" "$scratch/ann" <<'ATTACH' >"$scratch/output" 2>&1
import socket, ssl, struct, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
context.set_alpn_protocols(["lbmap-control/1"])
context.load_cert_chain(sys.argv[2] + "/user.pem", sys.argv[2] + "/user.key")
line = context.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10))
for body in (b"\x08\x01\xba\x01\x03\x0a\x01a", b"\x08\x02\xc2\x01\x00"):  # Attach to job a; Checkpoint
    line.sendall(struct.pack("<I", len(body)) + body)
    print(line.recv(65536))
ATTACH
[ "$(grep -c 'user 61002 may not .* from another machine' "$scratch/output")" -eq 2 ] &&
    ok "an owner does not serve its job from elsewhere" || bad "$(cat "$scratch/output")"

# ---- refused -----------------------------------------------------------------------------------------------
refused 2 "there is no certificate of a user" "$lbctl" -s "127.0.0.1:$port0" --identity "$scratch/nowhere" status
refused 3 "127.0.0.1:1: " as adam 1 status
chmod 644 "$scratch/bob/user.key"
refused 7 "can be read by others" as bob "$port0" status
chmod 600 "$scratch/bob/user.key"
expect "another cluster" "$lbctl" -q cluster up --hosts ring:3 --dir "$scratch/alien" --daemon "$daemon"
"$lbctl" -q cluster down --dir "$scratch/alien"
alien=$scratch/alien/h0
expect "a user of another cluster" "$lbctl" -q pki user eve --dir "$alien" -o "$scratch/eve" --group admin --uid 1
refused 7 "is no host of the cluster of this certificate" as eve "$port0" status
cp "$scratch/adam/ca.pem" "$scratch/eve/ca.pem" # and if it believes the daemon
refused 7 "not signed by the cluster's CA" as eve "$port0" status
if command -v openssl >/dev/null; then
    for alpn in lbmap-peer/1 lbmap-enrol/1; do
        { sleep 1; echo line; sleep 4; } | timeout 10 openssl s_client -connect "127.0.0.1:$port0" -alpn $alpn \
            -cert "$scratch/adam/user.pem" -key "$scratch/adam/user.key" >"$scratch/client" 2>&1
        grep -qi 'alert' "$scratch/client" && ok "a user's certificate opens no $alpn" || bad "$alpn: $(tail -n 4 "$scratch/client")"
    done
    # Its certificate and key, and no frame of lbmap's: told so, and closed.
    { sleep 1; echo a line that is no frame; sleep 8; } | timeout 20 openssl s_client -connect "127.0.0.1:$port0" \
        -alpn lbmap-control/1 -cert "$scratch/adam/user.pem" -key "$scratch/adam/user.key" -quiet >"$scratch/client" 2>&1
    grep -aq 'not a frame of lbmap' "$scratch/client" && ok "what is no frame is refused" || bad "$(cat "$scratch/client")"
fi

# ---- revoked -----------------------------------------------------------------------------------------------
as bob "$port0" wait a --timeout 200 >/dev/null 2>&1
as bob "$port1" status >/dev/null || bad "bob is no user before he is revoked"
refused 7 "user 61002 may not revoke users" as ann "$port0" revoke bob --user
expect "bob is revoked by an administrator from elsewhere" as adam "$port0" revoke bob --user
out() { ! as bob "$1" status >/dev/null 2>&1; }
for port in "$port0" "$port1"; do
    patiently 10 out "$port" && refused 7 "refuses this certificate" as bob "$port" status
done
grep -q "refused a connection.*user bob is revoked" "$dir/h0/lbmapd.log" "$dir/h1/lbmapd.log" && ok "the log says why" ||
    bad "$(grep refused "$dir"/h[01]/lbmapd.log)"
expect "ann is believed as before" as ann "$port0" status
sleep 1
rm -rf "$scratch/bob"
made bob --group read --uid 61003
expect "a later certificate of his is believed" as bob "$port0" status
"$lbctl" pki show --dir "$authority" >"$scratch/show"
grep -q '^authority *lbm1-' "$scratch/show" && [ "$(grep -c '^user' "$scratch/show")" -eq 5 ] &&
    ok "pki show has all that were made" || bad "$(cat "$scratch/show")"
# A connection that stands ends, too: this one says nothing until it is cut off.
if command -v openssl >/dev/null; then
    { sleep 30; } | timeout 40 openssl s_client -connect "127.0.0.1:$port0" -alpn lbmap-control/1 \
        -cert "$scratch/ann/user.pem" -key "$scratch/ann/user.key" -quiet >"$scratch/client" 2>&1 &
    stands=$!
    sleep 1
    expect "ann is revoked" as adam "$port0" revoke ann --user
    cut_off() { grep -q 'user ann.*is revoked: cut off' "$dir/h0/lbmapd.log"; }
    patiently 10 cut_off && ok "her connection is ended" || bad "$(tail -n 3 "$dir/h0/lbmapd.log")"
    wait "$stands"
fi
# What is revoked outlives the daemons.
"$lbctl" -q cluster down --dir "$dir"
"$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
here() { as adam "$port0" status >/dev/null 2>&1; }
patiently 30 here && refused 7 "refuses this certificate" as ann "$port0" status
expect "her job is there, and an administrator cancels it" as adam "$port1" cancel a

# ---- too many ----------------------------------------------------------------------------------------------
python3 - "$port0" "$scratch/rita" "$scratch/adam" <<'MANY' && ok "readers leave room for an administrator" || bad "too many clients"
import socket, ssl, struct, sys
port = int(sys.argv[1])
def connect(folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["lbmap-control/1"])
    context.load_cert_chain(folder + "/user.pem", folder + "/user.key")
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), 10))
def status(line):  # Request {id: 1, status: {}} behind its length
    body = b"\x08\x01\x52\x00"
    line.sendall(struct.pack("<I", len(body)) + body)
    try:
        answer = line.recv(65536)
        return len(answer) > 30 and b"too many clients" not in answer
    except OSError:
        return False
readers = []
for number in range(70):
    line = connect(sys.argv[2])
    if not status(line):
        break
    readers.append(line)
print(len(readers), "readers are in")
sys.exit(not (40 <= len(readers) < 64 and status(connect(sys.argv[3]))))
MANY
expect "the daemon is well" ask 0 status
exit "$failed"
