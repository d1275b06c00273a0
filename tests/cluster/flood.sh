#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Strangers flood the port of one of sixteen daemons that balance: ten thousand connections that say nothing, a
# thousand handshakes a second, then 500 that send drop by drop. No lease is lost, nobody is evicted, the daemon's memory
# stays as it is, and loads go on to be balanced. FLOOD_S: how many seconds of it; nightly 60.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed (apt-get install python3)"; exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
seconds=${FLOOD_S:-6} handshakes=1000 connections=10000 slow=500 victim=5
[ "$(ulimit -n)" -ge $((connections + 100)) ] || { echo "skipped: $(ulimit -n) descriptors are not enough"; exit 77; }
flooding=()
trap 'kill -KILL "${flooding[@]}" "${worker_pid[@]}" 2>/dev/null; finish' EXIT

resident() { awk '/^VmRSS/ { print $2 }' "/proc/$(cat "$dir/h$victim/lbmapd.pid")/status"; }
# flood KIND NUMBER SECONDS
flood() {
    python3 "$tests/flood.py" "$port" "$3" "$1" "$2" >"$scratch/flood.$1" 2>&1 &
    flooding+=($!)
}
is_over() { for pid in "${flooding[@]}"; do ! kill -0 "$pid" 2>/dev/null || return 1; done; }

start mesh:4x4
expect "gen" "$lbctl" -q gen lattice:64x64 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job
[ "$failed" -eq 0 ] || { tail -n 3 "$dir"/h*/lbmapd.log; exit 1; }
STEP_MS=200 work "$victim"
until_true 20 "an application works" grep -q acquire "${history_of[$victim]}"
port=$(ask 0 hosts | awk -v host="$victim" '$1 == host { sub(/.*:/, "", $NF); print $NF }')
before=$(resident)
moved() { for host in $(seq 0 15); do ask "$host" status; done | awk '/handed over/ { n += $NF } END { print n }'; }
moved_before=$(moved)

flood connections "$connections" "$seconds"
flood handshakes "$handshakes" "$seconds"
# Meanwhile capacities change, so that vertices have to move.
for ((round = 0; round < seconds; round += 5)); do
    expect "a capacity changes" ask 0 set "$victim" --capacity "$((2 - round / 5 % 2))"
    sleep 5
done
until_true 60 "the flood is over" is_over
after=$(resident)
ok "$(cat "$scratch/flood.handshakes"); connections: $(cat "$scratch/flood.connections")"
[ $((after - before)) -lt 16384 ] && ok "its memory grows by $((after - before)) KiB" ||
    bad "its memory grows from $before to $after KiB"
until_true 60 "loads are balanced" has_settled
moved=$(($(moved) - moved_before))
[ "$moved" -gt 200 ] && ok "$moved vertices were handed over meanwhile" || bad "hardly anything moved: $moved"

flooding=()
flood slow "$slow" 3
until_true 60 "slow senders are cut off" is_over
read -r longest < <(sed 's/.*after \([0-9.]*\) s/\1/' "$scratch/flood.slow")
awk -v t="$longest" 'BEGIN { exit !(t < 8) }' && ok "slow: $(cat "$scratch/flood.slow")" || bad "slow: $(cat "$scratch/flood.slow")"

expect "all hear each other" ask 0 status
! ask 0 log show | grep -q "evict host" && ok "nobody is evicted" || bad "$(ask 0 log show | grep evict)"
! grep -q "lease" "$dir"/h*/lbmapd.log && ok "no lease is lost" || bad "$(grep lease "$dir"/h*/lbmapd.log | head -3)"
! grep -q revoke "${history_of[$victim]}" && ok "the application works on" || bad "$(grep revoke "${history_of[$victim]}" | head -3)"
[ "$(grep -c 'refused a connection' "$dir/h$victim/lbmapd.log")" -le $((2 + (seconds + 60) / 60)) ] &&
    ok "the log has a line a minute" || bad "$(grep -c refused "$dir/h$victim/lbmapd.log") lines"
one_owner job 4096
exit "$failed"
