#!/usr/bin/env bash
# lbctl without a daemon, end to end in a scratch directory: plan, eval, gen and convert, every kind of bad
# input with its status and message, the output formats. Figures are compared with ../shared/tools/evalmap.py
# where that and python3 are present.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
lbctl=${top_builddir:-$top/build}/client/lbctl
judge=$top/../shared/tools/evalmap.py
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
# With LeakSanitizer: fontconfig keeps its patterns until the process ends.
echo leak:libfontconfig >leaks
export LSAN_OPTIONS=suppressions=$scratch/leaks:print_suppressions=0
failures=0
checks=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS PATTERN ARGUMENTS: runs lbctl, output in `out` and `err`. With a status other than 0 there must
# be exactly one line on standard error, with lbctl's name in front, and nothing on standard output.
expect() {
    local status=$1 pattern=$2 got
    shift 2
    checks=$((checks + 1))
    "$lbctl" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$status" ] || fail "lbctl $*: status $got, not $status: $(cat err)"
    [ -z "$pattern" ] || grep -qE -- "$pattern" err || fail "lbctl $*: no '$pattern' in: $(cat err)"
    [ "$status" -eq 0 ] && return
    [ "$(wc -l <err)" -eq 1 ] || fail "lbctl $*: not one line: $(cat err)"
    grep -q '^lbctl' err || fail "lbctl $*: the message does not say who speaks: $(cat err)"
    [ ! -s out ] || fail "lbctl $*: output in spite of an error"
}

# Succeeds if the command does.
holds() {
    checks=$((checks + 1))
    "$@" || fail "$*"
}

# The number behind a key of the JSON in file $1.
figure() {
    sed -nE "s/^ *\"$2\": ([^,]*),?\$/\\1/p" "$1"
}

same_figure() { # file, key, value
    checks=$((checks + 1))
    [ "$(figure "$1" "$2")" = "$3" ] || fail "$2 is $(figure "$1" "$2"), not $3"
}

# ---- usage -------------------------------------------------------------------------------------------

expect 2 'a command is missing'
expect 2 'no such command' frobnicate
expect 2 'no such command' ''
expect 2 'no such option' --frobnicate
expect 2 'GRAPH is missing' plan
expect 2 '--hosts SPEC is missing' plan a.graph
expect 2 'MAP is missing' eval a.graph --hosts ring:3
expect 2 'operand too many' eval a b c --hosts ring:3
expect 2 'x: no operand is wanted' hosts x
expect 2 '--hosts: a value is missing' plan a.graph --hosts
expect 2 '--hosts: given twice' plan a.graph --hosts ring:3 --hosts ring:3
expect 2 '--json: given twice' --json plan --json
expect 2 '--imbalance: .x. is not a number' plan a.graph --hosts ring:3 --imbalance x
expect 2 '--imbalance: .* from 0 to' plan a.graph --hosts ring:3 --imbalance=-1
# The live host that one is on is no default of what is to be evicted.
expect 2 'HOST' evict
expect 2 'HOST' evict --lost
# 300 % is hardly ever meant.
expect 2 "--imbalance: '3' is not .*: for 3 percent write 3% or 0.03" plan a.graph --hosts ring:3 --imbalance 3
expect 2 "--imbalance: '1.5' is not .*: for 1.5 percent write 1.5% or 0.015" submit a.graph --imbalance 1.5
expect 2 "--imbalance: '101%' is not" plan a.graph --hosts ring:3 --imbalance 101%
expect 2 "--imbalance: '3%%' is not" plan a.graph --hosts ring:3 --imbalance 3%%
expect 2 "--imbalance: '%' is not" plan a.graph --hosts ring:3 --imbalance %
expect 2 '--seed: .* whole number' plan a.graph --hosts ring:3 --seed 1.5
expect 2 '--time-limit: ' plan a.graph --hosts ring:3 --time-limit 0
expect 2 '--method: .scotch. is none of lbmap, heirich' plan a.graph --hosts ring:3 --method scotch
expect 2 '--effort: .most. is none of fast, normal, best' plan a.graph --hosts ring:3 --effort most
expect 2 '--format: .* part, scotch, rankfile' plan a.graph --hosts ring:3 --format tikz
expect 2 '--output FILE is missing' gen lattice:3x3
for command in '' plan eval gen convert; do
    # shellcheck disable=SC2086
    expect 0 '' $command --help
    holds grep -q '^usage: lbctl' out
done
expect 0 '' --version
holds grep -qE '^lbctl [0-9]+\.[0-9]+' out
expect 0 '' conv --help
holds grep -q '^usage: lbctl convert ' out

# ---- network: links that Omega does not show ----------------------------------------------------------

while read -r spec hidden links; do
    expect 0 '' network --hosts "$spec"
    if [ "$hidden" -eq 0 ]; then
        holds grep -qx "Omega shows all $links links" out
    else
        holds grep -q "^Omega does not show $hidden of $links links" out
    fi
    expect 0 '' network --hosts "$spec" --json
    holds [ "$(grep -c '"in_omega": false' out)" -eq "$((2 * hidden))" ]
    holds [ "$(grep -c '"in_omega": true' out)" -eq "$((2 * (links - hidden)))" ]
done <<'SPECS'
mesh:4x4 0 24
mesh:3x3x3 0 54
chain:5 0 4
ring:16 0 16
star:9 0 8
torus:4x4 8 32
hypercube:4 8 32
torus:4x4x4 48 192
complete:8 18 28
hier:4:4/1:10 32 48
SPECS
expect 0 '' network --hosts torus:4x4
holds grep -qE '^ 0 .* 3 12$' out
expect 0 '' network --hosts chain:1
holds [ "$(wc -l <out)" -eq 2 ]
expect 2 "no-such-spec" network --hosts no-such-spec:3
expect 2 'no operand is wanted' network --hosts chain:3 x

# ---- gen, convert ------------------------------------------------------------------------------------

expect 0 '' gen lattice:8x8 -o a.graph
holds grep -qx '64 112' <(head -1 a.graph)
for spec in tri:200 rgg:200 airfoil:300 tree:200 lattice:4x5x6; do
    expect 0 '' gen "$spec" -o first.graph --seed 7
    expect 0 '' gen "$spec" -o second.graph --seed 7
    holds cmp first.graph second.graph
    for suffix in graph grf graphml graph.gz graphml.gz; do
        expect 0 '' gen "$spec" -o "g.$suffix" --seed 7
        expect 0 '' convert "g.$suffix" -q back.graph --lossy
        holds cmp first.graph back.graph
    done
done
expect 0 '' gen tri:200 -o - --seed 8
holds [ "$(cmp out first.graph >/dev/null 2>&1; echo $?)" -ne 0 ]
expect 0 '' gen tri:200 -o g.graph --format graphml
holds grep -q '<graphml' g.graph
expect 2 'metis holds no positions: write graphml, or give --lossy' convert --from graphml g.graph back.graph
expect 0 'metis holds no positions' convert --from graphml g.graph back.graph --lossy
for spec in '' lattice lattice:0x4 lattice:4x lattice:3x3x3x3 lattice:99999999x99999999 tri:-3 tri:x frob:3; do
    expect 2 '^lbctl gen: ' gen "$spec" -o bad.graph
    holds [ ! -e bad.graph ]
done
expect 2 'gone.graph' convert gone.graph bad.graph
expect 1 'nowhere' convert a.graph nowhere/bad.graph
expect 1 'nowhere' gen lattice:3x3 -o nowhere/bad.graph
"$lbctl" convert - - <a.graph >copy.graph
holds cmp a.graph copy.graph

# ---- bad graphs: file and line, status 2, no output, the old file untouched ---------------------------

bad_graph() { # name, line or '', pattern; the text on standard input
    cat >"$1"
    echo old >kept
    expect 2 "^lbctl plan: $1:${2:+$2:}.*$3" plan "$1" --hosts ring:3 -o kept
    holds grep -qx old kept
    expect 2 "^lbctl convert: $1:${2:+$2:}" convert "$1" new.graph
    holds [ ! -e new.graph ]
}

bad_graph empty.graph '' '' </dev/null
printf '2 1\n2\n' | bad_graph short.graph '' ''
printf '2 1\n2\n1\n1\n' | bad_graph long.graph '' ''
printf '2 1\n3\n1\n' | bad_graph range.graph 2 ''
printf '2 1\n2\n\n' | bad_graph onesided.graph '' ''
printf '2 1\n1\n2\n' | bad_graph loop.graph 2 ''
printf '2 1\n2 x\n1\n' | bad_graph word.graph 2 ''
printf '2 1 1\n2 0\n1 0\n' | bad_graph zero.graph 2 ''
printf '2 1 10\n0 2\n1 1\n' | bad_graph work.graph 2 ''
printf '2 1 1\n2 3\n1 4\n' | bad_graph unequal.graph '' ''
printf '2 1 10 2\n1 1 2\n1 1 1\n' | bad_graph ncon.graph 1 ''
printf '4000000000 1\n' | bad_graph huge.graph 1 ''
printf '\x7fELF\x01\x00\x00\x00' | bad_graph binary.graph '' ''
printf '<graphml><node></graphml>' | bad_graph broken.graphml '' ''
printf '0 1\n1 y y\n' | bad_graph list.tsv 2 ''
mkdir directory.graph
expect 2 'directory.graph' plan directory.graph --hosts ring:3
expect 2 'gone.graph' plan gone.graph --hosts ring:3
if [ "$(id -u)" -ne 0 ]; then
    cp a.graph secret.graph && chmod 0 secret.graph
    expect 2 'secret.graph' plan secret.graph --hosts ring:3
fi
gzip -c a.graph | head -c 60 >cut.graph.gz
expect 2 'cut.graph.gz' plan cut.graph.gz --hosts ring:3

# ---- bad hosts, pins, maps ---------------------------------------------------------------------------

for spec in frob:3 mesh:0x4 mesh:4x mesh:4x4x4x4 torus:-1x3 hypercube:99 ring chain: star:0 file:gone.graph \
    'ring:3@cap=gone'; do
    expect 2 '^lbctl plan: ' plan a.graph --hosts "$spec" -o bad.part
    holds [ ! -e bad.part ]
done
expect 2 'the name of a file is empty' plan a.graph --hosts file:
expect 2 'the name of a file is empty' plan a.graph --hosts ring:3@cap=
printf '4 2\n2\n1\n4\n3\n' >two.graph
expect 2 'two.graph' plan a.graph --hosts file:two.graph

bad_pins() { # line, pattern; the text on standard input
    cat >pins
    expect 2 "^lbctl plan: pins:$1: .*$2" plan a.graph --hosts mesh:2x2 --pin pins -o bad.part
    holds [ ! -e bad.part ]
}

printf '0 0\n64 0\n' | bad_pins 2 'not a vertex'
printf '# two\n\n3 4\n' | bad_pins 3 'not a host'
printf '3\n' | bad_pins 1 'two words'
printf '3 1 1\n' | bad_pins 1 'two words'
printf 'x 1\n' | bad_pins 1 'not a vertex'
printf '3 -1\n' | bad_pins 1 'not a host'
printf '3 1\n4 1\n3 2\n' | bad_pins 3 'pinned already in line 1'
printf '3 \0\n' >pins
expect 2 '^lbctl plan: pins: not a text' plan a.graph --hosts mesh:2x2 --pin pins
expect 2 'gone' plan a.graph --hosts mesh:2x2 --pin gone

bad_map() { # pattern; the text on standard input
    cat >map
    expect 2 "^lbctl eval: map:.*$1" eval a.graph map --hosts mesh:2x2
}

bad_map '' </dev/null
seq 0 62 | sed 's/.*/1/' | bad_map ''
seq 0 64 | sed 's/.*/1/' | bad_map ''
{ echo 4; seq 1 63 | sed 's/.*/1/'; } | bad_map '1:'
{ echo x; seq 1 63 | sed 's/.*/1/'; } | bad_map '1:'
expect 2 'gone.map' eval a.graph gone.map --hosts mesh:2x2

# ---- what is wrong before a daemon is asked -----------------------------------------------------------

for name in ' ' 'a ' $'a\nb' $'a\033[31mb' $'\xff' "$(printf 'x%.0s' {1..64})"; do
    expect 2 '^lbctl submit: --name: ' submit a.graph --socket none.sock "--name=$name"
done
expect 3 'none.sock' submit a.graph --socket none.sock --name 'é "quoted"'
expect 2 '--daemon: ./gone cannot be run' cluster up --hosts ring:3 --dir made --daemon ./gone
expect 2 'frob:3' cluster up --hosts frob:3 --dir made
expect 2 'is too long' cluster up --hosts ring:3 --dir "$(printf 'x%.0s' {1..100})"
holds [ -z "$(find . -type d -name 'made' -o -type d -name 'xxx*')" ]
expect 2 'only kill takes a host' cluster down 3 --dir made

# ---- plan and eval -----------------------------------------------------------------------------------

expect 0 '' plan a.graph --hosts mesh:2x2 -o a.part --json
cp out plan.json
same_figure plan.json vertices 64
same_figure plan.json edges 112
same_figure plan.json hosts 4
same_figure plan.json hop_bytes 16
same_figure plan.json cut 16
same_figure plan.json dilation_max 1
same_figure plan.json comm_volume_total 32
same_figure plan.json comm_volume_max 8
same_figure plan.json empty_hosts 0
same_figure plan.json seed 1
same_figure plan.json imbalance_asked 0.03
holds [ "$(wc -l <a.part)" -eq 64 ]
holds [ "$(sort -n a.part | uniq -c | awk '{ print $1 }' | sort -u)" = 16 ]
expect 0 '' eval a.graph a.part --hosts mesh:2x2 --json
for key in vertices edges hosts imbalance hop_bytes cut dilation_mean dilation_max comm_volume_total \
    comm_volume_max empty_hosts extra_pieces imbalance_least imbalance_longest_first; do
    same_figure out $key "$(figure plan.json $key)"
done
expect 0 '' eval a.graph a.part --hosts mesh:2x2
holds grep -qE '^hop-bytes J +16$' out

# Where the mapping and the report go.
expect 0 'hop-bytes J' plan a.graph --hosts mesh:2x2
holds cmp out a.part
expect 0 'hop-bytes J' plan a.graph --hosts mesh:2x2 -o -
holds cmp out a.part
expect 0 '"hop_bytes"' plan a.graph --hosts mesh:2x2 -o - --json
holds cmp out a.part
expect 0 '' plan -q a.graph --hosts mesh:2x2
holds [ ! -s err ]
holds cmp out a.part
expect 0 '' plan a.graph --hosts mesh:2x2 --json
holds [ ! -s err ]
same_figure out hop_bytes 16
expect 1 'nowhere' plan -q a.graph --hosts mesh:2x2 -o nowhere/a.part
expect 0 '' plan -q a.graph --hosts mesh:2x2 -o a.part.gz
holds cmp a.part <(gzip -dc a.part.gz)

# From a present mapping: nothing moves without need; hosts come and go by --without.
expect 0 '' plan a.graph --hosts mesh:2x2 --current a.part --json -o same.part
holds cmp a.part same.part
same_figure out moved_vertices 0
same_figure out moved_weight 0
same_figure out unavoidable_weight 0
same_figure out migration_cost 2.625
expect 0 '' plan a.graph --hosts mesh:2x2 --without 2 --current a.part --migration-cost 4 --json -o left.part
same_figure out hosts 3
same_figure out unavoidable_weight 16
same_figure out moved_weight 16
holds [ "$(sort -u left.part | tr '\n' ' ')" = '0 1 3 ' ]
expect 0 '' plan a.graph --hosts mesh:2x2 --current left.part --migration-cost 0 --json -o back.part
same_figure out hop_bytes 16
holds [ "$(sort -u back.part | wc -l)" -eq 4 ]
expect 0 'moved weight' plan a.graph --hosts mesh:2x2 --current left.part
for format in scotch json graphml svg; do
    expect 0 '' plan -q a.graph --hosts mesh:2x2 --without 2 --current a.part --format $format -o drawn
done
expect 0 '' gen -q lattice:100x100 -o b.graph
expect 0 '' plan -q b.graph --hosts mesh:2x2 -o b.part
expect 2 'give a smaller migration cost' plan b.graph --hosts mesh:2x2 --current b.part --migration-cost 1e12
# Above the bound there is a remark, with what could be had; as even as whole vertices can be is no exception.
expect 0 '' gen -q lattice:10x10 -o c.graph
expect 0 '' plan c.graph --hosts mesh:4x4 --json -o c.part
holds grep -q 'imbalance 12.00 % exceeds 3.00 %; no mapping is below 12.00 %, longest first reaches 12.00 %' err
expect 0 '' plan c.graph --hosts mesh:2x2 --pin <(for v in $(seq 0 59); do echo "$v 1"; done) --json -o c.part
holds grep -q 'exceeds 3.00 %; no mapping is below 140.00 %' err
# Absolute loads, and parts in one piece.
printf '6 5 010\n7 2\n1 1 3\n4 2 4\n9 3 5\n2 4 6\n5 5\n' >loads.graph
expect 0 '' plan loads.graph --hosts chain:3 --least 8 --most 10 --imbalance 1 --json -o loads.part
expect 2 '--most: the vertices, of weight 28 in all, do not fit on 3 hosts with 9 each' \
    plan loads.graph --hosts chain:3 --most 9 --imbalance 1
expect 2 '--most: a vertex weighs 9, more than 8' plan loads.graph --hosts chain:4 --most 8
expect 2 '--least: 6 vertices of weight 28 in all cannot give each of 3 hosts 10' plan loads.graph --hosts chain:3 --least 10
expect 2 '--least: 9 is more than --most, 8' plan loads.graph --hosts chain:4 --least 9 --most 8
expect 0 '' plan -q c.graph --hosts mesh:4x4 --connected -o c.part
expect 0 '' eval c.graph c.part --hosts mesh:4x4 --json
same_figure out extra_pieces 0
expect 2 'no way leads from host 0 to host 3' plan a.graph --hosts mesh:2x2 --without 1,2
expect 2 "'4' is not a host; ids are 0 to 3" plan a.graph --hosts mesh:2x2 --without 4
expect 2 "'' is not a host" plan a.graph --hosts mesh:2x2 --without 1,
expect 2 'host 1 is named twice' plan a.graph --hosts mesh:2x2 --without 1,1
expect 2 'no host is left' plan a.graph --hosts mesh:2x2 --without 0,1,2,3
printf '5 2\n' >pins
expect 2 'vertex 5 is pinned to host 2, which is gone' plan a.graph --hosts mesh:2x2 --without 2 --pin pins
expect 2 'give --current MAP too' plan a.graph --hosts mesh:2x2 --migration-cost 1
expect 2 'migration-cost: .* from 0 to' plan a.graph --hosts mesh:2x2 --current a.part --migration-cost=-1
expect 2 'only the method lbmap' plan a.graph --hosts mesh:2x2 --current a.part --method heirich --migration-cost 1
# HEI97 fig. 9 from a mapping: it levels loads by edges of the guest, moves what that takes, and no more where they are level.
expect 0 '' gen lattice:16x16 -o fig9.graph
expect 0 '' plan -q fig9.graph --hosts mesh:2x2 -o level.part
awk 'NR <= 32 { print 3; next } { print }' level.part >uneven.part
expect 0 '' plan fig9.graph --hosts mesh:2x2 --current level.part --method heirich --json
same_figure out moved_vertices 0
expect 0 '' plan fig9.graph --hosts mesh:2x2 --current uneven.part --method heirich --json
holds awk -v u="$(figure out imbalance)" 'BEGIN { exit !(u <= 1 / 64) }' # a vertex of 64
holds [ "$(figure out moved_vertices)" -ge 24 ]
expect 0 '' plan fig9.graph --hosts mesh:2x2 --current level.part --without 3 --method heirich --json
expect 2 'a.part:' plan a.graph --hosts mesh:1x2 --current a.part
expect 2 'gone' plan a.graph --hosts mesh:2x2 --current gone

# A full device is an error, not silence.
if [ -c /dev/full ]; then
    checks=$((checks + 1))
    "$lbctl" eval a.graph a.part --hosts mesh:2x2 >/dev/full 2>err
    [ $? -eq 1 ] || fail "eval to a full device: $(cat err)"
    holds grep -q 'standard output' err
fi

# Determinism, pins, methods, limits.
expect 0 '' gen tri:500 -o tri.graphml
expect 0 '' plan -q tri.graphml --hosts torus:3x3 --seed 5 -o one.part
expect 0 '' plan -q tri.graphml --hosts torus:3x3 --seed 5 -o two.part
holds cmp one.part two.part
printf '0 8\n17 3 # a remark\n\n499 0\n' >pins
expect 0 '' plan -q tri.graphml --hosts torus:3x3 --pin pins -o pinned.part
holds [ "$(sed -n '1p;18p;500p' pinned.part | tr '\n' ' ')" = '8 3 0 ' ]
expect 0 '' plan -q a.graph --hosts mesh:2x2 --method heirich -o heirich.part
expect 0 '' eval a.graph heirich.part --hosts mesh:2x2
expect 0 '' gen tri:300 -o order.graph
for variant in '' '--order permutation' '--order replacement' '--order jacobi' '--order ids' '--rule circles' '--rule angles'; do
    # shellcheck disable=SC2086
    expect 0 '' plan -q order.graph --hosts mesh:2x2 --method heirich $variant --format svg --draw omega -o "variant$variant.svg"
done
holds [ "$(cat variant*.svg | grep -c '^<svg')" -eq 7 ]
for variant in replacement jacobi ids; do # 300 vertices are one block: that order is a permutation
    holds [ "$(cmp -s variant.svg "variant--order $variant.svg"; echo $?)" -ne 0 ]
done
holds [ "$(cmp -s variant.svg "variant--rule circles.svg"; echo $?)" -ne 0 ]
holds [ "$(cmp -s variant.svg "variant--rule angles.svg"; echo $?)" -ne 0 ]
expect 2 '--order: .*give --method heirich too' plan order.graph --hosts mesh:2x2 --order ids
expect 2 '--rule: .*give --method heirich too' plan order.graph --hosts mesh:2x2 --rule circles
expect 2 '--rule: .*in the plane alone' plan order.graph --hosts mesh:2x2x2 --method heirich --rule angles
expect 2 '--rule: .squares. is none of mean, circles, angles' plan order.graph --hosts mesh:2x2 --rule squares
for effort in fast normal best; do
    expect 0 '' plan -q tri.graphml --hosts torus:3x3 --effort $effort --seed 5 -o $effort.part
    expect 0 '' plan -q tri.graphml --hosts torus:3x3 --effort $effort --seed 5 -o two.part
    holds cmp $effort.part two.part
done
holds cmp normal.part one.part
expect 0 '' plan tri.graphml --hosts mesh:4x4 --time-limit 100 -o limit.part
expect 0 '' gen lattice:400x400 -o large.graph
expect 0 'time limit is reached' plan large.graph --hosts mesh:8x8 --time-limit 0.001 -o limit.part
expect 0 '' eval large.graph limit.part --hosts mesh:8x8

# Small and odd guests.
expect 0 'more hosts \(16\) than vertices \(4\): 1[2-5] hosts stay empty' plan two.graph --hosts mesh:4x4 -o odd.part
holds [ "$(wc -l <odd.part)" -eq 4 ]
printf '0 0\n' >none.graph
expect 0 'more hosts \(4\) than vertices \(0\)' plan none.graph --hosts mesh:2x2 -o odd.part
holds [ ! -s odd.part ]
printf '1 0\n\n' >one.graph
expect 0 '' plan one.graph --hosts chain:1 -o odd.part
holds grep -qx 0 odd.part
printf '5 0\n\n\n\n\n\n' >edgeless.graph
expect 0 '' plan edgeless.graph --hosts star:5 -o odd.part
holds [ "$(sort odd.part | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')" -le 2 ] # its share and one more

# ---- Ctrl-C ------------------------------------------------------------------------------------------

# Job control, so that the background process does not start with SIGINT ignored. However far the plan is when
# the signal comes, a mapping is written; only a signal before the search begins may end lbctl (130).
set -m
for delay in 0.2 0.5; do
    rm -f interrupted.part
    "$lbctl" plan large.graph --hosts mesh:8x8 -o interrupted.part >out 2>err &
    sleep "$delay"
    kill -INT $! 2>/dev/null
    wait $!
    status=$?
    checks=$((checks + 1))
    if [ "$status" -eq 0 ]; then
        holds [ "$(wc -l <interrupted.part)" -eq 160000 ]
    elif [ "$status" -ne 130 ] || [ -e interrupted.part ]; then
        fail "interrupted after $delay s: status $status: $(cat err)"
    fi
done
set +m

# ---- formats -----------------------------------------------------------------------------------------

for format in part scotch rankfile seq hydra slurm charm json graphml svg png; do
    expect 0 '' plan -q a.graph --hosts mesh:2x2 --format $format -o "a.$format"
    holds [ -s "a.$format" ]
    expect 0 '' plan -q a.graph --hosts mesh:2x2 --format $format -o "b.$format"
    holds cmp "a.$format" "b.$format"
done
holds cmp a.part a.seq
holds cmp a.part a.slurm
holds cmp a.part <(tail -n +2 a.scotch | cut -f2)
holds [ "$(head -1 a.scotch)" = 64 ]
holds cmp a.part <(sed -nE 's/^rank [0-9]+=([0-9]+) slot=[0-9]+$/\1/p' a.rankfile)
holds [ "$(cut -d= -f2- a.rankfile | sort -u | wc -l)" -eq 64 ]
holds cmp a.part <(awk -F: '{ for (i = 0; i < $2; i++) print $1 }' a.hydra)
holds [ "$(head -1 a.charm)" = 'group main' ]
holds cmp a.part <(sed -nE 's/^  host (.*)/\1/p' a.charm)
holds cmp a.part <(sed -E 's/.*"part":\[([^]]*)\].*/\1/' a.json | tr ',' '\n')
expect 0 '' eval a.graph a.scotch --hosts mesh:2x2 --json
same_figure out hop_bytes 16
expect 0 '' convert -q --lossy a.graphml back.graph
holds cmp a.graph back.graph
holds cmp a.part <(sed -nE 's/.*<data key="host">([0-9]+)<.*/\1/p' a.graphml)
holds [ "$(head -c 4 a.png | od -An -tx1 | tr -d ' \n')" = 89504e47 ]
holds grep -q '</svg>' a.svg
expect 0 'have no names' plan a.graph --hosts mesh:2x2 --format rankfile -o a.rankfile

# Drawings: in Omega (also of three dimensions) and at the guest's positions; of hardly anything, of too much.
expect 0 '' plan -q tri.graphml --hosts mesh:4x4 --format svg --draw omega -o omega.svg
expect 0 '' plan -q tri.graphml --hosts mesh:4x4 --format svg --draw input -o input.svg
expect 0 '' plan -q tri.graphml --hosts mesh:4x4 --format svg -o default.svg
holds cmp input.svg default.svg
holds [ "$(cmp omega.svg input.svg >/dev/null 2>&1; echo $?)" -eq 1 ]
expect 2 '--draw: a.graph has no positions' plan a.graph --hosts mesh:2x2 --format svg --draw input -o bad.svg
holds [ ! -e bad.svg ]
for hosts in chain:1 hypercube:6 star:30 complete:12 torus:25x20; do
    expect 0 '' plan -q a.graph --hosts $hosts --format svg -o drawn.svg
    holds grep -q '</svg>' drawn.svg
done
for graph in none one edgeless; do
    expect 0 '' plan -q $graph.graph --hosts mesh:2x2 --format svg -o drawn.svg
    holds grep -q '</svg>' drawn.svg
done
odd=$(printf 'odd\xff\xc3\xa9 &<name>.graph')
cp a.graph "$odd"
expect 0 '' plan -q "$odd" --hosts mesh:2x2 --format svg -o drawn.svg

if command -v python3 >python3.path; then
    for file in a.svg omega.svg input.svg drawn.svg a.graphml; do
        holds python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' $file
    done
    holds python3 -c 'import json, sys; json.load(open("a.json")); json.load(open("plan.json"))'
else
    echo "skipped: python3 is not installed: XML and JSON are not parsed by another program"
fi

# ---- the independent judge ---------------------------------------------------------------------------

agree() { # graph, hosts
    expect 0 '' plan -q "$1" --hosts "$2" -o judged.part
    expect 0 '' eval "$1" judged.part --hosts "$2" --json
    checks=$((checks + 1))
    python3 "$judge" "$1" judged.part "$2" >judged.json || fail "the judge refuses $1 on $2"
    python3 - <<'PYTHON' || fail "eval and the judge disagree about $1 on $2"
import json, sys
ours, theirs = json.load(open("out")), json.load(open("judged.json"))
wrong = [k for k in theirs if abs(ours[k] - theirs[k]) > 1e-9 * max(1, abs(theirs[k]))]
if wrong:
    print({k: (ours[k], theirs[k]) for k in wrong})
sys.exit(bool(wrong))
PYTHON
}

if [ -r "$judge" ] && [ -s python3.path ]; then
    printf '%% weights\n5 5 11\n3 2 4 5 1\n1 1 4 3 2\n7 2 2 4 9\n2 3 9 5 1\n4 1 1 4 1\n' >weighted.graph
    printf '3 3 11\n1 2 5 3 1\n2 1 5 3 2\n3 1 1 2 2\n' >hosts.graph
    expect 0 '' gen rgg:400 -o rgg.graph
    for hosts in mesh:2x2 torus:3x4 hypercube:3 star:5 complete:4 ring:7 chain:3 mesh:2x2x2; do
        agree rgg.graph $hosts
    done
    agree weighted.graph file:hosts.graph
    agree weighted.graph mesh:2x2
    agree "$top/../shared/graphs/3elt.graph.gz" "file:$top/../shared/hosts/irr24.graph"
else
    echo "skipped: ../shared/tools/evalmap.py or python3 is not there: figures are not judged independently"
fi

echo "$checks checks, $failures failed"
[ "$failures" -eq 0 ]
