#!/usr/bin/env bash
# Time of plans next to scotch_gmap and gpmetis on the same guests, taken in turns so that all meet the same load of
# the machine: medians of processor and wall seconds, of whole processes, reading and writing included.
#
#   bench/peers.sh [-r RUNS] [-j FILE] [BUILD_DIRECTORY [GRAPH...]]
#
# BUILD_DIRECTORY is the current one, RUNS 3, the GRAPHs those of the reference material next to the source tree
# (../shared/graphs). -j writes the numbers as JSON. Scotch runs as it is installed and once more with one thread:
# its threads spin while they wait, which counts as processor time on a busy machine. Peers that are not installed
# are left out.
set -eu

runs=3 json=
while getopts r:j: option; do
    case $option in
    r) runs=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" client/lbctl
shift $(($# < 1 ? $# : 1))
[ $# -gt 0 ] || set -- "$top"/../shared/graphs/*.graph.gz
needs_file "$1"
needs python3
exec python3 - "$build/client/lbctl" "$runs" "$json" "$@" <<'END'
import json, os, shutil, statistics, subprocess, sys, tempfile, time

lbctl, runs, report, *graphs = sys.argv[1:]
# Ours, Scotch's words for the same, parts.
HOSTS = (("mesh:4x4", "mesh2D 4 4", 16), ("mesh:8x8", "mesh2D 8 8", 64), ("torus:8x8", "torus2D 8 8", 64),
         ("hypercube:4", "hcub 4", 16), ("hypercube:6", "hcub 6", 64))
METHODS = ["fast", "normal"]
if shutil.which("scotch_gmap"):
    METHODS += ["scotch", "scotch, 1 thread"]
if shutil.which("gpmetis"):
    METHODS += ["metis"]

def run(command, **more):
    """Processor and wall seconds of one process, and its largest memory in MB."""
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit("bench/peers.sh: failed: " + " ".join(command))
    return used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss / 1024

def command_of(method, graph, hosts, target, parts, scratch):
    if method in ("fast", "normal"):
        return [lbctl, "plan", graph + ".graph", "--hosts", hosts, "--effort", method, "-q", "-o", scratch + "/map"]
    if method == "metis":
        return ["gpmetis", "-ufactor=30", graph + ".graph", str(parts)]
    return ["scotch_gmap", "-b0.03", graph + ".grf", target, scratch + "/map"]

rows = []
with tempfile.TemporaryDirectory() as scratch:
    for path in graphs:
        name = os.path.basename(path).split(".")[0]
        graph = os.path.join(scratch, name)
        for suffix in ".graph", ".grf":
            subprocess.run([lbctl, "convert", path, graph + suffix, "-q"], check=True)
        for hosts, words, parts in HOSTS:
            target = os.path.join(scratch, "target")
            with open(target, "w") as file:
                file.write(words + "\n")
            samples = {method: [] for method in METHODS}
            for _ in range(int(runs)):
                for method in METHODS:
                    env = dict(os.environ)
                    if method.endswith("1 thread"):
                        env["SCOTCH_PTHREAD_NUMBER"] = "1"
                    samples[method].append(run(command_of(method, graph, hosts, target, parts, scratch), env=env))
            row = {"graph": name, "hosts": hosts}
            for method in METHODS:
                cpu, wall, memory = (statistics.median(part) for part in zip(*samples[method]))
                row[method] = {"cpu_s": round(cpu, 4), "wall_s": round(wall, 4), "memory_mb": round(memory, 1)}
            rows.append(row)
            print("%-15s %-12s" % (name, hosts) + "".join("  %s %.2f/%.2f" % (m, row[m]["cpu_s"], row[m]["wall_s"])
                  for m in METHODS), flush=True)
total = {m: {unit: sum(row[m][unit] for row in rows) for unit in ("cpu_s", "wall_s")} for m in METHODS}
print("\n%-18s %9s %9s" % ("all %d" % len(rows), "cpu s", "wall s") + "".join("  cpu/%s" % m for m in METHODS[2:]))
for m in METHODS:
    print("%-18s %9.2f %9.2f" % (m, total[m]["cpu_s"], total[m]["wall_s"]) +
          "".join("  %*.2f" % (len(p) + 4, total[m]["cpu_s"] / total[p]["cpu_s"]) for p in METHODS[2:]))
if report:
    with open(report, "w") as file:
        json.dump({"runs": int(runs), "instances": rows, "total": total}, file, indent=1)
END
