#!/usr/bin/env bash
# Payloads that do not fit a record go into a cluster from files, and come out again byte for byte: by submit, payloads,
# backup and restore, also those that another host keeps. Recover takes none, and says so.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"

start chain:3
expect "gen" "$lbctl" -q gen lattice:3x2 -o "$scratch/guest.graph"
mkdir "$scratch/in"
# One more than a piece, a few pieces, many, the longest that a record holds, and one more than that.
i=0
for bytes in 262145 700000 5000000 262144 10; do
    head -c "$bytes" /dev/urandom >"$scratch/in/$i"
    i=$((i + 1))
done
: >"$scratch/in/5"
same() { diff -r "$scratch/in" "$1" >"$scratch/output" 2>&1; }

expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job --payloads "$scratch/in"
expect "it settles" settles 0 job
ask 0 distribution job 2>/dev/null | tail -n 3
expect "payloads at the host that got them" ask 0 payloads job -o "$scratch/out0"
expect "they are the same" same "$scratch/out0"
expect "payloads at another host" ask 2 payloads job -o "$scratch/out2"
expect "they are the same" same "$scratch/out2"
expect "backup" ask 1 backup "$scratch/saved" job
expect "cancel" ask 0 cancel job
expect "restore" ask 2 restore "$scratch/saved"
expect "it settles again" settles 0 job
expect "payloads of what was restored" ask 0 payloads job -o "$scratch/again"
expect "they are the same" same "$scratch/again"
head -c 67108865 /dev/zero >"$scratch/in/4"
refused 2 "larger than the 67108864 bytes" ask 0 submit "$scratch/guest.graph" --name long --payloads "$scratch/in"
exit "$failed"
