#!/usr/bin/env bash
# Fuzz every harness of tests/fuzz/harnesses.h with libFuzzer, beginning from its corpus.
#
#   tests/fuzz/fuzz.sh [SECONDS [HARNESS...]]    default: 60 seconds each, all harnesses
#   KEEP=DIR                                build and search there, and go on from there next time
#   FUZZ_FAST=1                             without sanitizers: several times as many runs, which find crashes alone
#   FUZZ_RUNS=N                             end each after N runs instead of after seconds
#
# Builds with clang in a temporary directory, which is kept if something was found. A finding, made small, goes
# to tests/corpus/HARNESS, where make check replays it. Exit status 1 if there are any.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-60}
[ -z "${FUZZ_RUNS-}" ] || seconds=0
[ $# -eq 0 ] || shift
command -v clang >/dev/null || {
    echo 'skip: clang is not installed (apt-get install clang libclang-rt-14-dev)'
    exit 77
}

build=${KEEP:-$(mktemp -d)}
mkdir -p "$build" && cd "$build" || exit 99
if [ ! -f Makefile ]; then
    "$top/configure" -q CC=clang CFLAGS='-O1 -g' --enable-fuzzers${FUZZ_FAST:+=fast} >configure.log 2>&1 ||
        { tail configure.log; exit 99; }
fi
make -s tests/fuzz/fuzzer >build.log 2>&1 || { tail build.log; exit 99; }

harnesses=("$@")
if [ ${#harnesses[@]} -eq 0 ]; then
    mapfile -t harnesses < <(sed -nE 's/^ +X\(([a-z_]+)\).*/\1/p' "$top/tests/fuzz/harnesses.h")
fi

failed=0
for name in "${harnesses[@]}"; do
    mkdir -p "corpus/$name" "findings/$name"
    leaks=1
    [ "$name" = settings ] && leaks=0 # libconfig 1.5 forgets a string in which the text ends
    if FUZZ_HARNESS=$name tests/fuzz/fuzzer ${FUZZ_RUNS:+-runs="$FUZZ_RUNS"} -max_total_time="$seconds" -timeout=60 -detect_leaks=$leaks \
        -rss_limit_mb=1024 -max_len=65536 -artifact_prefix="findings/$name/" "corpus/$name" \
        "$top/tests/corpus/$name" >"$name.log" 2>&1; then
        echo "$name: nothing found in $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$name.log") runs"
    else
        failed=$((failed + 1))
        tail -n 30 "$name.log"
        echo "$name: see $build/findings/$name"
    fi
done
[ "$failed" -gt 0 ] || [ -n "${KEEP-}" ] || { cd / && rm -rf "$build"; }
[ "$failed" -eq 0 ]
