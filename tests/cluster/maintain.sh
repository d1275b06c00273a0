#!/usr/bin/env bash
# A host is away for a planned time: nobody evicts it, nobody takes its vertices, and it comes back with what it had. With
# --move its vertices go elsewhere first.
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"

field() { ask 0 hosts --all | awk -v host="$1" -v field="$2" '$1 == host { print $field }'; }
is_field() { [ "$(field "$1" "$2")" = "$3" ]; }
# until_field HOST FIELD VALUE TEXT, as host 0 sees it: id name state heard unreachable(2) capacity vertices ...
until_field() {
    if patiently 30 is_field "$1" "$2" "$3"; then ok "$4"; else bad "$4: $(ask 0 hosts)"; fi
}
mapped() { expect_map "where each vertex is" 0 job "$1"; }
evicted() { ask 0 hosts --all | grep -c EVICTED; }
stop() { kill "$(cat "$dir/h$1/lbmapd.pid")" && while [ -e "$dir/h$1/lbmapd.sock" ] && kill -0 "$(cat "$dir/h$1/lbmapd.pid" 2>/dev/null)" 2>/dev/null; do sleep 0.1; done; }

start mesh:3x3
expect "a mesh" "$lbctl" -q gen airfoil:2000 -o "$scratch/mesh.graph"
expect "submit" ask 0 submit "$scratch/mesh.graph" --name job
expect "it settles" settles 0 job
mapped "$scratch/before.part"

refused 2 "--for: is missing" ask 0 maintain h7
refused 2 "is no time from 1s to 7d" ask 0 maintain h7 --for 10
refused 2 "goes with no other option" ask 0 maintain h7 --for 10s --end
refused 1 "is not in maintenance" ask 0 maintain h7 --end
refused 1 "neither id nor name" ask 0 maintain h77 --for 10s

expect "a host is in maintenance" ask 0 maintain h7 --for 10min --reason "new memory"
expect "others keep their copies elsewhere" sh -c 'ask 0 hosts | awk "\$1 != 7 && \$9 == 7 { exit 1 }"'
expect "what for is told" sh -c 'ask 0 hosts --json | grep -q "new memory"'
stop 7
until_field 7 4 away "it is away"
sleep 12 # longer than an eviction takes
[ "$(evicted)" -eq 0 ] && ok "nobody evicts it" || bad "evicted: $(ask 0 hosts)"
expect "it starts again" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
until_field 7 4 yes "it is back"
expect "the maintenance is over" ask 0 maintain h7 --end
expect "the job has settled" settles 0 job
mapped "$scratch/after.part"
cmp -s "$scratch/before.part" "$scratch/after.part" && ok "no vertex has moved" || bad "vertices have moved"
[ "$(evicted)" -eq 0 ] && ok "nobody was evicted" || bad "evicted: $(ask 0 hosts)"

expect "a host is emptied for a maintenance" ask 0 maintain h4 --for 10min --move
is_field 4 8 0 && ok "it has no vertex" || bad "host 4: $(ask 0 hosts)"
is_field 4 3 DRAINING && ok "and is a member" || bad "host 4: $(ask 0 hosts)"
expect "the maintenance is over" ask 0 maintain h4 --end
until_field 4 3 ACTIVE "it is active again"

[ "$failed" -eq 0 ]
