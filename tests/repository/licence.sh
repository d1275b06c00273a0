#!/usr/bin/env bash
# Every source says in its first line under which licence it is: what applications link is LGPL, the rest GPL
# (docs/adr/0001-license-under-gpl-and-lgpl.md). A file without the line, and one with the other line, must be found.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

check() {
    (cd "$1" && find lib include daemon client bench tests docs \( -name '*.[ch]' -o -name '*.proto' \) 2>/dev/null | sort) |
        while read -r file; do
            case $file in
                *.pb-c.[ch]) continue ;; # generated
                lib/base/* | lib/wire/* | lib/api/* | include/*) licence=LGPL-3.0-or-later ;;
                *) licence=GPL-3.0-or-later ;;
            esac
            head -n 1 "$1/$file" | grep -qE "SPDX-License-Identifier: $licence( |\$)" ||
                echo "$file: the first line does not say SPDX-License-Identifier: $licence"
        done
}

plant() { # file, first line
    mkdir -p "$(dirname "$scratch/$1")"
    printf '%s\n' "$2" >"$scratch/$1"
}

plant lib/base/a.c '/* SPDX-License-Identifier: LGPL-3.0-or-later */'
plant daemon/a.c '/* SPDX-License-Identifier: GPL-3.0-or-later */'
[ -z "$(check "$scratch")" ] || { echo 'self-test: right licences are refused'; exit 99; }
plant lib/base/a.c '/* SPDX-License-Identifier: GPL-3.0-or-later */'
plant daemon/a.c '#include <stdio.h>'
[ "$(check "$scratch" | wc -l)" -eq 2 ] || { echo 'self-test: wrong licences are not found'; exit 99; }

found=$(check "$top")
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi
echo 'every source says its licence'
