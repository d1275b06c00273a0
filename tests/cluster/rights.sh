#!/usr/bin/env bash
# Who may do what on one machine, with real users: a daemon's user starts a cluster without any configuration, and nobody
# else gets in; then groups are configured, and a stranger, a reader, two who submit and an administrator ask everything.
# Users are made-up numbers, so it takes root (setpriv). Ports and files are the test's own.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
skip_all() {
    skip "$1"
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip_all "not root: no other users to ask as"
command -v setpriv >/dev/null || skip_all "setpriv (util-linux) is missing"
host_user=61000 reader=61001 alice=61002 bob=61003 admin=61004 stranger=61005
readers=62001 submitters=62002 admins=62003
# as_user USER GROUP COMMAND...: with no other group and no capability. ask_as USER GROUP HOST COMMAND...: lbctl.
cat >"$scratch/as_user" <<'AS'
#!/bin/sh
user=$1 group=$2
shift 2
exec setpriv --reuid "$user" --regid "$user" --groups "$group" --inh-caps=-all --bounding-set=-all -- "$@"
AS
cat >"$scratch/ask_as" <<'AS'
#!/bin/sh
user=$1 group=$2 host=$3
shift 3
exec as_user "$user" "$group" "$LBCTL" -s "$CLUSTER/h$host/lbmapd.sock" "$@"
AS
chmod 0755 "$scratch" "$scratch/as_user" "$scratch/ask_as"
setpriv --reuid $alice --regid $alice --clear-groups true 2>/dev/null || skip_all "setpriv may not change users here"
worker=$top_builddir/tests/cluster/worker
"$worker" >/dev/null 2>&1 # libtool may link it at its first start
as_user $alice $submitters test -x "$lbctl" -a -x "$worker" -a -r "$tests/cluster_lib.sh" ||
    skip_all "other users cannot reach $top_builddir"

mkdir "$dir" "$scratch/alice"
chown $host_user:$host_user "$dir"
chown $alice "$scratch/alice"
up() { as_user $host_user $host_user "$lbctl" -q cluster up "$@" --dir "$dir" --daemon "$daemon"; }
down() { as_user $host_user $host_user "$lbctl" -q cluster down --dir "$dir"; }
sock() { echo "$dir/h$1/lbmapd.sock"; }
denied() { # TEXT USER GROUP HOST COMMAND...
    local text=$1
    shift
    refused 7 "$text" ask_as "$@"
}
# cannot TEXT COMMAND...: the system refuses it.
cannot() {
    local text=$1
    shift
    if timeout 60 "$@" >"$scratch/output" 2>&1 </dev/null; then bad "$text"; else ok "cannot: $text"; fi
}
alive() {
    local host
    for host in 0 1; do
        kill -0 "$(cat "$dir/h$host/lbmapd.pid")" 2>/dev/null || bad "the daemon of host $host has ended after: $1"
    done
}
log_end() { ask 0 log show --json | tail -n 4 | tr -d ' \n'; }
# closed USER GROUP WHO: the machine's own means against a daemon and its files.
closed() {
    local file pid
    for file in lbmap.db lbmap.db-wal lbmap.db-shm lbmap.db-lock; do
        [ ! -e "$dir/h0/$file" ] || cannot "$3 reads $file" as_user "$1" "$2" cat "$dir/h0/$file"
    done
    for file in lbmapd.sock.lease lbmapd.log lbmapd.pid lbmapd.conf; do
        cannot "$3 writes $file" as_user "$1" "$2" sh -c ": >>'$dir/h0/$file'"
    done
    cannot "$3 removes the socket" as_user "$1" "$2" rm -f "$(sock 0)"
    pid=$(cat "$dir/h0/lbmapd.pid")
    cannot "$3 kills the daemon" as_user "$1" "$2" kill -TERM "$pid"
    cannot "$3 reads where the daemon's memory is" as_user "$1" "$2" cat "/proc/$pid/maps"
    as_user "$1" "$2" "$lbctl" -q cluster down --dir "$dir" >/dev/null 2>&1
    alive "$3 has ended the cluster"
}

# ---- without configuration
expect "a plain user starts a cluster" up --hosts chain:2
[ "$failed" -eq 0 ] || { tail -n 3 "$dir"/h*/lbmapd.log; exit 1; }
expect "its user asks" ask_as $host_user $host_user 0 status
expect "its user changes" ask_as $host_user $host_user 0 set 1 --capacity 2
expect "its group looks" ask_as $reader $host_user 0 jobs
denied "administrator" $reader $host_user 0 drain 1
denied "user $stranger may not use this lbmapd, for the socket is not open to it" $stranger $stranger 0 status
closed $stranger $stranger "a stranger"
expect "the cluster ends" down

# ---- with groups
for host in 0 1; do
    echo "groups = { read = \"$readers\"; submit = \"$submitters\"; admin = \"$admins\"; };" >>"$dir/h$host/lbmapd.conf"
done
expect "it starts again, with groups" up
[ "$failed" -eq 0 ] || exit 1
grep -q groups "$dir/h0/lbmapd.conf" || bad "the configuration has been written again"
as_user $alice $submitters "$lbctl" -q gen lattice:20x20 -o "$scratch/alice/guest.graph"
chmod 0644 "$scratch/alice/guest.graph"
guest=$scratch/alice/guest.graph

for what in status hosts jobs network "log show" events "cancel a" "drain 1" "submit $guest --name s"; do
    # shellcheck disable=SC2086
    denied "user $stranger may not use this lbmapd: it is in none of its groups" $stranger $stranger 0 $what
done
closed $stranger $stranger "a stranger"

# What every thread of a daemon has given up; a build with sanitizers has no list of system calls.
calls=2
grep -q '^LBM_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" && calls=0
# confined USER: a daemon of that user.
confined() {
    local pid line
    pid=$(cat "$dir/h0/lbmapd.pid")
    for line in "CapEff 0000000000000000" "CapPrm 0000000000000000" "CapInh 0000000000000000" "CapAmb 0000000000000000" \
        "NoNewPrivs 1" "Seccomp $calls"; do
        if [ "$(cat "/proc/$pid"/task/*/status | awk -v name="${line% *}:" '$1 == name { print $2 }' | sort -u)" = "${line#* }" ]; then
            ok "all threads of user $1's daemon: $line"
        else
            bad "a thread of user $1's daemon is not $line"
        fi
    done
}
confined $host_user

denied "user $reader may not submit jobs" $reader $readers 0 submit "$guest" --name r
expect "alice submits" ask_as $alice $submitters 0 submit "$guest" --name a
expect "bob submits" ask_as $bob $submitters 1 submit "$guest" --name b
for job in a b; do expect "$job settles" settles 0 "$job"; done

# Alice works; what she keeps is hers.
PAYLOAD=64 as_user $alice $submitters "$worker" a "$(sock 0)" "$scratch/alice/history" 600 5 100 >"$scratch/worker" 2>&1 </dev/null &
working=$!
has_kept() { grep -q ' checkpoint ' "$scratch/alice/history" 2>/dev/null; }
expect "alice's application works and keeps payloads" patiently 60 has_kept
before=$(log_end)

for what in status hosts jobs network "log show" events "map a -o /dev/null" "locate a 0" "explain a 0"; do
    # shellcheck disable=SC2086
    expect "a reader looks: ${what%% *}" ask_as $reader $readers 0 $what
done
for who in $reader:$readers $bob:$submitters; do
    user=${who%:*} group=${who#*:}
    denied "user $user may not cancel job a: it belongs to user $alice" "$user" "$group" 0 cancel a
    denied "user $user may not cancel job a: it belongs to user $alice" "$user" "$group" 1 cancel a
    denied "user $user may not change job a: it belongs to user $alice" "$user" "$group" 0 set a --policy gde
    for what in "drain 1" "leave 1" "evict 1" "join 1" "set 1 --capacity 3"; do
        # shellcheck disable=SC2086
        denied "user $user may not change hosts" "$user" "$group" 0 $what
    done
    denied "user $user may not promote a host" "$user" "$group" 1 log promote
    for host in 0 1; do
        cannot "user $user serves alice's job on host $host" as_user "$user" "$group" "$worker" a "$(sock $host)" /dev/null 2
        grep -q "user $user may not attach to job a: it belongs to user $alice" "$scratch/output" || bad "not told so: $(cat "$scratch/output")"
    done
    ask_as "$user" "$group" 0 map a --json >"$scratch/map" 2>&1 </dev/null
    if grep -q payload "$scratch/map"; then bad "a mapping has payloads"; else ok "a mapping has no payloads"; fi
    closed "$user" "$group" "user $user"
done
if [ "$(log_end)" = "$before" ]; then ok "nothing of this is in the control log"; else bad "the control log went on from $before to $(log_end)"; fi
if kill -0 "$working" 2>/dev/null; then ok "alice's application works on"; else bad "$(cat "$scratch/worker")"; fi

# Who owns a job is in the log: it outlives the daemons.
kill -TERM "$working"
wait "$working"
expect "the cluster ends" down
expect "and starts again" up
denied "user $bob may not cancel job a: it belongs to user $alice" $bob $submitters 1 cancel a
expect "alice changes her job" ask_as $alice $submitters 1 set a --policy gde
expect "alice cancels her job" ask_as $alice $submitters 1 cancel a
denied "user $alice may not cancel job b: it belongs to user $bob" $alice $submitters 0 cancel b
# At first it is DEGRADED: no host has a lease of its backup yet.
until_true 20 "bob's job is there" ask_as $alice $submitters 0 jobs b
expect "an administrator of the group changes a host" ask_as $admin $admins 0 set 1 --capacity 2
expect "and cancels bob's job" ask_as $admin $admins 0 cancel b
alive "the end of the test"
expect "the cluster ends" down

# ---- root's own
expect "root starts a cluster" "$lbctl" -q cluster up --hosts chain:2 --dir "$scratch/root" --daemon "$daemon"
dir=$scratch/root
confined 0
expect "root asks" "$lbctl" -s "$(sock 0)" status
exit "$failed"
