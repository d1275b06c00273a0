#!/usr/bin/env bash
# Plan the reference instances and compare hop-bytes with what Scotch, METIS and KaHIP reached on them. Every
# mapping is measured by the reference judge, not by our own evaluator. Needs the reference material (graphs,
# hosts, peers.csv, tools) next to the source tree in ../shared, and python3.
#
#   bench/quality.sh [BUILD_DIRECTORY [SEED [OPTION...]]]     default: the current directory, 1; OPTIONs are
#   of lbctl plan, as in: bench/quality.sh . 1 --effort best
#
# Of each plan also what it took: seconds of the processor, and wall seconds, for which an effort has a bound.
#
# Status 1 if a plan failed or a host is over its limit (3 %, or one vertex where 3 % is less than that).
set -eu

. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" client/lbctl
shared=$top/../shared
needs_file "$shared/peers.csv"
needs python3
cd "$shared"
seed=${2:-1}
shift $(($# < 2 ? $# : 2))
exec python3 - "$build/client/lbctl" "$seed" "$@" <<'END'
import csv, json, math, os, subprocess, sys, tempfile, time

lbctl, seed, *options = sys.argv[1:]
peers = {}
for row in csv.DictReader(open("peers.csv")):
    peers.setdefault((row["graph"], row["hosts"]), {})[row["method"]] = int(row["hop_bytes"])
OTHERS = ("scotch", "metis+placement", "kahip-eco+placement")

def measure(graph, hosts, path):
    """Plan one instance: what the judge says, seconds of the processor, wall seconds."""
    file = "graphs/%s.graph.gz" % graph
    before, began = os.times(), time.monotonic()
    subprocess.run([lbctl, "plan", file, "--hosts", hosts, "--seed", seed, "-q", "-o", path] + options,
                   check=True, stdout=subprocess.DEVNULL)
    after, wall = os.times(), time.monotonic() - began
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    judge = [sys.executable, "tools/evalmap.py", file, path, hosts]
    out = subprocess.run(judge, check=True, capture_output=True)
    return json.loads(out.stdout), cpu, wall

def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))

to_scotch, to_best, took, total, over = {}, {}, {}, 0.0, 0
print("%-15s %-22s %9s %9s %8s %8s %7s %7s" % (
    "graph", "hosts", "J", "imbalance", "/Scotch", "/best", "cpu s", "wall s"))
with tempfile.TemporaryDirectory() as scratch:
    for (graph, hosts), known in peers.items():
        key = (graph, hosts)
        got, cpu, took[key] = measure(graph, hosts, os.path.join(scratch, "map"))
        share = got["vertices"] / got["hosts"]
        to_scotch[key] = got["hop_bytes"] / known["scotch"]
        to_best[key] = got["hop_bytes"] / min(known[m] for m in OTHERS)
        total += cpu
        late = got["imbalance"] > max(0.03, 1 / share) + 1e-9
        over += late
        print("%-15s %-22s %9d %9.4f %8.3f %8.3f %7.2f %7.2f%s" % (
            graph, hosts, got["hop_bytes"], got["imbalance"], to_scotch[key], to_best[key], cpu, took[key],
            "  over the limit" if late else ""), flush=True)
for name, part in (("hosts", 1), ("graph", 0)):
    for group in dict.fromkeys(key[part] for key in peers):
        members = [key for key in peers if key[part] == group]
        print("%-5s %-22s /Scotch %.3f  /best %.3f" % (name, group, mean([to_scotch[k] for k in members]),
              mean([to_best[k] for k in members])))
print("all %d: /Scotch %.3f, /best of the three %.3f, not worse than the best %d, over the limit %d" % (
    len(peers), mean(to_scotch.values()), mean(to_best.values()), sum(r <= 1 for r in to_best.values()),
    over))
longest = max(took, key=took.get)
print("%.1f s of the processor; the longest plan took %.1f s: %s on %s" % (total, took[longest], *longest))
sys.exit(1 if over else 0)
END
