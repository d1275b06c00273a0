#!/usr/bin/env bash
# What one change costs in clusters of different sizes: the load of a host grows by a tenth, on several hosts one after the other;
# with as many vertices a host. One line a cluster, and the ratio to the smallest. Tori, so that all hosts have as many neighbours.
# Hosts that have taken something in a run have no room the next time, and the mean of all loads grows with every change, and with
# it the bound. So changes of a run are ten links apart at least, and no more than one for 128 hosts; small clusters have more runs
# instead, each with other hosts.
# 4,096 hosts take 6.5 GiB, a quarter of an hour of a processor to come to rest, and a quarter to half a minute for each change.
#
# Every run begins with a square block of the lattice for each host, so that hosts are equally full whatever their number; with -p
# it begins with a plan, as jobs do, which leaves a host in four with no room where it has not found the blocks. A host has 49
# vertices, and room for one under the bound of 3 % before a change and after it. With 64 it has room for one (65.9), but for two
# (66.02) once one of 64 hosts has grown by a tenth: that change is cheaper than the same among more hosts.
#
#   bench/change.sh [-p] [BUILD_DIRECTORY [SIDES [CHANGES [VERTICES_A_HOST]]]]
#                                     default: the current directory, "8 16 32", 32, 49
#
# Status 1 if a job does not settle after a change.
set -eu

usage() {
    sed -n '/^#   bench/,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
    exit 2
}

begin=blocks
while getopts p option; do
    case $option in
    p) begin=plan ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" sim/lbsim
sides=${2:-8 16 32}
changes=${3:-32}
vertices=${4:-49}
needs python3
exec python3 - "$build/sim/lbsim" "$sides" "$changes" "$vertices" "$begin" <<'END_OF_PYTHON'
import json, math, random, statistics, subprocess, sys, tempfile

lbsim, sides, changes, vertices, begin = sys.argv[1:]
HOSTS_A_CHANGE, APART, CHANGES_MAX = 128, 10, 64


def write_blocks(file, side, guest):
    """The host of each vertex: one a line."""
    rows = [at * side // guest for at in range(guest)]
    file.write("".join("%d\n" % (row * side + column) for row in rows for column in rows))
    file.flush()


mapping = tempfile.NamedTemporaryFile("w", prefix="lbmap-change.")
options = ["--map", mapping.name] if begin == "blocks" else []
first, failed = None, False
print("%6s %9s %9s %9s %9s %9s %9s %7s   %s" % (
    "hosts", "messages", "KiB", "touched", "most", "movers", "settled", "MiB",
    "ratios of messages, KiB, touched"))
for side in map(int, sides.split()):
    costs, memory = [], 0
    guest = round(math.sqrt(int(vertices)) * side)
    mapping.seek(0)
    mapping.truncate()
    write_blocks(mapping, side, guest)
    in_a_run = max(1, min(int(changes), CHANGES_MAX, side * side // HOSTS_A_CHANGE))
    for seed in range(1, math.ceil(int(changes) / in_a_run) + 1):
        out = subprocess.run([lbsim, "change", "--json", "--hosts", "torus:%dx%d" % (side, side),
                              "--guest", "lattice:%dx%d" % (guest, guest), "--changes", str(in_a_run),
                              "--host", str(random.Random(seed).randrange(side * side)),
                              "--apart", str(APART), "--seed", str(seed), *options], capture_output=True, text=True)
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
