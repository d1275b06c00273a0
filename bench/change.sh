#!/usr/bin/env bash
# What one change costs in clusters of different sizes: the load of a host grows by a tenth, on several
# hosts one after the other; with as many vertices a host. One line a cluster, and the ratio to the
# smallest. Tori, so that all hosts have as many neighbours. With every change the mean of all loads grows,
# and with it the room that others have under the bound: a tenth of one host among 32 is 0.3 %. No run has
# more changes than that; small clusters have more runs instead, each with the next seed. 4,096 hosts take
# 8.5 GiB, a quarter of an hour of a processor to come to rest, and more than a minute for each change.
#
#   bench/change.sh [BUILD_DIRECTORY [SIDES [CHANGES [VERTICES_A_HOST]]]]
#                                     default: the current directory, "8 16 32", 32, 64
#
# Status 1 if a job does not settle after a change.
set -eu

. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" sim/lbsim
sides=${2:-8 16 32}
changes=${3:-32}
vertices=${4:-64}
needs python3
exec python3 - "$build/sim/lbsim" "$sides" "$changes" "$vertices" <<'END_OF_PYTHON'
import json, math, statistics, subprocess, sys

lbsim, sides, changes, vertices = sys.argv[1:]
HOSTS_A_CHANGE, CHANGES_MAX = 32, 64
first, failed = None, False
print("%6s %9s %9s %9s %9s %9s %9s %7s   %s" % (
    "hosts", "messages", "KiB", "touched", "most", "movers", "settled", "MiB",
    "ratios of messages, KiB, touched"))
for side in map(int, sides.split()):
    costs, memory = [], 0
    guest = round(math.sqrt(int(vertices)) * side)
    in_a_run = max(1, min(int(changes), CHANGES_MAX, side * side // HOSTS_A_CHANGE))
    for seed in range(1, math.ceil(int(changes) / in_a_run) + 1):
        out = subprocess.run([lbsim, "change", "--json", "--hosts", "torus:%dx%d" % (side, side),
                              "--guest", "lattice:%dx%d" % (guest, guest), "--changes", str(in_a_run),
                              "--seed", str(seed)], capture_output=True, text=True)
        if out.returncode != 0:
            failed = True
            print("seed %d: %s" % (seed, out.stderr.strip() or json.loads(out.stdout)["why"]))
        if out.stdout:
            result = json.loads(out.stdout)
            costs += result["changes"]
            memory = max(memory, result["memory_mib"])
    if not costs:
        continue
    means = [statistics.mean(c[k] for c in costs) for k in ("messages", "bytes", "touched")]
    first = first or means
    settled = statistics.median(c["settled_s"] for c in costs)
    print("%6d %9.0f %9.1f %9.1f %9d %9.1f %9.2f %7d   %s" % (
        side * side, means[0], means[1] / 1024, means[2], max(c["touched"] for c in costs),
        statistics.mean(c["movers"] for c in costs), settled, memory,
        " ".join("%.2f" % (m / f) for m, f in zip(means, first))), flush=True)
sys.exit(failed)
END_OF_PYTHON
