#!/usr/bin/env bash
# The reference guests with random weights (vertices 1 to 100, edges 1 to 1000) on hosts with capacities 1, 2 and 4,
# next to scotch_gmap, which gets the hosts as a weighted target (amk_grf). The reference judge measures both. Needs
# the reference material next to the source tree in ../shared, python3 and Scotch.
#
#   bench/weighted.sh [-e EFFORT] [-s SEED] [-i INSTANCE,...] [-j FILE] [BUILD_DIRECTORY]
#
# EFFORT is normal, SEED 1, of the weights and of the plans. An INSTANCE is GRAPH@HOSTS; by default all of peers.csv, but hierarchies. -j writes the
# numbers as JSON. Every plan is made once more with one vertex in a hundred pinned to a random host.
# The limit is 3 %, or what longest first reaches where that is more. Scotch is asked for 3 %, then for 2, 1 and half a
# percent, until it keeps the limit; where it never does the row counts in no ratio.
# Exit: 1 if a host of ours is over the limit, or a pinned vertex is elsewhere.
set -eu

effort=normal seed=1 instances= json=
while getopts e:s:i:j: option; do
    case $option in
    e) effort=$OPTARG ;;
    s) seed=$OPTARG ;;
    i) instances=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" client/lbctl
shared=$top/../shared
needs_file "$shared/peers.csv"
needs python3 scotch_gmap amk_grf
cd "$shared"
exec python3 - "$build/client/lbctl" "$effort" "$seed" "$instances" "$json" <<'END'
import csv, gzip, heapq, itertools, json, math, os, random, subprocess, sys, tempfile

lbctl, effort, seed, wanted, report = sys.argv[1:]
EPSILON, BOUNDS, CAPACITIES = 0.03, (0.03, 0.02, 0.01, 0.005), (1, 2, 4)
instances = [tuple(i.split("@")) for i in wanted.split(",")] if wanted else list(dict.fromkeys(
    (row["graph"], row["hosts"]) for row in csv.DictReader(open("peers.csv")) if not row["hosts"].startswith("hier:")))

def read(path):
    """Neighbours of each vertex; weights that are there are dropped."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        lines = [line.split() for line in file if not line.startswith("%")]
    words = [list(map(int, line)) for line in lines[1:]]
    kind = lines[0][2].zfill(3) if len(lines[0]) > 2 else "000"
    if kind[1] == "1":
        words = [line[1:] for line in words]
    return [line[::2] if kind[2] == "1" else line for line in words]

def write(path, adjacent, weight, cost):
    with open(path, "w") as file:
        file.write("%d %d 011\n" % (len(adjacent), sum(map(len, adjacent)) // 2))
        for v, others in enumerate(adjacent, 1):
            file.write(" ".join([str(weight[v - 1])] + ["%d %d" % (u, cost[min(u, v), max(u, v)]) for u in others]) + "\n")

def weigh(name, path):
    """The guest with weights of its own seed; its weights."""
    dice, adjacent = random.Random(name + seed), read("graphs/%s.graph.gz" % name)
    weight = [dice.randint(1, 100) for _ in adjacent]
    cost = {(v, u): dice.randint(1, 1000) for v, others in enumerate(adjacent, 1) for u in others if v < u}
    write(path, adjacent, weight, cost)
    return weight

def links_of(hosts):
    """Host network as lists of neighbours, from 1, as in a METIS file."""
    kind, _, arg = hosts.partition(":")
    if kind == "file":
        return read(arg)
    if kind == "hypercube":
        return [[(p ^ 1 << b) + 1 for b in range(int(arg))] for p in range(1 << int(arg))]
    sizes = [int(size) for size in arg.split("x")]
    points = [point[::-1] for point in itertools.product(*[range(size) for size in reversed(sizes)])]
    number, links = {point: i for i, point in enumerate(points, 1)}, []
    for point in points:
        near = [point[:k] + ((point[k] + step) % size if kind == "torus" else point[k] + step,) + point[k + 1:]
                for k, size in enumerate(sizes) for step in (-1, 1)]
        links.append(sorted({number[p] for p in near if p in number and p != point}))
    return links

def judge(guest, mapping, hosts, capacities, *more):
    out = subprocess.run([sys.executable, "tools/evalmap.py", guest, mapping, hosts, "--capacities", capacities, *more],
                         check=True, capture_output=True)
    return json.loads(out.stdout)

def run(*command):
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system

def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan

def longest_first(weight, capacity, pins):
    """Imbalance of the heaviest vertex first, each to the host that it fills least."""
    load, total = [0] * len(capacity), sum(weight) / sum(capacity)
    for v, host in pins.items():
        load[host] += weight[v]
    heaps = {c: [(load[p], p) for p in range(len(capacity)) if capacity[p] == c] for c in set(capacity)}
    for heap in heaps.values():
        heapq.heapify(heap)
    for v in sorted((v for v in range(len(weight)) if v not in pins), key=lambda v: -weight[v]):
        c = min(heaps, key=lambda c: (heaps[c][0][0] + weight[v]) / c)
        heapq.heapreplace(heaps[c], (heaps[c][0][0] + weight[v], heaps[c][0][1]))
    return max(work / (c * total) for c, heap in heaps.items() for work, _ in heap) - 1

def limit(*problem):
    return max(EPSILON, longest_first(*problem)) + 1e-9

rows, failed = [], 0
print("%-15s %-22s %11s %9s %8s %9s %7s %9s" % ("graph", "hosts", "J", "imbalance", "/Scotch", "imbalance", "seconds",
                                               "pinned"))
with tempfile.TemporaryDirectory() as scratch:
    at = lambda name: os.path.join(scratch, name)
    weights = {}
    for graph, hosts in instances:
        guest, target, capacities = at(graph + ".graph"), at("target"), at("capacities")
        if graph not in weights:
            weights[graph] = weigh(graph, guest)
            run(lbctl, "convert", guest, at(graph + ".grf"), "-q")
        links, weight = links_of(hosts), weights[graph]
        dice = random.Random(hosts + seed)
        capacity = [CAPACITIES[dice.randrange(3)] for _ in links]
        with open(capacities, "w") as file:
            file.write("\n".join(map(str, capacity)) + "\n")
        write(at("hosts.graph"), links, capacity, {(min(u, v), max(u, v)): 1 for v, near in enumerate(links, 1) for u in near})
        run(lbctl, "convert", at("hosts.graph"), at("hosts.grf"), "-q")
        run("amk_grf", at("hosts.grf"), target)
        for bound in BOUNDS:
            run("scotch_gmap", "-b%g" % bound, at(graph + ".grf"), target, at("scotch.map"))
            scotch = judge(guest, at("scotch.map"), hosts, capacities, "--format", "scotch")
            keeps = scotch["imbalance"] <= limit(weight, capacity, {})
            if keeps:
                break
        plan = [lbctl, "plan", guest, "--hosts", hosts + "@cap=" + capacities, "--effort", effort, "--seed", seed, "-q",
                "-o", at("map")]
        seconds = run(*plan)
        ours = judge(guest, at("map"), hosts, capacities)
        pins = {v: dice.randrange(len(links)) for v in dice.sample(range(len(weight)), len(weight) // 100)}
        with open(at("pins"), "w") as file:
            file.writelines("%d %d\n" % pin for pin in sorted(pins.items()))
        run(*plan, "--pin", at("pins"))
        with open(at("map")) as file:
            place = list(map(int, file.read().split()))
        strays = sum(place[v] != host for v, host in pins.items())
        pinned = judge(guest, at("map"), hosts, capacities)
        late = ours["imbalance"] > limit(weight, capacity, {}) or pinned["imbalance"] > limit(weight, capacity, pins)
        failed += late or strays != 0
        rows.append({"graph": graph, "hosts": hosts, "hop_bytes": ours["hop_bytes"], "imbalance": ours["imbalance"],
                     "scotch": scotch["hop_bytes"], "scotch_keeps": keeps, "scotch_imbalance": scotch["imbalance"], "cpu_s": round(seconds, 3),
                     "pinned_hop_bytes": pinned["hop_bytes"], "pinned_imbalance": pinned["imbalance"], "strays": strays})
        print("%-15s %-22s %11d %9.4f %8.3f %9.4f %7.2f %9.3f%s" % (graph, hosts, ours["hop_bytes"], ours["imbalance"],
              ours["hop_bytes"] / scotch["hop_bytes"], scotch["imbalance"], seconds,
              pinned["hop_bytes"] / ours["hop_bytes"], "  over the limit" if late else "" +
              ("" if keeps else "  Scotch over the limit") +
              ("  %d strayed" % strays if strays else "")), flush=True)
ratio = {(row["graph"], row["hosts"]): row["hop_bytes"] / row["scotch"] for row in rows if row["scotch_keeps"]}
for name, part in (("hosts", 1), ("graph", 0)):
    for group in dict.fromkeys(key[part] for key in ratio):
        print("%-5s %-22s /Scotch %.3f" % (name, group, mean([r for key, r in ratio.items() if key[part] == group])))
print("%d of %d: /Scotch %.3f; failed %d, Scotch over the limit %d, %.1f s" % (
    len(ratio), len(rows), mean(ratio.values()), failed, len(rows) - len(ratio),
    sum(row["cpu_s"] for row in rows)))
if report:
    with open(report, "w") as file:
        json.dump({"effort": effort, "seed": int(seed), "instances": rows}, file, indent=1)
sys.exit(failed != 0)
END
