#!/usr/bin/env bash
# docs/examples/wator.c on real daemons: after every step there are as many fish and sharks as in one loop, and the last
# picture is the same, byte for byte, although a program is killed and started again meanwhile.
#   WATOR_HOSTS  (ring:4)
#   WATOR_SIDE   rows and columns of the ocean (64)
#   WATOR_STEPS  (60)
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
spec=${WATOR_HOSTS:-ring:4} side=${WATOR_SIDE:-64} steps=${WATOR_STEPS:-60}
wator=$top_builddir/docs/examples/wator
hosts=${spec##*:}
declare -a pid
trap 'kill -KILL "${pid[@]}" 2>/dev/null; finish' EXIT

# begin HOST: its program. Animals cost 4 us, so that something is left to be done when one is killed.
begin() {
    "$wator" run ocean "$side" "$side" "$steps" "$scratch/ocean.$1" "$dir/h$1/lbmapd.sock" 4000 \
        2>"$scratch/error.$1" </dev/null &
    pid[$1]=$!
}
have_ended() { ! kill -0 "${pid[@]}" 2>/dev/null; }

start "$spec"
"$wator" graph "$side" >"$scratch/ocean.graph"
expect "one loop" "$wator" alone "$side" "$side" "$steps" "$scratch/alone"
[ "$(wc -l <"$scratch/alone.counts")" -eq "$steps" ] || bad "one loop does not count $steps steps"
expect "submit" ask 0 submit "$scratch/ocean.graph" --name ocean
expect "it settles" settles 0 ocean
for ((host = 0; host < hosts; host++)); do begin "$host"; done
sleep 1
kill -KILL "${pid[1]}" && ok "a program is killed" || bad "all is done already: more WATOR_STEPS are needed"
wait "${pid[1]}" 2>/dev/null
begin 1
patiently 60 have_ended || bad "the programs do not end"
for ((host = 0; host < hosts; host++)); do
    kill -0 "${pid[host]}" 2>/dev/null || wait "${pid[host]}" || bad "host $host: $(tail -n 3 "$scratch/error.$host")"
done
if cmp "$scratch/ocean.0.counts" "$scratch/alone.counts" && cmp "$scratch/ocean.0" "$scratch/alone"; then
    read -r step fish sharks < <(tail -n 1 "$scratch/alone.counts")
    ok "$fish fish and $sharks sharks after step $step, as in one loop"
else
    bad "oceans differ: $(diff "$scratch/ocean.0.counts" "$scratch/alone.counts" | head -n 3)"
fi

refused 2 'usage: wator' "$wator" alone 2 64 10 "$scratch/none"
refused 1 'no job named nothing' "$wator" run nothing 64 64 10 "$scratch/none" "$dir/h0/lbmapd.sock"
exit "$failed"
