#!/usr/bin/env bash
# Programs of lbmap_steps whose states have more bytes than a message: neighbours see eight of them, checkpoints and
# last states go in pieces. A program is killed and started again meanwhile; last states are those of one loop.
#   BROAD_BYTES  of a state (1500000)
#   BROAD_STEPS  (60)
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
bytes=${BROAD_BYTES:-1500000} steps=${BROAD_STEPS:-60}
broad=$top_builddir/tests/cluster/broad
declare -a pid
trap 'kill -KILL "${pid[@]}" 2>/dev/null; finish' EXIT

begin() {
    "$broad" run job "$steps" "$bytes" "$scratch/out.$1" "$dir/h$1/lbmapd.sock" 2>"$scratch/error.$1" </dev/null &
    pid[$1]=$!
}
have_ended() { ! kill -0 "${pid[@]}" 2>/dev/null; }

start chain:3
expect "gen" "$lbctl" -q gen lattice:4x3 -o "$scratch/guest.graph"
"$broad" alone "$scratch/guest.graph" "$steps" "$bytes" >"$scratch/alone" || bad "one loop"
expect "submit" ask 0 submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job
for host in 0 1 2; do begin "$host"; done
sleep 3
kill -KILL "${pid[1]}" && ok "a program is killed" || bad "all is done already: more BROAD_STEPS are needed"
wait "${pid[1]}" 2>/dev/null
begin 1
patiently 90 have_ended || bad "the programs do not end"
for host in 0 1 2; do
    kill -0 "${pid[host]}" 2>/dev/null || wait "${pid[host]}" || bad "host $host: $(tail -n 3 "$scratch/error.$host")"
done
cmp "$scratch/out.0" "$scratch/alone" && ok "last states of $bytes bytes as in one loop" || bad "last states differ"
exit "$failed"
