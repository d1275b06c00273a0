#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Certificates that last less than a minute are renewed while a cluster works, on hosts with the authority's key and
# without it: no host is lost, no connection that stands ends.
# SECONDS_EACH: how long a certificate lasts, 40 unless set.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
each=${SECONDS_EACH:-40}
start ring:3
# Short certificates for all: the next that are signed are the first host's matter.
"$lbctl" -q cluster down --dir "$dir"
days=$(awk -v s="$each" 'BEGIN { printf "%.6f", s / 86400 }')
sed -i "\$a certificate_days = $days;" "$dir"/h*/lbmapd.conf
command -v openssl >/dev/null || { skip "openssl is not installed"; exit 77; }
# Their present ones are about to end: signed again with the same keys, for that time.
cluster=$(openssl x509 -in "$dir/h0/identity/host.pem" -noout -ext subjectAltName | grep -o 'lbmap://[0-9a-f]*')
begin=$(date -u -d '-1 hour' +%Y%m%d%H%M%SZ)
for host in 0 1 2; do
    folder=$dir/h$host/identity
    mkdir -p "$scratch/ca$host/new" && : >"$scratch/ca$host/index"
    openssl req -new -key "$folder/host.key" -subj "/CN=host $host" -out "$scratch/ca$host/request" 2>/dev/null
    cat >"$scratch/ca$host/config" <<CONFIG
[ca]
default_ca = own
[own]
database = $scratch/ca$host/index
new_certs_dir = $scratch/ca$host/new
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = host
[any]
commonName = supplied
[host]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,serverAuth,clientAuth
subjectAltName = URI:$cluster/host/$host
CONFIG
    openssl ca -batch -config "$scratch/ca$host/config" -cert "$dir/ca/ca.pem" -keyfile "$dir/ca/ca.key" -in "$scratch/ca$host/request" \
        -startdate "$begin" -enddate "$(date -u -d "+$each seconds" +%Y%m%d%H%M%SZ)" -notext -out "$folder/host.pem" \
        >"$scratch/output" 2>&1 || bad "openssl ca: $(tail -n 3 "$scratch/output")"
done
expect "it starts again with certificates that last $each s" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
[ "$failed" -eq 0 ] || { tail -n 3 "$dir"/h*/lbmapd.log; exit 1; }
"$lbctl" -q gen lattice:40x40 -o "$scratch/g.graph"
expect "a job" ask 0 -q submit "$scratch/g.graph" --name job
renewed() { [ "$(grep -c 'the certificate is renewed' "$dir/h$1/lbmapd.log")" -ge "$2" ]; }
for host in 0 1 2; do
    until_true $((4 * each)) "host $host renews" renewed "$host" 2 && ok "host $host has renewed its certificate twice"
done
grep -q 'host 2 renews its certificate' "$dir/h0/lbmapd.log" && ok "by the host that has the authority's key" || bad "$(tail "$dir/h0/lbmapd.log")"
expect "the job has settled meanwhile" settles 1 job
grep -hE 'connection to host .* has ended|EVICTED|unreachable|expired' "$dir"/h*/lbmapd.log && bad "a connection ended" || ok "no connection has ended"
# Connections that begin now are made with the new ones.
"$lbctl" -q cluster down --dir "$dir"
expect "a new start finds them good" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
