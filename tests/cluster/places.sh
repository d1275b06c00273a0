#!/usr/bin/env bash
# Programs that serve one job at four real daemons find each other by what they publish, hear who comes and goes, and
# post to each other through their daemons. One that starts later hears of those that were there before, and that the
# job is done. What a message costs is printed.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
poster=$top_builddir/tests/cluster/poster
declare -A pid
end_posters() {
    kill "${pid[@]}" 2>/dev/null
    finish
}
trap end_posters EXIT

# post HOST NOTE: a program there.
post() {
    "$poster" mesh "$dir/h$1/lbmapd.sock" "$2" >"$scratch/told$1" 2>"$scratch/error$1" </dev/null &
    pid[$1]=$!
}
# told HOST LINE: its program says that, in time.
told() {
    local host=$1 line=$2
    if patiently 20 grep -qE -- "$line" "$scratch/told$host"; then
        ok "host $host: $line"
    else
        bad "host $host: not $line: $(cat "$scratch/told$host" "$scratch/error$host")"
    fi
}

start mesh:2x2
expect "a mesh" "$lbctl" -q gen airfoil:400 -o "$scratch/mesh.graph"
expect "submit" ask 0 submit "$scratch/mesh.graph" --name mesh
expect "it settles" settles 0 mesh
post 0 first
post 1 second
told 0 '^up 1 [^ ]+ 127.0.0.1:[0-9]+ "second"$'
told 1 '^up 0 .* "first"$'
post 2 third
told 0 '^up 2 .* "third"$'
told 2 '^up 0 .* "first"$'
told 2 '^up 1 .* "second"$'

for bytes in 8 1000 100000; do
    if timeout 120 "$poster" mesh "$dir/h3/lbmapd.sock" fourth 1 200 "$bytes" >"$scratch/measured" 2>&1; then
        ok "messages there and back: $(tail -n 1 "$scratch/measured")"
    else
        bad "messages of $bytes bytes: $(tail -n 2 "$scratch/measured")"
    fi
done
told 0 '^up 3 .* "fourth"$'
told 0 '^down 3$'
kill -KILL "${pid[2]}"
told 0 '^down 2$'
expect "the daemon of host 1 dies" "$lbctl" -q cluster kill 1 --dir "$dir"
told 0 '^down 1$'
: >"$scratch/told0"
expect "it is started again" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
told 0 '^up 1 .* "second"$'

patiently 20 "$poster" mesh "$dir/h3/lbmapd.sock" finish >"$scratch/output" 2>&1 ||
    bad "finish: $(cat "$scratch/output")"
told 0 '^up 3 .* "finish" finished$'
told 1 '^up 3 .* "finish" finished$'
post 2 late
told 2 '^up 3 .* "finish" finished$'

exit "$failed"
