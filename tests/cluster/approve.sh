#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Machines that enrol without a token wait until a person approves them: approved, denied, by a wrong authority, by a
# fingerprint that is none, and many at once. No secret is sent, and nobody is a member before.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
port=$((20000 + RANDOM % 10000))
mkdir -p "$dir"
waiting=()
trap 'kill "${waiting[@]}" 2>/dev/null; kill $(cat "$dir"/*/lbmapd.pid 2>/dev/null) 2>/dev/null; sleep 0.5; rm -rf "$scratch"' EXIT
at() { echo --dir "$dir/h$1" --name "h$1" --daemon "$daemon" --listen "127.0.0.1:$((port + $1))" --address "127.0.0.1:$((port + $1))"; }
approve() { "$lbctl" approve --dir "$dir/h0" "$@"; }
# shellcheck disable=SC2046
expect "a cluster is founded" "$lbctl" -q init lab $(at 0)
[ "$failed" -eq 0 ] || exit 1
authority=$("$lbctl" pki show --dir "$dir/h0" | grep -o 'lbm1-[a-z2-7]*')
[ ${#authority} -eq 57 ] && ok "pki show has what names the authority" || bad "authority: $authority"
here=127.0.0.1:$port
# knock HOST: that machine asks, in the background; what it says is in $scratch/knock.HOST.
knock() {
    # shellcheck disable=SC2046
    "$lbctl" enroll "$here" "$authority" --wait-approval $(at "$1") >"$scratch/knock.$1" 2>&1 </dev/null &
    waiting+=($!)
    knocks[$1]=$!
}
declare -A knocks
# said HOST: the fingerprint that the machine says. told HOST: the one in the list.
said() { grep -oE '[0-9a-f]{32}$' "$scratch/knock.$1"; }
told() { approve | awk -v name="h$1" '$2 == name { print $1 }'; }
waits() { [ -n "$(told "$1")" ]; }

# ---- approved ----------------------------------------------------------------------------------------------
knock 1
patiently 20 waits 1 && [ "$(told 1)" = "$(said 1)" ] && ok "a machine waits, by the fingerprint that it says" ||
    bad "told $(told 1), said $(said 1)"
approve | grep -q 'h1 *127.0.0.1 *waits' && ok "with its name and address" || bad "$(approve)"
sleep 5
ask 0 hosts | grep -q ' h1 ' && bad "h1 is a member before it is approved" || ok "it is no member meanwhile"
[ -e "$dir/h1/identity/host.pem" ] && bad "it has a certificate" || ok "and has no certificate"
[ "$(grep -c 'asks to be let in' "$dir/h0/lbmapd.log")" -eq 1 ] && ok "the log says it once" || bad "$(cat "$dir/h0/lbmapd.log")"
refused 1 "no machine with that fingerprint" "$lbctl" approve 0123456789abcdef --dir "$dir/h0"
refused 2 "8 to 32 digits" "$lbctl" approve "$(said 1 | cut -c 1-7)" --dir "$dir/h0"
refused 2 "whom" "$lbctl" approve --deny --dir "$dir/h0"
expect "it is approved by a part of its fingerprint" approve "$(said 1 | cut -c 1-12)"
if wait "${knocks[1]}"; then ok "it is a host"; else bad "$(cat "$scratch/knock.1")"; fi
ask 0 hosts | grep -q ' h1 *ACTIVE' && ok "and active" || bad "$(ask 0 hosts)"
waits 1 && bad "the approval is still there: $(approve)" || ok "the approval is used up"

# ---- denied ------------------------------------------------------------------------------------------------
knock 2
patiently 20 waits 2
expect "another one is denied" approve "$(said 2)" --deny
wait "${knocks[2]}"
status=$?
[ "$status" -eq 1 ] && grep -q 'an operator of the cluster has denied it' "$scratch/knock.2" && ok "and told so" ||
    bad "status $status: $(cat "$scratch/knock.2")"
ask 0 hosts | grep -q ' h2 ' && bad "h2 is a member" || ok "it is no member"

# ---- the wrong cluster ---------------------------------------------------------------------------------------
wrong=lbm1-$(echo "${authority#lbm1-}" | tr a-z b-za)
# shellcheck disable=SC2046
refused 1 "is not a host of the cluster that made this token; nothing was sent to it" "$lbctl" enroll "$here" "${wrong%?}a" --wait-approval $(at 3)
# shellcheck disable=SC2046
refused 2 "is no token" "$lbctl" enroll "$here" "$authority" $(at 3)
# shellcheck disable=SC2046
refused 2 "nor its part before the secret" "$lbctl" enroll "$here" lbm1-abc --wait-approval $(at 3)
approve | grep -q ' h3 ' && bad "it waits all the same" || ok "nobody waits after that"

# ---- too many from one address -------------------------------------------------------------------------------
for host in $(seq 10 19); do knock "$host"; done
refusals() { grep -lE 'too many machines wait' "$scratch"/knock.1? 2>/dev/null | wc -l; }
some() { [ "$(refusals)" -ge 2 ]; }
patiently 30 some
[ "$(approve | grep -c ' waits ')" -le 8 ] && [ "$(refusals)" -ge 2 ] && ok "eight wait from one address, others are told so" ||
    bad "$(approve; cat "$scratch"/knock.1?)"
expect "the daemon is well" "$lbctl" -s "$dir/h0/lbmapd.sock" status
grep -qE "secret|PRIVATE" "$dir/h0/identity/approvals" && bad "a secret is kept" || ok "the list has no secret"
exit "$failed"
