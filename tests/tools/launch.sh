#!/usr/bin/env bash
# Mappings for launchers: names that their files can hold, slots and cores that exist. Where Open MPI's mpirun
# (4) or MPICH's mpiexec.hydra is installed they start ranks on this machine from the files.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
lbctl=${top_builddir:-$top/build}/client/lbctl
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failures=0
launchers='rankfile seq hydra slurm charm'

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS PATTERN ARGUMENTS: runs lbctl plan. Standard error has the pattern; nothing is written on error.
expect() {
    local status=$1 pattern=$2 got
    shift 2
    rm -f mapping
    "$lbctl" plan "$@" -o mapping >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$status" ] || fail "plan $*: status $got, not $status: $(cat err)"
    [ -z "$pattern" ] || grep -qE -- "$pattern" err || fail "plan $*: no '$pattern' in: $(cat err)"
    [ "$status" -eq 0 ] || [ ! -e mapping ] || fail "plan $*: a mapping in spite of an error"
}

# is FILE TEXT: the file has these lines, in any order.
is() {
    [ "$(sort "$1")" = "$(printf '%b' "$2" | sort)" ] || fail "$1 is not as expected: $(cat "$1")"
}

printf '4 4\n2 4\n1 3\n2 4\n1 3\n' >ring4.graph
printf '5 5\n2 5\n1 3\n2 4\n3 5\n1 4\n' >ring5.graph
printf '1 0\n\n' >one.graph

# ---- names --------------------------------------------------------------------------------------------

for name in 'a=b' 'a,b' 'a:b' 'a"b' "a'b" 'a[1]' 'a*2' '+n0' '^a' '-a' 'a@b' 'ö' 'a;b' 'a\b' 'a/b'; do
    printf '%s\nplain\n' "$name" >names
    for format in $launchers; do
        expect 2 'host 0 is called .*--names' ring4.graph --hosts complete:2@names=names --format "$format"
        expect 2 'host 0 is called .*--names' ring4.graph --hosts complete:2 --names names --format "$format"
    done
    expect 0 '' ring4.graph --hosts complete:2 --names names --format json
done
printf '<graphml><graph edgedefault="undirected"><node id="x#1"/><node id="y"/><edge source="x#1" target="y"/></graph></graphml>' >net.graphml
for format in $launchers; do
    expect 2 'host 0 is called "x#1"' ring4.graph --hosts file:net.graphml --format "$format"
    printf 'n-1.site\nN_2 # the second\n' >names
    expect 0 '' ring4.graph --hosts file:net.graphml --names names --format "$format"
    grep -q 'n-1\.site' mapping && grep -q 'N_2' mapping || fail "$format: names are not in $(cat mapping)"
done
expect 2 'names:2: 2 names for 3 hosts|names:3: 2 names for 3 hosts' ring4.graph --hosts ring:3 --names names
printf 'a\nb\na\n' >names
expect 2 'hosts 0 and 2 are both called "a"' ring4.graph --hosts ring:3 --names names
printf 'a b c d\n' >names
expect 2 'names:1: more than 3 names' ring4.graph --hosts ring:3 --names names
expect 0 'these hosts have no names' ring4.graph --hosts ring:2 --format seq

# ---- slots and cores ----------------------------------------------------------------------------------

printf 'a slots=2\nb slots=2\n' >hostfile
expect 0 '' ring4.graph --hosts file:hostfile --format rankfile
[ "$(sed -E 's/rank [0-3]=//' mapping | sort | tr '\n' ,)" = 'a slot=0,a slot=1,b slot=0,b slot=1,' ] ||
    fail "slots: $(cat mapping)"
for format in $launchers; do
    expect 1 'has 2 slots and the mapping gives it 3 ranks' ring5.graph --hosts file:hostfile --imbalance 0.2 --format "$format"
    expect 0 '' ring5.graph --hosts file:hostfile --imbalance 0.2 --slots 3 --format "$format"
    expect 1 'has 1 slots and the mapping gives it 2 ranks' ring4.graph --hosts complete:2 --slots 1 --format "$format"
done
expect 0 "" ring5.graph --hosts file:hostfile --imbalance 0.2
printf 'a:3\nb:1\n' >hostfile # shares go with the slots
expect 0 '' ring4.graph --hosts file:hostfile --imbalance 0 --format seq
is mapping 'a\na\na\nb\n'
expect 0 'cores these hosts have is not known' ring4.graph --hosts complete:2 --format rankfile
expect 0 '' ring4.graph --hosts complete:2 --slots 2 --cores 8 --format rankfile
[ "$(sed -E 's/.* //' mapping | sort | tr '\n' ,)" = 'slot=0-3,slot=0-3,slot=4-7,slot=4-7,' ] ||
    fail "cores: $(cat mapping)"
expect 1 'has 1 cores and the mapping gives it 2 ranks' ring4.graph --hosts complete:2 --cores 1 --format rankfile
expect 2 'only a rankfile names cores' ring4.graph --hosts complete:2 --cores 1 --format seq
expect 2 'for the formats of launchers' ring4.graph --hosts complete:2 --slots 1
expect 2 'from 1 to' ring4.graph --hosts complete:2 --slots 0 --format seq

core='<object type="Core"><object type="PU"/></object>'
printf '%s' '<topology><object type="Machine"><info name="HostName" value="big"/>' \
    "<object type=\"Package\">$core$core</object><object type=\"Package\">$core$core</object></object></topology>" >m.xml
expect 0 '' ring4.graph --hosts file:m.xml --imbalance 0 --format rankfile
[ "$(sed -E 's/rank [0-3]=//' mapping | sort | tr '\n' ,)" = 'big slot=0,big slot=1,big slot=2,big slot=3,' ] ||
    fail "cores of a machine: $(cat mapping)"
expect 0 '' ring4.graph --hosts file:m.xml@leaf=package --imbalance 0 --format rankfile
[ "$(sed -E 's/rank [0-3]=//' mapping | sort | tr '\n' ,)" = 'big slot=0,big slot=1,big slot=2,big slot=3,' ] ||
    fail "packages of a machine: $(cat mapping)"
expect 0 '' ring4.graph --hosts file:m.xml --imbalance 0 --format hydra
is mapping 'big:4\n'
expect 2 '@nodes' ring4.graph --hosts file:m.xml@nodes=core0

# ---- launchers ----------------------------------------------------------------------------------------

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
hostname >names
ranks() { # file: each rank of ring4 wrote its line once
    [ "$(sed -E 's/^rank ([0-9]+).*/\1/' "$1" | sort | tr '\n' ,)" = "${2:-0,1,2,3,}" ] || fail "ranks: $(cat "$1" err)"
}
if ! mpirun=$(command -v mpirun.openmpi) || ! hostname | grep -qE '^[A-Za-z0-9._-]+$'; then
    echo 'skip: no mpirun.openmpi (apt-get install openmpi-bin), so it reads no files here'
else
    last=$(($(nproc) - 1))
    expect 0 '' one.graph --hosts complete:1 --names names --slots 1 --cores 1 --format rankfile
    timeout 60 "$mpirun" -np 1 -rf mapping sh -c 'echo rank $OMPI_COMM_WORLD_RANK $(grep Cpus_allowed_list /proc/self/status)' >out 2>err
    ranks out 0,
    grep -qE 'Cpus_allowed_list: [0-9]+$' out || fail "rankfile: not bound to one core: $(cat out)"
    # Open MPI 4 ends without a word here; that is why lbctl does not write it.
    sed "s/slot=0/slot=$((last + 64))/" mapping >beyond
    timeout 60 "$mpirun" -np 1 -rf beyond true >out 2>&1 && fail 'a core that is not there was taken'
    expect 0 '' ring4.graph --hosts complete:1 --names names --slots 4 --format seq
    timeout 60 "$mpirun" --hostfile mapping --map-by seq --bind-to none sh -c 'echo rank $OMPI_COMM_WORLD_RANK' >out 2>err
    ranks out
fi
if ! hydra=$(command -v mpiexec.hydra); then
    echo 'skip: no mpiexec.hydra (apt-get install mpich), so it reads no files here'
else
    printf 'localhost\n' >names
    expect 0 '' ring4.graph --hosts complete:1 --names names --format hydra
    timeout 60 "$hydra" -f mapping -n 4 sh -c 'echo rank $PMI_RANK' >out 2>err
    ranks out
fi

echo "$failures failures"
[ "$failures" -eq 0 ]
