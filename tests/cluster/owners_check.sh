#!/bin/bash
# tests/cluster/owners.sh counts holders as it says, on databases made by hand.
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
failures=0

database() { # NAME "(job, v, epoch, stage), ..."
    sqlite3 "$directory/$1" "CREATE TABLE vertex(job, v, epoch, stage); INSERT INTO vertex VALUES $2"
}

expect() { # STATUS "OUTPUT" ARGUMENTS...
    local status=$1 output=$2 got
    shift 2
    got=$(cd "$directory" && bash "$top_srcdir/tests/cluster/owners.sh" "$@" 2>/dev/null)
    if [ $? -ne "$status" ] || [ "$got" != "$output" ]; then
        echo "owners.sh $*: expected $status '$output', got '$got'"
        failures=$((failures + 1))
    fi
}

database a '(7,0,1,1), (7,1,1,2), (7,2,3,1), (7,3,5,2), (7,4,1,4), (-1,9,1,1)'
database b '(7,1,2,1), (7,2,4,1), (7,4,2,3), (8,0,1,1)'
database c '(7,5,1,1)'

expect 0 'vertices=1 one_owner=1 in_flight=0 none=0 several=0' 8 a b c
expect 0 'vertices=1 one_owner=1 in_flight=0 none=0 several=0' 18446744073709551615 a
expect 0 'vertices=1 one_owner=1 in_flight=0 none=0 several=0' 0xffffffffffffffff a
# 1: given by a, taken by b; 2: owned twice; 3: in flight; 4 only refused or moved; 5: lone.
expect 1 'vertices=5 one_owner=3 in_flight=1 none=0 several=1
2 own=2 in_flight=0
3 own=0 in_flight=1' 7 a b c
expect 1 'vertices=6 one_owner=3 in_flight=1 none=1 several=1
2 own=2 in_flight=0
3 own=0 in_flight=1
4 own=0 in_flight=0' -n 6 7 a b c
expect 0 'vertices=0 one_owner=0 in_flight=0 none=0 several=0' 6 a
expect 1 'vertices=1 one_owner=0 in_flight=0 none=1 several=0
0 own=0 in_flight=0' -n 1 6 a
expect 2 '' 7
expect 2 '' 7 missing
expect 2 '' x a
[ $failures -eq 0 ]
