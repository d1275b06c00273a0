#!/usr/bin/env bash
# lbctl mpirun: ranks of an MPI program are where a plan, or a job of four real daemons, has their vertices: with Open
# MPI's own mpirun, whose remote hosts are processes of this machine (its agent is not ssh but a script); for Open MPI 5
# and MPICH by what their launchers are told. lbmap_comm_reorder does the same to ranks that have started. Ranks share
# cores where there are more of them. The exit status is the program's, and nothing is left in /tmp.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
cd "$scratch" || exit 99
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container

"$lbctl" -q gen lattice:4x4 -o grid.graph || exit 99
printf 'n0\nn1\nn2\nn3\n' >names
plan=(--hosts mesh:2x2 --names names)
"$lbctl" -q plan grid.graph "${plan[@]}" --format seq -o places || exit 99
nl -v 0 -n ln -w 1 -s ' ' places >wanted

# ---- launchers that only say what they are told ---------------------------------------------------------------
cat >fake <<'FAKE'
#!/bin/bash
[ "$1" != --version ] || { cat "$FAKE_VERSION"; exit; }
printf '%s\n' "$@" >told
while [ $# -gt 0 ]; do
    case $1 in
        -f | --hostfile | --rankfile) cp "$2" "told.${1##*-}"; shift ;;
        rankfile:FILE=*) cp "${1#*=}" told.rankfile ;;
    esac
    shift
done
exit 9
FAKE
chmod +x fake
# fake VERSION STATUS ARGUMENTS...: by a launcher of that version.
fake() {
    local version=$1 status=$2
    shift 2
    rm -f told told.*
    printf '%s\n' "$version" >version
    FAKE_VERSION=version "$lbctl" mpirun grid.graph "${plan[@]}" --mpirun ./fake "$@" -- prog -x 'a b' >out 2>err
    local got=$?
    [ "$got" -eq "$status" ] || bad "$version: status $got, not $status: $(cat err)"
}
ranks() { sed -E 's/^rank ([0-9]+)=([^ ]*) .*/\1 \2/' told.rankfile; }
fake 'mpirun (Open MPI) 5.0.3' 9
grep -qx -- '--map-by' told && [ "$(tail -n 5 told | paste -sd '|')" = '-n|16|prog|-x|a b' ] &&
    cmp -s <(ranks) wanted && ok "Open MPI 5" || bad "Open MPI 5: $(cat told told.rankfile)"
fake 'mpirun (Open MPI) 4.1.6' 9 --cores 4
grep -qx -- '--rankfile' told && cmp -s <(ranks) wanted && [ "$(sort -u told.hostfile | wc -l)" -eq 4 ] &&
    [ "$(grep -c 'slot=3$' told.rankfile)" -eq 4 ] && ok "Open MPI 4" || bad "Open MPI 4: $(cat told told.rankfile)"
fake 'mpirun (Open MPI) 4.1.6' 9 --cores 3
[ "$(grep -c 'slot=0-2$' told.rankfile)" -eq 16 ] && ok "more ranks than cores share them" || bad "$(cat told.rankfile)"
fake 'HYDRA build details:' 9
awk -F: '{ for (i = 0; i < $2; i++) print n++, $1 }' told.f | cmp -s - wanted && ok "MPICH" ||
    bad "MPICH: $(cat told.f)"
fake 'something else' 2
grep -q 'neither Open MPI.s nor MPICH.s' err && ok "another launcher is refused" || bad "$(cat err)"
fake 'something else' 9 --launcher mpich
fake 'mpirun (Open MPI) 4.1.6' 2 --slots 3
grep -q -- '--slots: 16 ranks do not fit on 4 hosts with 3 slots each' err && ok "too few slots" ||
    bad "slots: $(cat err)"
refused 2 'these hosts have no names' "$lbctl" mpirun grid.graph --hosts mesh:2x2 --launcher mpich -- prog
refused 2 'no-such-mpirun: cannot be executed' "$lbctl" mpirun grid.graph "${plan[@]}" --mpirun no-such-mpirun -- prog
refused 2 'PROGRAM is missing' "$lbctl" mpirun grid.graph "${plan[@]}" --launcher mpich
refused 2 'it is about a GRAPH' "$lbctl" mpirun grid.graph --sum --launcher mpich -- prog
"$lbctl" mpirun grid.graph "${plan[@]}" --launcher openmpi4 --dry-run -- prog >out 2>err
grep -q '^rank 15=' out && grep -q -- '--rankfile .* -n 16 prog$' out && ok "--dry-run" ||
    bad "--dry-run: $(cat out err)"

# ---- Open MPI's -------------------------------------------------------------------------------------------------
mpirun --version 2>/dev/null | grep -q '(Open MPI) 4' && command -v mpicc >/dev/null ||
    { skip 'Open MPI 4 is not installed: its mpirun is not called'; exit "$failed"; }
cat >agent <<'AGENT'
#!/bin/sh
host=$1
shift
mkdir -p "tmp.$host" # daemons of Open MPI that share a machine race to make its folder
TMPDIR=$PWD/tmp.$host LBMAP_MPI_HOST=$host exec sh -c "$*"
AGENT
chmod +x agent
# No memory is shared between hosts, although they are one.
mpi=(--mca plm_rsh_agent "$scratch/agent" --mca btl 'tcp,self' --mca rtc_hwloc_vmhole none)
expect "halo_mpi compiles" mpicc -std=gnu11 -Wall -Wextra -Werror -O1 -ffp-contract=off -I"$top_srcdir/bindings/mpi" \
    "$top_srcdir/docs/examples/halo_mpi.c" -o halo
expect "mpi_places compiles" mpicc -std=gnu11 -Wall -Wextra -Werror -I"$top_srcdir/bindings/mpi" \
    "$tests/mpi_places.c" -o places_of
say='echo $OMPI_COMM_WORLD_RANK $LBMAP_MPI_HOST'
timeout 60 "$lbctl" mpirun grid.graph "${plan[@]}" -- "${mpi[@]}" sh -c "$say" >out 2>err
status=$?
[ "$status" -eq 0 ] && sort -n out | cmp -s - wanted && ok "16 ranks are where the plan has them" ||
    bad "mpirun: status $status: $(cat out err)"
# Open MPI ends all ranks when one fails, and drops what they have printed.
timeout 60 "$lbctl" mpirun grid.graph "${plan[@]}" -- "${mpi[@]}" sh -c '[ $OMPI_COMM_WORLD_RANK != 5 ] || exit 7' \
    >out 2>err
status=$?
[ "$status" -eq 7 ] && ok "the exit status is the program's" || bad "mpirun: status $status: $(cat out err)"

# A torus of 2 x 4 blocks, started in the order of hosts and reordered by a plan.
expect "halo_mpi writes its graph" timeout 60 mpirun --oversubscribe -n 8 ./halo 2 4 8 2 3 --write talk.graph
"$lbctl" -q plan talk.graph "${plan[@]}" --format seq -o talk.plan || bad "talk.graph: $(cat talk.graph)"
printf 'n%d slots=2\n' 0 1 2 3 >hosts
expect "halo_mpi is right, reordered" \
    timeout 60 mpirun "${mpi[@]}" --hostfile hosts -n 8 ./halo 2 4 8 2 3 --plan talk.plan
nl -v 0 -n ln -w 1 -s ' ' talk.plan >wanted
timeout 60 mpirun "${mpi[@]}" --hostfile hosts -n 8 ./places_of talk.plan >out 2>err
cmp -s out wanted && ok "lbmap_comm_reorder: 8 ranks are where the plan has them" || bad "reorder: $(cat out err)"
refused 1 'MPI_ERR_COUNT' timeout 60 mpirun --oversubscribe -n 2 ./halo 1 2 8 2 3 --plan talk.plan
refused 1 'MPI_ERR_NO_SUCH_FILE' timeout 60 mpirun --oversubscribe -n 2 ./halo 1 2 8 2 3 --plan nowhere
head -n 2 talk.plan >two.plan
refused 1 'MPI_ERR_NAME' timeout 60 mpirun --oversubscribe -n 2 ./halo 1 2 8 2 3 --plan two.plan

# ---- a job ------------------------------------------------------------------------------------------------------
start mesh:2x2
expect "submit" ask 0 submit grid.graph --name grid
expect "it settles" settles 0 grid
expect_map "its map" 0 grid map.part
awk '{ print NR - 1, "n" $1 }' map.part >wanted
timeout 60 "$lbctl" -s "$dir/h0/lbmapd.sock" mpirun grid --names names -- "${mpi[@]}" sh -c "$say" >out 2>err
sort -n out | cmp -s - wanted && ok "16 ranks are where the job has their vertices" || bad "job: $(cat out err)"
! ls -d /tmp/lbctl-mpirun.* >/dev/null 2>&1 || bad "left behind: $(ls -d /tmp/lbctl-mpirun.*)"
exit "$failed"
