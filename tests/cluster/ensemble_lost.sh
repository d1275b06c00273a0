#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Real daemons with an application each; the control log is in an ensemble of etcd that three of them run. Two of the three
# are lost at once. First for good: daemons, etcd and applications are killed and the folders are emptied. Nothing changes
# until an operator promotes a third host by force; then the lost ones are evicted, others work on all that they had, another
# ensemble is formed, and they begin again with nothing. Then two members are only suspended: they come back once another
# host has the log, have a majority of their ensemble again, and follow nevertheless.
[ -x /usr/bin/etcd ] || { echo "skipped: etcd is not installed (apt-get install etcd-server)"; exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
eye=0 # the host that is asked: one that stays
copies=2

field() { ask "$eye" hosts --all | awk -v host="$1" -v field="$2" '$1 == host { print $field }'; }
list() { ask "$eye" status --json | tr -d '\n' | sed -n "s/.*\"$1\": *\[\([^]]*\)\].*/\1/p" | tr -d ' ' | tr ',' ' '; }
leads() { ask "$eye" status --json | sed -n 's/.*"log_leader": *\([0-9]*\).*/\1/p'; }
engine() { ask "$1" status --json | sed -n 's/.*"log_engine": *"\([a-z]*\)".*/\1/p'; }
in_sync() {
    ask "$eye" hosts >"$scratch/hosts" &&
        awk '$3 ~ /ACTIVE|DRAINING|JOINING/ && $10 != "yes" { bad = 1 } END { exit bad }' "$scratch/hosts"
}
whole() { [ "$(list log_members | wc -w)" -eq 3 ] && [ "$(list log_members_answering | wc -w)" -eq 3 ] && [ -n "$(leads)" ]; }
other_whole() { whole && [ "$(list log_members)" != "$1" ]; }
all_active() { [ "$(ask "$eye" hosts | awk '$3 == "ACTIVE"' | wc -l)" -eq "$hosts" ]; }
answers_nobody() { [ "$(list log_members_answering | wc -w)" -eq 0 ] && [ -z "$(leads)" ]; }
is_evicted() { [ "$(field "$1" 3)" = EVICTED ]; }
same_end() {
    local host end
    end=$(ask "$eye" log show --count 1)
    for ((host = 0; host < hosts; host++)); do [ "$(ask "$host" log show --count 1)" = "$end" ] || return 1; done
}

# pids HOST: its daemon, what keeps its etcd, and etcd.
pids() {
    local daemon_pid keeper
    daemon_pid=$(cat "$dir/h$1/lbmapd.pid")
    keeper=$(pgrep -P "$daemon_pid")
    # shellcheck disable=SC2086
    echo "$daemon_pid" $keeper $(for pid in $keeper; do pgrep -P "$pid"; done)
}
# take_away HOST: for good.
take_away() {
    local all
    all=$(pids "$1")
    kill -KILL "${worker_pid[$1]}"
    # shellcheck disable=SC2086
    kill -KILL $all 2>/dev/null
    find "$dir/h$1" -mindepth 1 ! -name lbmapd.conf ! -path "*/identity*" -delete 2>/dev/null
    unset "worker_pid[$1]"
}
# choose: the members, two of them, and another host that is asked.
choose() {
    members=$(list log_members)
    read -r first second third <<<"$members"
    for ((eye = 0; eye < hosts; eye++)); do grep -qw "$eye" <<<"$members" || break; done
}

field_start mesh:2x3 airfoil:3000
until_true 60 "the control log moves into an ensemble" whole
choose
until_true 30 "host $eye knows it" whole
ok "etcd on hosts $members"
refused 1 "lbctl log move local moves it" ask "$eye" log promote
refused 1 "etcd answers" ask "$eye" log promote --force
until_true 60 "in sync" in_sync

# For good.
take_away "$first"
take_away "$second"
until_true 60 "host $eye sees that no majority answers" answers_nobody
refused 4 "lbctl log promote --force" ask "$eye" evict "$first" --lost --timeout 4
ask "$eye" status >"$scratch/output"
grep -q 'no leader is known: if most of them are lost for good, lbctl log promote --force' "$scratch/output" &&
    ok "lbctl status says what to do" || bad "$(cat "$scratch/output")"
sleep 3 # else the lost hosts may count as heard
expect "host $eye takes the log by force" ask "$eye" log promote --force
log_says_so() { ask "$eye" log show --count 50 | grep -q "log_move .*leader $eye .*forced [1-9]"; }
until_true 20 "the log says so" log_says_so
until_true 90 "host $first is evicted" is_evicted "$first"
until_true 90 "host $second is evicted" is_evicted "$second"
until_true 90 "every vertex is worked on" all_worked_on
until_true 90 "another ensemble is formed" other_whole "$members"
ok "another ensemble on hosts $(list log_members)"
[ -n "$(ls -d "$dir/h$third"/lbmap.db.etcd/member-* 2>/dev/null)" ] || bad "host $third has no data of etcd"
"$lbctl" -q cluster up --dir "$dir" --daemon "$daemon" >"$scratch/output" 2>&1 || bad "$(cat "$scratch/output")"
for host in "$first" "$second"; do work "$host"; done
until_true 90 "all are active" all_active
until_true 60 "in sync" in_sync
until_true 60 "all hosts have the same log" same_end

# For a while.
choose
ok "etcd on hosts $members"
# shellcheck disable=SC2207
suspended=($(pids "$first") $(pids "$second"))
kill -STOP "${suspended[@]}"
trap 'kill -CONT "${suspended[@]}" "${worker_pid[@]}" 2>/dev/null; kill -KILL "${worker_pid[@]}" 2>/dev/null; finish' EXIT
until_true 60 "host $eye sees that no majority answers" answers_nobody
sleep 3
# Hosts at rest look at etcd every five seconds.
takes_it() { ask "$eye" log promote --force >"$scratch/output" 2>&1; }
until_true 60 "host $eye takes the log by force again" takes_it
expect "and orders it" ask "$eye" set "$third" --capacity 1.01
kill -CONT "${suspended[@]}"
until_true 120 "all are active" all_active
until_true 60 "all hosts have the same log" same_end
until_true 90 "another ensemble is formed" other_whole "$members"
until_true 90 "in sync" in_sync
until_true 90 "every vertex is worked on" all_worked_on
one_owner job "$vertices"
field_end
[ "$failed" -eq 0 ] || tail -n 12 "$dir"/h*/lbmapd.log
exit "$failed"
