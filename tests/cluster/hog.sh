#!/usr/bin/env bash
# Nobody is evicted who is only slow: twelve real daemons with an application each share the machine with busy
# processes, and a few of the daemons at a time are frozen for up to a second and a half. Evictions are not limited.
#   HOG_SECONDS   how long (20)
#   HOG_BUSY      busy processes (8)
#   HOG_SEED      which daemons are frozen, and how long
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
seconds=${HOG_SECONDS:-20}
busy=${HOG_BUSY:-8}
CHECKPOINT_MS=${CHECKPOINT_MS:-$((seconds > 600 ? 20000 : 5000))}
RANDOM=${HOG_SEED:-$$}
echo "seed of this run: HOG_SEED=${HOG_SEED:-$$}"
burners=()
trap 'kill -KILL "${burners[@]}" "${worker_pid[@]}" 2>/dev/null; finish' EXIT

evictions() { cat "$dir"/h*/lbmapd.log | grep -c 'evicted'; }
# watch: the longest silence and the most suspicions that host 0 sees now.
watch() {
    ask 0 hosts 2>/dev/null | awk 'NR > 1 { if ($5 + 0 > s) s = $5 + 0; if ($12 + 0 > n) n = $12 + 0 } END { print s + 0, n + 0 }' >>"$scratch/watch"
}
# burst: one to three daemons at once.
burst() {
    local k length frozen=()
    for ((k = RANDOM % 3; k >= 0; k--)); do frozen+=("$(cat "$dir/h$((RANDOM % hosts))/lbmapd.pid")"); done
    length=$(printf '%04d' $((100 + RANDOM % 1401)) | sed 's/...$/.&/')
    kill -STOP "${frozen[@]}"
    { sleep "$length" && watch; } & # asks while they wake
    sleep "$length"
    kill -CONT "${frozen[@]}"
    bursts=$((bursts + ${#frozen[@]}))
    wait
}

field_start mesh:4x3
[ "$(evictions)" -eq 0 ] || bad "evictions before it begins"
for ((i = 0; i < busy; i++)); do
    (while :; do :; done) &
    burners+=($!)
    disown
done
bursts=0
end=$((SECONDS + seconds))
while [ "$SECONDS" -lt "$end" ]; do
    burst
    sleep "$((RANDOM % 4)).$((RANDOM % 10))"
done
kill -KILL "${burners[@]}"
burners=()
n=$(evictions)
awk -v seconds="$seconds" -v bursts="$bursts" -v busy="$busy" -v n="$n" '
    { if ($1 > unreachable) unreachable = $1; if ($2 > suspected) suspected = $2; some += $2 > 0 }
    END { printf "%d s, %d busy processes, %d times frozen: %d evictions; longest silence seen %.1f s, suspected in %d of %d looks, by %d at most\n",
              seconds, busy, bursts, n, unreachable, some, NR, suspected }' "$scratch/watch"
if [ "$n" -eq 0 ]; then ok "nobody was evicted"; else bad "evictions: $(grep -h evicted "$dir"/h*/lbmapd.log)"; fi
until_true 30 "every vertex is worked on" all_worked_on
field_end
exit "$failed"
