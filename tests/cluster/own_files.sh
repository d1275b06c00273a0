#!/usr/bin/env bash
# What lbctl cluster up and its daemons write is theirs: no link is followed, nothing of others is truncated, no descriptor
# is inherited; and a daemon whose database is taken away says so and ends.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
precious=$scratch/precious
echo precious >"$precious"
kept() { if [ "$(cat "$precious")" = precious ]; then ok "$1: the other file is as it was"; else bad "$1: the other file is changed"; fi; }
up() { "$lbctl" -q cluster up "$@" --dir "$dir" --daemon "$daemon"; }
down() { "$lbctl" -q cluster down --dir "$dir" >/dev/null 2>&1; }
running() { kill -0 "$1" 2>/dev/null; }
# ended PID: within twenty looks of half a second each.
ended() {
    local look
    for look in $(seq 1 60); do
        running "$1" || return 0
        sleep 0.5
    done
    return 1
}

# A lock held by the command that starts the cluster is free once that has ended.
expect "a cluster is up under a lock" flock "$scratch/lock" "$lbctl" -q cluster up --hosts chain:2 --dir "$dir" --daemon "$daemon"
expect "the lock is free, the daemons run on" flock -n "$scratch/lock" true
expect "they answer" ask 0 status
down
# So is a pipe.
(up >"$scratch/out" 2>&1; exec 7>&-) 7> >(cat >"$scratch/pipe"; echo ended >>"$scratch/pipe")
for look in $(seq 1 40); do
    [ ! -s "$scratch/pipe" ] || break
    sleep 0.25
done
if grep -q ended "$scratch/pipe"; then ok "a pipe is not inherited"; else bad "daemons hold the pipe open"; fi

# Removed while nobody works: the daemon notices by itself, says why, and ends.
pid=$(cat "$dir/h1/lbmapd.pid")
rm -f "$dir"/h1/lbmap.db
if ended "$pid"; then ok "a daemon without its database ends"; else bad "a daemon goes on without its database"; fi
if grep -q 'has been removed or moved away' "$dir/h1/lbmapd.log"; then ok "and says why"; else bad "$(tail -n 3 "$dir/h1/lbmapd.log")"; fi
pid=$(cat "$dir/h0/lbmapd.pid")
cp "$dir/h0/lbmap.db" "$dir/h0/copy" && mv "$dir/h0/copy" "$dir/h0/lbmap.db"
if ended "$pid"; then ok "a daemon whose database was replaced ends"; else bad "a daemon goes on next to its database"; fi
if grep -q 'has been replaced' "$dir/h0/lbmapd.log"; then ok "and says why"; else bad "$(tail -n 3 "$dir/h0/lbmapd.log")"; fi
down
rm -rf "$dir"

# Links in the place of every file that is written.
for file in lbmap.db-lock lbmap.db lbmapd.log lbmapd.pid lbmapd.sock.lease; do
    "$lbctl" -q cluster up --hosts chain:2 --dir "$dir" --daemon "$daemon" >/dev/null 2>&1
    down
    rm -f "$dir/h1/$file"
    ln -s "$precious" "$dir/h1/$file"
    if up >"$scratch/output" 2>&1; then bad "$file is a link, and is followed"; else ok "$file is a link: refused"; fi
    cat "$scratch/output" "$dir/h1/lbmapd.log" 2>/dev/null | grep -qE "$file.*(link|symbolic)" || bad "$file: $(cat "$scratch/output")"
    kept "$file"
    down
    rm -rf "$dir"
done
mkdir -p "$scratch/elsewhere" "$dir"
ln -s "$scratch/elsewhere" "$dir/h1"
refused 2 "h1: is a symbolic link" "$lbctl" cluster up --hosts chain:2 --dir "$dir" --daemon "$daemon"
if [ -z "$(ls -A "$scratch/elsewhere")" ]; then ok "nothing was made elsewhere"; else bad "made elsewhere: $(ls "$scratch/elsewhere")"; fi
if [ "$(id -u)" -eq 0 ]; then
    rm -rf "$dir"
    mkdir -p "$dir"
    chown 65534 "$dir"
    refused 2 "belongs to another user" "$lbctl" cluster up --hosts chain:2 --dir "$dir" --daemon "$daemon"
else
    skip "a folder of another user: not root"
fi
exit "$failed"
