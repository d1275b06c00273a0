#!/usr/bin/env bash
# Several hosts of sixteen are lost at once, under the bound on evictions that is the default. Four, with their applications: what
# they had runs elsewhere within a bound. The daemons of eight: nobody is evicted, every daemon that runs says that the job is degraded and why,
# and when they are back all goes on with nothing lost.
#   LOSSES_HOSTS  the cluster (mesh:4x4)
#   LOSSES_GUEST  vertices of the job, if not 4elt
#   LOSSES_BOUND  seconds until all run elsewhere (60; 15 where the machine has nothing else to do)
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
bound=${LOSSES_BOUND:-60}
evict= # as by default
log=local

lose() {
    local host
    for host; do "$lbctl" -q cluster kill "$host" --dir "$dir"; done
}
back() {
    "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon" >"$scratch/output" 2>&1 || bad "up: $(cat "$scratch/output")"
}
evictions() { ask 0 events | grep -c 'host [0-9]* is evicted; host'; }
# apart N: that many hosts, not the one that orders the log, none of which keeps the copies of another.
apart() {
    ask 0 hosts --json | python3 -c '
import json, sys
chosen, kept = [], set()
for host in sorted(json.load(sys.stdin), key=lambda h: h["host"] * 7 % 16):
    if host["host"] != 0 and host["host"] not in kept and host["backup"] not in chosen and len(chosen) < int(sys.argv[1]):
        chosen.append(host["host"]); kept.add(host["backup"])
print(*chosen)' "$1"
}

field_start "${LOSSES_HOSTS:-mesh:4x4}" ${LOSSES_GUEST:+"airfoil:$LOSSES_GUEST"}
until_true 60 "in sync" in_sync
read -ra four < <(apart 4)
[ "${#four[@]}" -eq 4 ] || bad "no four hosts that keep no copies of each other: ${four[*]}"
begin=$(now_us)
end_work KILL "${four[@]}"
lose "${four[@]}"
until_true 60 "what hosts ${four[*]} had runs elsewhere" all_worked_on
seconds=$(awk -v a="$begin" -v b="$(now_us)" 'BEGIN { printf "%.1f", (b - a) / 1e6 }')
awk -v s="$seconds" -v b="$bound" 'BEGIN { exit s > b }' && ok "hosts ${four[*]} are lost: all run elsewhere after $seconds s" ||
    bad "hosts ${four[*]} are lost: all run elsewhere only after $seconds s"
[ "$(evictions)" -eq 4 ] && ok "four are evicted" || bad "$(evictions) evictions, not four"
back
for host in "${four[@]}"; do work "$host"; done
for host in "${four[@]}"; do until_true 60 "host $host is back" is_state "$host" ACTIVE; done
until_true 60 "it settles" has_settled
until_true 60 "in sync" in_sync
until_true 60 "every vertex is worked on" all_worked_on

half="8 9 10 11 12 13 14 15" # with the four before, more than a third of ten minutes ago
before=$(evictions)
# shellcheck disable=SC2086 # words
lose $half
sleep 20
[ "$(evictions)" -eq "$before" ] && ok "half of the hosts are lost: nobody is evicted" || bad "of half of the hosts $(($(evictions) - before)) are evicted"
for host in 0 3 7; do
    refused 5 "DEGRADED" ask "$host" jobs job
    refused 5 "eviction-held-back" ask "$host" status
    refused 5 "" ask "$host" wait job --timeout 1
done
back
until_true 60 "it settles" has_settled
until_true 60 "every vertex is worked on" all_worked_on && ok "when they are back all goes on"
until_true 60 "in sync" in_sync
[ "$(evictions)" -eq "$before" ] && ok "and nobody was evicted" || bad "$(($(evictions) - before)) were evicted"
one_owner job "$vertices"
field_end
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
