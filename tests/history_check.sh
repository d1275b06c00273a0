#!/usr/bin/env bash
# history_check.sh HISTORY...: judge what workers (tests/worker.c) wrote, one file a host.
#   at most one executor    no two of them made steps of a vertex in overlapping times
#   tokens                  a later holder has a higher token, or the same one on the same host
#   nothing lost            whoever acquires a vertex has all steps that were checkpointed before, and those that were
#                           released, if it is on another host: a daemon that stood still until its lease was over
#                           drops what it reads then, and gives the vertex to the same program again
# A worker that was killed wrote no end: its last line of a vertex counts as the end of its steps.
# Prints what is wrong; exit status 1 then.
set -u
[ $# -gt 0 ] || { echo "usage: history_check.sh HISTORY..." >&2; exit 2; }

# One line a stay: VERTEX BEGIN LAST TOKEN FIRST_STEPS KEPT_STEPS FILE SAVED_STEPS. KEPT: what must not get lost;
# SAVED: of that, what was checkpointed.
stays() {
    awk '
    function stay(key, last, kept) {
        split(key, part, SUBSEP)
        printf "%d %.0f %.0f %d %d %d %s %d\n", part[2], begin[key], last, token[key], first[key], kept, part[1],
            saved[key]
        delete begin[key]
    }
    { key = FILENAME SUBSEP $3 }
    $2 == "acquire" {
        if (key in begin) stay(key, seen[key], saved[key])
        begin[key] = $1; token[key] = $4; first[key] = $5; saved[key] = $5; seen[key] = $1
    }
    $2 == "checkpoint" { saved[key] = $5; seen[key] = $1 }
    $2 == "release" { stay(key, $6 + 0 ? $6 : $1, $5) }
    $2 == "revoke" { stay(key, $6 + 0 ? $6 : begin[key], saved[key]) }
    END { for (key in begin) stay(key, seen[key], saved[key]) }' "$@"
}

stays "$@" | sort -k1,1n -k2,2n | awk '
    $1 != vertex { vertex = $1; end = 0; token = 0; kept = saved = 0; file = "" }
    $7 == file { kept = saved }
    $2 < end { printf "vertex %d: %s works from %.0f while %s does until %.0f\n", $1, $7, $2, file, end; bad = 1 }
    $4 < token || ($4 == token && $7 != file) {
        printf "vertex %d: token %d at %s after %d at %s\n", $1, $4, $7, token, file; bad = 1 }
    $5 < kept { printf "vertex %d: %s begins with %d steps, %d were kept\n", $1, $7, $5, kept; bad = 1 }
    { n++; token = $4; file = $7; kept = $6 > kept ? $6 : kept; saved = $8 > saved ? $8 : saved; end = $3 > end ? $3 : end }
    END { if (!n) { print "nobody ever worked"; bad = 1 } exit bad }'
