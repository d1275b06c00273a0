#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Fresh machines become a cluster: a network namespace for each, with an address of its own, once by IPv4 and once by
# IPv6. One `lbctl init`, then `lbctl enroll` on each of the others, and `lbctl status` everywhere; nobody writes a file.
# HOSTS: number of machines, 12 unless set.
. "${top_srcdir:?run by make check}/tests/cluster/cable_lib.sh"
machines=${HOSTS:-12}
last=$((machines - 1))
ip link add br0 type bridge && ip link set br0 up

# at HOST COMMAND...: what an operator types at that machine.
typed=0
at() {
    typed=$((typed + 1))
    ip netns exec "lb$1" "${@:2}"
}
# machine HOST: a namespace with both addresses.
machine() {
    ip netns add "lb$1" && ip link add "v$1" type veth peer name eth0 netns "lb$1" && ip link set "v$1" master br0 up || return 1
    inside "$1" ip link set lo up
    inside "$1" ip addr add "10.77.0.$((1 + $1))/24" dev eth0
    inside "$1" ip -6 addr add "fd77::$((1 + $1))/64" dev eth0 nodad
    inside "$1" ip link set eth0 up
}
for host in $(seq 0 "$last"); do
    machine "$host" || { skip "no network namespaces here"; exit 77; }
done
for _ in $(seq 50); do inside "$last" ip -6 route get fd77::1 >/dev/null 2>&1 && break; sleep 0.1; done

all_hear() {
    local host
    for host in $(seq 0 "$last"); do
        inside "$host" "$lbctl" -s "$dir/h$host/lbmapd.sock" status >"$scratch/status" 2>&1 || return 1
        grep -q "^members heard  *$machines\$" "$scratch/status" || return 1
    done
}
all_are_active() { [ "$(ask 0 hosts | grep -c ' ACTIVE  *yes ')" -eq "$machines" ]; }

# cluster OPTION...: a cluster by init, with these options, and enroll; prints nothing.
cluster() {
    local host
    mkdir -p "$dir"
    typed=0
    at 0 "$lbctl" -q init lab --dir "$dir/h0" --name ws0 --daemon "$daemon" "$@" >"$scratch/next" 2>"$scratch/output" ||
        { bad "init: $(cat "$scratch/output")"; return 1; }
    read -r _ _ address token <"$scratch/next"
    for host in $(seq "$last"); do
        at "$host" "$lbctl" -q enroll "$address" "$token" --dir "$dir/h$host" --name "ws$host" --daemon "$daemon" \
            >"$scratch/output" 2>&1 || { bad "enroll $host: $(cat "$scratch/output")"; return 1; }
    done
}
stop_all() {
    local pid
    for pid in $(cat "$dir"/h*/lbmapd.pid); do kill "$pid"; done
    for pid in $(cat "$dir"/h*/lbmapd.pid 2>/dev/null); do while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done; done
}
trap 'kill -KILL $(cat "$dir"/h*/lbmapd.pid 2>/dev/null) 2>/dev/null; finish' EXIT

# ---- IPv4 --------------------------------------------------------------------------------------------------
began=$SECONDS
cluster && ok "one init and $last enroll"
[ "$failed" -eq 0 ] || { tail -n 3 "$dir"/h*/lbmapd.log; exit 1; }
[ "$address" = 10.77.0.1:7411 ] && ok "init found its address out" || bad "init took $address"
grep -q '^address = "10.77.0.2:7411";' "$dir/h1/lbmapd.conf" && ok "so did enroll" || bad "$(cat "$dir/h1/lbmapd.conf")"
until_true 60 "all hear all" all_hear && ok "all hear all, $((SECONDS - began)) s after the first command"
until_true 60 "all are active" all_are_active && ok "and are active; $typed commands were typed"
[ "$(find "$dir" -name '*.key' ! -perm 600 | wc -l)" -eq 0 ] && ok "nobody else may read a key" || bad "keys: $(ls -l "$dir"/h*/identity)"
[ "$(find "$dir" -name ca.key | wc -l)" -eq 1 ] && ok "the authority's key is on the first host alone" || bad "ca.key is elsewhere, too"
until_true 20 "contacts" eval 'grep -q "^$last " "$dir/h0/identity/contacts"' && ok "the first host knows whom to ask"

# Plain text does not get far, nor does a certificate of somebody else.
printf 'GET / HTTP/1.0\r\n\r\n' >"$scratch/http"
(exec 3<>/dev/tcp/127.0.0.1/7411) 2>/dev/null && bad "something listens outside"
inside 1 bash -c 'exec 3<>/dev/tcp/10.77.0.1/7411; cat "$0" >&3; timeout 10 cat <&3' "$scratch/http" >"$scratch/answer" 2>/dev/null
until_true 10 "plain text" eval 'grep -q "refused a connection from 10.77.0.2" "$dir/h0/lbmapd.log"' && ok "plain text is refused, with its sender"

graph=$shared/graphs/4elt.graph.gz
[ -r "$graph" ] || { graph=$scratch/g.graph; "$lbctl" -q gen lattice:100x60 -o "$graph"; }
expect "a job" ask 1 -q submit "$graph" --name job
expect "it settles" settles 0 job
one_owner job "$(ask 0 jobs job --json | figure vertices /dev/stdin)"
# J is near that of a plan for the links that the hosts have measured.
ask 0 map job -o "$scratch/job.part" 2>"$scratch/output" || bad "map: $(cat "$scratch/output")"
ask 0 network --json | tr -d ' \n' | sed 's/},{"host":\([0-9]*\),"name"/\n{"host":\1,"name"/g' | awk '
    { n++; links = $0; sub(/.*"links":\[/, "", links); sub(/\].*/, "", links)
      while (match(links, /"host":[0-9]+,"cost":[0-9]+/)) {
          split(substr(links, RSTART, RLENGTH), part, /[:,]/)
          row[n] = row[n] " " part[2] + 1 " " part[4]; m++
          links = substr(links, RSTART + RLENGTH) } }
    END { print n, m / 2, "001"; for (i = 1; i <= n; i++) print row[i] }' >"$scratch/net.graph"
hop_bytes() { "$lbctl" "$@" --hosts "file:$scratch/net.graph" --json >"$scratch/figures" 2>"$scratch/output" && figure hop_bytes "$scratch/figures"; }
mapped=$(hop_bytes eval "$graph" "$scratch/job.part")
planned=$(hop_bytes plan "$graph" -o "$scratch/plan.part")
awk -v a="${mapped:-1e99}" -v b="${planned:-0}" 'BEGIN { exit !(a <= 1.05 * b) }' && ok "J is $mapped, of a plan $planned" ||
    bad "J is $mapped, of a plan $planned: $(cat "$scratch/output")"

# A member whose address changes is found again: it comes back with another one, and says so.
pid=$(cat "$dir/h$last/lbmapd.pid")
kill "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
inside "$last" ip addr del "10.77.0.$machines/24" dev eth0
inside "$last" ip addr add 10.77.0.99/24 dev eth0
sed -i 's/^address = .*/address = "10.77.0.99:7411";/' "$dir/h$last/lbmapd.conf"
began=$SECONDS
inside "$last" "$daemon" -c "$dir/h$last/lbmapd.conf" >>"$dir/h$last/lbmapd.log" 2>&1 &
disown
has_moved() { ask 0 hosts | grep -q "ws$last .* ACTIVE  *yes .*10.77.0.99:7411" && all_hear; }
until_true 60 "a host with another address" has_moved && ok "a host with another address is back after $((SECONDS - began)) s"

# The first host loses its disk: it does not found a second cluster, it asks those that it knows.
pid=$(cat "$dir/h0/lbmapd.pid")
kill -KILL "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
rm -rf "$dir"/h0/lbmap.db*
inside 0 "$daemon" -c "$dir/h0/lbmapd.conf" >>"$dir/h0/lbmapd.log" 2>&1 &
disown
until_true 60 "the first host without its disk" all_hear && ok "the first host finds the others again without its disk"
[ "$(ask 0 hosts | wc -l)" -eq $((machines + 1)) ] || bad "hosts: $(ask 0 hosts)"
stop_all
rm -rf "$dir"

# ---- IPv6 --------------------------------------------------------------------------------------------------
cluster --address '[fd77::1]:7411' && ok "one init and $last enroll by IPv6"
[ "$failed" -eq 0 ] || { tail -n 3 "$dir"/h*/lbmapd.log; exit 1; }
grep -q '^address = "\[fd77::2\]:7411";' "$dir/h1/lbmapd.conf" && ok "enroll found its address out" || bad "$(cat "$dir/h1/lbmapd.conf")"
until_true 60 "all hear all by IPv6" all_hear && ok "all hear all by IPv6"
until_true 60 "all are active" all_are_active
ask 0 hosts | grep -q '10\.77\.' && bad "IPv4 is used: $(ask 0 hosts)"
expect "a certificate of an operator" at 0 "$lbctl" -q pki user ann --dir "$dir/h0" -o "$scratch/ann" --uid 1000
expect "who asks a host from another machine, by IPv6" at 1 "$lbctl" -s "[fd77::$machines]:7411" --identity "$scratch/ann" hosts
[ "$(grep -c ' ACTIVE ' "$scratch/output")" -eq "$machines" ] || bad "$(cat "$scratch/output")"
stop_all
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
