#!/usr/bin/env bash
# Sixteen real daemons: a mesh is mapped and settles, starts from the centre and from random places, a
# frozen daemon is named, a host is added, clients are refused with a reason.
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"

# ---- nobody there -------------------------------------------------------------------------------------
refused 3 "no daemon listens there" "$lbctl" -s "$scratch/none.sock" status
refused 2 "there is no cluster here" "$lbctl" cluster status --dir "$scratch"
start mesh:4x4
printf '%s\n' 1 1 1 2e6 >"$scratch/capacities"
refused 2 "host 3 has capacity 2e+06; a daemon's is 1e-06 to 1e+06" \
    "$lbctl" cluster up --hosts "mesh:2x2@cap=$scratch/capacities" --dir "$scratch/none"
printf '%s\n' 1 1 1 1e308 >"$scratch/capacities"
refused 2 "it must be from 1e-09 to 1e+12" "$lbctl" cluster up --hosts "mesh:2x2@cap=$scratch/capacities" --dir "$scratch/none"
if [ -e "$scratch/none" ]; then bad "a folder is left behind"; else ok "and no folder is left behind"; fi
refused 2 "holds a cluster already" "$lbctl" cluster up --hosts mesh:2x2 --dir "$dir"
expect "cluster status sees all daemons" "$lbctl" cluster status --dir "$dir"

expect "lbctl network" ask 0 network
grep -qx "Omega shows all 24 links" "$scratch/output" && ok "Omega shows a mesh" || bad "network: $(tail -n 1 "$scratch/output")"

# ---- changes that are refused ---------------------------------------------------------------------------
refused 2 "only kill takes a host" "$lbctl" cluster down 3 --dir "$dir"
refused 2 "each once" "$lbctl" cluster add --dir "$dir" --link 0,0
refused 1 "its daemon has ended" "$lbctl" cluster add --dir "$dir" --link 0 --daemon /bin/true
expect "a host that does not start leaves the cluster as it was" "$lbctl" cluster status --dir "$dir"

# ---- a real mesh ----------------------------------------------------------------------------------------
mesh=$shared/graphs/4elt.graph.gz
if [ ! -r "$mesh" ]; then
    skip "4elt: ../shared is absent; a generated airfoil takes its place"
    mesh=$scratch/airfoil.graph
    "$lbctl" -q gen airfoil:15000 -o "$mesh"
fi
"$lbctl" plan "$mesh" --hosts mesh:4x4 --json -o "$scratch/plan.part" >"$scratch/plan.json"
expect "submit" ask 3 submit "$mesh" --name mesh
refused 1 "exists already" ask 5 submit "$mesh" --name mesh
expect "it settles" settles 3 mesh --json
cp "$scratch/output" "$scratch/settled.json"
vertices=$(figure vertices "$scratch/settled.json")
planned=$(figure hop_bytes "$scratch/plan.json")
got=$(figure hop_bytes "$scratch/settled.json")
imbalance=$(figure imbalance "$scratch/settled.json")
if at_most "$got" "$(awk -v p="$planned" 'BEGIN { print 1.05 * p }')"; then
    ok "J $got is within 1.05 of the plan's $planned"
else
    bad "J $got, the plan's is $planned"
fi
if at_most "$imbalance" 0.03; then ok "imbalance $imbalance"; else bad "imbalance $imbalance"; fi
one_owner mesh "$vertices"
expect_map "map is written" 9 mesh "$scratch/map.part"
[ "$(wc -l <"$scratch/map.part")" = "$vertices" ] && ok "map has $vertices lines" || bad "map has other lines"
expect "eval reads the map" "$lbctl" eval "$mesh" "$scratch/map.part" --hosts mesh:4x4 --json
[ "$(figure hop_bytes "$scratch/output")" = "$got" ] && ok "eval agrees with wait" || bad "eval says $(cat "$scratch/output")"
place=$(sed -n 18p "$scratch/map.part")
expect "locate" ask 1 locate mesh 17 --json
[ "$(figure host "$scratch/output")" = "$place" ] && ok "locate agrees with map" || bad "locate: $(cat "$scratch/output")"
refused 1 "there is no job named nothing" ask 0 map nothing
refused 1 "the guest has vertices 0 to" ask 0 locate mesh 99999999

# ---- a frozen daemon ------------------------------------------------------------------------------------
expect "a second job, to be disturbed" ask 0 submit "$mesh" --name second
sleep 0.3
expect "host 7 is frozen" "$lbctl" cluster kill 7 --signal STOP --dir "$dir"
timeout 120 "$lbctl" -s "$dir/h7/lbmapd.sock" submit "$mesh" --name third >"$scratch/third" 2>&1 &
third=$!
names_host_7() { "$lbctl" -s "$dir/h0/lbmapd.sock" status >"$scratch/output" 2>&1; [ $? -eq 5 ] && grep -q "unreachable *host 7" "$scratch/output"; }
if patiently 20 names_host_7; then
    ok "status answers, and names host 7"
else
    bad "status: $(cat "$scratch/output")"
fi
refused 4 "did not answer in time" ask 7 status
refused 1 "are on hosts that did not answer" ask 0 map mesh
wait "$third"
[ $? -eq 4 ] && ok "submit gives up, status 4" || bad "submit to a frozen daemon: $(cat "$scratch/third")"
expect "host 7 goes on" "$lbctl" cluster kill 7 --signal CONT --dir "$dir"
expect "all is well again" settles 0 second
one_owner second "$vertices"

# ---- HEI97 figs 6 and 7 ---------------------------------------------------------------------------------
"$lbctl" -q gen lattice:32x32 -o "$scratch/lattice.graph"
for where in centre random; do
    expect "submit from $where" ask 6 submit "$scratch/lattice.graph" --name "$where" --start "$where"
    if [ "$where" = centre ]; then
        expect "frames are drawn" ask 6 plot centre --frames "$scratch/frames" --every 0.2 --timeout 100
        [ "$(find "$scratch/frames" -name 'frame-*.svg' | wc -l)" -ge 4 ] && ok "several frames" || bad "few frames"
    fi
    expect "$where settles" settles 6 "$where" --json
    [ "$(grep -c '"load": *64' "$scratch/output")" = 16 ] && ok "64 vertices on every host" || bad "loads: $(cat "$scratch/output")"
    if at_most "$(figure hop_bytes "$scratch/output")" 211; then ok "J within 1.10 of 192"; else bad "J: $(cat "$scratch/output")"; fi
    one_owner "$where" 1024
    expect "picture" ask 2 plot "$where" -o "$scratch/$where.png"
done
refused 2 "ends in .svg or .png" ask 2 plot centre -o "$scratch/x.gif"
printf '2 1\n2\n1\n' >"$scratch/two.graph"
expect "a name with quotes" ask 4 submit "$scratch/two.graph" --name 'say "two"' --json
grep -qF '"say \"two\""' "$scratch/output" && ok "quotes are escaped in JSON" || bad "$(cat "$scratch/output")"
expect "a name in UTF-8" ask 4 submit "$scratch/two.graph" --name 'größe'
expect "jobs" ask 4 jobs
columns=$(sed 's/ö/o/; s/ß/s/' "$scratch/output" | awk '{ print match($0, / (state|[A-Z]+) /) }' | sort -u | wc -l)
[ "$columns" = 1 ] && ok "columns are as wide as their characters" || bad "columns: $(cat "$scratch/output")"
for job in mesh second random 'say "two"' 'größe'; do expect "cancel $job" ask 4 cancel "$job"; done
refused 1 "there is no job named mesh" ask 4 cancel mesh

# ---- one more host --------------------------------------------------------------------------------------
expect "a host is added" "$lbctl" -q cluster add --dir "$dir" --link 15,11 --daemon "$daemon"
expect "the job settles with it" settles 0 centre --json
at_most "$(figure imbalance "$scratch/output")" 0.05 && ok "the new host took its share" || bad "$(head -c 300 "$scratch/output")"
one_owner centre 1024

# ---- damage ---------------------------------------------------------------------------------------------
expect "down" "$lbctl" cluster down --dir "$dir"
printf 'this is no database' >"$dir/h2/lbmap.db"
rm -f "$dir"/h2/lbmap.db-*
refused 1 "its daemon has ended" "$lbctl" cluster up --dir "$dir" --daemon "$daemon"
[ "$(cat "$dir/h2/lbmap.db")" = 'this is no database' ] && ok "the damaged file is kept" || bad "the damaged file was changed"
exit $failed
