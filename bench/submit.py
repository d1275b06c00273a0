#!/usr/bin/env python3
# What a cluster makes of a guest from every start, beside a plan of it; see bench/submit.sh.
import argparse, gzip, json, os, shutil, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--guests", nargs="+")
parser.add_argument("--hosts", nargs="+")
parser.add_argument("--starts", nargs="+")
parser.add_argument("--seeds", nargs="+")
parser.add_argument("--seconds", type=float, default=300)
parser.add_argument("--json")
args = parser.parse_args()
lbctl, daemon = args.build + "/client/lbctl", args.build + "/daemon/lbmapd"
scratch = tempfile.mkdtemp(prefix="lbmap-submit.", dir="/tmp")
cluster = scratch + "/c"


def run(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def ask(host, *command):
    return run(lbctl, "-q", "-s", f"{cluster}/h{host}/lbmapd.sock", *command)


def read_guest(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    lines = [line.split() for line in opened if not line.startswith("%")]
    n, fmt = int(lines[0][0]), (lines[0][2] if len(lines[0]) > 2 else "0")
    if fmt.strip("0"):
        sys.exit(f"submit: {path}: weights are not read here")
    return n, [(v, int(u) - 1) for v in range(n) for u in lines[v + 1] if v < int(u) - 1]


def distances(spec):
    kind, sizes = spec.split(":")
    if kind not in ("mesh", "torus"):
        sys.exit("submit: hosts are a mesh or a torus")
    sides = [int(x) for x in sizes.split("x")]
    total = 1
    for side in sides:
        total *= side

    def place(p):
        for side in sides:
            yield p % side
            p //= side

    def between(p, q):
        sum_ = 0
        for side, a, b in zip(sides, place(p), place(q)):
            d = abs(a - b)
            sum_ += min(d, side - d) if kind == "torus" else d
        return sum_

    return [[between(p, q) for q in range(total)] for p in range(total)]


def judge(guest, dist, part):
    n, edges = guest
    load = [0] * len(dist)
    for p in part:
        load[p] += 1
    return sum(dist[part[v]][part[u]] for v, u in edges), max(load) * len(dist) / n - 1


def memory_kb(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1])


def cpu_s(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def settled(path, hosts, start, seed):
    run(lbctl, "-q", "cluster", "up", "--hosts", hosts, "--dir", cluster, "--daemon", daemon)
    try:
        n = len(distances(hosts))
        pids = [int(open(f"{cluster}/h{host}/lbmapd.pid").read()) for host in range(n)]
        idle = [memory_kb(pid) for pid in pids]
        begin, cpu = time.monotonic(), sum(cpu_s(pid) for pid in pids)
        if start == "parallel":
            run(lbctl, "-q", "convert", path, scratch + "/part", "--parts", str(n))
            readers = [subprocess.Popen([lbctl, "-q", "-s", f"{cluster}/h{host}/lbmapd.sock", "submit", "--parallel", f"{scratch}/part.{host}",
                                         "--name", "job", "--seed", seed]) for host in range(n)]
            if any([reader.wait() != 0 for reader in readers]):
                raise subprocess.CalledProcessError(1, "lbctl submit --parallel")
        else:
            ask(0, "submit", path, "--name", "job", "--seed", seed, "--start", start)
        ask(0, "wait", "job", "--timeout", str(int(args.seconds)))
        took, cpu = time.monotonic() - begin, sum(cpu_s(pid) for pid in pids) - cpu
        moved = sum(json.loads(ask(host, "status", "--json"))["handoffs"] for host in range(n))
        part = [int(p) for p in ask(0, "map", "job").split()]
        return part, dict(seconds=round(took, 1), cpu_s=round(cpu, 1), handoffs=moved,
                          grown_kb=[memory_kb(pid) - before for pid, before in zip(pids, idle)])
    finally:
        subprocess.run([lbctl, "-q", "cluster", "down", "--dir", cluster], stdout=subprocess.DEVNULL)
        shutil.rmtree(cluster, ignore_errors=True)


rows, status = [], 0
print(f"{'guest':14} {'hosts':10} {'start':9} {'seed':>4} {'plan J':>8} {'J':>8} {'ratio':>6} {'even':>7} {'wall s':>7} {'cpu s':>6} "
      f"{'moved':>7} {'MB':>5}", flush=True)
try:
    for spec in args.guests:
        path = spec if os.path.exists(spec) else f"{scratch}/{spec.replace(':', '_')}.graph"
        if path != spec:
            run(lbctl, "-q", "gen", spec, "-o", path)
        guest, name = read_guest(path), os.path.basename(path).split(".")[0]
        for hosts in args.hosts:
            dist = distances(hosts)
            for seed in args.seeds:
                planned = [int(p) for p in run(lbctl, "-q", "plan", path, "--hosts", hosts, "--effort", "normal", "--seed", seed).split()]
                least, _ = judge(guest, dist, planned)
                for start in args.starts:
                    try:
                        part, more = settled(path, hosts, start, seed)
                    except subprocess.CalledProcessError as error:
                        print(f"{name:14} {hosts:10} {start:9} {seed:>4} failed: {error}", flush=True)
                        status = 1
                        continue
                    cost, uneven = judge(guest, dist, part)
                    rows.append(dict(guest=name, hosts=hosts, start=start, seed=int(seed), plan=least, hop_bytes=cost, ratio=cost / least,
                                     imbalance=uneven, **more))
                    print(f"{name:14} {hosts:10} {start:9} {seed:>4} {least:8} {cost:8} {cost / least:6.3f} {100 * uneven:6.2f}% "
                          f"{more['seconds']:7.1f} {more['cpu_s']:6.1f} {more['handoffs']:7} {max(more['grown_kb']) / 1024:5.1f}", flush=True)
finally:
    shutil.rmtree(scratch, ignore_errors=True)
if args.json:
    json.dump(rows, open(args.json, "w"), indent=1)
sys.exit(status)
