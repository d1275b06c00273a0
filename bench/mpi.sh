#!/usr/bin/env bash
# The time of a step of docs/examples/halo_mpi.c under Open MPI 4 on a mesh of 4 x 4 hosts with slow links: ranks placed
# by lbctl mpirun, by round robin, and by Scotch's gmap. The hosts are network namespaces of this machine, which the
# bench makes and which end with it; so it runs as root.
#   bench/mpi.sh [-r ROUNDS] [-m MBIT] [-b "ROWS COLUMNS SIDE FIELDS STEPS"] [BUILD_DIRECTORY]
# ROUNDS (5) runs of each in turn; MBIT (100) a second of each link; 5 x 5 blocks unless told, 128 KiB a side.
# The last lines have the median of each, and its share of round robin's. Ranks that wait keep a processor busy: on a
# machine with fewer processors than ranks the time of a step is theirs more than that of the links.
set -eu
. "$(dirname "$0")/lib.sh"
rounds=5 mbit=100 blocks='5 5 8 2048 20'
while getopts r:m:b: option; do
    case $option in
        r) rounds=$OPTARG ;;
        m) mbit=$OPTARG ;;
        b) blocks=$OPTARG ;;
        *) exit 2 ;;
    esac
done
[ "$(id -u)" -eq 0 ] || { echo "$bench: skipped, only root can make networks"; exit 0; }
needs mpirun mpicc ip tc scotch_gmap
open_build "${!OPTIND:-.}" client/lbctl
if [ -z "${LBMAP_BENCH_INSIDE:-}" ]; then
    LBMAP_BENCH_INSIDE=1 exec unshare -nm bash "$0" "$@"
fi
mount --make-rprivate /
mkdir -p /run/netns
mount -t tmpfs none /run/netns
scratch=$(mktemp -d /tmp/lbmap-bench.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export PMIX_MCA_gds=hash # hosts share no memory, although they are one
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# ---- the mesh: host i is 10.77.0.(i + 1), messages go along rows first, then along columns ----------------------
width=4 hosts=16
inside() { ip netns exec "host$1" "${@:2}"; }
for ((i = 0; i < hosts; i++)); do
    ip netns add "host$i"
    ip -n "host$i" link set lo up
    ip -n "host$i" link add own type veth peer name own1 # an interface for the address, whatever links there are
    ip -n "host$i" link set own up
    ip -n "host$i" link set own1 up
    ip -n "host$i" addr add "10.77.0.$((i + 1))/32" dev own
    inside "$i" sh -c 'cd /proc/sys/net/ipv4 && echo 1 >ip_forward && echo 1 >conf/all/proxy_arp'
done
# link A B END_AT_A END_AT_B
link() {
    ip link add name "$3" netns "host$1" type veth peer name "$4" netns "host$2"
    ip -n "host$1" link set dev "$3" up
    ip -n "host$2" link set dev "$4" up
    inside "$1" tc qdisc add dev "$3" root tbf rate "${mbit}mbit" burst 32kb latency 500ms
    inside "$2" tc qdisc add dev "$4" root tbf rate "${mbit}mbit" burst 32kb latency 500ms
}
for ((i = 0; i < hosts; i++)); do
    [ $((i % width)) -eq $((width - 1)) ] || link "$i" "$((i + 1))" east west
    [ $((i + width)) -ge "$hosts" ] || link "$i" "$((i + width))" south north
done
for ((i = 0; i < hosts; i++)); do
    for ((j = 0; j < hosts; j++)); do
        if [ "$i" -eq "$j" ]; then continue
        elif [ $((i % width)) -lt $((j % width)) ]; then to=east
        elif [ $((i % width)) -gt $((j % width)) ]; then to=west
        elif [ "$i" -lt "$j" ]; then to=south
        else to=north; fi
        echo "route add 10.77.0.$((j + 1))/32 dev $to scope link src 10.77.0.$((i + 1))"
    done | ip -n "host$i" -batch -
done

# ---- the program, its graph, three placements --------------------------------------------------------------------
cat >agent <<'AGENT'
#!/bin/sh
host=$((${1##*.} - 1))
shift
mkdir -p "tmp$host"
TMPDIR=$PWD/tmp$host exec ip netns exec "host$host" sh -c "$*"
AGENT
chmod +x agent
mpi=(--mca plm_rsh_agent "$scratch/agent" --mca btl 'tcp,self' --mca btl_tcp_if_include own --mca oob_tcp_if_include own
    --mca rtc_hwloc_vmhole none --mca mpi_yield_when_idle 1)
mpicc -O2 -I"$top/bindings/mpi" "$top/docs/examples/halo_mpi.c" -o halo
read -ra block <<<"$blocks"
ranks=$((block[0] * block[1]))
inside 0 mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n "$ranks" ./halo "${block[@]:0:4}" 1 \
    --write talk.graph >/dev/null
seq 1 "$hosts" | sed 's/^/10.77.0./' >names
"$build/client/lbctl" -q convert talk.graph talk.grf
echo "mesh2D $width $width" >mesh.tgt
scotch_gmap talk.grf mesh.tgt scotch.map >/dev/null
awk 'NR > 1 { print $1, $2 }' scotch.map | sort -n | awk '{ print $2 }' >scotch.part
for ((r = 0; r < ranks; r++)); do echo "$((r % hosts))"; done >robin.part
"$build/client/lbctl" -q plan talk.graph --hosts "mesh:${width}x$width" -o lbmap.part
hop_bytes() {
    "$build/client/lbctl" eval talk.graph "$1.part" --hosts "mesh:${width}x$width" --json |
        grep -o '"hop_bytes": *[0-9]*' | grep -o '[0-9]*$'
}
# place NAME: by the mapping of that name; our own by lbctl mpirun.
place() {
    if [ "$1" = lbmap ]; then
        inside 0 "$build/client/lbctl" -q mpirun talk.graph --hosts "mesh:${width}x$width" --names names -- \
            "${mpi[@]}" "$scratch/halo" "${block[@]}"
    else
        awk -v last="$(($(nproc) - 1))" '{ print "rank " NR - 1 "=10.77.0." $1 + 1 " slot=0-" last }' \
            "$1.part" >"$1.rankfile"
        inside 0 mpirun "${mpi[@]}" --rankfile "$1.rankfile" -n "$ranks" "$scratch/halo" "${block[@]}"
    fi
}
echo "$ranks ranks, blocks $blocks, $hosts hosts, links of $mbit Mbit/s; processors here: $(nproc)"
placements='lbmap robin scotch'
for ((round = 1; round <= rounds; round++)); do
    for name in $placements; do
        line=$(place "$name" 2>"$name.err" | grep ' values, ') ||
            { echo "$bench: $name: $(tail -n 3 "$name.err")" >&2; exit 1; }
        case $line in *' 0 values differ '*) ;; *) echo "$bench: $name is wrong: $line" >&2; exit 1 ;; esac
        sed -E 's/.* steps of ([0-9.]+) us.*/\1/' <<<"$line" | tee -a "$name.us" | sed "s/^/round $round $name us /"
    done
done
median() { sort -n "$1.us" | awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'; }
for name in $placements; do
    awk -v name="$name" -v own="$(median "$name")" -v robin="$(median robin)" -v hops="$(hop_bytes "$name")" \
        'BEGIN {
            printf "%s: hop-bytes %s, median %.1f ms a step, %.2f of round robin\n", name, hops, own / 1000, own / robin
        }'
done
