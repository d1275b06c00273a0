#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The authority's key goes to a second host, encrypted, and the first host is lost: the second one makes tokens, lets a
# machine in and renews certificates. And what is no key of this cluster, or has another passphrase, is refused.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
port=$((20000 + RANDOM % 10000))
mkdir -p "$dir"
trap 'kill $(cat "$dir"/*/lbmapd.pid 2>/dev/null) 2>/dev/null; sleep 0.5; rm -rf "$scratch"' EXIT
# at HOST: options of a host with its own folder and port.
at() { echo --dir "$dir/h$1" --name "h$1" --daemon "$daemon" --listen "127.0.0.1:$((port + $1))" --address "127.0.0.1:$((port + $1))"; }
cat >"$scratch/pki" <<'PKI'
#!/bin/sh
host=$1
shift
exec "$LBCTL" pki "$@" --dir "$CLUSTER/h$host"
PKI
chmod +x "$scratch/pki"
# shellcheck disable=SC2046
{
    expect "a cluster is founded" "$lbctl" -q init lab $(at 0)
    token=$("$lbctl" token create --dir "$dir/h0" --uses 2)
    expect "a second host enrols" "$lbctl" -q enroll "127.0.0.1:$port" "$token" $(at 1)
    expect "a third host enrols" "$lbctl" -q enroll "127.0.0.1:$port" "$token" $(at 2)
}
[ "$failed" -eq 0 ] || exit 1
echo 'a good long passphrase' >"$scratch/pass"
echo 'another passphrase' >"$scratch/other"
echo short >"$scratch/short"

# ---- export ------------------------------------------------------------------------------------------------
refused 2 "8 to 100 characters" pki 0 export "$scratch/lab.key" --passphrase-file "$scratch/short"
refused 2 "cannot be read" pki 0 export "$scratch/lab.key" --passphrase-file "$scratch/none"
refused 1 "has not the key" pki 1 export "$scratch/lab.key" --passphrase-file "$scratch/pass"
refused 2 "needs one" pki 0 export --passphrase-file "$scratch/pass"
[ -e "$scratch/lab.key" ] && bad "a file was written all the same" || ok "no file of what is refused"
expect "the key is exported" pki 0 export "$scratch/lab.key" --passphrase-file "$scratch/pass"
grep -q 'BEGIN ENCRYPTED PRIVATE KEY' "$scratch/lab.key" && ! grep -q 'BEGIN PRIVATE KEY\|BEGIN EC' "$scratch/lab.key" &&
    [ "$(stat -c %a "$scratch/lab.key")" = 600 ] && ok "encrypted, and for its owner alone" || bad "$(ls -l "$scratch/lab.key")"
if command -v openssl >/dev/null; then
    openssl asn1parse -in <(sed -n '/ENCRYPTED/,$p' "$scratch/lab.key") | grep -q 'scrypt' && ok "by scrypt" || bad "not by scrypt"
    openssl pkey -in "$scratch/lab.key" -passin "file:$scratch/pass" -noout && ok "openssl reads it" || bad "openssl does not read it"
fi
refused 1 "cannot be made" pki 0 export "$scratch/lab.key" --passphrase-file "$scratch/pass"

# ---- import ------------------------------------------------------------------------------------------------
refused 1 "no key that this passphrase opens" pki 1 import "$scratch/lab.key" --passphrase-file "$scratch/other"
refused 1 "has the key already" pki 0 import "$scratch/lab.key" --passphrase-file "$scratch/pass"
refused 1 "cannot be read" pki 1 import "$scratch/nothing" --passphrase-file "$scratch/pass"
refused 1 "no certificate in it" pki 1 import "$scratch/pass" --passphrase-file "$scratch/pass"
head -c 900 "$scratch/lab.key" >"$scratch/half.key"
refused 1 "no key that this passphrase opens" pki 1 import "$scratch/half.key" --passphrase-file "$scratch/pass"
"$lbctl" -q init lab --no-start --dir "$dir/alien" --name alien --listen 127.0.0.1:1 --address 127.0.0.1:1 >/dev/null
"$lbctl" pki export "$scratch/alien.key" --dir "$dir/alien" --passphrase-file "$scratch/pass"
refused 1 "is of another cluster" pki 1 import "$scratch/alien.key" --passphrase-file "$scratch/pass"
sed -n '/BEGIN CERT/,/END CERT/p' "$scratch/lab.key" >"$scratch/mixed.key"
sed -n '/ENCRYPTED/,$p' "$scratch/alien.key" >>"$scratch/mixed.key"
refused 1 "another key than that of its certificate" pki 1 import "$scratch/mixed.key" --passphrase-file "$scratch/pass"
[ -e "$dir/h1/identity/ca.key" ] && bad "a key was written all the same" || ok "no key of what is refused"
pki 1 show | grep -q 'sign elsewhere' && ok "host 1 does not sign" || bad "$(pki 1 show)"
refused 1 'has the key' "$lbctl" token create --dir "$dir/h1"
expect "the key is imported" pki 1 import "$scratch/lab.key" --passphrase-file "$scratch/pass"
pki 1 show | grep -q 'sign here' && cmp -s <(openssl pkey -in "$dir/h0/identity/ca.key" -pubout) \
    <(openssl pkey -in "$dir/h1/identity/ca.key" -pubout) && ok "it is the same key" || bad "$(pki 1 show)"
[ "$(stat -c %a "$dir/h1/identity/ca.key")" = 600 ] && ok "nobody else reads it" || bad "$(ls -l "$dir/h1/identity")"
notices() { grep -q "has the key of the cluster's authority from now on" "$dir/h1/lbmapd.log"; }
patiently 10 notices && ok "the daemon notices without a new start" || bad "$(tail -n 3 "$dir/h1/lbmapd.log")"

# ---- without the first host ----------------------------------------------------------------------------------
kill -KILL "$(cat "$dir/h0/lbmapd.pid")"
rm -rf "$dir/h0"
# Where etcd is installed three hosts have moved the log there, and nobody has to be promoted.
goes_on() {
    "$lbctl" -s "$dir/h1/lbmapd.sock" log promote --force >/dev/null 2>&1 ||
        "$lbctl" -s "$dir/h1/lbmapd.sock" status | grep -q "control log .*etcd on hosts"
}
patiently 60 goes_on && ok "the control log goes on without host 0" || bad "no promotion"
token=$("$lbctl" token create --dir "$dir/h1")
# shellcheck disable=SC2046
expect "a fourth host enrols at host 1" "$lbctl" -q enroll "127.0.0.1:$((port + 1))" "$token" $(at 3)
expect "a user is made there" "$lbctl" -q pki user ann --dir "$dir/h1" -o "$scratch/ann" --uid 61001
expect "and asks the new host" "$lbctl" -s "127.0.0.1:$((port + 3))" --identity "$scratch/ann" hosts
grep -q ' h3 .*ACTIVE' "$scratch/output" && ok "which is active" || bad "$(cat "$scratch/output")"
exit "$failed"
