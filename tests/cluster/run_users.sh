#!/usr/bin/env bash
# Whose programs lbctl run starts: the owner of a job alone may ask, a host runs its own user's or everybody's as
# programs.run says, and they have no privileges. It takes root, who starts lbmapd here, and the user nobody.
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
skip_all() {
    skip "$1"
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip_all "not root: no other users to ask as"
command -v setpriv >/dev/null || skip_all "setpriv (util-linux) is missing"
nobody=$(id -u nobody 2>/dev/null) || skip_all "there is no user nobody"
group=$(id -g nobody)
cat >"$scratch/as_nobody" <<AS
#!/bin/sh
exec setpriv --reuid $nobody --regid $group --clear-groups --inh-caps=-all --bounding-set=-all -- "\$@"
AS
cat >"$scratch/ask_nobody" <<'ASK'
#!/bin/sh
cd / && exec as_nobody "$LBCTL" -s "$CLUSTER/h0/lbmapd.sock" "$@"
ASK
chmod 0755 "$scratch" "$scratch/as_nobody" "$scratch/ask_nobody"
"$scratch/as_nobody" test -x "$lbctl" 2>/dev/null || skip_all "user nobody cannot reach $top_builddir"

log=local start chain:1
expect "a mesh" "$lbctl" -q gen airfoil:100 -o "$scratch/mesh.graph"
chmod 0644 "$scratch/mesh.graph"
chmod 0711 "$dir" "$dir/h0"
# with PROGRAMS: the daemon runs these.
with() {
    "$lbctl" -q cluster down --dir "$dir" >/dev/null 2>&1
    sed -i -E "/^groups/d; s/run = \"[a-z]*\"/run = \"$1\"/" "$dir/h0/lbmapd.conf"
    echo "groups = { submit = \"$group\"; };" >>"$dir/h0/lbmapd.conf"
    expect "programs.run is $1" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
}

with own
expect "nobody submits" ask_nobody submit "$scratch/mesh.graph" --name job
refused 1 'it runs programs of user 0 alone, and the job is user' ask_nobody run job -- true
with none
refused 1 'it runs no programs; programs.run in its lbmapd.conf allows it' ask_nobody run job -- true
with users
refused 7 'it would run as the owner' ask 0 run job -- true
cat >"$scratch/who" <<'WHO'
#!/bin/sh
echo "user $(id -u) group $(id -g) of $(id -G) in $(pwd)"
grep -E '^(NoNewPrivs|CapEff|CapBnd)' /proc/self/status
echo "$LBMAP_JOB at $LBMAP_HOST by $LBMAP_SOCKET, $USER"
echo "left: $SECRET"
WHO
chmod 0755 "$scratch/who"
if (export SECRET=1 && ask_nobody run job -- "$scratch/who") >"$scratch/out" 2>&1; then
    for line in "user $nobody group $group of $group in /" 'NoNewPrivs:.1' 'CapEff:.0000000000000000' \
        "job at 0 by $dir/h0/lbmapd.sock, nobody" 'left: '; do
        grep -qE "^h0: $line\$" "$scratch/out" || bad "not: $line: $(cat "$scratch/out")"
    done
    ok "it runs as the owner, without privileges: $(head -n 1 "$scratch/out")"
else
    bad "nobody cannot run a program: $(cat "$scratch/out")"
fi

exit "$failed"
