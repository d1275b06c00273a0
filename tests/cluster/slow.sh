#!/usr/bin/env bash
# A busy process takes half of a host's processor: its measured capacity falls, vertices leave it for the others, and
# come back when the process has ended. How long it takes is printed.
command -v taskset >/dev/null || { echo "skipped: taskset is not installed (apt-get install util-linux)"; exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
[ "$(nproc)" -gt 1 ] || { echo "skipped: there is one processor only"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local # balancing is what this is about
. "$tests/field_lib.sh"
slow=3
first=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//') # a processor for the slow host alone
hog=
trap 'kill -KILL $hog "${worker_pid[@]}" 2>/dev/null; finish' EXIT

cat >"$scratch/lbmapd" <<END
#!/bin/sh
case \$2 in */h$slow/*) exec taskset -c $first "$(realpath "$daemon")" "\$@" ;; esac
exec "$(realpath "$daemon")" "\$@"
END
chmod +x "$scratch/lbmapd"

ended() { ! kill -0 "$pid" 2>/dev/null; }
capacity_at_most() { at_most "$(field "$slow" 7)" "$1"; }
capacity_at_least() { at_most "$1" "$(field "$slow" 7)"; }
# due PERCENT: the slow host has its share by capacities, give or take so much.
due() {
    ask 0 hosts | awk -v host="$slow" -v percent="$1" 'NR > 1 { all += $7; n += $8 } $1 == host { c = $7; has = $8 }
        END { due = n * c / all; exit !(has >= due * (1 - percent / 100) && has <= due * (1 + percent / 100)) }'
}
# ticks: of the first processor, all and idle ones.
ticks() { awk -v cpu="cpu$first" '$1 == cpu { for (i = 2; i <= 9; i++) all += $i; print all, $5 }' /proc/stat; }
# comes_back: the capacity is nearly whole again, a minute from now at most. Returns 1 if it is not although hardly anybody
# has used the processor for ten seconds, less than that would need, 2 if somebody did all the time.
comes_back() {
    local look all idle all_before idle_before quiet=0
    read -r all_before idle_before <<<"$(ticks)"
    for ((look = 0; look < 60; look++)); do
        sleep 1
        capacity_at_least 0.85 && return 0
        read -r all idle <<<"$(ticks)"
        quiet=$((20 * (idle - idle_before) >= 19 * (all - all_before) ? quiet + 1 : 0))
        all_before=$all idle_before=$idle
        [ "$quiet" -lt 10 ] || return 1
    done
    return 2
}
seconds_since() { awk -v a="$1" -v b="$(now_us)" 'BEGIN { printf "%.1f", (b - a) / 1e6 }'; }

start mesh:2x2
expect "host $slow stops" "$lbctl" -q cluster kill "$slow" --signal TERM --dir "$dir"
pid=$(cat "$dir/h$slow/lbmapd.pid" 2>/dev/null || echo 0)
[ "$pid" -eq 0 ] || until_true 10 "it ends" ended
sed -i 's/^\( *\)name = .*/&\n\1measure = true;/' "$dir/h$slow/lbmapd.conf"
expect "it starts again, measures, and has a processor for itself" "$lbctl" -q cluster up --dir "$dir" --daemon "$scratch/lbmapd"
expect "gen" "$lbctl" -q gen lattice:40x40 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job
[ "$failed" -eq 0 ] || { tail -n 3 "$dir"/h*/lbmapd.log; exit 1; }
vertices=1600

taskset -c "$first" sh -c 'while :; do :; done' &
hog=$!
begin=$(now_us)
until_true 20 "the capacity falls" capacity_at_most 0.6 && ok "capacity $(field "$slow" 7) after $(seconds_since "$begin") s"
until_true 20 "it has its share" due 10 && ok "$(field "$slow" 8) vertices after $(seconds_since "$begin") s"
one_owner job "$vertices"
kill -KILL "$hog"
wait "$hog" 2>/dev/null
hog=
begin=$(now_us)
comes_back
case $? in
    0)
        ok "capacity $(field "$slow" 7) after $(seconds_since "$begin") s"
        until_true 30 "it settles" has_settled
        ok "$(field "$slow" 8) vertices"
        ;;
    1) bad "the processor is idle, and the capacity $(field "$slow" 7)" ;;
    2) skip "that the capacity comes back: others keep the processor busy" ;;
esac
one_owner job "$vertices"
exit "$failed"
