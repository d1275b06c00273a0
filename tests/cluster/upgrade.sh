#!/usr/bin/env bash
# Daemons of the version before are replaced, one after the other, by those of this one, while applications work on a
# job: nothing is lost, nobody is evicted, and in the end the cluster speaks this version's protocol. Until then what
# earlier versions cannot do is refused. A daemon of the version before that begins again in the end is not listened to.
#   UPGRADE_OLD    build of the version before, with its daemon/lbmapd and client/lbctl; it is made from UPGRADE_FROM
#                  unless told, which takes minutes
#   UPGRADE_FROM   its commit
#   UPGRADE_HOSTS  the network (ring:3)
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
from=${UPGRADE_FROM:-799163882bc24659585b030a5567e5630ed853e9}
network=${UPGRADE_HOSTS:-ring:3}
log=local
[ -n "${UPGRADE_OLD:-}" ] || [ -n "${UPGRADE_BUILD:-}" ] ||
    { echo "skipped: the version before is built by scripts/nightly alone (UPGRADE_BUILD=1, or UPGRADE_OLD)"; exit 77; }

# The version before, from its commit.
build_old() {
    mkdir -p "$scratch/old/build" || return 1
    git -C "$top_srcdir" archive "$from" | tar -x -C "$scratch/old" || return 1
    (cd "$scratch/old" && autoreconf -i && cd build && ../configure -q CFLAGS=-O1 &&
        make -s -j "$(nproc)" daemon/lbmapd client/lbctl) >"$scratch/output" 2>&1
}
old=${UPGRADE_OLD:-$scratch/old/build}
if [ -z "${UPGRADE_OLD:-}" ]; then
    git -C "$top_srcdir" cat-file -e "$from^{commit}" 2>/dev/null ||
        { echo "skipped: no repository with commit $from here"; exit 77; }
    build_old || { bad "the version before: $(tail -n 5 "$scratch/output")"; exit 1; }
fi

hosts=${network#*:}
stop() {
    local pid
    pid=$(cat "$dir/h$1/lbmapd.pid")
    kill "$pid"
    until_true 20 "host $1 ends" gone "$pid"
}
gone() { ! kill -0 "$1" 2>/dev/null; }
# protocol HOST: what it says that the cluster speaks.
protocol() { ask "$1" status --json | sed -n 's/.*"protocol": *\([0-9]*\).*/\1/p'; }
speaks() { [ "$(protocol "$1")" = "$2" ]; }

expect "a cluster of the version before" "$old/client/lbctl" -q cluster up --hosts "$network" --log local --dir "$dir" \
    --daemon "$old/daemon/lbmapd"
"$lbctl" -q gen airfoil:3000 -o "$scratch/mesh.graph"
expect "a job" "$old/client/lbctl" -s "$dir/h0/lbmapd.sock" -q submit "$scratch/mesh.graph" --name job
settles 0 job >"$scratch/output" 2>&1 || bad "it does not settle: $(tail -n 3 "$scratch/output")"
vertices=$(wc -l < <(ask 0 map job))
for ((host = 0; host < hosts; host++)); do work "$host"; done
until_true 60 "every vertex is worked on" all_worked_on

for ((host = 0; host < hosts; host++)); do
    eye=$(((host + 1) % hosts))
    # Host 0 orders the log: while it is away nobody is evicted.
    [ "$host" -eq 0 ] || expect "host $host is in maintenance" ask "$eye" -q maintain "h$host" --for 5min
    stop "$host"
    expect "and begins again with this version" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
    until_true 60 "it is back" is_state "$host" ACTIVE
    [ "$host" -eq 0 ] || expect "the maintenance is over" ask "$eye" -q maintain "h$host" --end
    until_true 60 "in sync" in_sync
    if [ "$host" -eq 0 ]; then
        speaks 0 1 && ok "the cluster speaks as before" || bad "$(ask 0 status)"
        refused 1 "run an earlier version" ask 0 payloads job -o "$scratch/none"
        rmdir "$scratch/none"
    fi
done
for ((host = 0; host < hosts; host++)); do until_true 30 "host $host: protocol 2" speaks "$host" 2; done
ok "the cluster speaks this version's protocol"
until_true 60 "every vertex is worked on" all_worked_on
settles 0 job >"$scratch/output" 2>&1 || bad "it does not settle: $(tail -n 3 "$scratch/output")"
grep -hE 'evicting|EVICTED' "$dir"/h*/lbmapd.log && bad "a host was evicted" || ok "nobody was evicted"
expect "what earlier versions could not do" ask 0 -q payloads job -o "$scratch/payloads"

# Back to the version before: it leaves a database of a later schema alone. With the copy of before that host is not
# listened to, and both sides say why.
stop 1
copy=$(find "$dir/h1" -name 'lbmap.db.schema-*' | head -n 1)
if [ -n "$copy" ]; then
    "$old/client/lbctl" -q cluster up --dir "$dir" --daemon "$old/daemon/lbmapd" >"$scratch/output" 2>&1
    grep -q 'written by a newer lbmap' "$dir/h1/lbmapd.log" && ok "the database of a later version is left alone" ||
        bad "$(tail -n 2 "$dir/h1/lbmapd.log")"
    rm -f "$dir/h1/lbmap.db" "$dir"/h1/lbmap.db-*
    mv "$copy" "$dir/h1/lbmap.db"
fi
"$old/client/lbctl" -q cluster up --dir "$dir" --daemon "$old/daemon/lbmapd" >"$scratch/output" 2>&1 & disown
said() { grep -q 'speaks protocols 1 to 1, its cluster 1; this host speaks 1 to 2, its cluster 2' "$dir/h0/lbmapd.log"; }
until_true 30 "the others say that it is too old" said
hears() { grep -q 'speaks protocol 2, this is 1' "$dir/h1/lbmapd.log"; }
until_true 30 "so does it" hears
until_true 60 "it is evicted, and what it had goes on elsewhere" is_state 1 EVICTED

for host in "${!worker_pid[@]}"; do [ "$host" -eq 1 ] || end_work TERM "$host"; done
kill -KILL "${worker_pid[@]}" 2>/dev/null
expect "one executor of a vertex at a time, and no kept step lost" bash "$tests/history_check.sh" "$scratch"/history.*
exit "$failed"
