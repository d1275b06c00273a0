#!/usr/bin/env bash
# lbsim import vt: load data of four ranks become a trace that is replayed; the order of files does not matter; what is
# wrong with a file is said.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$top/tests/sim/lbsim_lib.sh"
data=$top/tests/vt

# refused_file TEXT ARGUMENT...: lbsim import vt ARGUMENT... ends with status 2, says that, and writes nothing.
refused_file() {
    local text=$1
    shift
    rm -f "$scratch/trace"
    "$sim" import vt "$@" -o "$scratch/trace" >"$scratch/output" 2>&1
    [ $? -eq 2 ] || fail "$text: status"
    grep -q -- "$text" "$scratch/output" || fail "not told \"$text\": $(cat "$scratch/output")"
    [ ! -e "$scratch/trace" ] || fail "$text: a trace is written"
}
# json TEXT: a file with that text. phases TEXT: with one phase of these members.
json() { printf '%s' "$1" >"$scratch/bad.json"; }
phase() { json "{\"phases\": [{\"id\": 3, $1}]}"; }
task='{"entity": {"type": "object", "id": 1, "migratable": true}, "node": 0, "time": 1.5}'

"$sim" import vt "$data"/ring.{0,1,2,3}.json -o "$scratch/ring" --hosts ring:4 --phase 20 2>"$scratch/output" || fail "import"
grep -q '12 tasks on 4 ranks, 3 phases, 12 pairs that talk' "$scratch/output" || fail "the remark: $(cat "$scratch/output")"
grep -q 'left out: 3 entries .* 1 communications' "$scratch/output" || fail "what is left out: $(cat "$scratch/output")"
# The task with an id comes first; 8 is the one that stays. Bytes of both directions add up. A mean task weighs 1000.
for line in '^vertex 0 [0-9]* 2 8:1000 9:1000$' '^vertex 8 [0-9]* 2 pin 2$' '^vertex 4 [0-9]* 1 5:1500$' \
    '^vertex 11 [0-9]* 3$' '^host 3 rank3 1 .* to 0:1 2:1$' '^measured$' '^at 20.000000$' '^own 1 3$' '^end 60.000000$'; do
    grep -q "$line" "$scratch/ring" || fail "no line $line"
done
[ "$(grep -c '^at' "$scratch/ring")" -eq 2 ] || fail "steps"
[ "$(grep -c '^load' "$scratch/ring")" -eq 1 ] || fail "loads: rank 3 leaves a phase out, which is as the one before"
"$sim" import vt "$data"/ring.{2,0,3,1}.json -q -o "$scratch/again.gz" --hosts ring:4 --phase 20 || fail "another order"
gzip -dc "$scratch/again.gz" | cmp -s - "$scratch/ring" || fail "another order is another trace"
"$sim" replay "$scratch/ring" --policy none,auto --imbalance 0.2 --phases >"$scratch/output" || fail "replay: $(tail -n 3 "$scratch/output")"
awk '$1 == "recorded" && NF > 5 { r = $2 } $1 == "none" && NF > 5 { n = $2 } END { exit !(n < r / 2) }' "$scratch/output" ||
    fail "loads are no more even than they were: $(head -n 7 "$scratch/output")"
"$sim" import vt "$data"/ring.0.json -o - 2>/dev/null | grep -q '^host 0 rank0 1 at [0-9. ]*$' || fail "one rank alone"

refused_file "brotli -d" "$data/ring.0.json" "$scratch/data.1.json.br"
json 'no brotli, but like it'
refused_file "no JSON; it may be compressed by brotli" "$scratch/bad.json"
printf '{\0}' >"$scratch/bad.json"
refused_file "no text; it may be compressed by brotli" "$scratch/bad.json"
refused_file "none.json: " "$scratch/none.json"
refused_file "are too few for 4 ranks" "$data"/ring.{0,1,2,3}.json --hosts ring:3
refused_file "seq_id 0 of home 0 twice: was a file given twice" "$data"/ring.0.json "$data"/ring.0.json
json '{"phases": ['
refused_file "bad.json:1: no JSON" "$scratch/bad.json"
json '{"phase": []}'
refused_file "no array of phases" "$scratch/bad.json"
json '{"metadata": {"type": "LBStatsfile"}, "phases": []}'
refused_file "of type LBStatsfile" "$scratch/bad.json"
json '{"metadata": {"rank": 10000}, "phases": []}'
refused_file "its rank is not from 0" "$scratch/bad.json"
json '{"phases": []}'
refused_file "no file has a task" "$scratch/bad.json"
json '{"phases": [{"tasks": []}]}'
refused_file "phase at place 0 has no id" "$scratch/bad.json"
json '{"phases": [{"id": 3, "tasks": []}, {"id": 3, "tasks": []}]}'
refused_file "phase 3 is there twice" "$scratch/bad.json"
phase "\"tasks\": [$task, {\"node\": 0}]"
refused_file "phase 3, task 1: it has no entity" "$scratch/bad.json"
phase "\"tasks\": [${task/\"id\"/\"ident\"}]"
refused_file "neither an id nor a seq_id" "$scratch/bad.json"
phase "\"tasks\": [${task/\"node\": 0/\"node\": 9999}]"
refused_file "its node is no rank" "$scratch/bad.json"
phase "\"tasks\": [${task/1.5/-1}]"
refused_file "its time is no number of seconds" "$scratch/bad.json"
phase "\"tasks\": [$task], \"communications\": [{\"from\": {\"type\": \"object\", \"id\": 1}}]"
refused_file "phase 3, communication 0: it has no two ends" "$scratch/bad.json"
phase "\"tasks\": [$task], \"communications\": [{\"from\": {\"type\": \"object\", \"id\": 1}, \"to\": {\"type\": \"object\", \"id\": 2}, \"bytes\": \"x\"}]"
refused_file "its bytes are no number" "$scratch/bad.json"
refused import <<END
|FORMAT is missing
vt|FILE is missing
vt $data/ring.0.json|--output TRACE is missing
other x -o y|FORMAT: 'other' is none of vt
vt x -o|-o: a value is missing
vt x -o y --phase 0|--phase: '0' is not a number from 0.001
vt x -o y --nonsense|--nonsense: there is no such option
vt $data/ring.0.json -o $scratch/trace --hosts nonsense|nonsense: no such topology
END
"$sim" import --help | grep -q -- --phase || fail "--help"
[ "$failed" -eq 0 ] && echo "load data of vt are imported, and fail ones refused"
exit "$failed"
