#!/usr/bin/env bash
# The words of the field, not ours: a word that has been replaced does not come back, in names, messages or pages.
#
# A row is: the word (an extended regular expression, any case, between characters that are no letters); what to say instead;
# the folders in which it is held. The change log tells users of old words.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
folders='lib daemon client sim include docs tests bench scripts conf README.md CONTRIBUTING.md'

words='
budd(y|ies);backup;all
wards?;primary;all
heirs?;successor;all
foretold;predicted;all
merit;objective;lib client
arena;portfolio level;lib
target_list;destination queue;lib/node
level(led|lings?)|Levelling;balanced, flow computation;lib/node lib/wire client daemon docs sim
founders?;leader;lib client sim tests/races
stor(y|ies);run;sim docs tests/sim tests/races tests/unit/sim
hunts?;mutation campaign;sim
drills?;directed run;sim docs
campaigns?;seed sweep;sim
manners?;client model;sim tests/races
people;operators;sim/faults
beside;next to;all
anew;again;all
under way;in flight, in progress;all
so many;number of;all
wish(es)?|wishes;target;lib docs sim
sessions?;round;lib docs sim client daemon README.md
stuck|is_unheard|is_silent|is_left_out;unreachable, overdue, excluded, backup_lost;lib client sim
stir|stirred|stillness|urges?|pressed;change clock, fingerprint, escalation;lib/node lib/wire
ripe|promised;due, netted;lib/node/exchange lib/wire
moments?;trigger;sim/faults sim/run sim/scenario
homes?;coordinator;lib/node lib/wire client daemon docs README.md
[a-z]*adopt(s|ed|ion|ions|ing)?[a-z]*;take over, takeover;all
reclaim(s|ed)?;rejoin;all
pulses?;load report;all
outline(s|d)?;coarse graph;lib client daemon sim docs
[a-z_]*patience[a-z_]*;timeout, stall limit;all
owed;outstanding, due;lib
under_way|meetings?;in flight, exchange;lib sim
calm|is_silent|contest|climb|polish;quiescent, multistart, refine;lib sim
streams?|generations?;replication log, epoch;lib/node lib/wire lib/store sim/model sim/check
[a-z_]*quiet[a-z_]*;quiescent, balanced;lib/node lib/balance lib/wire sim/model
[*&]part|part->[a-z_]+|_parts?_[a-z_]+;chunk of an answer, block of a partition;lib/api lib/node/client lib/node/log
takes_part;participates;lib sim
'
# An author; tables of the database, whose format stays; earlier spellings that commands take; fields of others' files.
allowed='getenv\("HOME"\)|set\("HOME"|HOME, USER|_HOME_|Ward & Pinkerton|session of its own|(TABLE|FROM|INTO) adopted|(TABLE|FROM|INTO) stream|TABLE stream[(]|owner, incarnation, generation|owner INTEGER|rng_stream|random stream|LBM_START_EARLIER|[{]"home", "coordinator"|`seq_id` and `home`'

# Print every place below $1 with a word that is held.
check() {
    local word instead where
    while IFS=';' read -r word instead where; do
        [ -n "$word" ] || continue
        [ "$where" != all ] || where=$folders
        # shellcheck disable=SC2086 # a list of folders
        (cd "$1" && grep -rniE "(^|[^a-z])($word)([^a-z]|\$)" --include='*.[ch]' --include='*.md' --include='*.sh' --include='*.proto' \
            --include='*.scd' --include='*.scn' --include='*.txt' --exclude=words.sh $where 2>/dev/null) |
            grep -vE "$allowed" | sed "s/^/say $instead: /" | cut -c 1-200
    done <<<"$words"
}

mkdir -p "$scratch/lib/node" "$scratch/docs"
echo '/* The buddy of a host. */' >"$scratch/lib/node/a.c"
echo 'An heir takes over.' >"$scratch/docs/a.md"
[ "$(check "$scratch" | wc -l)" -eq 2 ] || { echo 'self-test: two words were planted'; check "$scratch"; exit 99; }
echo '/* The backup of a host, heirich.c, forward. */' >"$scratch/lib/node/a.c"
echo 'A successor takes over.' >"$scratch/docs/a.md"
[ -z "$(check "$scratch")" ] || { echo 'self-test: good words are refused'; check "$scratch"; exit 99; }

found=$(check "$top")
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi
echo "$(grep -c . <<<"$words") words are held"
