#!/usr/bin/env bash
# The numbers of the schema (lib/wire/*.proto) do not change: tests/repository/wire_fields.txt holds each field and each value of an enum
# with its number and type. Control logs, snapshots and other versions hold messages with these numbers.
#   --print   the fields as they are now: append new ones to the list
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}

# Lines "file Message.field = number type" of the schemas in $1.
fields() {
    local file
    for file in peer control; do
        sed 's#//.*##' "$1/$file.proto" | awk -v file="$file" '
            /^(message|enum) / { name = $2; kind = $1 }
            /^ *reserved/ { gsub(/[;,]/, " "); for (i = 2; i <= NF; i++) print file, name ".reserved = " $i; next }
            /= *[0-9]+ *;/ {
                number = $0; sub(/.*= */, "", number); sub(/ *;.*/, "", number)
                left = $0; sub(/ *=.*/, "", left); n = split(left, word, " ")
                type = kind == "enum" ? "value" : n == 3 ? word[1] " " word[2] : word[1]
                print file, name "." word[n] " = " number " " type
            }'
    done
}

if [ "${1-}" = --print ]; then
    fields "$top/lib/wire"
    exit 0
fi
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
fields "$top/lib/wire" | sort >"$scratch/now"
grep -v '^#' "$top/tests/repository/wire_fields.txt" | sort >"$scratch/frozen"
[ "$(wc -l <"$scratch/now")" -ge 300 ] || { echo "FAILED: only $(wc -l <"$scratch/now") fields are found"; exit 1; }
changed() { comm -13 "$1" "$scratch/frozen"; }

# The comparison sees a number that changed, a type that changed, and a field that is gone.
for edit in 's/uint64 cluster = 1;/uint64 cluster = 60;/' 's/uint32 src = 2;/uint64 src = 2;/' '/uint64 view = 6;/d'; do
    mkdir -p "$scratch/wire" && cp "$top"/lib/wire/*.proto "$scratch/wire" && sed -i "$edit" "$scratch/wire/peer.proto"
    fields "$scratch/wire" | sort >"$scratch/other"
    [ -n "$(changed "$scratch/other")" ] || { echo "self-test: $edit is not seen"; exit 99; }
done
if [ -n "$(changed "$scratch/now")" ]; then
    echo 'FAILED: these are changed or gone; other versions, logs and databases mean something else by them (reserve a number that is not used any more):'
    changed "$scratch/now"
    exit 1
fi
# A number that was used by a field that is gone stays reserved.
twice=$(cut -d' ' -f1-2,4 "$scratch/now" | sed -E 's/\.[a-z_0-9A-Z]+ / /' | sort | uniq -d)
[ -z "$twice" ] || { echo "FAILED: a number is used twice: $twice"; exit 1; }
comm -23 "$scratch/now" "$scratch/frozen" | sed 's/^/new, append it to tests\/repository\/wire_fields.txt: /'
echo "$(wc -l <"$scratch/frozen") numbers of the schema are as they were"
