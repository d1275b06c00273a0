# What benches share; it is sourced. `top` is the source tree.
# shellcheck shell=bash
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bench=bench/$(basename "$0")

# needs TOOL...: without one of them there is nothing to measure.
needs() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "$bench: skipped, there is no $tool"; exit 0; }
    done
}

# needs_file FILE: the same of the reference material.
needs_file() { [ -r "$1" ] || { echo "$bench: skipped, there is no $1"; exit 0; }; }

# open_build DIRECTORY PROGRAM: sets `build`; the program must be there.
open_build() {
    build=$(cd "$1" && pwd)
    [ -x "$build/$2" ] || { echo "$bench: $build/$2 is not there: make -C $build $2" >&2; exit 1; }
}
