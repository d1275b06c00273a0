#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Four real daemons: the leader is lost, another host is promoted, the leader comes back and follows. Then the leader orders
# an entry that nobody else gets before another host is promoted by force: it begins again by itself, with nothing.
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local
start mesh:2x2
"$lbctl" -q gen lattice:16x16 -o "$scratch/g.graph"
expect "a job" ask 1 submit "$scratch/g.graph" --name before
expect "it settles" settles 1 before
expect "the log is shown" ask 2 log show --count 3 --json
[ "$(grep -c '"index"' "$scratch/output")" = 3 ] && ok "three entries" || bad "$(cat "$scratch/output")"
refused 2 "must be" ask 2 log other
expect "the leader is killed" "$lbctl" cluster kill 0 --dir "$dir"
sleep 2.5
refused 4 "host 0 does not answer" ask 1 log promote
expect "promote --force" ask 1 log promote --force
expect "a job without the leader" ask 2 submit "$scratch/g.graph" --name after
expect "promoting it again changes nothing" ask 1 log promote
ask 1 log show | grep -q 'promote host 1 term' && ok "the log says so" || bad "$(ask 1 log show)"
expect "the leader comes back" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
same() { [ "$(ask 0 log show --count 5)" = "$(ask 1 log show --count 5)" ]; }
for _ in $(seq 300); do same && break; sleep 0.2; done
same && ok "and follows" || bad "host 0: $(ask 0 log show --count 5)"
expect "and gives the role back to nobody" ask 3 submit "$scratch/g.graph" --name last
expect "promote the leader again" ask 0 log promote
expect "it orders" ask 3 cancel last
expect "all settles" settles 0 after
one_owner after 256

begin() { "$daemon" -c "$dir/h$1/lbmapd.conf" >>"$dir/h$1/lbmapd.log" 2>&1 & }
# Each host has two links: three fields follow the incarnation.
incarnation() { ask 1 hosts --all | awk '$1 == 0 { print $(NF - 3) }'; }
was=$(incarnation)
for host in 1 2 3; do "$lbctl" cluster kill "$host" --dir "$dir"; done
expect "the leader orders an entry that nobody else gets" ask 0 set 3 --capacity 1.5
"$lbctl" cluster kill 0 --dir "$dir"
for host in 1 2 3; do begin "$host"; done
takes_it() { ask 1 log promote --force >"$scratch/output" 2>&1; }
patiently 60 takes_it && ok "another host is promoted by force" || bad "$(cat "$scratch/output")"
expect "and orders another entry there" ask 2 set 3 --capacity 1.25
begin 0
begins_again() { [ "$(ask 1 hosts --all | awk '$1 == 0 { print $3 }')" = ACTIVE ] && [ "$(incarnation)" -gt "$was" ]; }
patiently 90 begins_again && ok "the former leader begins again" || bad "$(ask 1 hosts --all; tail -n 5 "$dir/h0/lbmapd.log")"
grep -q 'has entries that the cluster' "$dir/h0/lbmapd.log" && ok "it said why" || bad "$(tail -n 5 "$dir/h0/lbmapd.log")"
[ -e "$dir/h0/lbmap.db.incarnation-$was" ] && ok "what it had is archived" || bad "$(ls "$dir/h0")"
patiently 60 same && ok "it has the log of the others" || bad "host 0: $(ask 0 log show --count 5)"
expect "it orders again if it is asked to" ask 0 log promote
expect "all settles" settles 0 after
has_vertices() { [ "$(ask 1 hosts | awk '$1 == 0 { print $8 }')" -gt 0 ]; }
patiently 60 has_vertices && ok "it has vertices again" || bad "$(ask 1 hosts)"
one_owner after 256
exit $failed
