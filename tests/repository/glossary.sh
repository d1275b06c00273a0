#!/usr/bin/env bash
# The glossary has every term once, and every word of which files and functions of the node are named is a term of it, or
# a plain word of computing (the list below). The comparison is tested on a name that is in neither.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

plain='
accept ack acked activate active add admin again agreed alive all allotted alone answer answered any append
application applied apply arrived ask attach await batch begin behind bootstrap broken budget build but cache came cap
chain changed charge check choice choose cluster compact compare confirm connected content continue cool cooled copy core
count covered created deadline deaf decide decided decision deferred deleted departed departure derive dial disk
dispatch done draw
drawn
diffuse drift drop due early effect emit end engine enter entries entry error event evict evicted eviction excess exhausted explain external fail fetch
fill fin find finish finished fit flush fn follow for force forget free from gain gather give given gone granular ha halve halved
hand hash have head heard hello here hold i id if index inherit init inner install internal jump known lag lapsed large last
learn leave left limit list local locate look losses lossy maintenance map may mean measured member membership merged message met most movable
move mutant name named near nearest neighbour net new node note notice now number of offer on open operator other outstanding over
pack packed part participate pay payload peer pending persist persisted ping pinned place plan planned planning poll poor possible
post predicted present promote propose publish pump push put query reach read ready reason receive recover refuse refuted relay
released remove removed
renormalize repl reply req request reset rest restore result resume revoked right routable row running scheduler self send sent set share
skipped slow soon source spare spread stage start stat state step stop store stored stranger stream submit sum suspicion
table take taken task tell tick timeout timer to together topology total touch transfer trip try u unchanged undecided
outside outsider undelivered unknown untrue unpack until up visit wa wait want watched weigh weight where whole window withdraw withhold
within asked close command diverge etcd defer foreign held know managed older silence
checked claim computed output program refusal watch
'

# Words in bold of the glossary $1, in the singular.
terms() {
    tr '\n' ' ' <"$1" | grep -oE '\*\*[^*]+\*\*' | tr -d '*.' | tr 'A-Z' 'a-z' | sed -E 's/\([^)]*\)//g'
}
words_of_terms() {
    { terms "$1"; grep -oE '(^|[^*])\*[A-Za-z][^*]*\*' "$1"; } | tr 'A-Z' 'a-z' | grep -oE '[a-z]+' | sed -E 's/s$//' | sort -u
}

# Words of the names of rooms and files of lib/node, and of their external functions, in the singular.
words_of_code() {
    {
        find "$top/lib/node" -name '*.[ch]' | sed 's|.*/lib/node/||; s|\.[ch]$||'
        cat "$top"/lib/node/*/*.h | grep -oE '\blbm_(dispatch|client|job|replication|application|mapping|exchange|migration|log|membership|records|local|core|view)_[a-z_]+\(' |
            sed 's/^lbm_//; s/($//'
    } | grep -oE '[a-z]+' | sed -E 's/s$//' | sort -u
}

lacking() { # WORDS: those that are neither term nor plain
    comm -23 "$1" <({ words_of_terms "$top/docs/glossary.md"; tr ' ' '\n' <<<"$plain" | sed -E 's/s$//'; } | grep . | sort -u)
}

printf 'budgie\nlease\n' >"$scratch/planted"
[ "$(lacking "$scratch/planted")" = budgie ] || { echo 'self-test: a word without a meaning is not found'; exit 99; }

status=0
twice=$(terms "$top/docs/glossary.md" | sort | uniq -d)
[ -z "$twice" ] || { printf 'twice in the glossary: %s\n' "$twice"; status=1; }
words_of_code >"$scratch/words"
[ "$(wc -l <"$scratch/words")" -ge 100 ] || { echo 'hardly any names are found'; exit 99; }
lacking "$scratch/words" >"$scratch/lacking"
if [ -s "$scratch/lacking" ]; then
    echo "neither in docs/glossary.md nor a plain word: $(tr '\n' ' ' <"$scratch/lacking")"
    status=1
fi
echo "$(terms "$top/docs/glossary.md" | wc -l) terms, $(wc -l <"$scratch/words") words of names"
exit "$status"
