#!/usr/bin/env bash
# How good the mapping is that real daemons settle with on hosts that are not alike: capacities 1:2:4 and 1:1:1:5 by turns,
# links of 1 and 10, a hierarchy; next to `lbctl plan` of the same guest for the same hosts. One row a start.
#
#   bench/uneven.sh [-g GUEST]... [-S START]... [-s SEED] [-t SECONDS] [-j FILE] [BUILD_DIRECTORY]
#
# GUEST is a file or what lbctl gen makes; lattice:64x64 and airfoil:4000 unless told. START is diffuse and plan unless told; SEED
# 1; SECONDS 120 (until a job has settled). J and loads are those of lbctl eval; loads count against capacities. -j writes JSON.
set -eu

guests=() starts=() seed=1 seconds=120 json=
while getopts g:S:s:t:j: option; do
    case $option in
    g) guests+=("$OPTARG") ;;
    S) starts+=("$OPTARG") ;;
    s) seed=$OPTARG ;;
    t) seconds=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" daemon/lbmapd
[ "${#guests[@]}" -ne 0 ] || guests=(lattice:64x64 airfoil:4000)
[ "${#starts[@]}" -ne 0 ] || starts=(diffuse plan)
lbctl=$build/client/lbctl
scratch=$(mktemp -d /tmp/lbmap-bench.XXXXXX) # short: sockets go there
end() {
    "$lbctl" -q cluster down --dir "$scratch/c" >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
trap end EXIT

# A mesh of 4 x 4 whose links across the middle cost ten times as much, as METIS has it.
costly_mesh() {
    awk 'BEGIN {
        print 16, 24, "001"
        for (p = 0; p < 16; p++) {
            x = p % 4; y = int(p / 4); line = ""
            if (x > 0) line = line " " p " " (x == 2 ? 10 : 1)
            if (x < 3) line = line " " p + 2 " " (x == 1 ? 10 : 1)
            if (y > 0) line = line " " p - 3 " " (y == 2 ? 10 : 1)
            if (y < 3) line = line " " p + 5 " " (y == 1 ? 10 : 1)
            print substr(line, 2)
        }
    }'
}
capacities() { for ((host = 0; host < 16; host++)); do echo "${@:host % $# + 1:1}"; done; }
capacities 1 2 4 >"$scratch/124"
capacities 1 1 1 5 >"$scratch/1115"
costly_mesh >"$scratch/costly.graph"
specs=("mesh:4x4@cap=$scratch/124" "mesh:4x4@cap=$scratch/1115" "file:$scratch/costly.graph" hier:4:4/1:10)
names=("mesh:4x4 1:2:4" "mesh:4x4 1:1:1:5" "mesh:4x4 costs 1, 10" "hier:4:4/1:10")

figure() { grep -o "\"$1\": *[-0-9.e]*" | head -n 1 | sed 's/.*: *//'; }
judge() { # FILE SPEC: J and imbalance
    local out
    out=$("$lbctl" eval "$guest" "$1" --hosts "$2" --json)
    echo "$(figure hop_bytes <<<"$out") $(figure imbalance <<<"$out")"
}
map() { # SPEC START: a fresh cluster maps the guest; the mapping is in $scratch/map, the seconds are printed
    local begin
    "$lbctl" -q cluster up --hosts "$1" --dir "$scratch/c" --daemon "$build/daemon/lbmapd" || return
    begin=$(date +%s%N)
    "$lbctl" -q -s "$scratch/c/h0/lbmapd.sock" submit "$guest" --name job --start "$2" --seed "$seed" &&
        "$lbctl" -q -s "$scratch/c/h0/lbmapd.sock" wait job --timeout "$seconds" >/dev/null &&
        awk -v a="$begin" -v b="$(date +%s%N)" 'BEGIN { printf "%.1f", (b - a) / 1e9 }' &&
        "$lbctl" -q -s "$scratch/c/h0/lbmapd.sock" map job -o "$scratch/map"
}

failed=0 rows=()
printf '%-14s %-22s %-8s %8s %8s %6s %8s %7s\n' guest hosts start "plan J" J ratio uneven "wall s"
for spec in "${guests[@]}"; do
    guest=$spec
    if [ ! -e "$spec" ]; then
        guest=$scratch/guest.graph
        "$lbctl" -q gen "$spec" -o "$guest"
    fi
    for i in "${!specs[@]}"; do
        "$lbctl" -q plan "$guest" --hosts "${specs[i]}" --seed "$seed" -o "$scratch/plan" >/dev/null
        read -r best _ < <(judge "$scratch/plan" "${specs[i]}")
        for start in "${starts[@]}"; do
            if ! took=$(map "${specs[i]}" "$start"); then
                echo "$(basename "$spec") ${names[i]} $start failed"
                failed=1
            else
                read -r got uneven < <(judge "$scratch/map" "${specs[i]}")
                ratio=$(awk -v a="$got" -v b="$best" 'BEGIN { printf "%.3f", a / b }')
                printf '%-14s %-22s %-8s %8s %8s %6s %7.2f%% %7s\n' "$(basename "$spec")" "${names[i]}" "$start" "$best" \
                    "$got" "$ratio" "$(awk -v u="$uneven" 'BEGIN { print 100 * u }')" "$took"
                rows+=("{\"guest\": \"$(basename "$spec")\", \"hosts\": \"${names[i]}\", \"start\": \"$start\", \"plan\": $best, \"hop_bytes\": $got, \"ratio\": $ratio, \"imbalance\": $uneven, \"seconds\": $took}")
            fi
            "$lbctl" -q cluster down --dir "$scratch/c" >/dev/null 2>&1 || true
            rm -rf "$scratch/c"
        done
    done
done
[ -z "$json" ] || (
    IFS=,
    echo "[${rows[*]}]" >"$json"
)
exit "$failed"
