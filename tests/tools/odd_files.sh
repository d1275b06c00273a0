#!/usr/bin/env bash
# Guest graphs that others write: a table of odd files, each with the right answer, or with a message that names the line and
# what to do. Nothing is lost without a word: a file is read without a remark only if all of it was used.
#
#   answer NAME OPTIONS EDGES REMARK < text    lbctl convert gives these edges (an edge list, lines joined by ';') and
#                                              the remark, an extended pattern; an empty one: none at all
#   refuse NAME OPTIONS MESSAGE < text         status 2, one line on standard error that matches, no output
set -u
shopt -s lastpipe # the functions below count in this shell

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
lbctl=${top_builddir:-$top/build}/client/lbctl
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failures=0
files=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

answer() {
    cat >"$1"
    files=$((files + 1))
    # shellcheck disable=SC2086
    "$lbctl" convert "$1" out $2 --to edges --lossy >/dev/null 2>err || { fail "$1 $2: $(cat err)"; return; }
    local got
    got=$(grep -v '^#' out | tr '\t' ' ' | paste -sd';')
    [ "$got" = "$3" ] || fail "$1 $2: $got, not $3"
    grep -v '; they were left out$' err >remarks
    if [ -z "$4" ]; then
        [ ! -s remarks ] || fail "$1 $2: a remark: $(cat remarks)"
    else
        grep -qE -- "$4" remarks || fail "$1 $2: no '$4' in: $(cat remarks)"
    fi
    rm -f out
}

refuse() {
    cat >"$1"
    files=$((files + 1))
    # shellcheck disable=SC2086
    "$lbctl" convert "$1" out $2 --to graphml >stdout 2>err
    local got=$?
    [ "$got" -eq 2 ] || fail "$1 $2: status $got, not 2"
    [ "$(wc -l <err)" -eq 1 ] || fail "$1 $2: not one line: $(cat err)"
    grep -qE -- "^lbctl convert: $1:.*$3" err || fail "$1 $2: no '$3' in: $(cat err)"
    [ ! -e out ] && [ ! -s stdout ] || fail "$1 $2: output in spite of an error"
}

mm='%%%%MatrixMarket matrix coordinate'

# ---- weights ---------------------------------------------------------------------------------------------

printf '0 1 0\n1 2 3\n' | refuse zero.tsv '' '1: edge weight .* not "0": --scale auto'
printf '0 1 0\n1 2 3\n' | answer zero.tsv '--scale auto' '0;1 2 3' '1 edges of weight 0 were left out'
printf '0 1 0.5\n1 2 3\n' | refuse real.tsv '' '1: .*"0.5": --scale auto'
printf '0 1 0.5\n1 2 3\n' | answer real.tsv '--scale auto' '0 1 5;1 2 30' 'multiplied by 10 and rounded; the largest relative error is 0'
printf '0 1 0.5\n1 2 3\n' | answer real.tsv '--scale 3' '0 1 2;1 2 9' 'multiplied by 3 .* error is 0.33'
printf '0 1 3000000000\n1 2 6000000000\n' | refuse bytes.tsv '' '1: .*3000000000'
printf '0 1 3000000000\n1 2 6000000000\n' | answer bytes.tsv '--scale auto' '0 1 1;1 2 2' 'error is 0'
printf '0 1 9223372036854775807\n1 2 1\n' | answer large.tsv '--scale auto' '0 1 2147483647;1 2 1' 'became 1'
printf '0 1 -4\n' | refuse negative.tsv '--scale auto' '1: edge weight must not be negative'
printf '0 1 nan\n' | refuse nan.tsv '--scale auto' '1: .*nan'
printf '0 1 1e999\n' | refuse infinite.tsv '--scale auto' '1: .*too large'
printf '0 1 3.0\n1 2 4e0\n' | answer whole-reals.tsv '' '0 1 3;1 2 4' ''
printf '0 1 0x10\n' | refuse hex.tsv '' '1: .*"0x10"'
printf '0 1 1,5\n' | refuse comma.tsv '' '1: .*"1,5"'
printf '0 1 7\n1 2 0.3\n' | answer unweighted.tsv '--unweighted' '0 1;1 2' ''
printf '3 2 011\n0 2 1\n5 1 1 3 2\n7 2 2\n' | refuse idle.graph '' '2: vertex weight .*--scale auto'
printf '3 2 011\n0 2 1\n5 1 1 3 2\n7 2 2\n' | answer idle.graph '--scale auto' '0 1 1;1 2 2' 'vertex weight is 0 and became 1; all together weigh'
printf '2 1 001\n2 1.5\n1 1.5\n' | refuse real.graph '' '2: edge weight .*"1.5": --scale auto'
printf '2 1 001\n2 1.5\n1 1.5\n' | answer real.graph '--scale auto' '0 1 15' 'error is 0'
printf '2 1 001\n2 1.5\n1 1.25\n' | refuse unequal.graph '--scale auto' '3: .* weighs 1.5 on one side and 1.25 on the other'
printf "$mm integer symmetric\n3 3 2\n2 1 0\n3 2 5\n" | refuse zero.mtx '' '3: .*"0": --scale auto'
printf "$mm integer symmetric\n3 3 2\n2 1 0\n3 2 5\n" | answer zero.mtx '--scale auto' '0;1 2 5' '1 edges of weight 0'
printf "$mm integer symmetric\n3 3 2\n2 1 4294967296\n3 2 8589934592\n" | refuse bytes.mtx '' '3: .*4294967296'
printf "$mm integer symmetric\n3 3 2\n2 1 4294967296\n3 2 8589934592\n" | answer bytes.mtx '--scale auto' '0 1 1;1 2 2' 'error is 0'
printf "$mm real symmetric\n3 3 3\n1 1 4\n2 1 -0.5\n3 2 -1\n" | refuse laplace.mtx '' '4: .*0.5'
printf "$mm real symmetric\n3 3 3\n1 1 4\n2 1 -0.5\n3 2 -1\n" | answer laplace.mtx '--unweighted' '0 1;1 2' ''
printf "$mm real symmetric\n3 3 3\n1 1 4\n2 1 -0.5\n3 2 -1\n" | answer laplace.mtx '--scale auto' '0 1 5;1 2 10' '1 values on the diagonal were left out'
printf "$mm integer general\n2 2 2\n1 2 2147483647\n2 1 1\n" | refuse sum.mtx '' 'add up to more than 2147483647'
printf "$mm integer general\n2 2 2\n1 2 2147483647\n2 1 1\n" | answer sum.mtx '--scale auto' '0 1' 'multiplied'

# ---- copies, directions, self-loops ----------------------------------------------------------------------

printf '0 1\n0 1\n' | refuse copies.tsv '' '2: .*given twice.*--sum'
printf '0 1\n0 1\n1 0\n1 1\n' | answer copies.tsv '--sum' '0 1 3' '1 copies of edges and 1 opposite directions were joined, 1 self-loops'
printf '0 1 2\n1 0 3\n' | refuse directions.tsv '' '2: .*weighs 2 on one side and 3 on the other.*--sum'
printf '0 1 2\n1 0 3\n' | answer directions.tsv '--sum' '0 1 5' '1 opposite directions'
printf '0 0\n0 1\n' | refuse loop.tsv '' '1: .*its own neighbour.*--sum'
printf '2 1\n2\n\n' | refuse onesided.graph '' '2: .*lists 2 as a neighbour.*--sum'
printf '2 1\n2\n\n' | answer onesided.graph '--sum' '0 1' 'announces 1 edges, the rows hold 0'
printf '2 2\n1 2\n1\n' | answer loop.graph '--sum' '0 1' '1 self-loops'

# ---- ids of edge lists -----------------------------------------------------------------------------------

printf '1 2\n2 3\n' | answer from1.tsv '' '1 2;2 3' '3 vertices have ids from 1 to 3; they are numbered from 0'
printf '0 5\n5 900000000\n' | answer gaps.tsv '' '0 5;5 900000000' '3 vertices have ids from 0 to 900000000'
printf '7 99999999999999999999\n' | answer huge-ids.tsv '' '"7";"99999999999999999999";"7" "99999999999999999999"' '2 vertices have names'
printf 'b a 2\na c\n' | answer words.tsv '' 'b;a;c;b a 2;a c 1' '3 vertices have names'
printf '"x y" z\n' | answer quotes.tsv '' '"x y";z;"x y" z' 'names'
printf 'from to\n0 1\n1 2\n' | refuse heading.tsv '' '1: only this line has words.*heading'
printf '0,1\n1,2\n' | refuse commas.tsv '' '1: .*separated by blanks'
printf '\xef\xbb\xbf# KONECT\r\n0\t1 \r\n\r\n1 2\t\r\n' | answer bom.tsv '' '0 1;1 2' ''
printf '\xff\xfe0\0 \0001\0\n\0' | answer utf16.tsv '' '0 1' ''
printf '0 1\n' | refuse file.foo '' 'the suffix of its name is that of no format: give --from with one of metis, '
printf '0 1\n' | refuse nosuffix '' 'give --from'
printf '0 1\n' | answer file.bar '--from edges' '0 1' ''
printf '0 1\n' | answer list.edgelist '' '0 1' ''
printf '0 1\n' | bzip2 | answer packed.tsv.bz2 '' '0 1' ''
printf '0 1\n' | xz | answer packed.tsv.xz '' '0 1' ''
printf '0 1\n' | xz | head -c 30 | refuse cut.tsv.xz '' 'end early|damaged'
printf '0 1\n' | gzip | answer packed.gz '--from edges' '0 1' ''

# ---- GraphML ---------------------------------------------------------------------------------------------

graphml() { # keys, nodes and edges
    printf '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">%s<graph>%s</graph></graphml>\n' "$1" "$2"
}
ab='<node id="a"/><node id="b"/>'
graphml '' "$ab<edge source='a' target='b'/>" | answer names.graphml '' 'a;b;a b' ''
graphml '' "<node id='0'/><node id='1'/><edge source='0' target='1'/>" | answer numbers.graphml '' '0 1' ''
graphml '<key id="k" for="edge" attr.name="Weight" attr.type="double"/>' "$ab<edge source='a' target='b'><data key='k'>5</data></edge>" |
    answer capital.graphml '' 'a;b;a b' '"Weight" of edges .key "k". is not read: an edge weight is called "weight"'
graphml '<key id="k" for="all" attr.name="cost" attr.type="int"/>' "$ab" | answer cost.graphml '' 'a;b' '"cost" of edges'
graphml '<key id="k" for="edge" attr.name="latency" attr.type="float"/>' "$ab" | answer latency.graphml '' 'a;b' '"latency" of edges'
graphml '<key id="k" for="node" attr.name="weights" attr.type="int"/>' "$ab" | answer weights.graphml '' 'a;b' '"weights" of nodes'
graphml '<key id="w" for="node" attr.name="weight"/>' "$ab<edge source='a' target='b'><data key='w'>5</data></edge>" |
    answer domain.graphml '' 'a;b;a b' 'data with key "w" .* are not read from edges: it is declared for nodes'
graphml '<key id="w" for="node" attr.name="weight"/><key id="w" for="edge" attr.name="weight"/>' \
    "$ab<edge source='a' target='b'><data key='w'>5</data></edge>" | answer oneid.graphml '' 'a;b;a b 5' ''
graphml '' "$ab<edge source='a' target='b'><data key='d9'>5</data></edge>" |
    answer undeclared.graphml '' 'a;b;a b' '1 data whose key is not declared are not read, the first of key "d9"'
graphml '<key id="w" for="edge" attr.name="weight"/>' "$ab<edge source='a' target='b'><data key='w'>0.5</data></edge>" |
    refuse real.graphml '' '2: edge weight .*"0.5": --scale auto'
graphml '<key id="w" for="edge" attr.name="weight"/>' "$ab<edge source='a' target='b'><data key='w'>0.5</data></edge>" |
    answer real.graphml '--scale auto' 'a;b;a b 5' 'multiplied by 10'
printf '<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns"><g:graph><g:node id="a"/><g:node id="b"/><g:edge source="a" target="b"/><y:node xmlns:y="u" id="c"/></g:graph></g:graphml>' |
    answer prefix.graphml '' 'a;b;a b' ''
graphml '' "$ab<edge source='a' target='b'/>" | sed 's/1.0"/1.0" encoding="UTF-16"/' | iconv -f utf-8 -t utf-16 | answer utf16.graphml '' 'a;b;a b' ''
printf '<!DOCTYPE g [<!ENTITY a "x">]><graphml><graph><node id="&a;"/></graph></graphml>' | refuse entity.graphml '' 'entity'
graphml '' "<node id=''/><node id='b'/>" | answer empty-id.graphml '' '0;1' 'names of vertices are not kept'

# ---- meshes ----------------------------------------------------------------------------------------------

printf '3\n1 2 3\n2 3 4\n4 5 6\n' | answer two.mesh '' '0 1;1 2' ''
printf '3\n1 2 3\n2 3 4\n4 5 6\n' | answer two.mesh '--common 2' '2;0 1' ''
printf '2 1\n1 2 3\n2 3 4\n' | refuse metis4.mesh '' 'METIS 4'
printf '2 3\n1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8\n' | refuse hexes.mesh '' '1: .*METIS 4'
printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Elements\n3\n1 1 2 0 1 1 2\n2 2 2 0 1 1 2 3\n3 2 2 0 1 1 3 4\n$EndElements\n' |
    answer v2.msh '' '2 3' '1 elements below dimension 2 were left out'
printf '$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Elements\n1 2 1 2\n3 1 4 2\n1 1 2 3 4\n2 2 3 4 5\n$EndElements\n' | answer v4.msh '' '1 2' ''
printf '$MeshFormat\n4 0 8\n$EndMeshFormat\n' | refuse v40.msh '' '2: version 4 is not read: save the mesh as version 2.2 or 4.1'
printf '$MeshFormat\n2.2 1 8\n' | refuse binary.msh '' '2: binary'

# ---- GML, Pajek, DIMACS, CSV -----------------------------------------------------------------------------

printf 'graph [ node [ id 3 label "x" ] node [ id 5 label "y" ] edge [ source 3 target 5 weight 2 ] ]' | answer labels.gml '' 'x;y;x y 2' ''
printf 'graph [ node [ id 3 label "x" ] node [ id 5 label "x" ] ]' | answer equal.gml '' '3;5' 'labels of nodes are not kept'
printf 'graph [ node [ id 3 ] node [ id 5 ] edge [ source 3 target 5 value 2.5 ] ]' | answer value.gml '' '3 5' '"value" of edges is not read'
printf 'graph [ node [ id 3 ] edge [ source 3\n target 4 ] ]' | refuse missing.gml '' 'there is no node with the id 4'
printf 'graph [ node [ id 1 ]\n' | refuse open.gml '' 'a \] is missing'
printf '*Vertices 2\n1 "x y" 0.5 0.5\n2 "z" 0.1 0.2\n*Arcs\n1 2 3.0 c Red\n' | answer labels.net '' '"x y";z;"x y" z 3' ''
printf '*Vertices 2\n1 "x" 0.5 0.5\n2 "z"\n' | answer places.net '' 'x;z' 'positions are not kept: only 1 of 2'
printf '*Vertices 2\n*Arcs\n1 2 -3\n' | refuse negative.net '' '3: .*"-3"'
printf '*Vertices 2\n*Edges\n1 2\n*Vector v\n0.5\n0.5\n' | answer vector.net '' '0 1' '1 sections are not read'
printf 'c x\np edge 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n' | answer both.col '' '0 1;1 2' ''
printf 'p edge 3 1\ne 1 2\ne 2 3\ne 1 3\n' | answer more.col '' '0 1;0 2;1 2' 'announces 1 edges, there are 3'
printf 'p edge 3 4\ne 1 2\n' | refuse truncated.col '' 'after 1 of 4 edges'
printf 'p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 6\n' | answer flow.max '' '0 1 5;1 2 6' 'source and sink mean nothing'
printf 'p sp 2 2\na 1 2 5\na 2 1 6\n' | refuse road.gr '' '3: .*weighs 5 .* 6 .*--sum'
printf '0,2,0\n2,0,3\n0,3,0\n' | answer dense.csv '' '0 1 2;1 2 3' ''
printf ';a;b\na;0;1\nb;4;0\n' | answer names.csv '' 'a;b;a b 5' 'the first row and column holds the names'
printf '0,2\n2,7\n' | answer diagonal.csv '' '0 1 2' '1 values on the diagonal were left out'
printf 'source,target,weight\n0,1,2\n1,2,3\n2,3,4\n' | refuse edges.csv '' 'only a square matrix is a graph .an edge list'
printf '0,0.5\n0.5,0\n' | refuse real.csv '' '1: .*"0.5": --scale auto'
printf '0 5.000000000000000000e+00\n5.000000000000000000e+00 0\n' | answer numpy.csv '' '0 1 5' ''

# ---- what formats cannot hold ----------------------------------------------------------------------------

cat >all.graphml <<'EOF'
<graphml><key id="w" for="node" attr.name="weight"/><key id="c" for="edge" attr.name="weight"/><key id="x" for="node" attr.name="x"/>
<key id="y" for="node" attr.name="y"/><key id="h" for="node" attr.name="host"/><key id="p" for="node" attr.name="pinned"/><graph>
<node id="a"><data key="w">5</data><data key="x">1</data><data key="y">2</data><data key="h">0</data><data key="p">true</data></node>
<node id="b"><data key="x">1</data><data key="y">3</data></node><edge source="a" target="b"><data key="c">7</data></edge></graph></graphml>
EOF
loss() { # format, what it cannot hold
    "$lbctl" convert all.graphml out --to "$1" 2>err
    [ $? -eq 2 ] && grep -qF "$1 holds $2: write graphml, or give --lossy" err || fail "$1: $(cat err)"
    [ ! -e out ] || fail "$1: written in spite of a loss"
    "$lbctl" convert all.graphml out --to "$1" --lossy 2>err || fail "$1 --lossy: $(cat err)"
    grep -qF "out: $1 holds $2; they were left out" err || fail "$1 --lossy: $(cat err)"
    rm -f out
}
loss metis 'no positions, no pins, no names of these vertices'
loss scotch 'no positions, no pins, no names of these vertices'
loss mtx 'no vertex weights, no positions, no pins, no names of these vertices'
loss edges 'no vertex weights, no positions, no pins'
loss gml 'no pins'
loss pajek 'no vertex weights, no pins'
loss dimacs 'no positions, no pins, no names of these vertices'
loss csv 'no vertex weights, no positions, no pins'
for format in mesh gmsh; do
    "$lbctl" convert all.graphml out --to $format --lossy 2>err
    [ $? -eq 2 ] && grep -q 'read only' err || fail "$format: $(cat err)"
done
"$lbctl" convert all.graphml out.graphml 2>err && [ ! -s err ] || fail "graphml: $(cat err)"
"$lbctl" convert all.graphml out.bar --lossy 2>err
[ $? -eq 2 ] && grep -q 'give --to with one of' err || fail "out.bar: $(cat err)"

# Dual graphs are those of METIS.
if command -v m2gmetis >/dev/null; then
    printf '5\n1 8 9\n6 7\n1 2 3\n2 3 4\n3 4 5 6\n' >m.mesh
    for common in 1 2 3; do
        m2gmetis -ncommon=$common m.mesh m.graph >/dev/null
        "$lbctl" convert m.graph m.edges && "$lbctl" convert m.mesh n.edges --common $common
        cmp -s m.edges n.edges || fail "m2gmetis -ncommon=$common gives another dual graph"
    done
fi

# Names reach every kind of output.
printf 'ann bob\nbob cy\n' >n.tsv
"$lbctl" plan n.tsv --hosts chain:3 --format json -q 2>&1 | grep -q '"vertex_names":\["ann","bob","cy"\]' || fail "names in JSON"
"$lbctl" plan n.tsv --hosts chain:3 --format graphml -q | grep -q '<edge source="bob" target="cy">' || fail "names in GraphML"
"$lbctl" plan n.tsv --hosts chain:3 --vertex-names -q -o n.part
[ "$(cut -f2 n.part | paste -sd,)" = ann,bob,cy ] || fail "a column of names"
"$lbctl" eval n.tsv n.part --hosts chain:3 -q >/dev/null || fail "eval of a mapping with names"
printf 'bob ann\nbob cy\n' >other.tsv
"$lbctl" eval other.tsv n.part --hosts chain:3 -q 2>err >/dev/null
[ $? -eq 2 ] && grep -q '"ann" is not the name of vertex 0' err || fail "a mapping of another graph: $(cat err)"

[ "$files" -ge 60 ] || fail "only $files files"
echo "$files files, $failures failed"
[ "$failures" -eq 0 ]
