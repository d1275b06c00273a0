#!/usr/bin/env bash
# The arrows of the architecture (docs/architecture.md): who may include whom, which system and foreign
# headers belong where, what the pure libraries import, and what liblbmap brings along. Before it judges
# the tree it judges itself: every kind of violation is planted in a scratch tree and must be found.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
objects=${top_builddir:-$top/build}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# module: the modules whose headers it may include (its own always).
arrows='
base:
graph:    base
host:     base graph
space:    base
balance:  base host
embed:    base graph
map:      base graph host space balance embed
file:     base graph host
trace:    base graph host
import:   base graph host file trace
wire:     base
node:     base graph host space balance embed map wire
pki:      base
store:    base graph node wire
api:      base wire
cli:      base
threads:
daemon:   base graph host space balance embed map file wire node pki store threads
draw:     base space map
client:   base graph host space balance embed map file trace import wire node pki api cli threads draw
sim:      base graph host space balance embed map file trace import wire node api cli
papers:   base graph host space balance embed map file cli
'

# room of lib/node: the rooms it may call and whose headers it may include. What a room tells a room above it is an
# event (lib/node/core/events.h). core/state.h puts the state of all rooms together, and is the only exception.
rooms='
dispatch:    client job replication application mapping exchange migration log membership records local core view
client:      job replication application mapping exchange migration log membership records local core view
job:         replication application mapping exchange migration log membership records local core view
replication: application mapping exchange migration log membership records local core view
application: mapping exchange migration log membership records local core view
mapping:     exchange migration log membership records local core view
exchange:    migration log membership records local core view
migration:   log membership records local core view
log:         membership records local core view
membership:  records local core view
records:     local core view
local:       core view
core:        view
view:
'

# Modules that compute: no clock, no randomness of the machine, no file, no socket, no output, no exit.
pure='base graph host space balance embed map trace wire node'

# header pattern (extended): the folders it may be included from.
owners='
igraph                              lib/host
sqlite3                             lib/store
event2?/|event[.]h                  daemon
openssl/                            lib/pki daemon client
systemd/                            daemon
seccomp[.]h                         daemon
libconfig                           daemon
planarity/                          lib/embed
libqhull_r/                         lib/space lib/graph
expat                               lib/graph lib/host
yaml[.]h                            lib/host
cairo                               lib/draw
zlib                                lib/file lib/store
archive                             lib/file
jansson                             lib/import client daemon sim papers
nettle/                             lib/node lib/api sim
protobuf-c/                         lib/wire
time[.]h|sys/|unistd[.]h|fcntl[.]h  lib/file lib/pki lib/store lib/api daemon client sim papers
poll[.]h|net/|netinet|netdb|arpa/   lib/file lib/store lib/api daemon client
pthread[.]h|sched[.]h               lib/threads daemon
signal[.]h                          lib/threads daemon client sim papers
termios[.]h|pwd[.]h|grp[.]h         daemon client
'

# Imports no pure library may have; names are compared after glibc's decoration is taken off (__read_chk
# and fopen64 are read and fopen).
forbidden='clock|clock_.*|gettimeofday|time|times|ftime|timespec_get|localtime(_r)?|gmtime(_r)?|mktime
    |.*sleep|timer_.*|getrandom|getentropy|arc4random.*|rand(_r)?|srand|s?random(_r)?|[dejlmn]rand48|srand48
    |open|openat|creat|close|read|write|pread|pwrite|readv|writev|lseek|ioctl|fcntl|mmap|munmap|fsync|rename
    |unlink|mkdir|opendir|stat|fstat|lstat|access|fopen|fdopen|freopen|fclose|fread|fwrite|fgets|fgetc|getc
    |getchar|getline|getdelim|fputs|fputc|putc|putchar|puts|perror|fflush|fseek|ftell|tmpfile|mkstemp
    |v?printf|v?fprintf|v?dprintf|v?fscanf|v?scanf|stdin|stdout|stderr
    |socket|socketpair|connect|bind|listen|accept4?|send|sendto|sendmsg|recv|recvfrom|recvmsg|shutdown
    |getaddrinfo|gethostname|gethostbyname|poll|ppoll|select|epoll_.*
    |exit|_exit|quick_exit|atexit|getenv|secure_getenv|setenv|putenv|system|popen|fork|exec.*|kill|raise
    |signal|sigaction|pthread_.*|thrd_.*|dlopen|setlocale|syslog|getpid|getuid
    |sqlite3_.*|event_.*|evbuffer_.*|bufferevent_.*|evutil_.*|SSL_.*|gz.*|cairo_.*|json_.*'
forbidden=$(tr -d ' \n' <<<"$forbidden")

# Value of the row of a table whose key is $2; status 1 if there is none.
row() {
    awk -v key="$2" '{ k = $1; sub(/:$/, "", k) } k == key { $1 = ""; print; found = 1 } END { exit !found }' \
        <<<"$1"
}

# Print every wrong #include of the tree at $1.
check_includes() {
    (cd "$1" && find lib daemon client sim papers include -name '*.[ch]' 2>/dev/null | sort |
        arrows=$arrows owners=$owners xargs -r awk '
        BEGIN {
            rows = split(ENVIRON["arrows"], line, "\n")
            for (i = 1; i <= rows; i++) {
                n = split(line[i], word, /[: ]+/)
                if (n > 0 && word[1] != "")
                    known[word[1]] = may[word[1], word[1]] = 1
                for (j = 2; j <= n; j++)
                    may[word[1], word[j]] = 1
            }
            n_owners = split(ENVIRON["owners"], owner, "\n")
        }
        function wrong(text) { print FILENAME ":" FNR ": " text }
        function foreign(header,   i, j, n, word, right) {
            for (i = 1; i <= n_owners; i++) {
                n = split(owner[i], word, / +/)
                if (n < 2 || header !~ ("^(" word[1] ")"))
                    continue
                right = 0
                for (j = 2; j <= n; j++)
                    right = right || folder == word[j]
                if (!right)
                    wrong("<" header "> belongs to" substr(owner[i], length(word[1]) + 1))
            }
        }
        /^[ \t]*#[ \t]*include/ {
            n = split(FILENAME, path, "/")
            module = path[1] == "lib" ? path[2] : path[1]
            folder = path[1] == "lib" ? path[1] "/" path[2] : path[1]
            split($0, part, /[<>"]/)
            header = part[2]
            to = header
            sub(/\/.*/, "", to)
            if ($0 ~ /</)
                foreign(header)
            else if (module == "include")
                wrong("an installed header includes " header ", which is not installed")
            else if (header == "config.h" || header == "lbmap.h" || header == "lbmap_steps.h")
                next
            else if (!(module in known))
                wrong("module " module " has no row in the table of arrows")
            else if (!((module, to) in may))
                wrong(module " must not include " header)
        }')
}

# Print every module folder of the tree at $1 that the table does not know.
check_modules() {
    local folder module
    for folder in "$1"/lib/*/; do
        module=$(basename "$folder")
        row "$arrows" "$module" >/dev/null || echo "lib/$module: no row in the table of arrows"
    done
}

# Print every room of lib/node below $1 that the table of rooms does not know, and every wrong #include between rooms.
check_rooms() {
    local folder room header to
    for folder in "$1"/lib/node/*/; do
        room=$(basename "$folder")
        row "$rooms" "$room" >/dev/null || echo "lib/node/$room: no row in the table of rooms"
    done
    grep -HoE '#include "node/[a-z_]+/[a-z_]+\.h"' "$1"/lib/node/*/*.[ch] 2>/dev/null | grep -v '/core/state\.h:' |
        sed -E "s|^$1/lib/node/([a-z_]+)/([^:]*):#include \"node/([a-z_]+)/([^\"]*)\"|\1 \2 \3 \4|" |
        while read -r room file to header; do
            [ "$room" = "$to" ] || grep -qw "$to" <<<"$(row "$rooms" "$room")" ||
                echo "lib/node/$room/$file: $room must not include node/$to/$header"
            [ "$room" = "$to" ] || [ "$header" != internal.h ] ||
                echo "lib/node/$room/$file: node/$to/internal.h is for $to alone"
        done
}

# Print every call from a room to a room above it, by the objects below $1.
check_calls() {
    if ! ls "$1"/lib/node/*/*.o >/dev/null 2>&1; then
        echo "lib/node: no objects have been built, its calls cannot be judged"
        return
    fi
    (cd "$1" && nm -A lib/node/*/*.o) | rooms=$rooms awk '
        BEGIN {
            rows = split(ENVIRON["rooms"], line, "\n")
            for (i = 1; i <= rows; i++) {
                n = split(line[i], word, /[: ]+/)
                for (j = 1; j <= n; j++)
                    may[word[1], word[j]] = 1
            }
        }
        {
            split($0, part, ":"); split(part[1], path, "/"); n = split(part[2], field, " ")
            kind = field[n - 1]; name = field[n]
            if (kind ~ /^[TDBRVWC]$/)
                room[name] = path[3]
            else if (kind == "U")
                use[part[1] " " name] = 1
        }
        END {
            for (u in use) {
                split(u, word, " "); split(word[1], path, "/")
                if (word[2] in room && !((path[3], room[word[2]]) in may))
                    print word[1] ": " path[3] " must not call " word[2] " of " room[word[2]]
            }
        }'
}

# Undefined symbols of the archives of module $2 below $1, as "object symbol", decoration taken off.
imports() {
    nm -A -u "$1"/lib/"$2"/*.a 2>/dev/null |
        sed -nE 's/^([^ ]+): +[Uwv] ([^@ ]+).*/\1 \2/p' |
        sed -E 's/ __(isoc[0-9]+_)?(.+)_chk$/ \2/; s/ __isoc[0-9]+_/ /; s/ __(open|read|write|open64)(_2)?$/ \1/;
            s/ (fopen|open|openat|lseek|stat|fstat|lstat|mmap|pread|pwrite|tmpfile|freopen|creat)64$/ \1/'
}

# Print every forbidden import of the pure libraries below $1, and igraph outside one object of lib/host.
check_imports() {
    local module users
    for module in $pure; do
        if ! ls "$1/lib/$module"/*.a >/dev/null 2>&1; then
            echo "lib/$module: no library has been built, its imports cannot be judged"
            continue
        fi
        imports "$1" "$module" | grep -E " ($forbidden)$" | sed 's/ / imports /'
        users=$(imports "$1" "$module" | grep ' igraph_' | cut -d' ' -f1 | sort -u)
        if [ "$module" != host ]; then
            [ -z "$users" ] || echo "$users: igraph outside lib/host"
        elif [ "$(grep -c . <<<"$users")" -gt 1 ]; then
            echo "igraph is called from more than one file: " $users
        fi
    done
}

# The shared library at $1 exports lbmap_ alone and brings neither igraph nor SQLite into an application.
check_library() {
    if [ ! -e "$1" ]; then
        echo "$1: has not been built"
        return
    fi
    nm -D --defined-only "$1" | awk '$2 != "A" && $3 !~ /^lbmap_/ { print "liblbmap exports " $3 }'
    readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' |
        grep -vE '^(libc|libprotobuf-c|libnettle|libasan|libubsan|libclang_rt[a-z._0-9-]*|libgcov|libm|libgcc_s)\.so' |
        sed 's/^/liblbmap needs /'
}

# ---- self-test: plant each violation, expect it to be found, and a clean tree to pass -------------------

plant() { # file, text
    mkdir -p "$(dirname "$scratch/$1")"
    printf '%s\n' "$2" >"$scratch/$1"
}

clean_scratch() {
    local module
    rm -rf "$scratch"/*
    for module in $pure; do
        plant "lib/$module/$module.c" "#include <stdint.h>
int lbm_${module}_sum(int a, int b); int lbm_${module}_sum(int a, int b) { return a + b; }"
    done
}

build_scratch() { # compiles every planted file into its module's archive
    local module
    for module in $pure; do
        (cd "$scratch/lib/$module" && ${CC:-cc} -c ./*.c && ar rc "lib$module.a" ./*.o) || return 1
    done
}

expect() { # what, command...; succeeds if the command reports something
    local what=$1
    shift
    [ -n "$("$@")" ] || { echo "self-test: $what was not found"; return 1; }
}

self_test() {
    local found room above i j
    clean_scratch
    build_scratch || return 1
    found=$(check_includes "$scratch"; check_modules "$scratch"; check_imports "$scratch")
    [ -z "$found" ] || { printf 'self-test: a clean tree is refused:\n%s\n' "$found"; return 1; }

    plant lib/base/up.c '#include "graph/graph.h"'
    expect 'an upward include' check_includes "$scratch" || return 1
    plant lib/base/up.c '#include <sqlite3.h>'
    expect 'SQLite outside lib/store' check_includes "$scratch" || return 1
    plant lib/base/up.c '#include <sys/socket.h>'
    expect 'a system header in a pure module' check_includes "$scratch" || return 1
    rm "$scratch/lib/base/up.c"
    plant include/lbmap.h '#include "base/err.h"'
    expect 'an installed header that needs ours' check_includes "$scratch" || return 1
    rm -r "$scratch/include"
    plant lib/other/other.c ''
    expect 'a module outside the table' check_modules "$scratch" || return 1
    rm -r "$scratch/lib/other"

    mkdir -p "$scratch/ring/lib/map"
    for i in 0 1 2 3 4; do
        j=$(((i + 1) % 5))
        plant "ring/f$i.c" "int f$i(void); int f$j(void); int f$i(void) { return f$j(); }"
    done
    (cd "$scratch/ring" && ${CC:-cc} -c ./f?.c && ar rc lib/map/libring.a ./*.o) || return 1
    ! "$top/scripts/cycles" --most 4 "$scratch/ring" >"$scratch/ring/said" || { echo 'self-test: a cycle of five was not found'; return 1; }
    "$top/scripts/cycles" --most 5 "$scratch/ring" >"$scratch/ring/said" || { echo 'self-test: a cycle of five is larger than five'; return 1; }
    rm -r "$scratch/ring"

    for room in $(awk -F: 'NF > 1 { print $1 }' <<<"$rooms"); do
        for above in $(awk -F: -v room="$room" '$1 == room { exit } NF > 1 { print $1 }' <<<"$rooms"); do
            plant "lib/node/$room/up.c" "#include \"node/$above/$above.h\""
            expect "an include from $room up to $above" check_rooms "$scratch" || return 1
            plant "lib/node/$room/up.c" "int lbm_of_$above(void); int lbm_up(void); int lbm_up(void) { return lbm_of_$above(); }"
            plant "lib/node/$above/down.c" "int lbm_of_$above(void); int lbm_of_$above(void) { return 1; }"
            (cd "$scratch" && for f in lib/node/*/*.c; do ${CC:-cc} -c "$f" -o "${f%.c}.o" || exit 1; done) || return 1
            expect "a call from $room up to $above" check_calls "$scratch" || return 1
            rm -r "${scratch:?}/lib/node/$room" "${scratch:?}/lib/node/$above"
            break
        done
    done
    plant lib/node/exchange/up.c '#include "node/log/internal.h"'
    expect "another room's internal header" check_rooms "$scratch" || return 1
    plant lib/node/cellar/up.c ''
    expect 'a room outside the table' check_rooms "$scratch" || return 1
    rm -r "$scratch/lib/node/exchange" "$scratch/lib/node/cellar"

    plant lib/map/clock.c '#include <time.h>
long lbm_now(void); long lbm_now(void) { return (long)time(0); }'
    plant lib/map/out.c '#include <stdio.h>
void lbm_say(int n); void lbm_say(int n) { printf("%d\n", n); }'
    build_scratch || return 1
    [ "$(check_imports "$scratch" | wc -l)" -eq 2 ] ||
        { echo 'self-test: clock and output in a pure library were not found'; return 1; }

    clean_scratch
    plant lib/host/one.c 'int igraph_a(void); int lbm_one(void); int lbm_one(void) { return igraph_a(); }'
    build_scratch || return 1
    [ -z "$(check_imports "$scratch")" ] || { echo 'self-test: igraph in one file is refused'; return 1; }
    plant lib/host/two.c 'int igraph_b(void); int lbm_two(void); int lbm_two(void) { return igraph_b(); }'
    build_scratch || return 1
    expect 'igraph in two files' check_imports "$scratch" || return 1

    plant api.c 'int sqlite_like(void); int lbmap_one(void); int lbmap_one(void) { return 1; }
int sqlite_like(void) { return 2; }'
    (cd "$scratch" && ${CC:-cc} -shared -fPIC -o api.so api.c) || return 1
    expect 'an export that is not ours' check_library "$scratch/api.so" || return 1
    plant api.c 'double cos(double); double lbmap_one(double x); double lbmap_one(double x) { return cos(x); }'
    (cd "$scratch" && ${CC:-cc} -shared -fPIC -o api.so api.c) || return 1
    [ -z "$(check_library "$scratch/api.so")" ] || { echo 'self-test: a good library is refused'; return 1; }
    (cd "$scratch" && ${CC:-cc} -shared -fPIC -o other.so api.c && ${CC:-cc} -shared -fPIC \
        -Wl,--no-as-needed -o api.so api.c ./other.so) || return 1
    expect 'a library that is not wanted' check_library "$scratch/api.so" || return 1
}

if ! self_test; then
    exit 99
fi

cycles=$("$top/scripts/cycles" --most 4 "$objects" lib/node/libnode.a lib/map/libmap.a) ||
    { printf 'a cycle of object files is larger than four:\n%s\n' "$cycles"; exit 1; }
violations=$(check_modules "$top"; check_includes "$top"; check_rooms "$top"; check_calls "$objects"; check_imports "$objects"
    check_library "$objects/.libs/liblbmap.so")
if [ -n "$violations" ]; then
    printf '%s\n' "$violations"
    exit 1
fi
echo "arrows hold: $(find "$top/lib" "$top/daemon" "$top/client" "$top/sim" -name '*.[ch]' | wc -l) files"
