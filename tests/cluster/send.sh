#!/usr/bin/env bash
# Messages to vertices (lbmap_send) on four real daemons: programs send numbered messages along edges and to random
# vertices. Meanwhile capacities change, so that vertices move; a program is killed and started again; a host drains;
# one is lost for good, with its program. In the end every vertex has got every message once, and those of each sender
# in order, as of its state.
#   SEND_COUNT  messages of a vertex (1500)
#   SEND_KEPT   set: messages wait for checkpoints
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
sender=$top_builddir/tests/cluster/sender
count=${SEND_COUNT:-1500} n=120
declare -A pid
end_senders() {
    kill -KILL "${pid[@]}" 2>/dev/null
    finish
}
trap end_senders EXIT

# send HOST: its program.
send() {
    "$sender" ring "$dir/h$1/lbmapd.sock" "$count" "$scratch/state$1" 2>>"$scratch/error$1" </dev/null &
    pid[$1]=$!
    disown
}
rows() { cat "$scratch"/state? 2>/dev/null; }
# all_have COLUMN LEAST: on average.
all_have() { rows | awk -v c="$1" -v least="$2" -v n="$n" '{ sum += $c } END { exit !(sum >= least * n) }'; }
is_complete() {
    rows | awk -v n="$n" -v count="$count" '$2 == count && $3 == $4 && $5 == 1 { done[$1] = 1 }
        END { for (v in done) k++; exit k != n }'
}
has_none() { [ ! -s "$scratch/state$1" ]; }
has_some() { [ -s "$scratch/state$1" ]; }

start ring:4
expect "it stops" "$lbctl" -q cluster down --dir "$dir"
for host in "$dir"/h*; do echo 'evict = { percent = 100.0; };' >>"$host/lbmapd.conf"; done
expect "and is up, evicting without limit" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
awk -v n="$n" 'BEGIN { print n, n; for (v = 0; v < n; v++) print (v + n - 1) % n + 1, (v + 1) % n + 1 }' \
    >"$scratch/ring.graph"
expect "submit" ask 0 submit "$scratch/ring.graph" --name ring
expect "it settles" settles 0 ring
for host in 0 1 2 3; do send "$host"; done
until_true 30 "messages are sent" all_have 2 $((count / 20))
for host in 0 1 2 3; do until_true 30 "host $host has vertices" has_some "$host"; done

expect "host 1 gets a larger share" ask 0 set h1 --capacity 3
until_true 30 "messages go on" all_have 2 $((count / 8))
kill -KILL "${pid[0]}" && ok "the program of host 0 is killed"
rm -f "$scratch/state0"
send 0
expect "host 1 gets a smaller share" ask 0 set h1 --capacity 0.3
until_true 30 "messages go on" all_have 2 $((count / 4))
expect "host 3 drains" ask 0 drain h3
until_true 60 "host 3 has no vertices" has_none 3
until_true 30 "in sync" in_sync
expect "host 2 is lost" "$lbctl" -q cluster kill 2 --dir "$dir"
kill -KILL "${pid[2]}"
find "$dir/h2" -mindepth 1 ! -name lbmapd.conf -delete
rm -f "$scratch/state2"
is_complete && bad "all was done before: more SEND_COUNT are needed"
until_true 60 "host 2 is evicted" is_state 2 EVICTED

until_true 60 "every vertex has got all its messages" is_complete
sleep 2
kill "${pid[@]}" 2>/dev/null
sleep 1
if rows | awk -v n="$n" -v count="$count" '
    { k++; bad += $2 != count || $3 != $4 || $5 != 1 || $6 != 0; got += $3; moves += $7 }
    END { printf "%d vertices got %d messages, %d wrong\n", k, got, bad; exit !(k == n && bad == 0 && got == n * count) }
    ' >"$scratch/sums"; then
    ok "once and in order: $(cat "$scratch/sums")"
else
    bad "$(cat "$scratch/sums" "$scratch"/error?)$(rows | awk '$3 != $4 || $6 != 0' | head -n 5)"
fi
rows | awk '$7 > 0 { k = 1 } END { exit !k }' && ok "programs heard that neighbours moved" || bad "no move was told"
[ ! -s "$scratch/error0" ] || head -n 5 "$scratch/error0"
exit "$failed"
