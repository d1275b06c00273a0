#!/usr/bin/env bash
# history_check.sh HISTORY...: judge what workers (tests/cluster/worker.c) wrote, one file a host.
#   at most one executor    no two of them made steps of a vertex in overlapping times
#   tokens                  a later holder has a higher token, or the same one on the same host
#   nothing lost            whoever acquires a vertex has all steps that were checkpointed before, and those that were
#                           released, if it is on another host and the daemon did not go before: a daemon that dies
#                           with what it just read, or stood still until its lease was over and drops it, gives the
#                           vertex on as of its last checkpoint
# A worker that was killed wrote no end: its last line of a vertex counts as the end of its steps.
# Prints what is wrong; exit status 1 then.
set -u
[ $# -gt 0 ] || { echo "usage: history_check.sh HISTORY..." >&2; exit 2; }

# One line a stay: VERTEX BEGIN LAST TOKEN FIRST_STEPS KEPT_STEPS FILE SAVED_STEPS AWAY. KEPT: what must not get lost;
# SAVED: of that, what was checkpointed; AWAY: when the daemon was first seen to be gone after that (-1: never).
stays() {
    awk '
    function stay(key, last, kept) {
        split(key, part, SUBSEP)
        ended[n_ended++] = sprintf("%d %.0f %.0f %d %d %d %s %d", part[2], begin[key], last, token[key], first[key], kept,
            part[1], saved[key])
        delete begin[key]
    }
    function tell(away, i) {
        for (i = 0; i < n_ended; i++) print ended[i], away
        n_ended = 0
    }
    FNR == 1 { tell(-1) }
    { key = FILENAME SUBSEP $3 }
    $2 == "away" { tell($1) }
    $2 == "acquire" {
        if (key in begin) stay(key, seen[key], saved[key])
        begin[key] = $1; token[key] = $4; first[key] = $5; saved[key] = $5; seen[key] = $1
    }
    $2 == "checkpoint" { saved[key] = $5; seen[key] = $1 }
    $2 == "release" { stay(key, $6 + 0 ? $6 : $1, $5) }
    $2 == "revoke" { stay(key, $6 + 0 ? $6 : begin[key], saved[key]) }
    END { tell(-1); for (key in begin) stay(key, seen[key], saved[key]); tell(-1) }' "$@"
}

stays "$@" | sort -k1,1n -k2,2n | awk '
    $1 != vertex { vertex = $1; end = 0; token = 0; kept = saved = 0; file = ""; away = -1 }
    $7 == file || (away >= 0 && away < $2) { kept = saved }
    $2 < end { printf "vertex %d: %s works from %.0f while %s does until %.0f\n", $1, $7, $2, file, end; bad = 1 }
    $4 < token || ($4 == token && $7 != file) {
        printf "vertex %d: token %d at %s after %d at %s\n", $1, $4, $7, token, file; bad = 1 }
    $5 < kept { printf "vertex %d: %s begins with %d steps, %d were kept\n", $1, $7, $5, kept; bad = 1 }
    { n++; token = $4; file = $7; end = $3 > end ? $3 : end; away = $9
      kept = $6 > kept ? $6 : kept; saved = $8 > saved ? $8 : saved }
    END { if (!n) { print "nobody ever worked"; bad = 1 } exit bad }'
