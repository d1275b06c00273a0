#!/usr/bin/env bash
# The data directory of one daemon is a small file system that gets full. The daemon ends with a message, what it
# had runs elsewhere, and with room again it comes back, empty. As root only: it mounts a tmpfs, in a namespace of
# its own.
if [ "${1:-}" != inside ]; then
    [ "$(id -u)" -eq 0 ] || { echo "skipped: only root can mount a file system"; exit 77; }
    unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 77; }
    exec unshare -m bash "$0" inside
fi
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
mount --make-rprivate / 2>/dev/null
full=2
log=local # an etcd takes 64 MiB more when it likes
# Its process is found by a file in there: it ends before the file system goes.
trap 'kill -KILL "${worker_pid[@]}" 2>/dev/null; "$lbctl" -q cluster down --dir "$dir" >/dev/null 2>&1
    umount -l "$dir/h$full" 2>/dev/null; finish' EXIT

ended() { ! kill -0 "$pid" 2>/dev/null; }
elsewhere() { ask 0 hosts | awk -v host="$full" '$1 == host && $8 != 0 { bad = 1 } $1 != host { n += $8 } END { exit bad || n != 15606 }'; }

field_start mesh:2x2
expect "all is in sync" until_true 30 "in sync" in_sync
expect "daemon $full stops" "$lbctl" -q cluster kill "$full" --signal TERM --dir "$dir"
pid=$(cat "$dir/h$full/lbmapd.pid" 2>/dev/null || echo 0)
[ "$pid" -eq 0 ] || until_true 10 "it ends" ended
mkdir "$scratch/copy" && cp -a "$dir/h$full/." "$scratch/copy"
# Room for its start: what it compares with the others and receives of them goes through the log of its store.
size=$(($(du -sk "$scratch/copy" | cut -f1) + 65536))
expect "its folder becomes a file system of $size KiB" mount -t tmpfs -o "size=${size}k" none "$dir/h$full"
cp -a "$scratch/copy/." "$dir/h$full"
expect "it starts again" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
pid=$(cat "$dir/h$full/lbmapd.pid")
dd if=/dev/zero of="$dir/h$full/filler" bs=1k 2>/dev/null # until there is no room
begin=$(now_us)
# Something to write: the applications' checkpoints.
if until_true 30 "daemon $full ends on a full disk" ended; then
    ok "daemon $full ended $(awk -v a="$begin" -v b="$(now_us)" 'BEGIN { printf "%.1f", (b - a) / 1e6 }') s after its disk was full"
fi
grep -qi "full\|no space" "$dir/h$full/lbmapd.log" && ok "it says: $(grep -i "full\|no space" "$dir/h$full/lbmapd.log" | tail -n 1 | cut -c1-200)" ||
    bad "it does not say why: $(tail -n 3 "$dir/h$full/lbmapd.log")"
until_true 30 "what it had is elsewhere" elsewhere && ok "what it had runs elsewhere"
rm "$dir/h$full/filler"
mount -o remount,size=200m "$dir/h$full"
expect "with room again it comes back" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
until_true 30 "host $full is active" is_state "$full" ACTIVE
sleep 1
until_true 60 "it settles" has_settled && ok "it settles"
one_owner job "$vertices"
until_true 30 "every vertex is worked on" all_worked_on
field_end
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
