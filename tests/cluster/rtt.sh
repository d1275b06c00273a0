#!/usr/bin/env bash
# Nobody declares links: four daemons at two sites, 0 and 1 here, 2 and 3 there, with a switch (bridge) each and a cable
# of 20 ms (there and back) between them, measure how far away they are. Costs of links follow, and the guest is cut
# where the cable is. As root only; everything is in namespaces that end with the test.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cable_lib.sh"
delay_ms=10 # each way
unit_ms=5   # the daemons of a busy machine take some of that to answer
cable_pid=
trap 'kill -KILL $cable_pid "${daemon_pid[@]}" 2>/dev/null; finish' EXIT

for site in 0 1; do
    ip link add "br$site" type bridge && ip link set "br$site" up
    ip link add "plug$site" type veth peer name "end$site"
    ip link set "plug$site" master "br$site" up && ip link set "end$site" up
done
python3 "$tests/slow_cable.py" end0 end1 "$delay_ms" 2>"$scratch/cable" &
cable_pid=$!
disown
sleep 0.5
kill -0 "$cable_pid" 2>/dev/null || { skip "no cable with a delay here: $(tail -n 1 "$scratch/cable")"; exit 77; }

bridge=(br0 br0 br1 br1)
lay_out complete:4
for host in 0 1 2 3; do
    sed -i '/^ *links = /d; /^ *site = /d' "$dir/h$host/lbmapd.conf"
    echo "network = { measure = true; unit = $unit_ms.0; };" >>"$dir/h$host/lbmapd.conf"
    expect "nothing is declared at host $host" "$daemon" -c "$dir/h$host/lbmapd.conf" --check-config
done
run_all "four daemons at two sites find together"
[ "$failed" -eq 0 ] || { tail -n 5 "$dir"/h*/lbmapd.log; exit 1; }

# Columns of lbctl network: id name measured predicted error(2) distance links. As host 0 has it, 1 is near, 2 and 3 are far.
# Hosts that join at the same time are linked to one another some seconds later.
costs_follow() {
    ask 0 network >"$scratch/network" && awk '
        $1 !~ /^[1-9]/ { next }
        { far = $1 > 1; n++ }
        $3 < (far ? 20 : 0) || $3 > (far ? 35 : 15) { bad = 1 }
        $1 == 2 && !/ 3:[12] / { bad = 1 }
        far ? $7 < 4 || $7 > 6 : $7 > 2 { bad = 1 }
        END { exit bad || n != 3 }' "$scratch/network"
}
until_true 120 "costs follow from round trips" costs_follow
sed 's/^/  /' "$scratch/network"
expect "JSON" ask 0 network --json
for key in measured_ms predicted_ms measurements distance links coordinates_ms height_ms error; do
    grep -q "\"$key\"" "$scratch/output" || bad "lbctl network --json has no $key"
done

"$lbctl" -q gen lattice:40x10 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
until_true 60 "it settles" has_settled && ok "it settles"
expect_map "map" 0 job "$scratch/part"
# Edges of the guest (METIS: neighbours a line) whose ends are at different sites.
read -r cut there <<<"$(awk 'NR == FNR { site[NR] = $1 > 1; there += $1 > 1; next } FNR > 1 { for (i = 1; i <= NF; i++) cut += site[FNR - 1] != site[$i] }
    END { print cut / 2, there }' "$scratch/part" "$scratch/guest.graph")"
if [ "$cut" -le 13 ] && [ "$there" -ge 188 ] && [ "$there" -le 212 ]; then
    ok "$there of 400 vertices are at the other site, and $cut edges lead there: 10 is the least"
else
    bad "$there of 400 vertices are at the other site, and $cut edges lead there"
fi
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
