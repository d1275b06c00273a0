#!/usr/bin/env bash
# The documents hold together: every relative link leads to a file, every heading a link names exists, every file of the
# tree that a page names exists, every section of protocol.md that a comment cites, every command README.md shows is one of lbctl's, and no text is left unfinished or knows one machine.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# Words that say something was left for later; split, so that this file does not contain them.
unfinished="TO""DO|FIX""ME|X""XX|lorem ip""sum|to be writ""ten|coming so""on"
# Paths of one machine.
local_paths='(^|[^a-z.])/(coordinator|root|work|tmp/b-)[a-z/-]*'

documents() {
    (cd "$1" && find . -name '*.md' -not -path './build*' -not -path './.git/*' | sort)
}

# The anchors that a reader's renderer makes of the headings of file $1.
anchors() {
    sed -nE 's/^#+ +//p' "$1" | tr 'A-Z' 'a-z' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

check_links() {
    local document line link path target
    documents "$1" | while read -r document; do
        grep -noE '\]\([^)]+\)' "$1/$document" | while IFS=: read -r line link; do
            link=${link#](}
            link=${link%)}
            case $link in http://* | https://* | mailto:*) continue ;; esac
            path=${link%%#*}
            target=$1/$(dirname "$document")/$path
            [ -n "$path" ] || target=$1/$document
            if [ ! -e "$target" ]; then
                echo "$document:$line: $link leads nowhere"
            elif [ "$link" != "$path" ] && ! anchors "$target" | grep -qxF -e "${link#*#}"; then
                echo "$document:$line: $link names no heading"
            fi
        done
    done
}

check_words() {
    local document
    documents "$1" | while read -r document; do
        grep -nE "$unfinished" "$1/$document" | sed "s|^|$document: unfinished: |"
        grep -nE "$local_paths" "$1/$document" | sed "s|^|$document: path of one machine: |"
        grep -nE '^(<{7}|>{7}) ' "$1/$document" | sed "s|^|$document: half a merge: |"
    done
}

# Decisions are numbered without a gap and listed in the architecture.
check_decisions() {
    local file number=0
    for file in "$1"/docs/adr/[0-9]*.md; do
        [ -e "$file" ] || break
        number=$((number + 1))
        case $(basename "$file") in
            "$(printf '%04d' "$number")"-*) ;;
            *) echo "docs/adr: $(basename "$file") is out of number, expected $number" ;;
        esac
        grep -qF "$(basename "$file")" "$1/docs/architecture.md" ||
            echo "docs/architecture.md does not name $(basename "$file")"
    done
}

# Every command that an indented line of README.md shows is one that lbctl $2 has.
check_commands() {
    local known command
    [ -x "$2" ] || { echo "$2 has not been built"; return; }
    known=$("$2" --help | sed -nE '/^commands:/,/^$/s/^  ([a-z]+) .*/\1/p')
    sed -nE 's/^    lbctl (-[a-z] [^ ]+ )?([a-z]+).*/\2/p' "$1/README.md" | sort -u | while read -r command; do
        grep -qx "$command" <<<"$known" || echo "README.md: lbctl has no command $command"
    done
}

# Every section of docs/protocol.md that a comment of the tree at $1 cites.
check_citations() {
    local number
    (cd "$1" && grep -rhoE 'protocol\.md sections? [0-9]+( (and|to) [0-9]+)?' lib daemon client sim include 2>/dev/null) |
        grep -oE '[0-9]+' | sort -un | while read -r number; do
        grep -qE "^## $number\\. " "$1/docs/protocol.md" || echo "docs/protocol.md: a comment cites section $number, which is not there"
    done
}

# Every source file that a comment of lib below $1 names by its name alone is there.
check_comments() {
    (cd "$1" && find lib daemon client sim include -name '*.[ch]' 2>/dev/null | sort | awk '
        { n = split($0, path, "/"); known[path[n]] = 1; file[NR] = $0 }
        END {
            for (i = 1; i <= NR; i++) {
                if (file[i] !~ /^lib\//)
                    continue
                inside = line = 0
                while ((getline text <file[i]) > 0) {
                    line++
                    if (text ~ /\/\*/) { sub(/^.*\/\*/, "", text); inside = 1 }
                    if (!inside)
                        continue
                    if (text ~ /\*\//) { sub(/\*\/.*$/, "", text); inside = 0 }
                    gsub(/[^A-Za-z0-9_.\/-]/, " ", text)
                    n = split(text, word, " ")
                    for (k = 1; k <= n; k++) {
                        sub(/\.$/, "", word[k])
                        if (word[k] ~ /^[a-z_0-9]+\.[ch]$/ && !(word[k] in known))
                            print file[i] ":" line ": a comment names " word[k] ", which is not there"
                    }
                }
                close(file[i])
            }
        }')
}

# Every file of the tree that a page names in `...`; decisions and the change log tell of the past.
check_paths() {
    local document line path
    documents "$1" | grep -vE '/adr/|CHANGELOG' | while read -r document; do
        grep -noE '`(lib|daemon|client|sim|include|tests|docs|scripts|bench|conf)/[A-Za-z0-9_./-]+\.(c|h|sh|md|mk|py|proto|scd|txt|conf)`' "$1/$document" |
            tr -d '`' | while IFS=: read -r line path; do
            [ -e "$1/$path" ] || echo "$document:$line: there is no $path"
        done
    done
}

check() {
    check_links "$1"
    check_words "$1"
    check_decisions "$1"
    check_citations "$1"
    check_comments "$1"
    check_paths "$1"
}

expect() { # text of a document that must be refused
    printf '%s\n' "$1" >"$scratch/a.md"
    [ -n "$(check "$scratch")" ] || { echo "self-test: not found: $1"; exit 99; }
}

printf '# One\n\n[two](b.md#a-heading) and [itself](#one)\n' >"$scratch/a.md"
printf '## A heading\n' >"$scratch/b.md"
found=$(check "$scratch")
[ -z "$found" ] || { printf 'self-test: good documents are refused:\n%s\n' "$found"; exit 99; }
expect '[gone](gone.md)'
expect '[gone](b.md#another-heading)'
expect "$(sed 's/|.*//' <<<"$unfinished")"
expect 'see /coordinator/somebody/notes'
expect 'see `lib/base/nowhere.h`'
printf '# One\n' >"$scratch/a.md"
mkdir -p "$scratch/docs" "$scratch/lib"
printf '## 1. Frames\n' >"$scratch/docs/protocol.md"
printf '/* protocol.md section 1 */\n' >"$scratch/lib/a.h"
[ -z "$(check_citations "$scratch")" ] || { echo 'self-test: a right citation is refused'; exit 99; }
printf '/* protocol.md sections 1 and 2 */\n' >"$scratch/lib/a.h"
[ -n "$(check_citations "$scratch")" ] || { echo 'self-test: a wrong citation was not found'; exit 99; }
printf '/* What a.h holds. */\n' >"$scratch/lib/a.h"
[ -z "$(check_comments "$scratch")" ] || { echo 'self-test: the name of a file that is there is refused'; exit 99; }
printf '/* What is in old.c\n * and more. */\n' >"$scratch/lib/a.h"
[ -n "$(check_comments "$scratch")" ] || { echo 'self-test: a comment that names no file was not found'; exit 99; }
rm -r "$scratch/docs" "$scratch/lib"

printf '    lbctl -s socket juggle\n' >"$scratch/README.md"
lbctl=${top_builddir:-$top/build}/client/lbctl
[ -n "$(check_commands "$scratch" "$lbctl")" ] || { echo 'self-test: unknown command not found'; exit 99; }

found=$(check "$top"; check_commands "$top" "$lbctl")
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi
echo "$(documents "$top" | wc -l) documents hold together"
