#!/usr/bin/env python3
# Real daemons and applications under loads that drift; see bench/drift.sh.
import argparse, array, os, struct, sys, time
from statistics import median

sys.dont_write_bytecode = True  # next to the source
from cluster import FRESH_PLANS, Cluster, parse, wait_until, write_json
from measure import Mesh, edges_of, hop_bytes, imbalance, read_metis, seconds_until_even, surplus, write_metis

USUAL = 100.0


def parse_all():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ramps", type=int, default=4,
                        help="the corner gets dear, then the next one instead, ...")
    parser.add_argument("--seconds", type=float, default=60, help="a ramp takes")
    parser.add_argument("--steps", type=int, default=10, help="of a ramp")
    parser.add_argument("--still", type=float, default=300, help="seconds with constant load")
    parser.add_argument("--noise", type=float, default=180, help="seconds with 10 %% of noise on reports")
    parser.add_argument("--seed", default="1", help="of the job: what it begins with is a draw")
    parser.add_argument("--set", action="append", default=[],
                        help="gate and value for lbctl set, e.g. cooldown=5")
    parser.add_argument("--verbose", action="store_true")
    return parse(parser)


class Guest:
    def __init__(self, path):
        self.neighbours = read_metis(path)
        self.n = len(self.neighbours)
        self.edges = edges_of(self.neighbours)

    def write(self, path, load):
        write_metis(path, self.neighbours, [max(1, round(x)) for x in load])


def corner(hosts, i):
    right, below = (i % 4) in (1, 2), (i % 4) in (2, 3)
    return {p for p in range(hosts.n)
            if (p % hosts.a >= hosts.a // 2) == right and (p // hosts.a >= hosts.b // 2) == below}


class Field:
    """What applications share with this program (tests/cluster/drifter.c): loads and owners."""

    def __init__(self, cluster, n):
        self.n, self.load = n, [USUAL] * n
        self.loads = cluster.share("loads", struct.pack("f", USUAL) * n + struct.pack("f", 0))
        self.owners = cluster.share("owners", bytes([255]) * n)

    def set(self, load):
        self.load = load
        self.loads[: 4 * self.n] = array.array("f", load).tobytes()

    def noise(self, part):
        self.loads[4 * self.n :] = struct.pack("f", part)

    def part(self):
        return self.owners[:]

    def sums(self, hosts, part=None):
        sums = [0.0] * hosts.n
        for host, load in zip(part or self.part(), self.load):
            if host < hosts.n:
                sums[host] += load
        return sums

    def moved_work(self, before, after):
        return sum(load for a, b, load in zip(before, after, self.load) if a != b)


def step_to(field, hosts, load, seconds, totals):
    before, began = field.part(), time.time()
    field.set(load)
    sums = field.sums(hosts, before)
    least, flow = surplus(hosts, sums)
    back = seconds_until_even(lambda: field.sums(hosts), began, seconds)
    part = field.part()
    row = dict(worst=imbalance(sums), back=back, end=imbalance(field.sums(hosts, part)), least=least,
               flow=flow, elsewhere=field.moved_work(before, part))
    for name in totals:
        totals[name] += row[name]
    return row


def mix(low, high, at):
    return [a + (b - a) * at for a, b in zip(low, high)]


def compare(cluster, guest, hosts, field, load):
    """J, and J of fresh plans: the median, and the least."""
    path = cluster.scratch + "/loads.graph"
    guest.write(path, load)
    fresh = cluster.fresh(path, lambda part: hop_bytes(hosts, guest.edges, part))
    return dict(J=hop_bytes(hosts, guest.edges, field.part()), J_fresh=median(fresh), J_luckiest=fresh[0])


def is_late(step):
    return step["back"] is None or step["back"] > 5


def print_step(step):
    back = "never" if step["back"] is None else f"{step['back']:.1f} s"
    cost = ""
    if "J" in step:
        cost = f"; J {step['J']}, fresh {step['J_fresh']}, {step['J'] / step['J_fresh']:.3f}"
    print(f"ramp {step['ramp']} step {step['step']}: {100 * step['worst']:.1f} %, "
          f"back within 5 % after {back}, at the end {100 * step['end']:.1f} %{cost}", flush=True)


def drift(args, cluster, guest, hosts, field, report):
    part = field.part()
    load, seconds = [USUAL] * guest.n, args.seconds / args.steps
    handed, steps = cluster.job()["moved"], []
    totals = dict(least=0.0, flow=0.0, elsewhere=0.0)
    for i in range(args.ramps):
        dear = corner(hosts, i)
        low, high = load, [2 * USUAL if host in dear else USUAL for host in part]
        for k in range(1, args.steps + 1):
            load = mix(low, high, k / args.steps)
            step = dict(ramp=i, step=k, **step_to(field, hosts, load, seconds, totals))
            if k in (args.steps // 2, args.steps):
                step.update(compare(cluster, guest, hosts, field, load))
            steps.append(step)
            if args.verbose or "J" in step or is_late(step):
                print_step(step)
    handed = cluster.job()["moved"] - handed
    mean = sum(load) / guest.n
    late = [s for s in steps if is_late(s)]
    ratio = max(s["J"] / s["J_fresh"] for s in steps if "J" in s)
    luckiest = max(s["J"] / s["J_luckiest"] for s in steps if "J" in s)
    report.update(steps=steps, handed=handed, totals=totals, late=len(late), worst_ratio=ratio,
                  worst_luckiest=luckiest)
    moved, flow, stops = totals["elsewhere"], totals["flow"], handed * mean
    print(f"{len(steps)} steps, {len(late)} not back within 5 % in 5 s; "
          f"J at most {ratio:.3f} of a fresh plan, the middle one of {FRESH_PLANS}; {luckiest:.3f} of the luckiest")
    print(f"moved {moved:.0f} of work, {stops:.0f} with all stops on the way; "
          f"over links at least {flow:.0f} had to: {moved / flow:.2f}, {stops / flow:.2f} "
          f"(hosts with too much had {totals['least']:.0f})", flush=True)


def be_still(cluster, field, seconds, text):
    before, part = cluster.job()["moved"], field.part()
    time.sleep(seconds)
    handed = cluster.job()["moved"] - before
    share = field.moved_work(part, field.part()) / sum(field.load)
    print(f"{text}: {handed} handed over in {seconds:.0f} s, "
          f"{100 * share * 60 / seconds:.4f} % of the work a minute", flush=True)
    return dict(seconds=seconds, handed=handed, share_a_minute=handed / len(field.load) * 60 / seconds)


def rest(args, cluster, hosts, field, report):
    """Once loads are constant, and once there is noise."""
    wait_until(120, "even again", lambda: imbalance(field.sums(hosts)) <= 0.05)
    time.sleep(20 if args.still >= 60 else 10)
    cluster.settle(120)
    for _ in range(6 if args.check else 1):  # a short look may still see the end of what the ramps began
        report["still"] = be_still(cluster, field, args.still, "constant load")
        if report["still"]["handed"] == 0:
            break
    field.noise(0.1)
    time.sleep(5)
    report["noise"] = be_still(cluster, field, args.noise, "10 % of noise")
    field.noise(0)
    report["final"] = imbalance(field.sums(hosts))
    cluster.expect(report["final"] <= 0.05, f"imbalance {100 * report['final']:.1f} % in the end")
    if args.check:
        cluster.expect(report["still"]["handed"] == 0, "with constant load nothing moves")
        if args.noise >= 60:
            cluster.expect(report["noise"]["share_a_minute"] <= 0.001, "noise moves at most 0.1 % a minute")
        else:  # too short for a rate: one host that wakes is a few vertices
            part = report["noise"]["share_a_minute"] * args.noise / 60
            cluster.expect(part <= 0.01, "noise moves at most 1 % in all")


def main():
    args = parse_all()
    report = dict(guest=os.path.basename(args.guest), hosts=args.hosts, seed=args.seed)
    hosts = Mesh(args.hosts)
    with Cluster(args.build, args.hosts) as cluster:
        guest = Guest(cluster.guest(args.guest))
        field = Field(cluster, guest.n)
        guest.write(cluster.scratch + "/submit.graph", field.load)
        cluster.up()
        cluster.ask(0, "submit", cluster.scratch + "/submit.graph", "--name", "job", "--seed", args.seed)
        cluster.settle(120)
        for gate in args.set:
            cluster.ask(0, "set", "job", *("--" + gate).split("=", 1))
        for host in range(hosts.n):
            cluster.start_application(host, args.build + "/tests/cluster/drifter", cluster.scratch + "/loads",
                                      cluster.scratch + "/owners")
        wait_until(120, "every vertex is served", lambda: 255 not in field.part())
        cluster.settle(120)
        time.sleep(5)
        uneven = imbalance(field.sums(hosts))
        print(f"{report['guest']} on {args.hosts}: {guest.n} vertices, imbalance {100 * uneven:.1f} %, "
              f"J {hop_bytes(hosts, guest.edges, field.part())}", flush=True)
        drift(args, cluster, guest, hosts, field, report)
        rest(args, cluster, hosts, field, report)
        cluster.expect_applications()
    write_json(args.json, report)
    return bool(cluster.failed)


sys.exit(main())
