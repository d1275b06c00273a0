#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Four real daemons. What is asked for while nobody orders the control log is not done later; a leader whose database
# is an older copy, or is lost, takes the log that the others have; a host that crashes while it drains does not come
# back as an active one.
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local
start mesh:2x2
"$lbctl" -q gen lattice:12x12 -o "$scratch/g.graph"
expect "a job" ask 1 submit "$scratch/g.graph" --name job
expect "it settles" settles 1 job

down() { expect "the daemon of host $1 is killed" "$lbctl" cluster kill "$1" --dir "$dir"; }
up() { expect "it is started" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"; }
# The state of host $2 as host $1 has it.
state() { ask "$1" hosts --json | tr -d ' \n' | grep -o "\"host\":$2,[^}]*" | grep -o '"state":"[A-Z]*"' | cut -d'"' -f4; }
# until_true TEXT COMMAND...: at most a minute.
until_true() {
    local text=$1 try
    shift
    for try in $(seq 240); do
        if "$@" >/dev/null 2>&1; then ok "$text"; return; fi
        sleep 0.25
    done
    bad "$text: $(ask 1 hosts 2>&1)"
}
same_log() { [ "$(ask 0 log show --count 8)" = "$(ask 1 log show --count 8)" ]; }
is() { [ "$(state "$1" "$2")" = "$3" ]; }

# ---- no leader
down 0
refused 4 "nothing is changed, and nothing will be" ask 1 cancel job
refused 4 "nothing is changed, and nothing will be" ask 2 drain 3 --timeout 2
refused 4 "there will be none" ask 3 submit "$scratch/g.graph" --name other
up
until_true "host 0 orders the log again" ask 2 set 1 --capacity 1.5 --timeout 3
until_true "the job is there, and well" ask 1 jobs job
refused 1 "there is no job named other" ask 1 jobs other
is 1 3 ACTIVE && ok "host 3 is active" || bad "host 3 is $(state 1 3)"
expect "it can be cancelled" ask 3 submit "$scratch/g.graph" --name short
expect "now" ask 2 cancel short
refused 1 "there is no job named short" ask 2 cancel short

# ---- a database of before
down 0
mkdir "$scratch/old"
cp "$dir"/h0/lbmap.db* "$scratch/old"
up
until_true "the log goes on" ask 2 set 2 --capacity 2 --timeout 3
expect "and on" ask 3 set 3 --capacity 2
down 0
rm -f "$dir"/h0/lbmap.db*
cp "$scratch"/old/* "$dir"/h0
up
until_true "host 0 has the log that the others have" same_log
until_true "it is active" is 1 0 ACTIVE
expect "the log goes on" ask 0 set 1 --capacity 1
until_true "the same everywhere" same_log

# ---- no database
expect "host 0 is promoted" ask 0 log promote --timeout 20
down 0
rm -f "$dir"/h0/lbmap.db*
up
until_true "host 0 has the log that the others have" same_log
until_true "it is active" is 1 0 ACTIVE
expect "the log goes on" ask 0 set 1 --capacity 2
until_true "the same everywhere" same_log
until_true "all settles" ask 1 wait job --timeout 10
one_owner job 144

# ---- a host that drains and crashes: its backup is stopped meanwhile, so it cannot get rid of anything
backup=$(figure backup <(ask 3 status --json))
[ -n "$backup" ] || bad "host 3 has no backup"
asked=0
while [ "$asked" = "$backup" ] || [ "$asked" = 3 ]; do asked=$((asked + 1)); done
expect "another host orders the log" ask "$asked" log promote --timeout 20
expect "its backup is stopped" "$lbctl" cluster kill "$backup" --signal STOP --dir "$dir"
ask "$asked" -q drain 3 --timeout 2
down 3
expect "and goes on" "$lbctl" cluster kill "$backup" --signal CONT --dir "$dir"
until_true "an operator evicts it" ask "$asked" evict 3
until_true "the log says so" is "$asked" 3 EVICTED
up
until_true "it has left when it is back" is "$asked" 3 LEFT
sleep 2
is "$asked" 3 LEFT && ok "and stays so" || bad "host 3 is $(state "$asked" 3)"
expect "an operator asks it to join" ask 3 join
until_true "it is active" is "$asked" 3 ACTIVE
until_true "all settles" ask 1 wait job --timeout 10
one_owner job 144
exit $failed
