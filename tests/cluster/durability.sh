#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Three real daemons whose records and payloads count once they are in the memory of two hosts. The end of a daemon
# loses nothing; after a start of its machine a host begins with nothing, as its next incarnation, and its backup has
# what it had; after an end in order its disk has all. That the machine has started is told by another boot id in
# lbmap.db-boot.
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"

# durability KIND HOST...: its daemon is to be started with that.
durability() {
    local kind=$1 host
    shift
    for host; do sed -i "/^durability/d; \$a durability = \"$kind\";" "$dir/h$host/lbmapd.conf"; done
}
up() { expect "$1" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"; }
end() {
    local pid
    pid=$(cat "$dir/h$1/lbmapd.pid")
    expect "daemon $1 gets $2" "$lbctl" -q cluster kill "$1" --signal "$2" --dir "$dir"
    patiently 30 gone "$pid" || bad "daemon $1 does not end"
}
gone() { ! kill -0 "$1" 2>/dev/null; }
machine_starts() { echo 01234567-89ab-cdef-0123-456789abcdef >"$dir/h$1/lbmap.db-boot"; }
until_true() {
    if patiently 60 "${@:2}"; then ok "$1"; else bad "$1: $(ask 0 hosts --all 2>&1; tail -n 3 "$dir"/h*/lbmapd.log)"; fi
}
# Of a host, as its database has it.
incarnation() { sqlite3 -readonly "$dir/h$1/lbmap.db" "SELECT incarnation FROM self" 2>/dev/null || echo 0; }
is_active() { ask 0 hosts --all | awk -v host="$1" '$1 == host && $3 == "ACTIVE" { found = 1 } END { exit !found }'; }
in_sync() {
    ask 0 hosts >"$scratch/hosts" &&
        awk '$3 == "ACTIVE" { n++; bad += $10 != "yes" } END { exit bad || n != 3 }' "$scratch/hosts"
}
all_there() {
    rm -rf "$scratch/out"
    ask 0 payloads job -o "$scratch/out" >"$scratch/output" 2>&1 &&
        diff -r "$scratch/in" "$scratch/out" >>"$scratch/output"
}
later() {
    local now
    now=$(incarnation "$1")
    [ "${now:-0}" -gt "$2" ]
}

start chain:3
expect "it stops" "$lbctl" -q cluster down --dir "$dir"
durability memory 0 1 2
up "it starts with durability \"memory\""
expect "gen" "$lbctl" -q gen lattice:6x5 -o "$scratch/guest.graph"
mkdir "$scratch/in"
for i in $(seq 0 29); do head -c $((1000 + 20000 * i)) /dev/urandom >"$scratch/in/$i"; done
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job --payloads "$scratch/in"
expect "it settles" settles 0 job
until_true "all is in sync" in_sync
until_true "payloads are as they were given" all_there
first=$(incarnation 1)
ask 0 distribution job 2>/dev/null | tail -n 3

# ---- the end of a daemon
end 1 KILL
[ -s "$dir/h1/lbmap.db-boot" ] || bad "lbmap.db-boot is not there"
up "it is started again"
until_true "all is in sync" in_sync
until_true "payloads are as they were" all_there
[ "$(incarnation 1)" = "$first" ] && ok "it is the incarnation of before" ||
    bad "host 1 is incarnation $(incarnation 1), not $first"
[ ! -e "$dir/h1/lbmap.db.untrusted" ] || bad "its database was set aside"

# ---- the end of its machine
end 1 KILL
machine_starts 1
up "it is started after its machine"
if grep -q "not trusted and moved to .*lbmap.db.untrusted" "$dir/h1/lbmapd.log"; then
    ok "it says why it has nothing"
else
    bad "not told: $(tail -n 3 "$dir/h1/lbmapd.log")"
fi
[ -s "$dir/h1/lbmap.db.untrusted" ] || bad "its database was not kept"
until_true "it is its next incarnation" later 1 "$first"
until_true "it is active" is_active 1
expect "it settles" settles 0 job
until_true "all is in sync" in_sync
until_true "payloads are as they were" all_there
one_owner job 30

# ---- an end in order, and the other setting
second=$(incarnation 1)
end 1 TERM
[ ! -e "$dir/h1/lbmap.db-boot" ] && ok "all of it is on the disk" || bad "lbmap.db-boot is still there"
up "it is started after its machine"
until_true "all is in sync" in_sync
end 1 KILL
durability disk 1
up "it is started with durability \"disk\""
[ ! -e "$dir/h1/lbmap.db-boot" ] || bad "lbmap.db-boot is still there"
until_true "all is in sync" in_sync
[ "$(incarnation 1)" = "$second" ] && ok "it is the incarnation of before" ||
    bad "host 1 is incarnation $(incarnation 1), not $second"
until_true "payloads are as they were" all_there
one_owner job 30
exit "$failed"
