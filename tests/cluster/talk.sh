#!/usr/bin/env bash
# Applications count what their vertices say to each other: the weights of edges follow, new talk moves vertices, and the
# mapping becomes better for what is really said than that for the guest as it was submitted.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local # balancing is what this is about
. "$tests/field_lib.sh"
width=20 block=4 rate=20
talkers=()
trap 'kill -KILL "${talkers[@]}" 2>/dev/null; finish' EXIT

# truth: the guest with weights as things are said; edges between blocks carry nothing, and as submitted.
truth() {
    awk -v w="$width" -v b="$block" -v r="$rate" '
        function weight(x, y, X, Y) { return int(x / b) == int(X / b) && int(y / b) == int(Y / b) ? r : 1 }
        function edge(x, y, X, Y) { if (X >= 0 && X < w && Y >= 0 && Y < w) printf " %d %d", Y * w + X + 1, weight(x, y, X, Y) }
        BEGIN {
            print w * w, 2 * w * (w - 1), "001"
            for (y = 0; y < w; y++)
                for (x = 0; x < w; x++) {
                    edge(x, y, x - 1, y); edge(x, y, x + 1, y); edge(x, y, x, y - 1); edge(x, y, x, y + 1)
                    print ""
                }
        }'
}
# cost: what the mapping as it is costs for what is really said.
cost() {
    ask 0 map job -o "$scratch/part" 2>/dev/null || return 1
    "$lbctl" eval "$scratch/truth.graph" "$scratch/part" --hosts mesh:2x2 --json >"$scratch/output" 2>&1
    figure hop_bytes "$scratch/output"
}
known() { ask 0 wait job --timeout 10 --json >"$scratch/output" 2>&1 && figure hop_bytes "$scratch/output"; }
# is_followed: the cluster knows the cost to a third, and it is at most half of what it was.
is_followed() {
    local now knows
    now=$(cost) knows=$(known)
    at_most "$now" "$(awk -v c="$before" 'BEGIN { print c / 2 }')" && at_most "$knows" "$(awk -v c="$now" 'BEGIN { print 1.34 * c }')" &&
        at_most "$(awk -v c="$now" 'BEGIN { print 0.66 * c }')" "$knows"
}

start mesh:2x2
truth >"$scratch/truth.graph"
expect "gen" "$lbctl" -q gen "lattice:${width}x$width" -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job --imbalance 0.15
expect "it settles" settles 0 job
before=$(cost)
for host in 0 1 2 3; do
    "$top_builddir/tests/cluster/talker" job "$dir/h$host/lbmapd.sock" "$width" "$block" "$rate" 2>>"$scratch/talker$host" &
    talkers+=($!)
    disown
done
until_true 60 "the mapping follows what is said" is_followed
echo "cost of what is said: $before before, $(cost) now; the cluster knows $(known)"
[ "$failed" -eq 0 ] || tail -n 3 "$scratch"/talker*
one_owner job $((width * width))
exit "$failed"
