#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# No summary says better than the truth. A table of faults is inflicted on six real daemons, one after the other; during
# each, and after it, what every daemon that runs says of the job (jobs, wait, status, hosts, as text and JSON, and the exit
# statuses) is compared with the databases, the lease pages and the processes (truth.py).
#   TRUTH_FAULTS   names from the table (a short selection), or all
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
python3 -c 'import sqlite3' 2>/dev/null || { echo "skipped: python3 with sqlite3 is not installed"; exit 77; }
short="leader_killed pair_lost"
chosen=${TRUTH_FAULTS:-$short}
log=local # some of the faults are those of a host that orders the log
vertices=600
hosts=6
knows=6 # seconds after which a host knows who has fallen silent

signal() { "$lbctl" -q cluster kill "$2" --signal "$1" --dir "$dir" >/dev/null 2>&1; }
up() { "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon" >"$scratch/up" 2>&1; }
truth() { python3 "$tests/truth.py" "$lbctl" "$dir" job "$vertices" "$@" >"$scratch/truth" 2>&1; }
# asked: a host whose daemon answers.
asked() {
    local host
    for host in $(seq 0 $((hosts - 1))); do
        if timeout 5 "$lbctl" -s "$dir/h$host/lbmapd.sock" status >/dev/null 2>&1; [ $? -ne 3 ] && [ $? -ne 4 ]; then
            if timeout 5 "$lbctl" -s "$dir/h$host/lbmapd.sock" hosts --json >/dev/null 2>&1; then echo "$host"; return; fi
        fi
    done
    echo 0
}
leader() { figure leader <(ask "$(asked)" status --json); }
backup_of() { ask "$(asked)" hosts --json | python3 -c "import json, sys; print([h['backup'] for h in json.load(sys.stdin) if h['host'] == $1][0])"; }
# other HOST...: a host that is none of these and does not order the log.
other() {
    local host order
    order=$(leader)
    for host in $(seq 1 $((hosts - 1))) 0; do
        [[ " $* $order " == *" $host "* ]] || { echo "$host"; return; }
    done
}
all_insync() { ask "$(asked)" hosts --json | python3 -c 'import json, sys; sys.exit(not all(h["insync"] for h in json.load(sys.stdin) if h["state"] == "ACTIVE"))'; }
# during NAME LEAST: the fault stands; no daemon says anything better than that at least LEAST vertices are idle.
during() {
    sleep "$knows"
    if truth short "$2"; then ok "$1: all say so: $(head -n 1 "$scratch/truth")"; else bad "$1: $(cat "$scratch/truth")"; fi
}
# never NAME SECONDS: whoever is asked meanwhile says nothing better than what is true, for longer than it takes to know.
never() {
    local end=$((SECONDS + $2)) well=$SECONDS
    while [ "$SECONDS" -lt "$end" ]; do
        sleep 1
        if truth any; then
            well=$SECONDS
        elif [ $((SECONDS - well)) -gt "$knows" ]; then
            bad "$1: $(cat "$scratch/truth")"
            return
        fi
    done
    ok "$1: nothing better than the truth for $2 s"
}
# healed NAME: the fault is over; all come to say that all is well.
healed() {
    local try
    for try in $(seq 90); do
        if truth whole; then
            for try in $(seq 60); do all_insync && break; sleep 0.5; done
            ok "$1: healed: $(head -n 1 "$scratch/truth")"
            return
        fi
        sleep 1
    done
    bad "$1: not healed: $(cat "$scratch/truth")"
}
begin() {
    local id
    expect "submit, and wait until it has settled" ask "$(asked)" -q submit "$scratch/g.graph" --name job --wait --timeout 60
    id=$(ask "$(asked)" jobs job --json | grep -o '"id": *"[^"]*"' | sed 's/.*"\(0x[^"]*\)"/\1/')
    echo "$id" >"$dir/job.id"
}

# ---- the table: fault_NAME inflicts it, checks, and heals -----------------------------------------------------

# A daemon is killed: its backup goes on.
fault_killed() { local host; host=$(other); signal KILL "$host"; never "$1" 12; healed "$1"; up; healed "$1, and back"; }
# A daemon is killed and started again at once.
fault_restarted() { local host; host=$(other); signal KILL "$host"; up; never "$1" 6; healed "$1"; }
# A daemon is frozen, shorter than it takes to evict it, and longer.
fault_frozen_shortly() { local host; host=$(other); signal STOP "$host"; sleep 2; signal CONT "$host"; never "$1" 5; healed "$1"; }
fault_frozen() { local host; host=$(other); signal STOP "$host"; never "$1" 14; signal CONT "$host"; healed "$1"; }
# Who orders the log is killed: what it has stands still, and requests end.
fault_leader_killed() {
    local order host
    order=$(leader); host=$(other); signal KILL "$order"
    during "$1" 1
    refused 4 "it waits for host $order" ask "$host" cancel job --timeout 2
    refused 4 "it waits for host $order" ask "$host" submit "$scratch/g.graph" --name late --timeout 3
    ask "$host" status >"$scratch/output"; grep -q 'no-leader' "$scratch/output" && ok "status names no-leader" || bad "$(cat "$scratch/output")"
    grep -q '\[no-leader\]' "$dir/h$host/lbmapd.log" && ok "and so does the log" || bad "the log of host $host does not say no-leader"
    up
    healed "$1"
    refused 1 "there is no job named late" ask "$host" jobs late
}
# It is killed, and another one is promoted: what was asked for before, and has ended, is not done then.
fault_promoted() {
    local order host
    order=$(leader); host=$(other); signal KILL "$order"; sleep 4
    refused 4 "nothing will be" ask "$host" cancel job --timeout 2
    ask "$host" log promote --force --timeout 20 >/dev/null 2>&1
    for try in $(seq 40); do ask "$host" set "$host" --capacity 1.01 --timeout 2 >/dev/null 2>&1 && break; sleep 0.5; done
    ask "$host" jobs job --json >"$scratch/output" 2>&1
    grep -q '"name": "job"' "$scratch/output" && ok "$1: the job is there" || bad "$1: $(cat "$scratch/output")"
    never "$1" 8; up; healed "$1"
}
fault_leader_frozen() { local order; order=$(leader); signal STOP "$order"; during "$1" 1; signal CONT "$order"; healed "$1"; }
# An owner and its backup are killed: what the owner had waits for one of them.
fault_killed_pair() {
    local owner backup
    owner=$(other); backup=$(backup_of "$owner"); [ "$backup" != "$(leader)" ] || { owner=$(other "$owner"); backup=$(backup_of "$owner"); }
    signal KILL "$owner"; signal KILL "$backup"; during "$1" 50; up; healed "$1"
}
fault_frozen_pair() { local owner backup; owner=$(other); backup=$(backup_of "$owner"); signal STOP "$owner"; signal STOP "$backup"; during "$1" 1; signal CONT "$owner"; signal CONT "$backup"; healed "$1"; }
fault_backup_frozen() { local backup; backup=$(backup_of "$(other)"); signal STOP "$backup"; never "$1" 10; signal CONT "$backup"; healed "$1"; }
# Both are killed and lose their disks: an operator says so, and the vertices begin again.
fault_pair_lost() {
    local owner backup order host
    order=$(leader)
    for owner in $(seq 1 $((hosts - 1))); do backup=$(backup_of "$owner"); [ "$owner" = "$order" ] || [ "$backup" = "$order" ] || break; done
    host=$(other "$owner" "$backup")
    signal KILL "$owner"; signal KILL "$backup"
    find "$dir/h$owner" "$dir/h$backup" -mindepth 1 -name 'lbmap.db*' -delete
    during "$1" 50
    for try in $(seq 60); do
        ask "$host" evict "$backup" --lost --timeout 5 >"$scratch/output" 2>&1
        ask "$host" evict "$owner" --lost --timeout 5 >>"$scratch/output" 2>&1
        ask "$host" jobs job >"$scratch/jobs" 2>&1; [ $? -eq 6 ] && break
        sleep 1
    done
    never "$1: evicted as lost" 3
    for try in $(seq 60); do ask "$host" jobs job >"$scratch/output" 2>&1; [ $? -eq 6 ] && break; sleep 1; done
    truth short 50 && ok "$1: all say so: $(head -n 1 "$scratch/truth")" || bad "$1: $(cat "$scratch/truth")"
    refused 6 "LOST" ask "$host" wait job --timeout 20
    refused 6 "LOST" ask "$host" jobs job
    refused 6 "job-lost" ask "$host" status
    refused 2 "name the guest's file" ask "$host" recover job --as-submitted
    for try in $(seq 60); do # the other one's successor has to take over first
        ask "$host" recover job --graph "$scratch/g.graph" --as-submitted >"$scratch/output" 2>&1 && break
        sleep 1
    done
    grep -q "begin again" "$scratch/output" && ok "$1: $(cat "$scratch/output")" || bad "$1: recover: $(cat "$scratch/output")"
    healed "$1"
    one_owner job "$vertices"
    up
    healed "$1, and hosts are back"
}
# Half of them are killed, or all but one.
fault_half_killed() { local host; for host in 3 4 5; do signal KILL "$host"; done; during "$1" 100; up; healed "$1"; }
fault_one_left() { local host; for host in 0 2 3 4 5; do signal KILL "$host"; done; during "$1" 400; up; healed "$1"; }
fault_half_frozen() { local host; for host in 3 4 5; do signal STOP "$host"; done; during "$1" 100; for host in 3 4 5; do signal CONT "$host"; done; healed "$1"; }
# One host is cut off by all others being frozen: it must not call well what it has.
fault_alone() { local host; for host in 0 1 2 3 4; do signal STOP "$host"; done; sleep 5; during "$1" 500; for host in 0 1 2 3 4; do signal CONT "$host"; done; healed "$1"; }
fault_all_restarted() { local host; for host in 0 1 2 3 4 5; do signal KILL "$host"; done; up; never "$1" 6; healed "$1"; }
fault_terminated() { local host; host=$(other); signal TERM "$host"; never "$1" 12; up; healed "$1"; }
# A host loses its disk and is started again: its backup has what it had.
fault_disk_lost() { local host; host=$(other); signal KILL "$host"; rm -f "$dir/h$host"/lbmap.db*; up; never "$1" 12; healed "$1"; }
fault_evicted() { local host; host=$(other); expect "$1" ask "$(other "$host")" evict "$host"; never "$1" 12; healed "$1"; }
fault_drained() { local host; host=$(other); expect "$1" ask "$(other "$host")" leave "$host" --timeout 60; never "$1" 3; expect "$1: it joins" ask "$host" join; healed "$1"; }
fault_drained_killed() { local host; host=$(other); ask "$(other "$host")" -q drain "$host"; signal KILL "$host"; never "$1" 14; up; healed_left "$1" "$host"; }
healed_left() { local try; for try in $(seq 60); do ask "$2" join >/dev/null 2>&1 && break; sleep 1; done; healed "$1"; }
# A leave that cannot end says so, and when.
fault_leave_stuck() {
    local host backup
    host=$(other); backup=$(backup_of "$host"); signal STOP "$backup"; sleep 1
    refused 4 "has not left in time\|waits for" ask "$(other "$host" "$backup")" leave "$host" --timeout 3
    signal CONT "$backup"; ask "$host" join >/dev/null 2>&1; never "$1" 3; healed_left "$1" "$host"
}
# The job is cancelled while a host is away: nobody has it, nor does who comes back.
fault_cancelled() {
    local host
    host=$(other); signal KILL "$host"; sleep 1
    expect "$1" ask "$(asked)" cancel job
    up
    for try in $(seq 60); do ask "$host" jobs job >"$scratch/output" 2>&1; [ $? -eq 1 ] && break; sleep 0.5; done
    grep -q "there is no job" "$scratch/output" && ok "$1: nor has who comes back" || bad "$1: $(cat "$scratch/output")"
    begin
}
# Another job is submitted while a host is away.
fault_submitted() {
    local host at # a host whose backup is there: else nobody stores a copy of the guest in time
    host=$(other)
    for at in 0 1 2 3 4 5; do [ "$at" != "$host" ] && [ "$(backup_of "$at")" != "$host" ] && break; done
    signal KILL "$host"
    timeout 60 "$lbctl" -s "$dir/h$at/lbmapd.sock" submit "$scratch/g.graph" --name more --wait --timeout 4 >"$scratch/output" 2>&1
    case $? in # 4: it is not known yet that somebody is missing
    4 | 5) ok "$1: $(tail -n 1 "$scratch/output" | cut -c1-100)" ;;
    *) bad "$1: a job settles without a host: $(cat "$scratch/output")" ;;
    esac
    never "$1" 5; ask "$(asked)" -q cancel more; up; healed "$1"
}
# The leader and another host go together.
fault_leader_and_one() { local order host; order=$(leader); host=$(other); signal KILL "$order"; signal KILL "$host"; during "$1" 1; up; healed "$1"; }
# One after the other, faster than it heals.
fault_in_a_row() { local host; for host in 1 2 3; do [ "$host" = "$(leader)" ] || signal KILL "$host"; sleep 2; up; done; never "$1" 6; healed "$1"; }

all="killed restarted frozen_shortly frozen leader_killed promoted leader_frozen killed_pair frozen_pair backup_frozen pair_lost
half_killed one_left half_frozen alone all_restarted terminated disk_lost evicted drained drained_killed leave_stuck cancelled
submitted leader_and_one in_a_row"
[ "$chosen" != all ] || chosen=$all

start mesh:3x2
for host in $(seq 0 $((hosts - 1))); do echo 'evict = { percent = 100.0; };' >>"$dir/h$host/lbmapd.conf"; done
"$lbctl" -q cluster down --dir "$dir" >/dev/null 2>&1; up
"$lbctl" -q gen lattice:30x20 -o "$scratch/g.graph"
for try in $(seq 60); do [ "$(ask 1 hosts --json 2>/dev/null | grep -c '"ACTIVE"')" = "$hosts" ] && break; sleep 0.5; done
begin
healed "at first"
# The checker sees a lie: vertices that are idle, in the words of a cluster that is well.
truth short 1 && bad "the checker does not see that all is well" || ok "the checker sees what is said wrongly"
for fault in $chosen; do
    printf -- '---- %s\n' "$fault"
    before=$failed
    "fault_$fault" "$fault"
    [ "$failed" = "$before" ] || tail -n 2 "$dir"/h*/lbmapd.log
done
exit "$failed"
