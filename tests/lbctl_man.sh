#!/usr/bin/env bash
# The manual page of lbctl has every command and every option that --help shows, and every value that an
# option may take. The comparison is tested on a page with one option taken out.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
lbctl=${top_builddir:-$top/build}/client/lbctl
page=$top/docs/man/lbctl.1.scd
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

commands() {
    "$lbctl" --help | sed -nE '/^commands:/,/^$/s/^  ([a-z][a-z-]*) .*/\1/p'
}

# Long options in the help text on standard input.
options() {
    grep -oE '^  (-[A-Za-z], |    )--[a-z][a-z-]*' | grep -oE -- '--[a-z][a-z-]*'
}

# The text under a command's heading in page $1.
section() {
    awk -v heading="# ${2^^}" '$0 == heading { inside = 1; next } /^# / { inside = 0 } inside' "$1"
}

# Print what page $1 lacks.
lacking() {
    local command option
    for option in $("$lbctl" --help | options); do
        section "$1" options | grep -qE -- "^\*.*$option\*" || echo "options everywhere: $option"
    done
    for command in $(commands); do
        section "$1" "$command" | grep -qE -- "^\*lbctl $command\*" || echo "$command: no section"
        for option in $("$lbctl" "$command" --help | sed '/^options everywhere:/,$d' | options); do
            section "$1" "$command" | grep -qE -- "^\*.*$option\*" || echo "$command: $option"
        done
    done
}

[ "$(commands | wc -l)" -ge 4 ] || { echo "lbctl --help lists no commands"; exit 1; }
[ "$("$lbctl" plan --help | options | grep -cxF -- --hosts)" -eq 1 ] || { echo "no options found"; exit 1; }
sed '/--imbalance/d' "$page" >"$scratch/page"
[ "$(lacking "$scratch/page" | grep -c .)" -gt 0 ] || { echo "self-test: a lacking option is not found"; exit 99; }

lacking=$(lacking "$page")
for format in $("$lbctl" plan --help | sed -nE '/--format/,/--draw/s/^        ([a-z]+) .*/\1/p'); do
    grep -qE "^\*$format\*|, \*$format\*" "$page" || lacking="$lacking"$'\n'"format $format"
done
if [ -n "$lacking" ]; then
    printf 'docs/man/lbctl.1.scd lacks:\n%s\n' "$lacking"
    exit 1
fi
echo "the manual has all of $(commands | wc -l) commands"
