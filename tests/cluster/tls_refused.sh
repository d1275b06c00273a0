#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Certificates of every wrong kind, wrong ways to speak TLS, and bytes that are none, at a daemon's port: each is refused
# (tests/cluster/tls_cases.py says which and how), and the daemon is well, has no member more, and says little.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
command -v openssl >/dev/null && command -v python3 >/dev/null || { skip "openssl or python3 is not installed"; exit 77; }
port=$((20000 + RANDOM % 10000))
mkdir -p "$dir"
trap 'kill $(cat "$dir"/*/lbmapd.pid 2>/dev/null) 2>/dev/null; sleep 0.5; rm -rf "$scratch"' EXIT
found one "$port"
found two $((port + 1))
token=$("$lbctl" token create --dir "$dir/one" --uses 2)
for name in good revoked; do
    expect "$name enrols" "$lbctl" -q enroll "127.0.0.1:$port" "$token" --dir "$dir/$name" --name "$name" --no-start
done
[ "$failed" -eq 0 ] || exit 1
expect "one of them is revoked" "$lbctl" -s "$dir/one/lbmapd.sock" revoke 2

# ---- certificates ------------------------------------------------------------------------------------------
made=$scratch/made
mkdir "$made"
cp "$dir/one/identity/ca.pem" "$made/ca.pem"
cp "$dir/one/identity/ca.key" "$made/ca.key"
uri=$(openssl x509 -in "$made/ca.pem" -noout -ext subjectAltName | grep -o 'lbmap://[0-9a-f]*')
for host in one:self-host good:good revoked:revoked two:alien; do
    cat "$dir/${host%:*}/identity/host.pem" "$made/ca.pem" >"$made/${host#*:}.pem"
    cp "$dir/${host%:*}/identity/host.key" "$made/${host#*:}.key"
done
cp "$made/ca.pem" "$made/authority.pem"
cp "$made/ca.key" "$made/authority.key"
user() { # NAME CLUSTER
    "$lbctl" -q pki user ann --dir "$dir/$2" -o "$scratch/$1" --group admin --uid 7
    cp "$scratch/$1/user.pem" "$made/$1.pem"
    cp "$scratch/$1/user.key" "$made/$1.key"
}
user user one
user user-alien two
both='extendedKeyUsage=critical,serverAuth,clientAuth'
signs='keyUsage=critical,digitalSignature'
end='basicConstraints=critical,CA:FALSE'
host="subjectAltName=URI:$uri/host/1"
# make NAME KEY EXTENSION...: signed by the authority; in issuer, days, start: by another one, for so long, from then on.
make() {
    local name=$1 key=$2 issuer=${issuer:-ca} days=${days:-10}
    shift 2
    # shellcheck disable=SC2086
    openssl genpkey $key -out "$made/$name.key" 2>/dev/null
    openssl req -new -key "$made/$name.key" -subj '/CN=host 1' -out "$made/$name.csr" 2>"$scratch/openssl"
    printf '%s\n' "$@" >"$made/$name.ext"
    if [ -n "${start-}" ]; then
        printf '[ca]\ndefault_ca=d\n[d]\ndatabase=%s/index\nserial=%s/serial\nnew_certs_dir=%s\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n' \
            "$scratch" "$scratch" "$scratch" >"$scratch/ca.conf"
        : >"$scratch/index"
        echo 01 >"$scratch/serial"
        openssl ca -batch -config "$scratch/ca.conf" -cert "$made/ca.pem" -keyfile "$made/ca.key" -in "$made/$name.csr" \
            -startdate "$start" -days "$days" -extfile "$made/$name.ext" -notext -out "$made/$name.leaf" 2>"$scratch/openssl"
    else
        openssl x509 -req -sha256 -in "$made/$name.csr" -CA "$made/$issuer.pem" -CAkey "$made/$issuer.key" -days "$days" \
            -extfile "$made/$name.ext" -out "$made/$name.leaf" 2>"$scratch/openssl"
    fi
    [ -s "$made/$name.leaf" ] || bad "no certificate $name: $(cat "$scratch/openssl")"
    cat "$made/$name.leaf" "$made/ca.pem" >"$made/$name.pem"
}
p256='-algorithm EC -pkeyopt ec_paramgen_curve:P-256'
days=-1 make expired "$p256" "$both" "$signs" "$end" "$host"
start=$(date -u -d '+2 days' +%y%m%d%H%M%SZ) make not-yet "$p256" "$both" "$signs" "$end" "$host"
make other-cluster "$p256" "$both" "$signs" "$end" "subjectAltName=URI:lbmap://00000000000000c1/host/1"
make leaf-authority "$p256" "$both" "$signs" 'basicConstraints=critical,CA:TRUE' "$host"
make dns "$p256" "$both" "$signs" "$end" "subjectAltName=DNS:host1.example"
make two-names "$p256" "$both" "$signs" "$end" "$host,URI:$uri/host/0"
make no-name "$p256" "$both" "$signs" "$end"
make name-in-subject "$p256" "$both" "$signs" "$end"
make host-out-of-range "$p256" "$both" "$signs" "$end" "subjectAltName=URI:$uri/host/9999"
make host-not-a-number "$p256" "$both" "$signs" "$end" "subjectAltName=URI:$uri/host/1x"
make server-alone "$p256" 'extendedKeyUsage=critical,serverAuth' "$signs" "$end" "$host"
make client-use-missing "$p256" 'extendedKeyUsage=emailProtection' "$signs" "$end" "$host"
make no-uses "$p256" "$signs" "$end" "$host"
make no-signature-use "$p256" "$both" 'keyUsage=critical,keyAgreement' "$end" "$host"
make unknown-critical "$p256" "$both" "$signs" "$end" "$host" '1.3.6.1.4.1.55555.1=critical,ASN1:UTF8String:what'
make p224 '-algorithm EC -pkeyopt ec_paramgen_curve:P-224' "$both" "$signs" "$end" "$host"
make p384 '-algorithm EC -pkeyopt ec_paramgen_curve:P-384' "$both" "$signs" "$end" "$host"
make rsa1024 '-algorithm RSA -pkeyopt rsa_keygen_bits:1024' "$both" "$signs" "$end" "$host"
make rsa2048 '-algorithm RSA -pkeyopt rsa_keygen_bits:2048' "$both" "$signs" "$end" "$host"
make ed25519 '-algorithm ED25519' "$both" "$signs" "$end" "$host"
asks='extendedKeyUsage=critical,clientAuth'
days=-1 make user-expired "$p256" "$asks" "$signs" "$end" "subjectAltName=URI:$uri/user/ann/admin/7"
make user-of-no-right "$p256" "$asks" "$signs" "$end" "subjectAltName=URI:$uri/user/ann/king/7"
make user-root "$p256" "$asks" "$signs" "$end" "subjectAltName=URI:$uri/user/ann/submit/0"
# An authority that this one signed, and what that one signs; one of the same name; and a chain without end.
make second "$p256" 'basicConstraints=critical,CA:TRUE' 'keyUsage=critical,keyCertSign' "subjectAltName=URI:$uri"
issuer=second make intermediate "$p256" "$both" "$signs" "$end" "$host"
cat "$made/intermediate.leaf" "$made/second.leaf" "$made/ca.pem" >"$made/intermediate.pem"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$made/twin.key" -out "$made/twin.pem" -days 10 \
    -subj '/CN=one' -addext "subjectAltName=URI:$uri" 2>/dev/null
issuer=twin make other-authority "$p256" "$both" "$signs" "$end" "$host"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$made/self-signed.key" -out "$made/self-signed.pem" \
    -days 10 -subj '/CN=host 1' -addext "$host" -addext "$both" 2>/dev/null
{ cat "$made/good.pem"; for _ in $(seq 60); do cat "$made/ca.pem"; done; } >"$made/too-long.pem"
cp "$made/good.key" "$made/too-long.key"
[ "$failed" -eq 0 ] || exit 1

# ---- the cases ---------------------------------------------------------------------------------------------
python3 -W ignore "$tests/tls_cases.py" "$port" "$made" >"$scratch/cases" 2>&1 || failed=1
cat "$scratch/cases"
[ "$(grep -c '^ok: refused' "$scratch/cases")" -ge 30 ] || bad "fewer than 30 cases"

# ---- early data, of a session that another server gave, by who has a good certificate --------------------------
openssl s_server -accept $((port + 2)) -cert "$made/good.pem" -key "$made/good.key" -alpn lbmap-peer/1 -early_data -quiet \
    >/dev/null 2>&1 &
server=$!
sleep 1
{ sleep 1; } | timeout 10 openssl s_client -connect "127.0.0.1:$((port + 2))" -alpn lbmap-peer/1 -sess_out "$scratch/session" >/dev/null 2>&1
kill "$server"
printf 'nothing that a host says' >"$scratch/early"
{ sleep 3; } | timeout 10 openssl s_client -connect "127.0.0.1:$port" -alpn lbmap-peer/1 -cert "$made/good.pem" -key "$made/good.key" \
    -sess_in "$scratch/session" -early_data "$scratch/early" >"$scratch/client" 2>&1
[ -s "$scratch/session" ] && grep -q 'Early data was rejected\|Early data was not sent\|alert' "$scratch/client" && ! grep -q 'Early data was accepted' "$scratch/client" &&
    ok "refused: early data" || bad "early data: $(tail -n 20 "$scratch/client")"
{ sleep 1; } | timeout 10 openssl s_client -connect "127.0.0.1:$port" -alpn lbmap-peer/1 -cert "$made/good.pem" -key "$made/good.key" \
    -sess_in "$scratch/session" >"$scratch/client" 2>&1
grep -q '^New, TLSv1.3' "$scratch/client" && ok "refused: resumption, also by who has a certificate" || bad "resumption: $(grep -i reused "$scratch/client")"

# ---- what is left ------------------------------------------------------------------------------------------
expect "the daemon is well" "$lbctl" -s "$dir/one/lbmapd.sock" status
[ "$(ask one hosts 2>/dev/null | wc -l)" -le 2 ] && [ "$("$lbctl" -s "$dir/one/lbmapd.sock" hosts | wc -l)" -eq 2 ] &&
    ok "no member more" || bad "$("$lbctl" -s "$dir/one/lbmapd.sock" hosts)"
[ "$(grep -c 'refused a connection' "$dir/one/lbmapd.log")" -le 3 ] && ok "a line a minute of them all" || bad "$(cat "$dir/one/lbmapd.log")"
exit "$failed"
