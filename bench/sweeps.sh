#!/usr/bin/env bash
# Sweeps of diffusion until a job has settled, by the size of the guest and the number of hosts, real nodes in virtual time
# (lbsim scale --start diffuse): a table, and the figure of docs/papers.md.
#
#   bench/sweeps.sh [-m MOST] [FILE.svg]       default: sweeps.svg; runs of more than MOST vertices are left out (100000)
#
# Lattices of 32 x 32 to 1000 x 1000 vertices on meshes of 16 to 1,024 hosts, with 16 vertices a host or more; the guest comes in
# at one host. The largest run takes 7 GiB and an hour or more. SEED (1), lbsim (build/sim/lbsim), RUNS: a folder whose runs are
# kept, and not made again.
set -eu

most=100000
while getopts m: option; do
    case $option in
    m) most=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
lbsim=${lbsim:-$(dirname "$0")/../build/sim/lbsim}
out=${1:-sweeps.svg}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
runs=${RUNS:-$scratch}
mkdir -p "$runs"
printf '%8s %6s %8s %10s %8s %11s\n' vertices hosts sweeps 'virtual s' plans imbalance
for width in 32 100 316 1000; do
    for side in 4 8 16 32; do
        n=$((width * width)) hosts=$((side * side)) run=$runs/$side-$width
        [ "$n" -ge $((16 * hosts)) ] && [ "$n" -le "$most" ] || continue
        [ -s "$run" ] || {
            "$lbsim" scale --hosts "mesh:${side}x$side" --guest "lattice:${width}x$width" --start diffuse --churn 0 \
                --minutes 0.01 --seed "${SEED:-1}" --json >"$run.new" || { echo "$hosts hosts, $n vertices: not settled"; continue; }
            mv "$run.new" "$run"
        }
        python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
print("%8d %6d %8d %10.1f %8d %10.2f %%" % (r["vertices"], r["n_hosts"], r["sweeps"], r["phases"][1]["virtual_s"], r["plans"],
                                           100 * r["imbalance"]))' "$run"
    done
done
python3 - "$runs" >"$out" <<'PYTHON'
import json, math, os, sys

folder = sys.argv[1]
runs = [json.load(open(os.path.join(folder, f))) for f in os.listdir(folder) if "." not in f]
W, H, L, T = 480, 320, 56, 16
top = -(-max(r["sweeps"] for r in runs) // 200) * 200
colours = ["#0072b2", "#009e73", "#e69f00", "#d55e00"]
x = lambda n: L + W * (math.log10(n) - 3) / 3
y = lambda s: T + H * (1 - s / top)
print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{L + W + 100}" height="{T + H + 44}" font-family="sans-serif" font-size="12">')
print('<rect width="100%" height="100%" fill="#fff"/>')
for s in range(0, top + 1, 200):
    print(f'<path d="M{L} {y(s):.0f}h{W}" stroke="#ddd"/><text x="{L - 6}" y="{y(s) + 4:.0f}" text-anchor="end">{s}</text>')
for n in 1000, 10000, 100000, 1000000:
    print(f'<text x="{x(n):.0f}" y="{T + H + 16}" text-anchor="middle">{n:,}</text>')
for i, hosts in enumerate(sorted({r["n_hosts"] for r in runs})):
    line = sorted((r["vertices"], r["sweeps"]) for r in runs if r["n_hosts"] == hosts)
    points = " ".join(f"{x(n):.1f},{y(s):.1f}" for n, s in line)
    print(f'<polyline points="{points}" fill="none" stroke="{colours[i % 4]}" stroke-width="2"/>')
    for n, s in line:
        print(f'<circle cx="{x(n):.1f}" cy="{y(s):.1f}" r="3" fill="{colours[i % 4]}"/>')
    print(f'<rect x="{L + W + 10}" y="{T + 18 * i}" width="12" height="12" fill="{colours[i % 4]}"/>'
          f'<text x="{L + W + 27}" y="{T + 11 + 18 * i}">{hosts:,} hosts</text>')
print(f'<text x="{L + W / 2:.0f}" y="{T + H + 36}" text-anchor="middle">vertices of the guest</text>')
print(f'<text transform="translate(14 {T + H / 2:.0f}) rotate(-90)" text-anchor="middle">sweeps until settled</text>\n</svg>')
PYTHON
echo "$out"
