#!/bin/bash
# Who holds each vertex of a job, over the databases of all hosts: the check behind "exactly one owner".
#
#   tests/cluster/owners.sh [-n VERTICES] JOB DATABASE...
#
# A holder is a record OWN, or a record OUT that no other database has overtaken with a higher epoch (the
# vertex is in flight). Prints one line of counts, then a line for each vertex that is not owned exactly once:
# "VERTEX own=N in_flight=N". With -n, vertices 0 .. VERTICES - 1 that no database has are listed too.
# Works while the daemons run. JOB is decimal (hexadecimal with 0x), 64 bits.
# Exit: 0 every vertex has exactly one owner; 1 some have not; 2 usage, or a database cannot be read.
set -u

usage() {
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

vertices=0
while getopts n: option; do
    case $option in
    n) vertices=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || usage
[[ $vertices =~ ^[0-9]+$ && $1 =~ ^(0x[0-9a-fA-F]+|[0-9]+)$ ]] || usage
job=$(($1)) # the same 64 bits, signed, as the database has them
shift

read_records() { # one line a record: vertex epoch stage
    local database
    for database; do
        [ -f "$database" ] || { echo "$database: no such file" >&2; return 1; }
        sqlite3 -readonly -separator ' ' -cmd '.timeout 5000' "$database" \
            "SELECT v, epoch, stage FROM vertex WHERE job = $job AND stage IN (1, 2)" || return 1
    done
}

records=$(read_records "$@") || exit 2

# Two passes over the records: the highest epoch of each vertex, then who holds it.
awk -v vertices="$vertices" '
    NF == 3 { line[++lines] = $0; if (!($1 in top) || $2 > top[$1]) top[$1] = $2 }
    END {
        for (v = 0; v < vertices; v++)
            if (!(v in top)) top[v] = 0
        for (i = 1; i <= lines; i++) {
            split(line[i], r, " ")
            if (r[3] == 1) own[r[1]]++
            else if (r[2] == top[r[1]]) flying[r[1]]++
        }
        for (v in top) {
            n++
            if (own[v] + 0 == 1) once++
            else bad[v] = (own[v] + 0) " in_flight=" (flying[v] + 0)
            if (own[v] + 0 > 1) several++
            else if (own[v] + 0 == 0 && flying[v] + 0 > 0) in_flight++
            else if (own[v] + 0 == 0) none++
        }
        printf "vertices=%d one_owner=%d in_flight=%d none=%d several=%d\n", n, once, in_flight, none, several
        for (v in bad) print v " own=" bad[v] | "sort -n"
        close("sort -n")
        exit once != n
    }' <<<"$records"
