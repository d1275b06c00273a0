# For bench/remap.sh: makes the situations, plans, judges, prints, draws.
import json, os, resource, subprocess, sys, tempfile

lbctl, graphs, seed, costs, guests, report, plot = sys.argv[1:]
costs = [float(c) for c in costs.split(",")]
HOSTS = "mesh:4x4"


def run(*command):
    return subprocess.run([lbctl, *command], check=True, capture_output=True, text=True).stdout


def plan(graph, hosts, output, *options):
    """One plan: its report, and the seconds of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    out = json.loads(run("plan", graph, "--hosts", *hosts, "--seed", seed, "-q", "--json", "-o", output, *options))
    out["processor_s"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return out


def write_mesh(path):
    """mesh:4x4 and host 16, linked to 15 and 14, as METIS."""
    links = {p: set() for p in range(17)}
    for p in range(16):
        for q in ([p + 1] if p % 4 != 3 else []) + ([p + 4] if p < 12 else []):
            links[p].add(q), links[q].add(p)
    for q in (14, 15):
        links[16].add(q), links[q].add(16)
    rows = [" ".join(str(q + 1) for q in sorted(links[p])) for p in range(17)]
    open(path, "w").write("17 %d\n%s\n" % (sum(map(len, links.values())) // 2, "\n".join(rows)))


def double(graph, part, path):
    """The guest, with twice the weight for each vertex of host 0."""
    lines = [line for line in open(graph) if not line.startswith("%")]
    n, m = lines[0].split()[:2]
    hosts = open(part).read().split()
    with open(path, "w") as out:
        out.write("%s %s 10\n" % (n, m))
        for host, row in zip(hosts, lines[1:]):
            out.write(("2 " if host == "0" else "1 ") + row)


def situations(graph, scratch):
    """(name, guest, hosts now, hosts then)"""
    wide = "file:" + scratch + "/mesh17"
    write_mesh(wide[5:])
    yield "join, 16 to 17", graph, [HOSTS], [wide]
    yield "join, 15 to 16", graph, [HOSTS, "--without", "15"], [HOSTS]
    yield "leave, a corner", graph, [HOSTS], [HOSTS, "--without", "15"]
    yield "leave, the middle", graph, [HOSTS], [HOSTS, "--without", "5"]
    yield "corner doubled", None, [HOSTS], [HOSTS]


def bound(name, at, leaver):
    """What the moved weight is held against, as a ratio of what is allowed."""
    if name.startswith("join"):
        return at["moved_weight"] / (0.12 * at["weight"])
    return at["moved_weight"] / (1.5 * (leaver if name.startswith("leave") else at["unavoidable_weight"]))


def measure(guest, graph, scratch, rows):
    for name, changed, now, then in situations(graph, scratch):
        current, fresh = scratch + "/current", scratch + "/fresh"
        plan(graph, now, current)
        if changed is None:
            changed = scratch + "/doubled.graph"
            double(graph, current, changed)
        best = plan(changed, then, fresh)
        where = open(current).read().split()
        heavy = 2 if name == "corner doubled" else 1
        weight = len(where) + (heavy - 1) * where.count("0")
        leaver = where.count(then[2]) if name.startswith("leave") else 0
        anew = weight - sum(heavy if a == "0" else 1 for a, b in zip(where, open(fresh).read().split()) if a == b)
        print("\n%s, %s: J %d, unavoidable %%d of %d; a fresh plan has J %d, imbalance %.2f %%, moves %.0f %%"
              % (guest, name, json.loads(run("eval", graph, current, "--hosts", HOSTS, "--json"))["hop_bytes"], weight,
                 best["hop_bytes"], 100 * best["imbalance"], 100 * anew / weight) % 0 if False else
              "\n%s, %s: a fresh plan has J %d, imbalance %.2f %%, moves %.0f %% of %d"
              % (guest, name, best["hop_bytes"], 100 * best["imbalance"], 100 * anew / weight, weight))
        print("%10s %8s %8s %8s %12s %10s %8s %8s" % ("cost", "J", "J/fresh", "moved", "unavoidable", "imbalance", "bound", "seconds"))
        unit = None
        for cost in sorted(costs, key=lambda c: c != 1):
            if unit is None:
                at = plan(changed, then, scratch + "/map", "--current", current)
                unit = at["migration_cost"]
                if cost != 1:
                    at = plan(changed, then, scratch + "/map", "--current", current, "--migration-cost", "%.9g" % (cost * unit))
            else:
                at = plan(changed, then, scratch + "/map", "--current", current, "--migration-cost", "%.9g" % (cost * unit))
            at.update(guest=guest, situation=name, cost=cost, weight=weight, fresh=best["hop_bytes"], leaver=leaver)
            at["bound"] = bound(name, at, leaver)
            rows.append(at)
        for at in sorted((r for r in rows if r["guest"] == guest and r["situation"] == name), key=lambda r: r["cost"]):
            print("%10.4g %8d %8.3f %7.2f%% %11.2f%% %9.2f%% %8.2f %8.2f" % (
                at["cost"], at["hop_bytes"], at["hop_bytes"] / at["fresh"], 100 * at["moved_weight"] / weight,
                100 * at["unavoidable_weight"] / weight, 100 * at["imbalance"], at["bound"], at["processor_s"]), flush=True)


rows = []
with tempfile.TemporaryDirectory() as scratch:
    for guest in guests.split(","):
        graph = scratch + "/guest.graph"
        if ":" in guest:
            run("gen", guest, "-q", "-o", graph)
        elif os.access("%s/%s.graph.gz" % (graphs, guest), os.R_OK):
            run("convert", "%s/%s.graph.gz" % (graphs, guest), graph, "-q")
        else:
            print("%s: skipped, %s/%s.graph.gz is not there" % (guest, graphs, guest))
            continue
        measure(guest, graph, scratch, rows)
if report:
    json.dump(rows, open(report, "w"), indent=1)
bad = [r for r in rows if r["cost"] == 1 and (r["bound"] > 1 or r["hop_bytes"] > 1.15 * r["fresh"] or r["imbalance"] > 0.0301)]
for r in bad:
    print("not within bounds: %s, %s: moved %.2f of what is allowed, J %.3f of a fresh plan's, imbalance %.2f %%" % (
        r["guest"], r["situation"], r["bound"], r["hop_bytes"] / r["fresh"], 100 * r["imbalance"]))
sys.exit(bool(bad))
