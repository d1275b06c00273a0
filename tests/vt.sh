#!/usr/bin/env bash
# lbsim import vt: load data of four ranks become a trace that is replayed; the order of files does not matter; what is
# wrong with a file is said.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
sim=${top_builddir:-$top/build}/sim/lbsim
data=$top/tests/vt
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

bad() {
    echo "FAILED: $*"
    failed=1
}
# refused TEXT ARGUMENT...: lbsim import vt ARGUMENT... ends with status 2, says that, and writes nothing.
refused() {
    local text=$1
    shift
    rm -f "$scratch/trace"
    "$sim" import vt "$@" -o "$scratch/trace" >"$scratch/output" 2>&1
    [ $? -eq 2 ] || bad "$text: status"
    grep -q -- "$text" "$scratch/output" || bad "not told \"$text\": $(cat "$scratch/output")"
    [ ! -e "$scratch/trace" ] || bad "$text: a trace is written"
}
# json TEXT: a file with that text. phases TEXT: with one phase of these members.
json() { printf '%s' "$1" >"$scratch/bad.json"; }
phase() { json "{\"phases\": [{\"id\": 3, $1}]}"; }
task='{"entity": {"type": "object", "id": 1, "migratable": true}, "node": 0, "time": 1.5}'

"$sim" import vt "$data"/ring.{0,1,2,3}.json -o "$scratch/ring" --hosts ring:4 --phase 20 2>"$scratch/output" || bad "import"
grep -q '12 tasks on 4 ranks, 3 phases, 12 pairs that talk' "$scratch/output" || bad "the remark: $(cat "$scratch/output")"
grep -q 'left out: 3 entries .* 1 communications' "$scratch/output" || bad "what is left out: $(cat "$scratch/output")"
# The task with an id comes first; 8 is the one that stays. Bytes of both directions add up. A mean task weighs 1000.
for line in '^vertex 0 [0-9]* 2 8:1000 9:1000$' '^vertex 8 [0-9]* 2 pin 2$' '^vertex 4 [0-9]* 1 5:1500$' \
    '^vertex 11 [0-9]* 3$' '^host 3 rank3 1 .* to 0:1 2:1$' '^measured$' '^at 20.000000$' '^own 1 3$' '^end 60.000000$'; do
    grep -q "$line" "$scratch/ring" || bad "no line $line"
done
[ "$(grep -c '^at' "$scratch/ring")" -eq 2 ] || bad "steps"
[ "$(grep -c '^load' "$scratch/ring")" -eq 1 ] || bad "loads: rank 3 leaves a phase out, which is as the one before"
"$sim" import vt "$data"/ring.{2,0,3,1}.json -q -o "$scratch/again.gz" --hosts ring:4 --phase 20 || bad "another order"
gzip -dc "$scratch/again.gz" | cmp -s - "$scratch/ring" || bad "another order is another trace"
"$sim" replay "$scratch/ring" --policy none,auto --imbalance 0.2 --phases >"$scratch/output" || bad "replay: $(tail -n 3 "$scratch/output")"
awk '$1 == "recorded" && NF > 5 { r = $2 } $1 == "none" && NF > 5 { n = $2 } END { exit !(n < r / 2) }' "$scratch/output" ||
    bad "loads are no more even than they were: $(head -n 7 "$scratch/output")"
"$sim" import vt "$data"/ring.0.json -o - 2>/dev/null | grep -q '^host 0 rank0 1 at [0-9. ]*$' || bad "one rank alone"

refused "brotli -d" "$data/ring.0.json" "$scratch/data.1.json.br"
json 'no brotli, but like it'
refused "no JSON; it may be compressed by brotli" "$scratch/bad.json"
printf '{\0}' >"$scratch/bad.json"
refused "no text; it may be compressed by brotli" "$scratch/bad.json"
refused "none.json: " "$scratch/none.json"
refused "are too few for 4 ranks" "$data"/ring.{0,1,2,3}.json --hosts ring:3
refused "seq_id 0 of home 0 twice: was a file given twice" "$data"/ring.0.json "$data"/ring.0.json
json '{"phases": ['
refused "bad.json:1: no JSON" "$scratch/bad.json"
json '{"phase": []}'
refused "no array of phases" "$scratch/bad.json"
json '{"metadata": {"type": "LBStatsfile"}, "phases": []}'
refused "of type LBStatsfile" "$scratch/bad.json"
json '{"metadata": {"rank": 10000}, "phases": []}'
refused "its rank is not from 0" "$scratch/bad.json"
json '{"phases": []}'
refused "no file has a task" "$scratch/bad.json"
json '{"phases": [{"tasks": []}]}'
refused "phase at place 0 has no id" "$scratch/bad.json"
json '{"phases": [{"id": 3, "tasks": []}, {"id": 3, "tasks": []}]}'
refused "phase 3 is there twice" "$scratch/bad.json"
phase "\"tasks\": [$task, {\"node\": 0}]"
refused "phase 3, task 1: it has no entity" "$scratch/bad.json"
phase "\"tasks\": [${task/\"id\"/\"ident\"}]"
refused "neither an id nor a seq_id" "$scratch/bad.json"
phase "\"tasks\": [${task/\"node\": 0/\"node\": 9999}]"
refused "its node is no rank" "$scratch/bad.json"
phase "\"tasks\": [${task/1.5/-1}]"
refused "its time is no number of seconds" "$scratch/bad.json"
phase "\"tasks\": [$task], \"communications\": [{\"from\": {\"type\": \"object\", \"id\": 1}}]"
refused "phase 3, communication 0: it has no two ends" "$scratch/bad.json"
phase "\"tasks\": [$task], \"communications\": [{\"from\": {\"type\": \"object\", \"id\": 1}, \"to\": {\"type\": \"object\", \"id\": 2}, \"bytes\": \"x\"}]"
refused "its bytes are no number" "$scratch/bad.json"
for wrong in "" "vt" "vt $data/ring.0.json" "other x -o y" "vt x -o" "vt x -o y --phase 0" "vt x -o y --nonsense" \
    "vt $data/ring.0.json -o $scratch/trace --hosts nonsense"; do
    # shellcheck disable=SC2086 # words of a command
    "$sim" import $wrong >"$scratch/output" 2>&1
    [ $? -eq 2 ] && [ -s "$scratch/output" ] || bad "lbsim import $wrong: status or message"
done
"$sim" import --help | grep -q -- --phase || bad "--help"
[ "$failed" -eq 0 ] && echo "load data of vt are imported, and bad ones refused"
exit "$failed"
