#!/usr/bin/env bash
# configure.ac, scripts/deps and README.md name the same packages: what configure looks for is installed
# by scripts/deps, each installed package has a row with its reason in README.md, and no row is stale.
# The comparison itself is tested on a scratch copy with one package taken out of each place.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# Packages that configure.ac names: third argument of its macro, and the advice in its messages.
configured() {
    sed -nE 's/^LBM_LIBRARY\(\[[^]]*\], *\[[^]]*\], *\[([^]]*)\]\).*/\1/p' "$1/configure.ac"
    grep -oE 'apt-get install [a-z0-9.+-]*[a-z0-9]' "$1/configure.ac" | cut -d' ' -f3
}

# Packages of the rows "| `package`, `package` | reason |" under the heading "Dependencies".
documented() {
    sed -n '/^## Dependencies/,/^## [^D]/p' "$1/README.md" | grep -E '^\| *`' | cut -d'|' -f2 |
        grep -oE '`[^`]+`' | tr -d '`'
}

missing() { # words of list $1 that are not in list $2
    comm -23 <(sort -u <<<"$1") <(sort -u <<<"$2") | grep .
}

# Print every disagreement of the tree at $1.
compare() {
    local required all documented configured package
    required=$(bash "$1/scripts/deps" --list)
    all=$(bash "$1/scripts/deps" --list --optional)
    documented=$(documented "$1")
    configured=$(configured "$1")
    for package in $(missing "$configured" "$all"); do
        echo "configure.ac looks for $package, scripts/deps does not install it"
    done
    for package in $(missing "$(grep -e '-dev$' <<<"$required")" "$configured"); do
        echo "scripts/deps installs $package, configure.ac does not look for it"
    done
    for package in $(missing "$all" "$documented"); do
        echo "scripts/deps installs $package, README.md gives no reason for it"
    done
    for package in $(missing "$documented" "$all"); do
        echo "README.md names $package, scripts/deps does not install it"
    done
}

# Succeeds if a copy of the tree with the lines of file $1 edited by sed $2 is found to disagree.
planted() {
    mkdir -p "$scratch/scripts"
    cp "$top/configure.ac" "$top/README.md" "$scratch"
    cp "$top/scripts/deps" "$scratch/scripts"
    sed -i "$2" "$scratch/$1"
    [ -n "$(compare "$scratch")" ] || { echo "self-test: $1 edited by $2 was not found"; exit 99; }
}

planted configure.ac 's/libqhull-dev/libother-dev/'
planted scripts/deps 's/libigraph-dev//'
planted scripts/deps 's/zlib1g-dev/zlib1g-dev libother-dev/'
planted README.md '/`libcairo2-dev`/d'

disagreements=$(compare "$top")
if [ -n "$disagreements" ]; then
    printf '%s\n' "$disagreements"
    exit 1
fi
echo "$(bash "$top/scripts/deps" --list --optional | wc -l) packages agree"
