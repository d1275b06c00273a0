#!/usr/bin/env bash
# What a host has to do in clusters of 64, 256 and 1,024 hosts, with as many vertices a host each: one line a
# cluster and phase, and the ratio to the smallest one. Takes long and needs some GiB of memory.
#
#   bench/scale.sh [BUILD_DIRECTORY [VERTICES_A_HOST [MINUTES [CHURN_PERCENT [SIDES]]]]]
#                                     default: the current directory, 1000, 10, 10, "8 16 32"
#
# Status 1 if a cluster does not settle or is not balanced within 5 %.
set -eu

. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" sim/lbsim
vertices=${2:-1000}
minutes=${3:-10}
churn=${4:-10}
sides=${5:-8 16 32}
needs python3
# shellcheck disable=SC2086 # words
exec python3 - "$build/sim/lbsim" "$vertices" "$minutes" "$churn" $sides <<'END'
import json, math, subprocess, sys

lbsim, vertices, minutes, churn, *sides = sys.argv[1:]
first, failed = {}, False
FIGURES = ("messages", "bytes", "steps", "transactions", "node_ms")
print("%-22s %9s %7s %9s %9s %9s %9s %9s   %s" % ("", "virtual s", "wall s", "messages", "KiB", "steps", "commits",
                                                 "node ms", "ratios to the smallest"))
for side in map(int, sides):
    guest = round(math.sqrt(int(vertices)) * side)
    out = subprocess.run([lbsim, "scale", "--hosts", "mesh:%dx%d" % (side, side), "--guest",
                          "lattice:%dx%d" % (guest, guest), "--minutes", minutes, "--churn", churn, "--json"],
                         capture_output=True, text=True)
    result = json.loads(out.stdout)
    failed = failed or out.returncode != 0
    print("%d hosts, %d vertices: %s, imbalance %.2f %%, %d MiB" % (
        result["n_hosts"], result["vertices"], "settled" if result["settled"] else result["why"],
        100 * result["imbalance"], result["memory_mib"]))
    for phase in result["phases"]:
        base = first.setdefault(phase["phase"], phase)
        ratios = ["%.2f" % (phase[f] / base[f]) if base[f] else "-" for f in FIGURES]
        print("  %-20s %9.0f %7.0f %9.0f %9.0f %9.0f %9.0f %9.1f   %s" % (
            phase["phase"], phase["virtual_s"], phase["wall_s"], phase["messages"], phase["bytes"] / 1024,
            phase["steps"], phase["transactions"], phase["node_ms"], " ".join(ratios)), flush=True)
sys.exit(failed)
END
