#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who hears whom: a way that is blocked in one direction is named at both ends, with that direction; a host with another
# port or another name is found again; one that nobody can reach is named, at its own end and at the others.
. "${top_srcdir:?run by make check}/tests/cluster/cable_lib.sh"
ip link add br0 type bridge && ip link set br0 up
trap 'kill -KILL $(cat "$dir"/h*/lbmapd.pid 2>/dev/null) 2>/dev/null; finish' EXIT
for host in 0 1 2 3 4; do
    ip netns add "lb$host" && ip link add "v$host" type veth peer name eth0 netns "lb$host" && ip link set "v$host" master br0 up ||
        { skip "no network namespaces here"; exit 77; }
    inside "$host" ip link set lo up
    inside "$host" ip addr add "10.77.0.$((1 + host))/24" dev eth0
    inside "$host" ip link set eth0 up
done

# status HOST: into $scratch/status; returns its exit status.
status() { inside "$1" "$lbctl" -s "$dir/h$1/lbmapd.sock" status >"$scratch/status" 2>&1; }
# says HOST EXIT_STATUS LINE: lbctl status at that host.
says() {
    status "$1"
    [ "$?" -eq "$2" ] && grep -qE "$3" "$scratch/status"
}
all_well() { for host; do says "$host" 0 "^members heard  *${#@}\$" || return 1; done; }
# restart HOST: ends its daemon and starts it again.
restart() {
    local pid
    pid=$(cat "$dir/h$1/lbmapd.pid")
    kill "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    inside "$1" "$daemon" -c "$dir/h$1/lbmapd.conf" >>"$dir/h$1/lbmapd.log" 2>&1 &
    disown
}

mkdir -p "$dir"
inside 0 "$lbctl" -q init lab --dir "$dir/h0" --name ws0 --daemon "$daemon" >"$scratch/next" 2>"$scratch/output" ||
    { bad "init: $(cat "$scratch/output")"; exit 1; }
read -r _ _ address token <"$scratch/next"
for host in 1 2 3; do
    expect "host $host enrols" inside "$host" "$lbctl" -q enroll "$address" "$token" --dir "$dir/h$host" --name "ws$host" --daemon "$daemon"
done
until_true 60 "all hear all" all_well 0 1 2 3 && ok "all hear all"
[ "$failed" -eq 0 ] || { tail -n 3 "$dir"/h*/lbmapd.log; exit 1; }

# ---- one direction -----------------------------------------------------------------------------------------
# What host 1 sends to the port of host 3 does not come through; what host 3 sends to host 1 does.
inside 1 ip rule add pref 10 to 10.77.0.4 ipproto tcp dport 7411 blackhole || { skip "no rules by port here"; exit "$failed"; }
began=$SECONDS
until_true 15 "the sender knows" says 1 5 '^do not hear this host  *host 3$' && ok "host 1 says after $((SECONDS - began)) s that host 3 does not hear it"
until_true 15 "the receiver knows" says 3 5 '^unreachable  *host 1$' && ok "host 3 says after $((SECONDS - began)) s that it does not hear host 1"
ask 1 hosts | grep -q '^ *3 .* one way ' && ok "the list of hosts says so" || bad "$(ask 1 hosts)"
for host in 0 2; do says "$host" 0 '^members heard  *4$' && ok "host $host hears all" || bad "$(cat "$scratch/status")"; done
sleep 12 # longer than an eviction takes
ask 0 hosts | grep -c ' ACTIVE ' | grep -qx 4 && ok "nobody is evicted" || bad "$(ask 0 hosts)"
inside 1 ip rule del pref 10
began=$SECONDS
until_true 30 "all hear all again" all_well 0 1 2 3 && ok "all hear all again after $((SECONDS - began)) s"

# ---- a port, a name ----------------------------------------------------------------------------------------
sed -i 's/:7411";/:7500";/' "$dir/h2/lbmapd.conf"
restart 2
began=$SECONDS
moved() { ask 0 hosts | grep -q '10.77.0.3:7500' && all_well 0 1 2 3; }
until_true 15 "another port" moved && ok "a host with another port is found after $((SECONDS - began)) s"
sed -i 's/name = "ws2"/name = "workhorse"/' "$dir/h2/lbmapd.conf"
restart 2
renamed() { ask 0 hosts | grep -q '^ *2  *workhorse .*ACTIVE' && all_well 0 1 2 3; }
until_true 15 "another name" renamed && ok "a host with another name is the same host"

# ---- half of a cluster -------------------------------------------------------------------------------------
# Host 4 says an address that is nobody's: it reaches the others, and they do not reach it.
inside 4 timeout 60 "$lbctl" -q enroll "$address" "$token" --dir "$dir/h4" --name ws4 --daemon "$daemon" --address 10.77.0.200:7411 >"$scratch/output" 2>&1
until_true 15 "the host itself" says 4 5 '^state  *(no member yet|JOINING)$' && ok "who cannot be reached says that it is no member"
until_true 15 "the others" says 0 5 '^cannot be reached  *host 4 at 10.77.0.200:7411$' && ok "and others name it, and its address"
sed -i 's/^address = .*/address = "10.77.0.5:7411";/' "$dir/h4/lbmapd.conf"
restart 4
until_true 30 "with the right address" all_well 0 1 2 3 4 && ok "with the right address it is one of them"
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
