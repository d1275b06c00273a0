#!/usr/bin/env bash
# The manual pages of lbctl and lbsim have every command and every option that --help shows, and that of lbctl every
# value that --format may take. The comparison is tested on a page with one option taken out.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${top_builddir:-$top/build}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# commands PROGRAM
commands() {
    "$1" --help | sed -nE '/^commands:/,/^$/s/^  ([a-z][a-z-]*) .*/\1/p'
}

# Long options in the help text on standard input.
options() {
    grep -oE '^  (-[A-Za-z], |    )--[a-z][a-z-]*' | grep -oE -- '--[a-z][a-z-]*'
}

# The text under a command's heading in page $1.
section() {
    awk -v heading="# ${2^^}" '$0 == heading { inside = 1; next } /^# / { inside = 0 } inside' "$1"
}

# lacking PROGRAM PAGE: what the page lacks.
lacking() {
    local command option name
    name=$(basename "$1")
    for option in $("$1" --help | options); do
        section "$2" options | grep -qE -- "^\*.*$option\*" || echo "options everywhere: $option"
    done
    for command in $(commands "$1"); do
        section "$2" "$command" | grep -qE -- "^\*$name $command( vt)?\*" || echo "$command: no section"
        for option in $("$1" "$command" --help | sed '/^options everywhere:/,$d' | options); do
            section "$2" "$command" | grep -qE -- "^\*.*$option\*" || echo "$command: $option"
        done
    done
}

status=0
for program in client/lbctl:plan:imbalance sim/lbsim:balance:alpha papers/lbpapers:embed:frames; do
    IFS=: read -r path command option <<<"$program"
    page=$top/docs/man/$(basename "$path").1.scd
    [ "$(commands "$build/$path" | wc -l)" -ge 4 ] || { echo "$path --help lists no commands"; exit 1; }
    [ "$("$build/$path" "$command" --help | options | grep -cxF -- --hosts)" -eq 1 ] ||
        { echo "$path $command: no options found"; exit 1; }
    sed "/--$option/d" "$page" >"$scratch/page"
    [ "$(lacking "$build/$path" "$scratch/page" | grep -c .)" -gt 0 ] ||
        { echo "self-test: a lacking option is not found"; exit 99; }
    lacking "$build/$path" "$page" | sed "s|^|$page lacks |" >"$scratch/lacking"
    [ -s "$scratch/lacking" ] && { cat "$scratch/lacking"; status=1; }
    echo "$page: $(commands "$build/$path" | wc -l) commands"
done

page=$top/docs/man/lbctl.1.scd
for format in $("$build/client/lbctl" plan --help | sed -nE '/--format/,/--draw/s/^        ([a-z]+) .*/\1/p'); do
    grep -qE "^\*$format\*|, \*$format\*" "$page" || { echo "$page lacks format $format"; status=1; }
done
exit "$status"
