#!/usr/bin/env bash
# liblbmap exports what its headers declare, all of it under a version, and nothing else. The comparison is tested on a
# header that declares one function more. The headers compile alone, as C11 and as C++17, without a warning.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
library=${top_builddir:-build}/.libs/liblbmap.so
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
command -v nm >/dev/null || { echo 'skipped: nm (binutils) is missing'; exit 77; }
[ -e "$library" ] || { echo 'skipped: liblbmap is not built as a shared library'; exit 77; }

# declared FILE...: functions of headers. Types, macros and comments are not functions.
declared() {
    sed 's#/\*.*\*/##; s#^ \*.*##' "$@" | grep -oE '^[a-z][a-z0-9_ *]*\blbmap_[a-z_]+\(' |
        grep -oE 'lbmap_[a-z_]+[(]' | tr -d '(' | sort -u
}

nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort >"$scratch/exported"
sed -n 's/@@LBMAP_[0-9]*$//p' "$scratch/exported" | sort >"$scratch/versioned"
declared "$top"/include/*.h >"$scratch/declared"
[ "$(wc -l <"$scratch/declared")" -ge 20 ] || { echo "FAILED: few functions are found in the headers"; exit 1; }
{ cat "$top"/include/lbmap.h; echo 'int lbmap_planted(void);'; } >"$scratch/planted.h"
declared "$scratch/planted.h" | grep -qx lbmap_planted || { echo 'self-test: a function more is not seen'; exit 99; }

failed=0
if [ "$(wc -l <"$scratch/exported")" -ne "$(wc -l <"$scratch/versioned")" ]; then
    echo "FAILED: exported without a version: $(grep -v '@@LBMAP_' "$scratch/exported" | tr '\n' ' ')"
    failed=1
fi
if ! diff "$scratch/declared" "$scratch/versioned" >"$scratch/difference"; then
    echo "FAILED: headers (<) and library (>) differ: lib/api/liblbmap.map lists what is exported"
    cat "$scratch/difference"
    failed=1
fi
cat >"$scratch/user.c" <<'C'
#include "lbmap_steps.h"
int use(void);
int use(void) { struct lbmap_steps program; program.size = sizeof program; return lbmap_steps(&program, 0, 0); }
C
strict='-Wall -Wextra -Wpedantic -Werror -fsyntax-only'
# shellcheck disable=SC2086
gcc -std=c11 $strict -I "$top/include" "$scratch/user.c" || { echo 'FAILED: the headers are no C11'; failed=1; }
if command -v g++ >/dev/null; then
    # shellcheck disable=SC2086
    g++ -std=c++17 -x c++ $strict -I "$top/include" "$scratch/user.c" ||
        { echo 'FAILED: the headers are no C++17'; failed=1; }
fi
[ "$failed" -ne 0 ] || echo "$(wc -l <"$scratch/versioned") functions are exported, each with a version"
exit "$failed"
