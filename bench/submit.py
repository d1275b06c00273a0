#!/usr/bin/env python3
# What a cluster makes of a guest from every start, next to a plan of it; see bench/submit.sh.
import argparse, json, os, subprocess, sys, time

sys.dont_write_bytecode = True  # next to the source
from cluster import Cluster, write_json
from measure import Hosts, edges_of, hop_bytes, imbalance, read_metis


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    for name in ("guests", "hosts", "starts", "seeds"):
        parser.add_argument("--" + name, nargs="+", required=True)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--json")
    return parser.parse_args()


def judge(hosts, edges, part):
    load = [0] * hosts.n
    for p in part:
        load[p] += 1
    return hop_bytes(hosts, edges, part), imbalance(load)


def cpu_s(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def settled(cluster, n, path, start, seed, patience):
    """Host of each vertex once a new cluster has settled, and what that took."""
    cluster.up()
    pids = [cluster.pid(host) for host in range(n)]
    idle = [cluster.memory_kb(host) for host in range(n)]
    begin, cpu = time.monotonic(), sum(cpu_s(pid) for pid in pids)
    order = None
    if start == "parallel":
        cluster.submit_parallel(n, path, seed)
    elif start == "diffuse-four":
        cluster.submit_parallel(n, path, seed, 4, "--start", "diffuse")
    elif start == "diffuse-random":
        path, order = cluster.shuffled(path, seed)
        cluster.submit_parallel(n, path, seed, n, "--start", "diffuse")
    else:
        cluster.ask(0, "submit", path, "--name", "job", "--seed", seed, "--start", start)
    cluster.settle(int(patience))
    took, cpu = time.monotonic() - begin, sum(cpu_s(pid) for pid in pids) - cpu
    moved = sum(json.loads(cluster.ask(host, "status", "--json"))["handoffs"] for host in range(n))
    part = [int(p) for p in cluster.ask(0, "map", "job").split()]
    if order is not None:
        part = [part[at] for at in order]
    return part, dict(seconds=round(took, 1), cpu_s=round(cpu, 1), handoffs=moved,
                      grown_kb=[cluster.memory_kb(host) - before for host, before in enumerate(idle)])


def compare(args, cluster, spec, seed, rows):
    """Every start of one guest on one cluster. Returns whether one failed."""
    path, hosts, failed = cluster.guest(spec), Hosts(cluster.hosts), False
    edges, name = edges_of(read_metis(path)), os.path.basename(path).split(".")[0]
    plan, _ = judge(hosts, edges, cluster.plan(path, "--effort", "normal", "--seed", seed))
    for start in args.starts:
        title = f"{name:14} {cluster.hosts:10} {start:9} {seed:>4}"
        try:
            part, more = settled(cluster, hosts.n, path, start, seed, args.seconds)
        except subprocess.CalledProcessError as error:
            print(f"{title} failed: {error}", flush=True)
            failed = True
            continue
        finally:
            cluster.remove()
        cost, uneven = judge(hosts, edges, part)
        rows.append(dict(guest=name, hosts=cluster.hosts, start=start, seed=int(seed), plan=plan,
                         hop_bytes=cost, ratio=cost / plan, imbalance=uneven, **more))
        print(f"{title} {plan:8} {cost:8} {cost / plan:6.3f} {100 * uneven:6.2f}% {more['seconds']:7.1f} "
              f"{more['cpu_s']:6.1f} {more['handoffs']:7} {max(more['grown_kb']) / 1024:5.1f}", flush=True)
    return failed


def main():
    args = parse()
    rows, failed = [], False
    print(f"{'guest':14} {'hosts':10} {'start':9} {'seed':>4} {'plan J':>8} {'J':>8} {'ratio':>6} "
          f"{'even':>7} {'wall s':>7} {'cpu s':>6} {'moved':>7} {'MB':>5}", flush=True)
    for spec in args.guests:
        for hosts in args.hosts:
            with Cluster(args.build, hosts) as cluster:
                for seed in args.seeds:
                    failed |= compare(args, cluster, spec, seed, rows)
    write_json(args.json, rows)
    return failed


sys.exit(main())
