#!/usr/bin/env bash
# docs/examples/particles.cpp on four real daemons: the cloud is that of one loop, byte for byte, although vertices move,
# a program is killed and started again, and a host is lost for good.
#   PARTICLES_SIDE   boxes of a side (12)
#   PARTICLES_STEPS  (3000)
cxx=$(command -v "${CXX:-g++}") || { echo "skipped: no C++ compiler is installed"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
side=${PARTICLES_SIDE:-12} steps=${PARTICLES_STEPS:-3000}
library=$top_builddir/.libs particles=$scratch/particles
export LD_LIBRARY_PATH=$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if nm -D "$library/liblbmap.so" 2>/dev/null | grep -q __asan_; then
    echo "skipped: liblbmap is built with sanitizers"
    exit 77
fi
declare -a pid
trap 'kill -KILL "${pid[@]}" 2>/dev/null; finish' EXIT

# begin HOST: its program.
begin() {
    "$particles" run cloud "$side" "$steps" "$scratch/cloud.$1" "$dir/h$1/lbmapd.sock" 2>"$scratch/error.$1" \
        </dev/null &
    pid[$1]=$!
}
have_ended() { ! kill -0 "${pid[@]}" 2>/dev/null; }

expect "particles compiles" "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -O2 \
    -I"$top_srcdir/bindings/cpp" -I"$top_srcdir/include" "$top_srcdir/docs/examples/particles.cpp" -L"$library" \
    -llbmap -o "$particles"
[ -x "$particles" ] || exit 1
expect "one loop" "$particles" alone "$side" "$steps" "$scratch/alone"
start ring:4
"$particles" graph "$side" >"$scratch/boxes.graph"
expect "submit" ask 0 submit "$scratch/boxes.graph" --name cloud
expect "it settles" settles 0 cloud
for host in 0 1 2 3; do begin "$host"; done
sleep 1
kill -KILL "${pid[1]}" && ok "a program is killed" || bad "all is done already: more PARTICLES_STEPS are needed"
wait "${pid[1]}" 2>/dev/null
begin 1
until_true 30 "in sync" in_sync
"$lbctl" -q cluster kill 2 --dir "$dir"
kill -KILL "${pid[2]}" && ok "a host is lost" || bad "all is done already: more PARTICLES_STEPS are needed"
unset 'pid[2]'
find "$dir/h2" -mindepth 1 ! -name lbmapd.conf -delete
patiently 60 have_ended || bad "the programs do not end"
for host in "${!pid[@]}"; do
    kill -0 "${pid[host]}" 2>/dev/null || wait "${pid[host]}" || bad "host $host: $(tail -n 3 "$scratch/error.$host")"
done
if cmp "$scratch/cloud.0" "$scratch/alone"; then ok "after $steps steps the cloud is that of one loop"; else bad "clouds differ"; fi

refused 1 'usage: particles' "$particles" alone 12
refused 1 'a side has' "$particles" graph 2
exit "$failed"
