# What tests of lbsim share; it is sourced. `sim` and `bugs` are the programs, `scratch` a folder of the test,
# `failed` its exit status.
# shellcheck shell=bash disable=SC2034
top_builddir=${top_builddir:-$(pwd)}
sim=$top_builddir/sim/lbsim
bugs=$top_builddir/sim/lbsim-bugs
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# refused [COMMAND]: each line of the input is ARGUMENTS|TEXT. lbsim COMMAND ARGUMENTS ends with status 2 and says
# one line, in which the text is.
refused() {
    local arguments text
    while IFS='|' read -r arguments text; do
        # shellcheck disable=SC2086 # words of a command
        "$sim" "$@" $arguments >"$scratch/out" 2>"$scratch/err"
        [ $? -eq 2 ] && [ "$(wc -l <"$scratch/err")" -eq 1 ] && grep -qF -- "$text" "$scratch/err" ||
            fail "lbsim $* $arguments: not told \"$text\": $(cat "$scratch/err")"
    done
}

# figure KEY FILE: the first number of that name in a JSON text.
figure() { grep -oE "\"$1\": *([-0-9.e+]+|true|false)" "$2" | head -n 1 | sed 's/.*: *//'; }
