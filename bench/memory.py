#!/usr/bin/env python3
# Memory of daemons while they map a guest; see bench/memory.sh.
import argparse, statistics, sys, time

sys.dont_write_bytecode = True  # next to the source
from cluster import Cluster, parse, write_json
from measure import Hosts


def grown_mb(build, hosts, guest, seconds, start):
    """What each daemon has grown by until the job has settled, and how long that took."""
    with Cluster(build, hosts) as cluster:
        path, n = cluster.guest(guest), Hosts(hosts).n
        cluster.up()
        idle = [cluster.memory_kb(host) for host in range(n)]
        begin = time.monotonic()
        if start == "parallel":
            cluster.submit_parallel(n, path, "1")
        else:
            cluster.ask(0, "submit", path, "--name", "job", "--start", start)
        cluster.settle(seconds)
        took = time.monotonic() - begin
        return [(cluster.memory_kb(host) - idle[host]) / 1024 for host in range(n)], took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--start", default="parallel")
    args = parse(parser)
    alone, _ = grown_mb(args.build, "mesh:1x1", args.guest, args.seconds, "parallel")
    grown, took = grown_mb(args.build, args.hosts, args.guest, args.seconds, args.start)
    share = alone[0] / len(grown)
    times = [mb / share for mb in grown]
    print(f"{args.guest}: one daemon {alone[0]:.1f} MB, a share of {args.hosts} {share:.1f} MB; {args.start}, in "
          f"{took:.0f} s: host 0 {grown[0]:.1f} MB, {times[0]:.2f} shares; all: least {min(times):.2f}, median "
          f"{statistics.median(times):.2f}, most {max(times):.2f} shares, {max(grown):.1f} MB")
    print("shares of each host:", " ".join(f"{t:.2f}" for t in times))
    write_json(args.json, dict(guest=args.guest, hosts=args.hosts, start=args.start, alone_mb=alone[0], share_mb=share,
                               grown_mb=grown, seconds=took))
    return args.check and max(times) > 3


sys.exit(main())
