#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tokens that are expired, used up, of a wrong hash, of another cluster, or replayed are refused, and no secret leaves to
# anybody but a host of the cluster: a recorder that ends TLS itself, with every certificate that it could have, sees
# nothing, and one that copies the wire sees no secret. With the daemon's own key it would: the recorder records.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
command -v openssl >/dev/null && command -v python3 >/dev/null || { skip "openssl or python3 is not installed"; exit 77; }
port=$((20000 + RANDOM % 10000))
mkdir -p "$dir"
recorders=()
trap 'kill "${recorders[@]}" 2>/dev/null; kill $(cat "$dir"/*/lbmapd.pid 2>/dev/null) 2>/dev/null; sleep 0.5; rm -rf "$scratch"' EXIT
found one "$port"
found two $((port + 1))
[ "$failed" -eq 0 ] || exit 1
identity=$dir/one/identity
cat >"$scratch/enrol" <<'ENROL'
#!/bin/sh
place=$(mktemp -d "$CLUSTER/tryXXXXXX")
exec "$LBCTL" -q enroll "$1" "$2" --dir "$place" --name "${place##*/}" --no-start
ENROL
chmod +x "$scratch/enrol"

# ---- the tokens --------------------------------------------------------------------------------------------
create() { "$lbctl" token create --dir "$dir/${1:-one}" "${@:2}"; }
declare -A token
token[used up]=$(create one)
expect "a token is used" enrol "127.0.0.1:$port" "${token[used up]}"
token[replayed]=$(create one --uses 2)
expect "another one is used" enrol "127.0.0.1:$port" "${token[replayed]}"
expect "and again" enrol "127.0.0.1:$port" "${token[replayed]}"
token[of another cluster]=$(create two)
token[good]=$(create one --uses 100)
# The secret of a good one behind the hash of another authority; and an unknown secret behind the good hash.
token[of a wrong hash]=$(create two | cut -c 1-58)${token[good]:58}
token[unknown]=${token[good]:0:58}$(create two | cut -c 59-)
token[revoked]=$(create one --uses 7)
"$lbctl" token revoke "$("$lbctl" token list --dir "$dir/one" | awk '$2 == 7 { print $1 }')" --dir "$dir/one"
token[expired]=$(create one --hours 0.001)
sleep 4
# secret TOKEN: its bytes, in hexadecimal.
secret() { echo "${1:58}" | tr a-z A-Z | base32 -d | od -An -tx1 -v | tr -d ' \n'; }
# has FILE TOKEN: the secret is in it, as bytes or as text.
has() { od -An -tx1 -v "$1" | tr -d ' \n' | grep -q "$(secret "$2")" || grep -qaF "${2:58}" "$1"; }
[ "$(secret "${token[good]}" | wc -c)" -eq 40 ] || bad "the secret is not read: ${token[good]}"

# ---- who stands between --------------------------------------------------------------------------------------
cluster=$(openssl x509 -in "$identity/host.pem" -noout -ext subjectAltName | grep -o 'lbmap://[0-9a-f]*')
# own NAME OPTION...: a key and a certificate signed by itself.
own() {
    local name=$1
    shift
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$scratch/$name.key" -out "$scratch/$name.pem" \
        -days 10 "$@" 2>/dev/null
}
own self -subj '/CN=host 0' -addext "subjectAltName=URI:$cluster/host/0" -addext 'extendedKeyUsage=serverAuth,clientAuth'
# The same, with the true authority's certificate behind it, as every daemon sends it: anybody can fetch that.
cat "$scratch/self.pem" "$identity/ca.pem" >"$scratch/chain.pem"
cp "$scratch/self.key" "$scratch/chain.key"
# An authority of the same name, with another key.
own authority -subj "$(openssl x509 -in "$identity/ca.pem" -noout -subject -nameopt compat | sed 's/^subject=//; s/^ *//; s|^|/|; s|^//|/|')" \
    -addext "subjectAltName=URI:$cluster"
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$scratch/twin.key" -subj '/CN=host 0' 2>/dev/null |
    openssl x509 -req -CA "$scratch/authority.pem" -CAkey "$scratch/authority.key" -days 10 -out "$scratch/twin.leaf" \
        -extfile <(printf 'subjectAltName=URI:%s/host/0\nextendedKeyUsage=serverAuth,clientAuth\n' "$cluster") 2>/dev/null
cat "$scratch/twin.leaf" "$scratch/authority.pem" >"$scratch/twin.pem"
# A user of the cluster, who has a certificate of the true authority; and a host of another cluster.
"$lbctl" -q pki user mallory --dir "$dir/one" -o "$scratch/mallory" --group admin --uid 1
cat "$scratch/mallory/user.pem" "$identity/ca.pem" >"$scratch/user.pem"
cp "$scratch/mallory/user.key" "$scratch/user.key"
cat "$dir/two/identity/host.pem" "$dir/two/identity/ca.pem" "$identity/ca.pem" >"$scratch/alien.pem"
cp "$dir/two/identity/host.key" "$scratch/alien.key"
# A host that was one: its certificate has ended.
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$scratch/late.key" -subj '/CN=host 0' 2>/dev/null |
    openssl x509 -req -CA "$identity/ca.pem" -CAkey "$identity/ca.key" -days -1 -out "$scratch/late.leaf" \
        -extfile <(printf 'subjectAltName=URI:%s/host/0\nextendedKeyUsage=serverAuth,clientAuth\n' "$cluster") 2>/dev/null
cat "$scratch/late.leaf" "$identity/ca.pem" >"$scratch/late.pem"
# And, so that it is known to record, the daemon's own.
cat "$identity/host.pem" "$identity/ca.pem" >"$scratch/true.pem"
cp "$identity/host.key" "$scratch/true.key"

# record NAME MODE FILE...: a recorder, at $at.
record() {
    local name=$1 mode=$2
    shift 2
    : >"$scratch/seen.$name"
    python3 "$tests/recorder.py" "$mode" "$port" "$scratch/seen.$name" "$@" >"$scratch/port.$name" 2>"$scratch/recorder.log" &
    recorders+=($!)
    for _ in $(seq 100); do [ -s "$scratch/port.$name" ] && break; sleep 0.1; done
    at=127.0.0.1:$(cat "$scratch/port.$name")
}
why() { # KIND: what the machine is told by a true daemon
    case $1 in
    *hash | "of another cluster") echo 'is not a host of the cluster that made this token; nothing was sent to it' ;;
    *) echo 'unknown, used up, revoked, or its time is over' ;;
    esac
}
kinds=("expired" "used up" "replayed" "revoked" "unknown" "of a wrong hash" "of another cluster")

for who in self chain twin user alien late; do
    record "$who" middle "$scratch/$who.pem" "$scratch/$who.key"
    for kind in "${kinds[@]}" good; do
        # Tokens that name the other cluster are for that recorder, which has the key of a host of it.
        case $who$kind in alien*hash | alien*cluster) continue ;; esac
        refused 1 'nothing was sent to it' enrol "$at" "${token[$kind]}"
    done
    [ -s "$scratch/seen.$who" ] && bad "$who saw $(wc -c <"$scratch/seen.$who") bytes" || ok "a recorder with the certificate $who sees nothing at all"
done
record wire relay
for kind in "${kinds[@]}"; do
    refused 1 "$(why "$kind")" enrol "$at" "${token[$kind]}"
    has "$scratch/seen.wire" "${token[$kind]}" && bad "the secret of a token $kind is on the wire" || ok "a token that is $kind: no secret on the wire"
done
expect "a good token is taken over the same wire" enrol "$at" "${token[good]}"
has "$scratch/seen.wire" "${token[good]}" && bad "its secret is on the wire" || ok "nor is its secret there"
[ "$(wc -c <"$scratch/seen.wire")" -gt 5000 ] && ok "though the recorder has it all" || bad "seen: $(wc -c <"$scratch/seen.wire")"
record true middle "$scratch/true.pem" "$scratch/true.key"
expect "with the daemon's key" enrol "$at" "${token[good]}"
has "$scratch/seen.true" "${token[good]}" && ok "the recorder has the secret: it records" || bad "the recorder does not record: $(cat "$scratch/recorder.log")"
expect "the daemon is well" "$lbctl" -s "$dir/one/lbmapd.sock" status
exit "$failed"
