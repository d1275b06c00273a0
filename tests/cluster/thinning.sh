#!/usr/bin/env bash
# docs/examples/thinning.c on a chain of real daemons: the thinned image is that of one loop, byte for byte, although a
# program is killed and started again meanwhile; what is no image is refused.
#   THINNING_HOSTS  (chain:4)
#   THINNING_SIDE   pixels of the image's side (128)
#   THINNING_NS     nanoseconds of a dark pixel in a step (100000)
pkg-config --exists libpng 2>/dev/null || { echo "skipped: libpng-dev is not installed"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
spec=${THINNING_HOSTS:-chain:4} side=${THINNING_SIDE:-128}
library=$top_builddir/.libs thinning=$scratch/thinning
hosts=${spec##*:}
export LD_LIBRARY_PATH=$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if nm -D "$library/liblbmap.so" 2>/dev/null | grep -q __asan_; then
    echo "skipped: liblbmap is built with sanitizers"
    exit 77
fi
declare -a pid
trap 'kill -KILL "${pid[@]}" 2>/dev/null; finish' EXIT

# begin HOST: its program.
begin() {
    "$thinning" run image "$scratch/in.png" "$scratch/out.$1.png" "$dir/h$1/lbmapd.sock" "${THINNING_NS:-100000}" \
        2>"$scratch/error.$1" </dev/null &
    pid[$1]=$!
}
have_ended() { ! kill -0 "${pid[@]}" 2>/dev/null; }

read -ra png <<<"$(pkg-config --cflags --libs libpng)"
expect "thinning compiles" cc -std=gnu11 -Wall -Wextra -Wpedantic -Wshadow -Werror -O2 -I"$top_srcdir/include" \
    "$top_srcdir/docs/examples/thinning.c" -L"$library" -llbmap "${png[@]}" -o "$thinning"
[ -x "$thinning" ] || exit 1
"$thinning" sample "$side" "$scratch/in.png" || bad "no sample"
expect "one loop" "$thinning" alone "$scratch/in.png" "$scratch/alone.png"
! cmp -s "$scratch/in.png" "$scratch/alone.png" || bad "one loop changes nothing"
expect "what is thin stays" "$thinning" alone "$scratch/alone.png" "$scratch/again.png"
cmp "$scratch/alone.png" "$scratch/again.png" || bad "lines become thinner"
"$thinning" graph "$scratch/in.png" >"$scratch/image.graph"
refused 1 'error.graph' "$thinning" alone "$scratch/error.graph" "$scratch/none.png"
refused 1 'image.graph' "$thinning" alone "$scratch/image.graph" "$scratch/none.png"
refused 2 'usage: thinning' "$thinning" alone

start "$spec"
expect "submit" ask 0 submit "$scratch/image.graph" --name image
expect "it settles" settles 0 image
for ((host = 0; host < hosts; host++)); do begin "$host"; done
sleep 0.3
kill -KILL "${pid[1]}" && ok "a program is killed" || bad "all is done already: more THINNING_NS are needed"
wait "${pid[1]}" 2>/dev/null
begin 1
patiently 60 have_ended || bad "the programs do not end"
for ((host = 0; host < hosts; host++)); do
    kill -0 "${pid[host]}" 2>/dev/null || wait "${pid[host]}" || bad "host $host: $(tail -n 3 "$scratch/error.$host")"
done
if cmp "$scratch/out.0.png" "$scratch/alone.png"; then
    ok "$side x $side pixels are thinned as in one loop"
else
    bad "images differ"
fi
exit "$failed"
