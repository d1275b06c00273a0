#!/usr/bin/env python3
# Real daemons and applications under loads that drift; see bench/drift.sh.
import argparse, array, json, mmap, os, shutil, signal, struct, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True  # beside the source
from measure import Hosts, hop_bytes, imbalance, least_flow, read_metis

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("guest", help="a METIS file (.gz too), or what lbctl gen makes")
parser.add_argument("--hosts", default="mesh:4x4")
parser.add_argument("--ramps", type=int, default=4, help="the corner gets dear, then the next one instead, ...")
parser.add_argument("--seconds", type=float, default=60, help="a ramp takes")
parser.add_argument("--steps", type=int, default=10, help="of a ramp")
parser.add_argument("--still", type=float, default=300, help="seconds with constant load")
parser.add_argument("--noise", type=float, default=180, help="seconds with 10 %% of noise on reports")
parser.add_argument("--set", action="append", default=[], help="gate and value for lbctl set, e.g. cooldown=5")
parser.add_argument("--check", action="store_true", help="what must hold on any machine holds, or exit status 1")
parser.add_argument("--json", help="write the numbers there")
parser.add_argument("--verbose", action="store_true")
args = parser.parse_args()

lbctl, daemon, drifter = (args.build + p for p in ("/client/lbctl", "/daemon/lbmapd", "/tests/drifter"))
USUAL = 100.0
scratch = tempfile.mkdtemp(prefix="lbmap-drift.", dir="/tmp")
cluster = scratch + "/c"
failed = []


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def ask(host, *command):
    return run(lbctl, "-q", "-s", f"{cluster}/h{host}/lbmapd.sock", *command)


def job():
    found = json.loads(ask(0, "jobs", "job", "--json"))
    return found[0] if isinstance(found, list) else found


def expect(holds, text):
    print(("ok: " if holds else "FAILED: ") + text, flush=True)
    if not holds:
        failed.append(text)


class Guest:
    def __init__(self, path):
        self.neighbours = read_metis(path)
        self.n = len(self.neighbours)
        self.edges = [(v, u) for v, list_ in enumerate(self.neighbours) for u in list_ if v < u]

    def write(self, path, load):
        with open(path, "w") as out:
            out.write(f"{self.n} {len(self.edges)} 10\n")
            for v, list_ in enumerate(self.neighbours):
                out.write(f"{max(1, round(load[v]))} " + " ".join(str(u + 1) for u in list_) + "\n")


def corner(hosts, i):
    right, below = (i % 4) in (1, 2), (i % 4) in (2, 3)
    return {p for p in range(hosts.n) if (p % hosts.a >= hosts.a // 2) == right and (p // hosts.a >= hosts.b // 2) == below}


class Field:
    """What applications share with this program: loads and owners."""

    def __init__(self, n):
        self.n = n
        for name, size in (("loads", 4 * (n + 1)), ("owners", n)):
            with open(f"{scratch}/{name}", "wb") as out:
                out.write(bytes([255]) * size if name == "owners" else struct.pack("f", USUAL) * n + struct.pack("f", 0))
            with open(f"{scratch}/{name}", "r+b") as opened:
                setattr(self, name, mmap.mmap(opened.fileno(), size))
        self.load = [USUAL] * n

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


def fresh_plan(guest, load):
    guest.write(scratch + "/loads.graph", load)
    run(lbctl, "-q", "plan", scratch + "/loads.graph", "--hosts", args.hosts, "-o", scratch + "/plan")
    return [int(line) for line in open(scratch + "/plan")]


def settle(seconds):
    run(lbctl, "-q", "-s", cluster + "/h0/lbmapd.sock", "wait", "job", "--timeout", str(seconds))


def wait_until(seconds, text, holds):
    end = time.time() + seconds
    while not holds():
        if time.time() > end:
            sys.exit(f"drift: not within {seconds} s: {text}")
        time.sleep(0.1)


def moved_work(field, before, after):
    return sum(load for a, b, load in zip(before, after, field.load) if a != b)


def step_to(field, hosts, guest, load, seconds, totals):
    before, began = field.part(), time.time()
    field.set(load)
    sums = field.sums(hosts, before)
    worst = imbalance(sums)
    least, flow = sum(max(0, s - 1.03 * sum(sums) / hosts.n) for s in sums), least_flow(hosts, sums, 1.03)
    back = None
    while time.time() < began + seconds:
        time.sleep(0.1)
        now = imbalance(field.sums(hosts))
        if now > 0.05:
            back = None
        elif back is None:
            back = time.time() - began
    part = field.part()
    changed = moved_work(field, before, part)
    totals["least"] += least
    totals["flow"] += flow
    totals["elsewhere"] += changed
    return dict(worst=worst, back=back, end=imbalance(field.sums(hosts, part)), least=least, flow=flow, elsewhere=changed)


def mix(low, high, at):
    return [a + (b - a) * at for a, b in zip(low, high)]


def drift(guest, hosts, field, report):
    corners = [corner(hosts, i) for i in range(args.ramps)]
    part = field.part()
    dear = [[2 * USUAL if part[v] in corner else USUAL for v in range(guest.n)] for corner in corners]
    load, seconds = [USUAL] * guest.n, args.seconds / args.steps
    handed, begin = job()["moved"], dict(part=part)
    totals = dict(least=0.0, flow=0.0, elsewhere=0.0)
    steps = []
    for i, high in enumerate(dear):
        low = load
        for k in range(1, args.steps + 1):
            load = mix(low, high, k / args.steps)
            step = step_to(field, hosts, guest, load, seconds, totals)
            step["ramp"], step["step"] = i, k
            if k == args.steps or k == args.steps // 2:
                part = field.part()
                step["J"], step["J_fresh"] = hop_bytes(hosts, guest.edges, part), hop_bytes(hosts, guest.edges, fresh_plan(guest, load))
            steps.append(step)
            if args.verbose or "J" in step:
                back = "never" if step["back"] is None else f"{step['back']:.1f} s"
                cost = f"; J {step['J']}, fresh {step['J_fresh']}, {step['J'] / step['J_fresh']:.3f}" if "J" in step else ""
                print(f"ramp {i} step {k}: {100 * step['worst']:.1f} %, back within 5 % after {back}, at the end "
                      f"{100 * step['end']:.1f} %{cost}", flush=True)
    handed = job()["moved"] - handed
    mean = sum(load) / guest.n
    late = [s for s in steps if s["back"] is None or s["back"] > 5]
    ratio = max(s["J"] / s["J_fresh"] for s in steps if "J" in s)
    report.update(steps=steps, handed=handed, totals=totals, late=len(late), worst_ratio=ratio)
    print(f"{len(steps)} steps, {len(late)} not back within 5 % in 5 s; J at most {ratio:.3f} of a fresh plan")
    print(f"moved {totals['elsewhere']:.0f} of work, {handed * mean:.0f} with all stops on the way; over links at least "
          f"{totals['flow']:.0f} had to: {totals['elsewhere'] / totals['flow']:.2f}, {handed * mean / totals['flow']:.2f} "
          f"(hosts with too much had {totals['least']:.0f})", flush=True)
    return load


def be_still(field, hosts, seconds, text):
    before, part = job()["moved"], field.part()
    end = time.time() + seconds
    while time.time() < end:
        time.sleep(min(5, max(0.1, end - time.time())))
    handed = job()["moved"] - before
    share = moved_work(field, part, field.part()) / sum(field.load)
    print(f"{text}: {handed} handed over in {seconds:.0f} s, {100 * share * 60 / seconds:.4f} % of the work a minute", flush=True)
    return dict(seconds=seconds, handed=handed, share_a_minute=handed / len(field.load) * 60 / seconds)


def main():
    workers = []
    report = dict(guest=os.path.basename(args.guest), hosts=args.hosts)
    path = args.guest
    try:
        if not os.path.exists(path):
            run(lbctl, "-q", "gen", path, "-o", scratch + "/guest.graph")
            path = scratch + "/guest.graph"
        guest, hosts = Guest(path), Hosts(args.hosts)
        field = Field(guest.n)
        guest.write(scratch + "/submit.graph", field.load)
        run(lbctl, "-q", "cluster", "up", "--hosts", args.hosts, "--dir", cluster, "--daemon", daemon)
        ask(0, "submit", scratch + "/submit.graph", "--name", "job")
        settle(120)
        for gate in args.set:
            ask(0, "set", "job", *("--" + gate).split("=", 1))
        for host in range(hosts.n):
            workers.append(subprocess.Popen([drifter, "job", f"{cluster}/h{host}/lbmapd.sock", str(host),
                                             scratch + "/loads", scratch + "/owners"]))
        wait_until(120, "every vertex is served", lambda: 255 not in field.part())
        settle(120)
        time.sleep(5)
        print(f"{report['guest']} on {args.hosts}: {guest.n} vertices, imbalance {100 * imbalance(field.sums(hosts)):.1f} %, "
              f"J {hop_bytes(hosts, guest.edges, field.part())}", flush=True)
        load = drift(guest, hosts, field, report)
        wait_until(120, "even again", lambda: imbalance(field.sums(hosts)) <= 0.05)
        time.sleep(20 if args.still >= 60 else 10)
        settle(120)
        for _ in range(6 if args.check else 1):  # a short look may still see the end of what the ramps began
            report["still"] = be_still(field, hosts, args.still, "constant load")
            if report["still"]["handed"] == 0:
                break
        field.noise(0.1)
        time.sleep(5)
        report["noise"] = be_still(field, hosts, args.noise, "10 % of noise")
        field.noise(0)
        final = imbalance(field.sums(hosts))
        report["final"] = final
        expect(all(worker.poll() is None for worker in workers), "all applications run")
        expect(final <= 0.05, f"imbalance {100 * final:.1f} % in the end")
        if args.check:
            expect(report["still"]["handed"] == 0, "with constant load nothing moves")
            if args.noise >= 60:
                expect(report["noise"]["share_a_minute"] <= 0.001, "noise moves at most 0.1 % a minute")
            else:  # too short for a rate: one host that wakes is a few vertices
                expect(report["noise"]["share_a_minute"] * args.noise / 60 <= 0.01, "noise moves at most 1 % in all")
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        for worker in workers:
            try:
                worker.wait(10)
            except subprocess.TimeoutExpired:
                worker.kill()
        subprocess.run([lbctl, "-q", "cluster", "down", "--dir", cluster], stdout=subprocess.DEVNULL)
        shutil.rmtree(scratch, ignore_errors=True)
    if args.json:
        json.dump(report, open(args.json, "w"), indent=1)
    return bool(failed)


sys.exit(main())
