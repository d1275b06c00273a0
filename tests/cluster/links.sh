#!/usr/bin/env bash
# Links between daemons that live go down: four daemons, each in a network of its own, with a cable (veth) to one
# switch (bridge). A short cut is borne. After a long one the host is evicted and what it had runs elsewhere, its
# application has stopped in time, and when the link is up again the host begins again. A cut between two pairs evicts
# nobody. As root only; everything is in namespaces that end with the test.
. "${top_srcdir:?run by make check}/tests/cluster/cable_lib.sh"

evicted() { ask 0 events | grep -c 'host [0-9]* is evicted; host'; }
cut_off() { for host; do ip link set "v$host" down; done; }
join_up() { for host; do ip link set "v$host" up; done; }
elsewhere() { ask 0 hosts >"$scratch/hosts" && awk -v host=3 -v n="$vertices" '$1 == host && $8 != 0 { bad = 1 } $1 != host { have += $8 } END { exit bad || have != n }' "$scratch/hosts"; }

ip link add br0 type bridge && ip link set br0 up
bridge=(br0 br0 br0 br0)
lay_out mesh:2x2
for host in 0 1 2 3; do
    echo 'evict = { percent = 100.0; };' >>"$dir/h$host/lbmapd.conf"
done
run_all "four daemons hear each other over the switch"
"$lbctl" -q gen airfoil:4000 -o "$scratch/mesh.graph"
expect "submit" ask 0 -q submit "$scratch/mesh.graph" --name job
until_true 60 "it settles" has_settled
vertices=$(ask 0 jobs job | awk 'NR == 2 { print $3 }')
for host in 0 1 2 3; do work "$host"; done
until_true 30 "every vertex is worked on" all_worked_on && ok "$vertices vertices are worked on"
until_true 30 "in sync" in_sync

cut_off 3
sleep 2
join_up 3
sleep 4
if [ "$(evicted)" -eq 0 ]; then ok "a cut of 2 s is borne"; else bad "a cut of 2 s: $(ask 0 events | tail -n 12 | cut -c1-150)"; fi
until_true 30 "all hear each other again" all_active

cut_off 2 3 # each of the pairs hears but one other, or none
sleep 9
join_up 2 3
until_true 30 "all hear each other again" all_active
if [ "$(evicted)" -eq 0 ]; then ok "half of the hosts cut off for 9 s: nobody is evicted"; else bad "half of them cut off: $(ask 0 events | tail -n 12 | cut -c1-150)"; fi
until_true 60 "it settles" has_settled
until_true 30 "every vertex is worked on" all_worked_on
until_true 30 "in sync" in_sync

begin=$(now_us)
cut_off 3
until_true 30 "what host 3 had is elsewhere" elsewhere &&
    ok "host 3 is cut off: what it had is elsewhere after $(awk -v a="$begin" -v b="$(now_us)" 'BEGIN { printf "%.1f", (b - a) / 1e6 }') s"
sleep 3
join_up 3
until_true 40 "it comes back" all_active && ok "when the link is up again it comes back"
sleep 1
until_true 60 "it settles" has_settled && ok "and settles"
until_true 30 "every vertex is worked on" all_worked_on
field_end
[ "$failed" -eq 0 ] || tail -n 20 "$dir"/h*/lbmapd.log
exit "$failed"
