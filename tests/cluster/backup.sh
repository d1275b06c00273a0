#!/usr/bin/env bash
# A job that programs work on is backed up while they do; then all databases are deleted, and the job is restored on fewer
# hosts. The payloads are those of the cut, byte for byte, and programs go on from there to the result of one loop
# (heat_alone.c), bit for bit. A damaged backup is refused, and changes nothing.
#   BACKUP_HOSTS     the network (ring:4)
#   BACKUP_FEWER     the one that it is restored on (ring:3)
#   BACKUP_VERTICES  of the mesh (600)
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
network=${BACKUP_HOSTS:-ring:4}
fewer=${BACKUP_FEWER:-ring:3}
log=local
steps=400
saved=$scratch/saved

# heat HOST: its program.
heat() {
    "$top_builddir/tests/cluster/heat_paced" mesh "$steps" "$scratch/field.$1" "$dir/h$1/lbmapd.sock" "$scratch/hurry" \
        2>"$scratch/error.$1" &
    worker_pid[$1]=$!
    disown
}
hosts_of() { seq 0 $((${1#*:} - 1)); }
begin() { for host in $(hosts_of "$1"); do heat "$host"; done; }
# stable_at N: all have kept step N or a later one.
stable_at() { awk -v n="$1" '$1 == "stable" && $2 >= n { found = 1 } END { exit !found }' "$scratch/error.0"; }
has_ended() { [ "$(cat "$scratch/field.0" 2>/dev/null | wc -l)" -eq "$(wc -l <"$scratch/alone")" ]; }

start "$network"
expect "a mesh" "$lbctl" -q gen "airfoil:${BACKUP_VERTICES:-600}" -o "$scratch/mesh.graph"
"$top_builddir/tests/cluster/heat_alone" "$scratch/mesh.graph" "$steps" >"$scratch/alone" || bad "heat_alone fails"
expect "submit" ask 0 -q submit "$scratch/mesh.graph" --name mesh
refused 1 "no job named none" ask 0 backup "$scratch/none" none
begin "$network"
settles 0 mesh >"$scratch/output" 2>&1 || bad "it does not settle: $(tail -n 3 "$scratch/output")"
until_true 60 "programs have kept a step" stable_at 32

for host in $(hosts_of "$network"); do echo "before $(grep -c stable "$scratch/error.$host")" >>"$scratch/error.$host"; done
expect "a backup while programs work" ask 1 -q backup "$saved"
until_true 60 "programs go on after it" stable_at "$(($(awk '$1 == "stable" { n = $2 } END { print n }' "$scratch/error.0") + 32))"
refused 2 "is not empty" ask 1 backup "$saved"
[ ! -s "$scratch/field.0" ] || bad "all was done before the backup"

end_work KILL "${!worker_pid[@]}"
"$lbctl" -q cluster down --dir "$dir"
rm -rf "$dir"
ok "all databases are deleted"
start "$fewer"
cp -r "$saved" "$scratch/damaged"
printf 'x' | dd of="$scratch/damaged/mesh/payloads" bs=1 seek=$(($(stat -c %s "$saved/mesh/payloads") / 2)) conv=notrunc 2>/dev/null
refused 2 "is not as it was written" ask 0 restore "$scratch/damaged"
refused 2 "no job.json\|no file job.json" ask 0 restore "$scratch"
[ -z "$(ask 0 jobs --json | grep '"name"')" ] && ok "and nothing has changed" || bad "$(ask 0 jobs)"
expect "the backup is restored on fewer hosts" ask 0 -q restore "$saved"
refused 1 "a job of that name exists already" ask 0 restore "$saved"
settles 0 mesh >"$scratch/output" 2>&1 || bad "it does not settle: $(tail -n 3 "$scratch/output")"
expect "its payloads are written" ask 0 -q payloads mesh -o "$scratch/payloads"
expect "and backed up" ask 0 -q backup "$scratch/again"
cmp "$saved/mesh/payloads" "$scratch/again/mesh/payloads" && ok "they are those of the cut, byte for byte" || bad "payloads differ"
cmp "$saved/mesh/guest.graph" "$scratch/again/mesh/guest.graph" && ok "and the guest is" || bad "guests differ"
one_owner mesh "$(ls "$scratch/payloads" | wc -l)"
expect "the folder of payloads begins a job" ask 0 -q submit "$scratch/mesh.graph" --name third --payloads "$scratch/payloads"
expect "which has them" ask 0 -q payloads third -o "$scratch/third"
diff -rq "$scratch/payloads" "$scratch/third" && ok "byte for byte" || bad "payloads differ"

touch "$scratch/hurry"
begin "$fewer"
until_true 60 "programs end" has_ended
cmp "$scratch/field.0" "$scratch/alone" && ok "temperatures are those of one loop" || bad "temperatures differ"
exit "$failed"
