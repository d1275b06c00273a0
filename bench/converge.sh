#!/usr/bin/env bash
# The figure of docs/papers.md: sweeps of diffusion by delay and loss, real nodes in virtual time (lbsim converge).
# usage: bench/converge.sh [FILE.svg]; SEED (1), lbsim (build/sim/lbsim)
set -eu

lbsim=${lbsim:-$(dirname "$0")/../build/sim/lbsim}
out=${1:-converge.svg}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$lbsim" converge --seed "${SEED:-1}"
"$lbsim" converge --seed "${SEED:-1}" --json >"$scratch/json"
python3 - "$scratch/json" >"$out" <<'PYTHON'
import json, sys

runs = json.load(open(sys.argv[1]))
W, H, L, T = 480, 320, 56, 16
delay_most, sweeps_most = max(r["delay"] for r in runs), max(r["sweeps"] for r in runs if r["converged"])
top = -(-sweeps_most // 200) * 200
colours = ["#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7"]
x = lambda d: L + W * d / delay_most
y = lambda s: T + H * (1 - s / top)
print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{L + W + 90}" height="{T + H + 44}" font-family="sans-serif" font-size="12">')
print('<rect width="100%" height="100%" fill="#fff"/>')
for s in range(0, top + 1, 200):
    print(f'<path d="M{L} {y(s):.0f}h{W}" stroke="#ddd"/><text x="{L - 6}" y="{y(s) + 4:.0f}" text-anchor="end">{s}</text>')
for d in sorted({r["delay"] for r in runs}):
    print(f'<text x="{x(d):.0f}" y="{T + H + 16}" text-anchor="middle">{d:g}</text>')
for i, loss in enumerate(sorted({r["loss"] for r in runs})):
    line = sorted((r["delay"], r["sweeps"]) for r in runs if r["loss"] == loss and r["converged"])
    points = " ".join(f"{x(d):.1f},{y(s):.1f}" for d, s in line)
    print(f'<polyline points="{points}" fill="none" stroke="{colours[i % 6]}" stroke-width="2"/>')
    print(f'<rect x="{L + W + 10}" y="{T + 18 * i}" width="12" height="12" fill="{colours[i % 6]}"/>'
          f'<text x="{L + W + 27}" y="{T + 11 + 18 * i}">{100 * loss:.0f} % lost</text>')
print(f'<text x="{L + W / 2:.0f}" y="{T + H + 36}" text-anchor="middle">delay of messages, sweeps</text>')
print(f'<text transform="translate(14 {T + H / 2:.0f}) rotate(-90)" text-anchor="middle">sweeps to 0.1 of a cell</text>\n</svg>')
PYTHON
echo "$out"
