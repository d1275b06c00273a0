#!/usr/bin/env bash
# lbpapers list, table, plot, embed from outside: every number of the papers is computed and right, the printed
# tables are all there, drawings are drawings, and what is wrong on the command line is said. FULL=1 computes
# everything, which takes minutes.
set -u

. "${top_srcdir:-$(dirname "$0")/../..}/tests/sim/lbsim_lib.sh"
sim=$top_builddir/papers/lbpapers

# Cells of table $1 in the array that was printed.
cells() {
    grep -c "^  {\"name\": \"$1\"," "$scratch/all"
}

# shellcheck disable=SC2086 # no word, or one
"$sim" table all --json ${FULL:+--full} >"$scratch/all" || fail "table all --json: status $?"
grep -F '"ok": false' "$scratch/all" && fail "these numbers are wrong"
[ "$(head -c1 "$scratch/all")$(tail -n1 "$scratch/all")" = '[]' ] || fail "--json is no array"
for field in source item paper ours tolerance ok; do
    [ "$(grep -c "\"$field\": " "$scratch/all")" -eq "$(grep -c '^  {' "$scratch/all")" ] || fail "field $field"
done
while read -r table count; do
    [ "$(cells "$table")" -eq "$count" ] || fail "$table: $(cells "$table") numbers, not $count"
done <<'TABLES'
xl95-table-2 44
xl95-table-3 44
xl95-table-4 20
xl95-table-5 16
xl95-table-6 20
xl95-table-7 16
TABLES
[ -n "${FULL-}" ] || [ "$(cells rjk03-table-1)" -eq 24 ] || fail "rjk03-table-1"
grep -c '"not_reproduced": true' "$scratch/all" | grep -qx 20 || fail "numbers that are not reproduced"
"$sim" list | sed -n 's/^table  *\([^ ]*\).*/\1/p' >"$scratch/names"
[ "$(wc -l <"$scratch/names")" -ge 57 ] || fail "lbpapers list: too few tables"
while read -r table; do
    [ "$(cells "$table")" -gt 0 ] || fail "$table: no number"
done <"$scratch/names"

# The same seed gives the same numbers, another seed others.
"$sim" table hei97-fig-7 --json --jobs 1 >"$scratch/first"
"$sim" table hei97-fig-7 --json >"$scratch/second"
cmp "$scratch/first" "$scratch/second" || fail "the same seed gives other numbers"
"$sim" table hei97-fig-7 --json --seed 2 >"$scratch/third"
cmp -s "$scratch/first" "$scratch/third" && fail "--seed changes nothing"
"$sim" table hei97-spectrum | grep -q 'worst case .* 478 .* ok' || fail "text"

"$sim" table rjk03-queue --runs 1 | grep -q 'not reproduced' || fail "not reproduced"

# Guests that not everybody has: said to be skipped, or judged.
graphs=${top_srcdir:-$(dirname "$0")/../..}/../shared/graphs
"$sim" table hei97-planar | grep -q '^hei97-planar: skipped: whitaker3, 3elt and uk' || fail "what is skipped"
"$sim" table hei97-planar --graphs "$scratch" >"$scratch/out" && fail "a folder without graphs"
grep -q 'not computed: .*whitaker3.graph.gz' "$scratch/out" || fail "which graph is missing: $(cat "$scratch/out")"
if [ -r "$graphs/uk.graph.gz" ]; then
    "$sim" table hei97-planar --graphs "$graphs" >"$scratch/out" || fail "planar guests: $(cat "$scratch/out")"
    [ "$(grep -c ' ok' "$scratch/out")" -eq 10 ] || fail "planar guests: $(cat "$scratch/out")"
else
    echo "skipped: planar guests of ../shared/graphs, which is absent"
fi

"$sim" plot hei97-fig-5-right rjk03-fig-12 --dir "$scratch/plots" >"$scratch/out" || fail "plot"
for file in "$scratch"/plots/hei97-fig-5-right.svg "$scratch"/plots/rjk03-fig-12.svg; do
    [ "$(head -c4 "$file")" = '<svg' ] && grep -q '<polyline' "$file" && [ "$(tail -n1 "$file")" = '</svg>' ] ||
        fail "$file is no drawing"
done
"$sim" embed lattice:12x12 --hosts mesh:2x2 --frames "$scratch/frames" >"$scratch/out" || fail "embed"
[ "$(wc -l <"$scratch/out")" -eq 18 ] || fail "embed: $(wc -l <"$scratch/out") files"
grep -q 'largest error' "$scratch/frames/frame-0400.svg" || fail "embed: no error in the caption"
"$sim" embed tree:60 --hosts ring:5 --frames "$scratch/tree" --start random --order block >"$scratch/out" ||
    fail "embed: a guest without pins"
"$sim" embed tri:80 --hosts mesh:2x2 --frames "$scratch/circles" --rule circles --order ids >"$scratch/out" || fail "circles"
[ "$(grep -c '<circle' "$scratch/circles/frame-0400.svg")" -eq 80 ] || fail "embed: no circles"
"$sim" embed tri:80 --hosts mesh:2x2 --frames "$scratch/angles" --rule angles --order ids >"$scratch/out" || fail "angles"
cmp -s "$scratch/circles/frame-0400.svg" "$scratch/angles/frame-0400.svg" && fail "embed: --rule changes nothing"

refused <<END
table|NAME is missing
table nonsense|'nonsense' is no table; lbpapers list lists them
table all --nonsense|--nonsense: there is no such option
table all --runs 0|--runs: '0' is not a whole number from 1
table all --runs|--runs: a value is missing
list x|x: no operand is wanted
plot|NAME is missing
plot nonsense|'nonsense' is no plot; lbpapers list lists them
plot all --dir|--dir: a value is missing
embed|GRAPH is missing
embed lattice:4x4 --hosts mesh:2x2|--frames DIR is missing
embed lattice:4x4 --hosts nonsense --frames $scratch/x|nonsense: no such topology
embed $scratch/no.graph --hosts mesh:2x2 --frames $scratch/x|$scratch/no.graph: cannot be opened
embed lattice:4x4 --hosts hypercube:6 --frames $scratch/x|sites in space, not in the plane
embed lattice:4x4 --hosts mesh:2x2 --frames $scratch/x --rule none|--rule: 'none' is none of mean, circles, angles
embed lattice:4x4 --hosts mesh:2x2 --frames $scratch/x --share 0|--share: '0' is not a number from 0.001
embed lattice:4x4 --hosts mesh:2x2 --frames $scratch/x --start nowhere|--start: 'nowhere' is none of centre, random
END
[ "$("$sim" list -q | wc -l)" -eq "$("$sim" list | wc -l)" ] && ! "$sim" list -q | grep -q ' ' || fail "list -q"
for command in table plot embed; do
    "$sim" "$command" --help | grep -q '^usage: lbpapers' || fail "$command --help"
done
exit "$failed"
