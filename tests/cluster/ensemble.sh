#!/usr/bin/env bash
# Real daemons with an application each; the control log is in an ensemble of etcd that some of them run. Again and again
# the host whose etcd leads is lost for good, and another member once the first one is replaced: daemon, etcd and
# application are killed and the folder is emptied. Measured is how long it takes until others work on all that it had.
# Then both come back, as new incarnations with nothing. At the end the log moves to a host and back while the
# application works; and a cluster of its own whose log a host orders says that this host is lost.
#   ENSEMBLE_HOSTS  their network (mesh:2x3 with a small guest; others with 4elt: mesh:4x4 takes minutes)
#   ENSEMBLE_RUNS   how often (1)
#   ENSEMBLE_BOUND  seconds that each loss may take; otherwise they are only printed. 13 where the machine has nothing
#                   else to do
[ -x /usr/bin/etcd ] || { echo "skipped: etcd is not installed (apt-get install etcd-server)"; exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
network=${ENSEMBLE_HOSTS:-mesh:2x3}
runs=${ENSEMBLE_RUNS:-1}
bound=${ENSEMBLE_BOUND:-none}
eye=0 # the host that is asked: one that stays

field() { ask "$eye" hosts --all | awk -v host="$1" -v field="$2" '$1 == host { print $field }'; }
state() { field "$1" 3; }
in_sync() {
    ask "$eye" hosts >"$scratch/hosts" &&
        awk '$3 ~ /ACTIVE|DRAINING|JOINING/ && $10 != "yes" { bad = 1 } END { exit bad }' "$scratch/hosts"
}
is_state() { [ "$(state "$1")" = "$2" ]; }
all_active() { [ "$(ask "$eye" hosts | awk '$3 == "ACTIVE"' | wc -l)" -eq "$hosts" ]; }

# list KEY: numbers of lbctl status, with blanks between them.
list() { ask "$eye" status --json | tr -d '\n' | sed -n "s/.*\"$1\": *\[\([^]]*\)\].*/\1/p" | tr -d ' ' | tr ',' ' '; }
leads() { ask "$eye" status --json | sed -n 's/.*"log_leader": *\([0-9]*\).*/\1/p'; }
engine() { ask "$eye" status --json | sed -n 's/.*"log_engine": *"\([a-z]*\)".*/\1/p'; }
is_engine() { [ "$(engine)" = "$1" ]; }
# whole N: the ensemble has N members, which all answer, and one leads.
whole() {
    # shellcheck disable=SC2046
    [ "$(list log_members | wc -w)" -eq "$1" ] && [ "$(list log_members_answering | wc -w)" -eq "$1" ] && [ -n "$(leads)" ]
}
replaced() { whole "$members" && ! grep -qw "$1" <<<"$(list log_members)"; }

# take_away HOST: for good; its etcd ends with it, or is killed.
take_away() {
    local etcd
    etcd=$(pgrep -P "$(pgrep -P "$(cat "$dir/h$1/lbmapd.pid")" | head -n 1)" 2>/dev/null)
    kill -KILL "${worker_pid[$1]}"
    "$lbctl" cluster kill "$1" --dir "$dir"
    # shellcheck disable=SC2086
    [ -z "$etcd" ] || kill -KILL $etcd 2>/dev/null
    find "$dir/h$1" -mindepth 1 ! -name lbmapd.conf ! -path "*/identity*" -delete 2>/dev/null
    unset "worker_pid[$1]"
}

# moved: of what it had (file lost) is now worked on elsewhere; prints how many, and when the last came.
moved() {
    local host
    for host in "${!worker_pid[@]}"; do
        tail -c "+$((${size[$host]} + 1))" "${history_of[$host]}"
    done | awk -v lost="$scratch/lost" '
        BEGIN { while ((getline line < lost) > 0) { split(line, part, " "); token[part[1]] = part[2] } }
        $2 == "acquire" && ($3 in token) && $4 > token[$3] && !($3 in first) { first[$3] = $1 }
        END { for (v in first) { n++; if (first[v] > last) last = first[v] } printf "%d %.0f\n", n, last }'
}

# lose HOST TEXT
lose() {
    local other begin n last wanted seconds
    declare -A size
    held "${history_of[$1]}" >"$scratch/lost"
    wanted=$(wc -l <"$scratch/lost")
    for other in "${!worker_pid[@]}"; do size[$other]=$(stat -c %s "${history_of[$other]}"); done
    begin=$(now_us)
    take_away "$1"
    run_elsewhere() { read -r n last < <(moved); [ "$n" -ge "$wanted" ]; }
    if ! patiently 60 run_elsewhere; then
        bad "$2: $n of $wanted vertices run elsewhere"
        return 1
    fi
    seconds=$(awk -v a="$begin" -v b="$last" 'BEGIN { printf "%.2f", (b - a) / 1e6 }')
    echo "$seconds" >>"$scratch/seconds"
    until_true 60 "$2: another host has its place" replaced "$1"
    printf '%s: %s vertices: all run elsewhere after %s s; replaced after %s s; members %s, host %s leads; load %s\n' "$2" \
        "$wanted" "$seconds" "$((($(now_us) - begin) / 1000000))" "$(list log_members)" "$(leads)" "$(cut -d' ' -f1 /proc/loadavg)"
}

# run NUMBER
run() {
    local first second host
    first=$(leads)
    second=$(list log_members | tr ' ' '\n' | grep -vx "$first" | shuf -n 1)
    for ((eye = 0; eye < hosts; eye++)); do [ "$eye" -eq "$first" ] || [ "$eye" -eq "$second" ] || break; done
    lose "$first" "run $1: host $first, whose etcd leads" || return 1
    until_true 60 "run $1: in sync" in_sync
    lose "$second" "run $1: host $second, a member" || return 1
    "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon" >"$scratch/output" 2>&1 || bad "run $1: $(cat "$scratch/output")"
    for host in "$first" "$second"; do
        work "$host"
        until_true 60 "run $1: host $host is back" is_state "$host" ACTIVE
        [ -z "$(ls -d "$dir/h$host"/lbmap.db.etcd/member-* 2>/dev/null)" ] || bad "run $1: host $host has data of etcd"
    done
    sleep 1 # so that rounds have begun
    settles "$eye" job >"$scratch/output" 2>&1 || bad "run $1: does not settle: $(tail -n 3 "$scratch/output")"
    until_true 30 "run $1: in sync" in_sync
    until_true 30 "run $1: every vertex is worked on" all_worked_on
}

if [ "$network" = mesh:2x3 ]; then field_start "$network" airfoil:3000; else field_start "$network"; fi
members=3 # five where there are nine hosts
[ "$hosts" -lt 9 ] || members=5
until_true 60 "the control log moves into an ensemble of $members" whole "$members"
is_engine etcd && ok "lbctl status: etcd on hosts $(list log_members), host $(leads) leads" || bad "$(ask "$eye" status)"
for ((i = 1; i <= runs && failed == 0; i++)); do run "$i"; done

if [ "$failed" -eq 0 ]; then
    expect "the log moves to a host" ask 3 log move local
    until_true 20 "all hosts know it" is_engine local
    expect "which orders it" ask 3 set 5 --capacity 1.01
    expect "and back" ask 4 log move etcd --timeout 60
    until_true 20 "all hosts know it" is_engine etcd
    member=$(list log_members | cut -d' ' -f1)
    for ((eye = 0; eye < hosts; eye++)); do [ "$eye" -eq "$member" ] || break; done
    expect "a member drains" ask "$eye" drain "$member"
    until_true 60 "another host has its place" replaced "$member"
    until_true 120 "and it leaves" is_state "$member" LEFT
fi
one_owner job "$vertices"
field_end
[ "$bound" != none ] || bound=$((1 << 30))
distribution "losses, seconds until all runs elsewhere" "$bound" <"$scratch/seconds"
late=$(awk -v bound="$bound" '$1 > bound' "$scratch/seconds" | wc -l)
if [ "$late" -eq 0 ]; then ok "no loss took longer than $bound s"; else bad "$late losses took longer than $bound s"; fi
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
"$lbctl" -q cluster down --dir "$dir"

# Engine local: nobody takes the leader's place, and everybody says so.
dir=$scratch/l
export CLUSTER=$dir
eye=1
expect "a cluster whose log a host orders" "$lbctl" -q cluster up --hosts ring:4 --log local --dir "$dir" --daemon "$daemon"
is_engine local && ok "lbctl status: local" || bad "$(ask 1 status)"
"$lbctl" cluster kill 0 --dir "$dir"
says_lost() {
    local host
    for host in 1 2 3; do
        ask "$host" status | grep -q 'control log .*host 0, which is unreachable: see lbctl log promote' &&
            grep -q 'host 0, which orders the control log, is unreachable' "$dir/h$host/lbmapd.log" || return 1
    done
}
left=100
until says_lost || [ "$left" -eq 0 ]; do
    sleep 0.1
    left=$((left - 1))
done
says_lost && ok "logs and lbctl status say within ten seconds that host 0 is gone" || bad "$(ask 1 status)"
[ -z "$(ls -d "$dir"/h*/lbmap.db.etcd/member-* 2>/dev/null)" ] && ok "no host runs etcd" || bad "etcd runs"
exit "$failed"
