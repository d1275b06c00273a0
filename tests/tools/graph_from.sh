#!/usr/bin/env bash
# lbctl graph-from: every format, from files made by hand, gives the edges that are meant; names have a file of their
# own; what is changed or left out is told; bad input gets one message that names the file and the line, exit status 2,
# and no GRAPH.
set -u
lbctl=${top_builddir:?run by make check}/client/lbctl
vt=${top_srcdir:?run by make check}/tests/vt
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failed=0 checked=0

fail() {
    printf 'FAILED: %s\n' "$1"
    failed=1
}
# gives NAME 'EDGES' 'NAMES' 'REMARK' FORMAT [OPTION]... < text: edges and names are joined by ';'.
gives() {
    local name=$1 edges=$2 names=$3 remark=$4 format=$5
    shift 5
    rm -f out out.names
    cat >"$name"
    checked=$((checked + 1))
    "$lbctl" graph-from "$format" "$name" -o out --format metis "$@" 2>err || { fail "$name: $(cat err)"; return; }
    "$lbctl" convert -q --from metis out got --to edges --lossy 2>err2 || { fail "$name: $(cat err2)"; return; }
    got=$(grep -v '^[#%]' got | tr -s '\t ' ' ' | paste -sd ';')
    [ "$got" = "$edges" ] || fail "$name: edges $got, not $edges"
    got=$([ ! -e out.names ] || paste -sd ';' out.names)
    [ "$got" = "$names" ] || fail "$name: names $got, not $names"
    [ -z "$remark" ] || grep -qE -- "$remark" err || fail "$name: no '$remark' in: $(cat err)"
}
# refuses MESSAGE FORMAT NAME [OPTION]... < text
refuses() {
    local message=$1 format=$2 name=$3
    shift 3
    rm -f out out.names
    [ "$name" = gone ] || cat >"$name"
    checked=$((checked + 1))
    "$lbctl" graph-from "$format" "$name" -o out --format metis "$@" >stdout 2>err
    local status=$?
    [ "$status" -eq 2 ] || fail "$name: exit status $status: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] && grep -qE -- "^lbctl graph-from: $message" err ||
        fail "$name: not '$message': $(cat err)"
    [ ! -e out ] && [ ! -e out.names ] || fail "$name: there is an output"
}

# ---- communication matrices ----------------------------------------------------------------------------------
gives matrix.txt '0 1 5;1 2 1' '' '' matrix <<<$'0 5 0\n5 0 1\n0 1 0'
gives asymmetric.txt '0 1 7;1 2 3' '' 'not symmetric: both directions were added' matrix <<<$'0 5 0\n2 0 1\n0 2 0'
gives real.csv '0 1 5;1 2 20' 'a;b;c' 'multiplied by 10' matrix <<<$'a,b,c\n0,0.5,0\n0,0,2\n0,0,0'
gives diagonal.csv '0 1 3' '' '2 values on the diagonal were left out' matrix <<<$'7,3\n0,9'
gives bytes.csv '0 1 2147483647;0 2 1' '' 'rounded; .*smallest|relative error' matrix <<<$'0,1e15,7\n0,0,0\n0,0,0'
refuses 'ragged.txt:2: 1 values, the first row has 2' matrix ragged.txt <<<$'1 2\n3'
refuses 'minus.csv:1: ' matrix minus.csv <<<$'0,-3\n0,0'
refuses 'word.csv:2: ' matrix word.csv <<<$'0,1,2\n1,x,3\n2,3,0'
refuses 'empty.csv: the file is empty' matrix empty.csv </dev/null
refuses 'rectangle.csv: 2 rows and 3 columns' matrix rectangle.csv <<<$'0,1,2\n1,0,3'

# ---- edge lists ----------------------------------------------------------------------------------------------
gives names.txt '0 1 50;1 2 15' 'lena;bo;carl' '3 vertices have names' edges <<<$'lena bo 3\nbo carl 1.5\nbo lena 2'
gives loops.txt '0 1 3' '' '1 self-loops were left out' edges <<<$'0 1 1\n1 1 5\n0 1 2'
gives unweighted.txt '0 1;1 2' '' '' edges --unweighted <<<$'0 1 17\n1 2 4'
refuses 'names.txt:2: edge weight must be' edges names.txt <<<$'lena bo 3\nbo carl x'

# ---- meshes --------------------------------------------------------------------------------------------------
gives strip.mesh '0 1;1 2;2 3' '' '' mesh --common 2 <<<$'4\n1 2 3\n2 3 4\n3 4 5\n4 5 6'
gives corner.mesh '0 1;0 2;1 2;1 3;2 3' '' '' mesh <<<$'4\n1 2 3\n2 3 4\n3 4 5\n4 5 6'
gives square.msh '0 1' '1;2' '' gmsh <<'MSH'
$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
$EndNodes
$Elements
2
1 2 2 0 1 1 2 3
2 2 2 0 1 1 3 4
$EndElements
MSH
gives square4.msh '0 1' '1;2' '' gmsh <<'MSH'
$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 4 1 4
2 1 0 4
1
2
3
4
0 0 0
1 0 0
1 1 0
0 1 0
$EndNodes
$Elements
1 2 1 2
2 1 2 2
1 1 2 3
2 1 3 4
$EndElements
MSH
refuses 'short.mesh:.*' mesh short.mesh <<<$'4\n1 2 3'
refuses 'none.msh:.*' gmsh none.msh <<<$'$MeshFormat\n2.2 0 8\n$EndMeshFormat'

# ---- Matrix Market -------------------------------------------------------------------------------------------
gives sym.mtx '0 1 4;1 2 5' '' '' mtx \
    <<<$'%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 4\n3 2 5\n1 1 9'
gives gen.mtx '0 1 9' '' 'joined' mtx <<<$'%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 4\n2 1 5'
refuses 'more.mtx:4: ' mtx more.mtx <<<$'%%MatrixMarket matrix coordinate integer symmetric\n3 3 1\n2 1 4\n3 2 5'

# ---- load data of vt -----------------------------------------------------------------------------------------
task() { # id node seconds [migratable]
    printf '{"entity":{"type":"object","id":%s%s},"node":%s,"time":%s}' "$1" "${4:+,\"migratable\":$4}" "$2" "$3"
}
talk() { # from to bytes
    printf '{"type":"SendRecv","from":{"type":"object","id":%s},"to":{"type":"object","id":%s},"bytes":%s}' "$@"
}
phases() { # tasks communications: the same in two phases
    printf '{"phases":[{"id":0,"tasks":[%s],"communications":[%s]},{"id":1,"tasks":[%s],"communications":[%s]}]}' \
        "$1" "$2" "$1" "$2"
}
gives loads.json '0 1 100;1 2 30' 'id 5;id 7;id 9' '3 tasks of 2 phases; a unit of load is 0.002 s' vt < <(
    phases "$(task 5 0 1),$(task 7 1 2),$(task 9 1 3)" "$(talk 5 7 80),$(talk 7 5 20),$(talk 9 7 30)")
[ "$(awk 'NR > 1 { print $1 }' out | paste -sd ';')" = '500;1000;1500' ] || fail "loads: $(cat out)"
gives pinned.json '0 1' 'id 1;id 2' 'metis holds no pins' vt < <(
    phases "$(task 1 0 1 false),$(task 2 0 1)" "$(talk 1 2 1)")
gives unknown.json '0 1' 'id 1;id 2' '1 communications with tasks that no phase has|2 communications' vt < <(
    phases "$(task 1 0 1),$(task 2 0 1)" "$(talk 1 2 1),$(talk 1 3 1)")
refuses 'time.json: phase 0, task 0: its time is no number' vt time.json < <(phases "$(task 1 0 '"x"')" '')
refuses 'broken.json:2: no JSON' vt broken.json <<<$'{"phases":\n[,'
refuses 'packed.br: is compressed by brotli' vt packed.br <<<'anything'
refuses 'phase 0 has the task with id 1 twice' vt twice.json < <(phases "$(task 1 0 1),$(task 1 0 1)" '')
"$lbctl" graph-from vt "$vt"/ring.*.json -o ring.graphml 2>err || fail "ring: $(cat err)"
[ ! -e ring.graphml.names ] || fail "ring: GraphML holds names, and there is a file of them"
[ "$("$lbctl" convert ring.graphml - --lossy 2>/dev/null | head -n 1)" = '12 12 011' ] || fail 'ring: other sizes'

# ---- usage ---------------------------------------------------------------------------------------------------
refuses "FORMAT: 'edge' is none of matrix, vt, mesh, gmsh, mtx, edges" edge loops.txt <<<'0 1'
refuses 'gone: cannot be opened' edges gone
refuses '--common: only meshes have elements' edges loops.txt --common 2 <<<'0 1'
refuses 'loops.txt: one FILE is a graph' edges names.txt loops.txt <<<'a b'
printf 'a b\n' | "$lbctl" graph-from edges - -o - >stdout 2>err && fail 'names to standard output'
grep -q -- '--names: vertices have names' err || fail "names to standard output: $(cat err)"
printf 'a b\n' | "$lbctl" graph-from edges - -o - --names n >stdout 2>err && [ "$(paste -sd ';' n)" = 'a;b' ] ||
    fail "--names: $(cat err)"
"$lbctl" graph-from edges names.txt -o nowhere/out.graph >stdout 2>err
[ $? -eq 1 ] && grep -q 'nowhere/out.graph' err || fail "nowhere: $(cat err)"

[ "$failed" -ne 0 ] || echo "$checked files give what is meant, or a reason"
exit "$failed"
