#!/usr/bin/env bash
# What is installed is hardened: programs are position-independent, relocations are read-only and bound at the start, no
# stack is executable, stacks are protected, and calls are fortified if the build optimizes. Before it judges these
# it judges a program that is built without.
set -u

top=${top_builddir:-build}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
command -v readelf >/dev/null || { echo 'skipped: readelf (binutils) is missing'; exit 77; }
sanitized=no
grep -q '^LBM_CFLAGS = .*-fsanitize' "$top/Makefile" && sanitized=yes
fortified=no
grep -qE '^(LBM_CFLAGS|CFLAGS|CPPFLAGS) = .*_FORTIFY_SOURCE=[1-9]' "$top/Makefile" && fortified=yes

# lacking FILE program|library: what it lacks, a word each.
lacking() {
    local symbols
    readelf -hW "$1" 2>/dev/null | grep -qE 'Type: +DYN' || echo pie
    readelf -lW "$1" | grep -q GNU_RELRO || echo relro
    readelf -dW "$1" | grep -qE 'BIND_NOW|FLAGS_1.*NOW' || echo bind-now
    readelf -lW "$1" | grep -E 'GNU_STACK' | grep -q 'RW ' || echo noexecstack
    [ "$2" = library ] || readelf -dW "$1" | grep -qE 'FLAGS_1.*PIE' || echo pie-flag
    symbols=$(readelf --dyn-syms -W "$1")
    [[ $symbols == *__stack_chk_fail* ]] || echo stack-protector
    [ "$fortified" = no ] || grep -qE ' UND __[a-z]+_chk@' <<<"$symbols" || echo fortify
}

cat >"$scratch/plain.c" <<'C'
#include <stdio.h>
int main(int argc, char **argv) { char b[64]; return snprintf(b, sizeof b, "%s", argv[argc - 1]) < 0; }
C
gcc -O1 -U_FORTIFY_SOURCE -no-pie -fno-pie -fno-stack-protector -Wl,-z,norelro -Wl,-z,lazy -Wl,-z,execstack \
    "$scratch/plain.c" -o "$scratch/plain" 2>/dev/null || { echo 'skipped: no gcc to build a program without'; exit 77; }
for word in pie relro bind-now noexecstack pie-flag stack-protector $([ "$fortified" = no ] || echo fortify); do
    lacking "$scratch/plain" program | grep -qx "$word" || { echo "FAILED: a program without $word is not noticed"; exit 1; }
done

failed=0
# judge FILE KIND
judge() {
    local missing
    missing=$(lacking "$top/$1" "$2" | tr '\n' ' ')
    if [ -n "$missing" ]; then
        echo "FAILED: $1 lacks $missing"
        failed=1
    else
        echo "ok: $1"
    fi
}
for program in client/lbctl daemon/lbmapd sim/lbsim papers/lbpapers; do
    # A libtool script stands for the program in a folder below.
    file=$top/$(dirname "$program")/.libs/$(basename "$program")
    if [ -e "$file" ]; then judge "$(dirname "$program")/.libs/$(basename "$program")" program; else judge "$program" program; fi
done
for library in "$top"/.libs/liblbmap.so.*.*.*; do judge ".libs/$(basename "$library")" library; done
[ "$fortified" = yes ] || echo 'skipped: calls are not fortified in a build that does not optimize, or has sanitizers'
[ "$sanitized" = no ] || echo 'the build has sanitizers'
exit "$failed"
