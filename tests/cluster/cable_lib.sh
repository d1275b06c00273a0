# For tests with a network namespace for each daemon; sourced first, before anything else is done. As root only;
# everything is in namespaces that end with the test.
# shellcheck shell=bash disable=SC2154
if [ "${1:-}" != inside ]; then
    [ "$(id -u)" -eq 0 ] || { echo "skipped: only root can make networks"; exit 77; }
    command -v ip >/dev/null || { echo "skipped: ip is not installed (apt-get install iproute2)"; exit 77; }
    unshare -nm ip link add br0 type bridge 2>/dev/null || { echo "skipped: no bridges in network namespaces here"; exit 77; }
    exec unshare -nm bash "$0" inside
fi
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
declare -A daemon_pid
trap 'kill -KILL "${daemon_pid[@]}" "${worker_pid[@]}" 2>/dev/null; finish' EXIT

mount --make-rprivate /
mkdir -p /run/netns && mount -t tmpfs none /run/netns
ip link set lo up
inside() { ip netns exec "lb$1" "${@:2}"; }
# cable HOST BRIDGE: a namespace for it, with a cable (veth) to the bridge. Daemons take loopback addresses only:
# 127.1.0.0/16 leaves the loopback device there.
cable() {
    ip netns add "lb$1" && ip link add "v$1" type veth peer name eth0 netns "lb$1" && ip link set "v$1" master "$2" up || return 1
    inside "$1" ip link set lo up
    inside "$1" sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/route_localnet'
    inside "$1" ip route del local 127.0.0.0/8 dev lo table local
    inside "$1" ip route del local 127.0.0.1 dev lo table local
    inside "$1" ip addr add "127.1.0.$((10 + $1))/16" dev eth0
    inside "$1" ip link set eth0 up
}
# lay_out SPEC: the folders and configurations that lbctl makes, with the addresses of the four cables, as `bridge` says
# for each; nothing runs.
lay_out() {
    local host
    start "$1"
    expect "it stops" "$lbctl" -q cluster down --dir "$dir"
    for host in 0 1 2 3; do
        cable "$host" "${bridge[host]}" || { skip "no cables here"; exit 77; }
        rm -rf "$dir/h$host"/lbmap.db*
        sed -i "s/^listen.*/listen = \"127.1.0.$((10 + host)):7000\";/" "$dir/h$host/lbmapd.conf"
        rm -f "$dir/h$host/identity/contacts" # else the first host waits for those that had its log
        [ "$host" -eq 0 ] || echo '0 127.1.0.10:7000' >"$dir/h$host/identity/contacts"
    done
}
all_active() { ask 0 hosts >"$scratch/hosts" && awk 'NR > 1 && $3 == "ACTIVE" && $4 == "yes" { n++ } END { exit n != 4 }' "$scratch/hosts"; }
# run_all TEXT: the four daemons, each where its cable is.
run_all() {
    local host
    for host in 0 1 2 3; do
        ip netns exec "lb$host" "$daemon" -c "$dir/h$host/lbmapd.conf" >>"$dir/h$host/lbmapd.log" 2>&1 &
        daemon_pid[$host]=$!
        disown
    done
    until_true 30 "$1" all_active && ok "$1"
}
