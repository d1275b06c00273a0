#!/usr/bin/env python3
# Real daemons and applications whose guest is refined and coarsened while they run; see bench/adaptive.sh.
import argparse, array, json, mmap, os, re, shutil, signal, struct, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True  # beside the source
from measure import Hosts, hop_bytes, imbalance, least_flow, read_metis

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("guest", help="a METIS file (.gz too), or what lbctl gen makes")
parser.add_argument("--hosts", default="mesh:4x4")
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--part", type=float, default=0.05, help="of the vertices is refined in a step, and as many coarsened")
parser.add_argument("--seconds", type=float, default=8, help="a step takes at least")
parser.add_argument("--lose", type=int, default=0, help="so many hosts lose power within a step, one after the other, and come back")
parser.add_argument("--check", action="store_true", help="what must hold on any machine holds, or exit status 1")
parser.add_argument("--json", help="write the numbers there")
parser.add_argument("--plot", help="draw J and moved work there, as SVG")
parser.add_argument("--peers", action="store_true", help="compare with Scotch and METIS")
parser.add_argument("--verbose", action="store_true")
args = parser.parse_args()

lbctl, daemon, refiner = (args.build + p for p in ("/client/lbctl", "/daemon/lbmapd", "/tests/refiner"))
WORK, NONE, GONE, NOWHERE = 100, 2**32 - 1, 254, 255
scratch = tempfile.mkdtemp(prefix="lbmap-adapt.", dir="/tmp")
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
    """The mesh as it was submitted, and what it becomes when some of its vertices are four each."""

    def __init__(self, path):
        self.neighbours = read_metis(path)
        self.n = len(self.neighbours)
        self.round = [self.go_round(v) for v in range(self.n)]

    def go_round(self, v):
        """Neighbours of a vertex, those that are neighbours themselves one after the other."""
        left, order = set(self.neighbours[v]), []
        while left:
            beside = [u for u in self.neighbours[order[-1]] if u in left] if order else []
            order.append(min(beside or left))
            left.remove(order[-1])
        return {u: i for i, u in enumerate(order)}

    def front(self):
        """Vertices in the order in which a front passes through them, from one end of the mesh to the other."""
        order = list(range(self.n))
        for start in (0, None):
            start = order[-1] if start is None else start
            order, seen = [start], {start}
            for v in order:
                for u in self.neighbours[v]:
                    if u not in seen:
                        seen.add(u)
                        order.append(u)
            order += [v for v in range(self.n) if v not in seen]
        return order

    def child(self, v, i):
        return v if i == 0 else self.n + 3 * v + i - 1

    def end(self, v, other, fine):
        """Which of the four that v is has the edge to other."""
        return self.child(v, self.round[v][other] * 4 // max(1, len(self.round[v]))) if v in fine else v

    def refined(self, fine):
        """Vertices and edges, by number, when those in `fine` are refined."""
        vertices = list(range(self.n)) + [self.child(v, i) for v in fine for i in (1, 2, 3)]
        edges = set()
        for v in range(self.n):
            for u in self.neighbours[v]:
                if v < u:
                    a, b = self.end(v, u, fine), self.end(u, v, fine)
                    edges.add((min(a, b), max(a, b)))
        for v in fine:
            edges |= self.inside(v)
        return vertices, edges

    def inside(self, v):
        four = sorted(self.child(v, i) for i in range(4))
        return {(four[i], four[k]) for i in range(4) for k in range(i + 1, 4)}


class Field:
    """What applications share with this program."""

    def __init__(self, n, submitted):
        self.n, self.submitted = n, submitted
        self.make("phase", 4, struct.pack("I", 0))
        self.make("ids", 4 * n, array.array("I", list(range(submitted)) + [NONE] * (n - submitted)).tobytes())
        self.make("done", 4 * n, bytes(4 * n))
        self.make("owners", n, bytes([NOWHERE]) * n)

    def make(self, name, size, content):
        with open(f"{scratch}/{name}", "wb") as out:
            out.write(content)
        with open(f"{scratch}/{name}", "r+b") as opened:
            setattr(self, name, mmap.mmap(opened.fileno(), size))

    def numbers(self, name):
        return array.array("I", getattr(self, name)[:])

    def where(self):
        return self.owners[:]

    def sums(self, hosts, vertices):
        sums, owners = [0] * hosts.n, self.where()
        for v in vertices:
            if owners[v] < hosts.n:
                sums[owners[v]] += WORK
        return sums


def write_graph(path, vertices, edges):
    place = {v: i for i, v in enumerate(vertices)}
    rows = [[] for _ in vertices]
    for a, b in edges:
        rows[place[a]].append(place[b] + 1)
        rows[place[b]].append(place[a] + 1)
    with open(path, "w") as out:
        out.write(f"{len(vertices)} {len(edges)}\n")
        for row in rows:
            out.write(" ".join(map(str, sorted(row))) + "\n")


def settle(seconds):
    subprocess.run([lbctl, "-q", "-s", cluster + "/h0/lbmapd.sock", "wait", "job", "--timeout", str(seconds)], check=False)


def wait_until(seconds, text, holds):
    end = time.time() + seconds
    while not holds():
        if time.time() > end:
            print(f"adaptive: not within {seconds} s: {text}", flush=True)
            raise SystemExit(1)
        time.sleep(0.02)


class Step:
    """From one state of the mesh to the next, in two phases: vertices are added; edges change and vertices go."""

    def __init__(self, guest, before, after):
        self.guest = guest
        self.vertices, self.edges = guest.refined(after)
        old_vertices, old_edges = guest.refined(before)
        self.new = sorted(after - before)
        removed = [guest.child(v, i) for v in sorted(before - after) for i in (1, 2, 3)]
        for v in self.new:
            old_edges |= guest.inside(v)
        gone, live = set(removed), set(self.vertices)
        self.adding = [f"{v} add {WORK} " + " ".join(str(guest.child(v, i)) for i in (1, 2, 3)) for v in self.new]
        self.changing = [f"{a} link {b} 1" for a, b in sorted(self.edges - old_edges)]
        self.changing += [f"{a} cut {b}" for a, b in sorted(old_edges - self.edges) if a not in gone and b not in gone]
        self.changing += [f"{c} remove" for c in removed]
        self.live = live

    def origin(self, where):
        """Where each vertex begins: new ones with the one they come from."""
        place = {v: where[v] for v in self.vertices if v < self.guest.n or where[v] < GONE}
        for v in self.new:
            for i in (1, 2, 3):
                place[self.guest.child(v, i)] = where[v]
        return place

    def carry_out(self, field, phase, lines, patience):
        with open(f"{scratch}/ops.{phase}.new", "w") as out:
            out.write("".join(line + "\n" for line in lines))
        os.rename(f"{scratch}/ops.{phase}.new", f"{scratch}/ops.{phase}")
        field.phase[:] = struct.pack("I", phase)
        numbers = {int(line.split()[0]) for line in lines}
        new = [int(c) for line in lines if line.split()[1] == "add" for c in line.split()[3:]]

        def is_over():
            done, owners = field.numbers("done"), field.where()
            return all(done[v] >= phase for v in numbers) and all(owners[c] < GONE for c in new)

        wait_until(patience, f"{len(lines)} lines of phase {phase}", is_over)


def watch(field, hosts, vertices, began, seconds):
    """After how long loads are within 5 % and stay so until the time is over; how uneven they are then."""
    back = None
    while time.time() < began + seconds:
        now = imbalance(field.sums(hosts, vertices))
        if now > 0.05:
            back = None
        elif back is None:
            back = time.time() - began
        time.sleep(0.05)
    return back


def fresh_plan(path, output):
    run(lbctl, "-q", "plan", path, "--hosts", args.hosts, "-o", output)
    return [int(line) for line in open(output)]


def start_worker(workers, host):
    workers[host] = subprocess.Popen([refiner, "job", f"{cluster}/h{host}/lbmapd.sock", str(host), scratch])


def lose(workers, host):
    """The host loses power: daemon and application at once."""
    pid = int(open(f"{cluster}/h{host}/lbmapd.pid").read())
    os.kill(pid, signal.SIGKILL)
    workers[host].kill()
    workers[host].wait()


def bring_back(workers, host):
    run(lbctl, "-q", "cluster", "up", "--dir", cluster, "--daemon", daemon)
    start_worker(workers, host)


class Peers:
    """Others, each of which goes on from its own mapping of the step before."""

    RATIOS = ("0.25", "1", "4")

    def __init__(self, guest, hosts):
        self.hosts, self.before = hosts, {}
        self.scotch, self.metis = shutil.which("scotch_gmap") or shutil.which("gmap"), shutil.which("gpmetis")
        if not self.scotch or not self.metis:
            print("without " + " and ".join(n for n, p in (("Scotch", self.scotch), ("METIS", self.metis)) if not p))
        with open(scratch + "/mesh.tgt", "w") as out:
            out.write(f"mesh2D {hosts.a} {hosts.b}\n")
        vertices, edges = guest.refined(set())
        write_graph(scratch + "/peers.graph", vertices, edges)
        for name in self.names():
            self.before[name] = dict(zip(vertices, self.map(name, scratch + "/peers.graph", None, vertices, edges)))

    def names(self):
        names = [f"scotch -rr{ratio}" for ratio in self.RATIOS] + ["scotch anew"] if self.scotch else []
        return names + (["metis anew"] if self.metis else [])

    def map(self, name, path, origin, vertices, edges):
        part = self.map_metis(path) if name.startswith("metis") else self.map_scotch(name, path, origin, vertices, edges)
        if not name.endswith("anew"):
            return part
        if name.startswith("metis"):
            return self.relabel(part, origin, vertices, edges)
        if origin is None:
            return part
        return min(([f[p] for p in part] for f in self.symmetries()), key=lambda p: sum(a != origin[v] for a, v in zip(p, vertices)))

    def map_scotch(self, name, path, origin, vertices, edges):
        place = {v: i for i, v in enumerate(vertices)}
        rows = [[] for _ in vertices]
        for a, b in edges:
            rows[place[a]].append(place[b])
            rows[place[b]].append(place[a])
        with open(scratch + "/peers.grf", "w") as out:
            out.write(f"0\n{len(vertices)}\t{2 * len(edges)}\n0\t000\n")
            out.writelines(f"{len(row)} " + " ".join(map(str, row)) + "\n" for row in rows)
        options = ["-b0.03", "-Cf"]
        if "-rr" in name and origin is not None:
            with open(scratch + "/old.map", "w") as out:
                out.write(f"{len(vertices)}\n" + "".join(f"{i}\t{origin[v]}\n" for i, v in enumerate(vertices)))
            options += ["-ro" + scratch + "/old.map", name.split()[1]]
        run(self.scotch, scratch + "/peers.grf", scratch + "/mesh.tgt", scratch + "/peers.map", *options)
        part = [0] * len(vertices)
        for line in list(open(scratch + "/peers.map"))[1:]:
            v, p = line.split()
            part[int(v)] = int(p)
        return part

    def map_metis(self, path):
        run(self.metis, "-ufactor=30", "-seed=1", path, str(self.hosts.n))
        return [int(line) for line in open(f"{path}.part.{self.hosts.n}")]

    def symmetries(self):
        """The ways in which the mesh of hosts lies upon itself."""
        a, b = self.hosts.a, self.hosts.b
        for turn in (0, 1) if a == b else (0,):
            for x in (0, 1):
                for y in (0, 1):
                    out = []
                    for p in range(self.hosts.n):
                        i, j = (p // a, p % a) if turn else (p % a, p // a)
                        out.append((a - 1 - i if x else i) + a * (b - 1 - j if y else j))
                    yield out

    def relabel(self, part, origin, vertices, edges):
        """Parts get hosts so that little moves, or, the first time, that J is low: exchanges of two until none helps."""
        n = self.hosts.n
        weight = [[0] * n for _ in range(n)]
        if origin is None:
            place = dict(zip(vertices, part))
            for a, b in ((place[a], place[b]) for a, b in edges):
                weight[a][b] += 1
                weight[b][a] += 1
            cost = lambda f: sum(weight[p][q] * self.hosts.distance(f[p], f[q]) for p in range(n) for q in range(p))
        else:
            for v, p in zip(vertices, part):
                weight[p][origin[v]] += 1
            cost = lambda f: -sum(weight[p][f[p]] for p in range(n))
        best, better = list(range(n)), True
        while better:
            better = False
            for p in range(n):
                for q in range(p):
                    f = best[:]
                    f[p], f[q] = f[q], f[p]
                    if cost(f) < cost(best):
                        best, better = f, True
        return [best[p] for p in part]

    def step(self, step, path):
        rows = {}
        for name in self.names():
            where = self.before[name]
            origin = {v: where[v] for v in step.vertices if v in where}
            for v in step.new:
                for i in (1, 2, 3):
                    origin[step.guest.child(v, i)] = where[v]
            part = self.map(name, path, origin, step.vertices, step.edges)
            self.before[name] = dict(zip(step.vertices, part))
            sums = [0] * self.hosts.n
            for p in part:
                sums[p] += WORK
            rows[name] = dict(moved=sum(WORK for v, p in zip(step.vertices, part) if p != origin[v]),
                              J=hop_bytes(self.hosts, step.edges, self.before[name]), imbalance=imbalance(sums))
        return rows


COLOURS = ["#000000", "#0072b2", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#e69f00"]


def draw(report, path):
    """J beside that of a fresh plan, and moved work, by step; a line each."""
    steps = report["steps"]
    names = ["lbmap"] + list(steps[0].get("peers", {}))
    lines = {"J / J of a fresh plan": lambda r, n: (r["J"] if n == "lbmap" else r["peers"][n]["J"]) / r["J_fresh"],
             "moved, % of the work": lambda r, n: 100 * (r["moved"] if n == "lbmap" else r["peers"][n]["moved"]) / r["weight"]}
    width, height, left, top = 560, 220, 60, 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 160}" height="{2 * (top + height) + 40}" '
           'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    for panel, (title, value) in enumerate(lines.items()):
        y0 = top + panel * (height + top + 10)
        values = [value(r, n) for r in steps for n in names]
        least, most = (min(values) - 0.02, max(values) + 0.02) if panel == 0 else (0, max(values) * 1.05)
        out.append(f'<text x="{left}" y="{y0 - 8}" font-weight="bold">{title}</text>')
        out.append(f'<rect x="{left}" y="{y0}" width="{width}" height="{height}" fill="none" stroke="#888"/>')
        for k in range(6):
            at = least + (most - least) * k / 5
            y = y0 + height - height * k / 5
            out.append(f'<path d="M{left} {y:.1f}h{width}" stroke="#e4e4e4"/>')
            out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{at:.2f}</text>' if panel == 0 else
                       f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{at:.0f}</text>')
        for name, colour in zip(names, COLOURS):
            points = " ".join(f"{left + width * (i + 0.5) / len(steps):.1f},{y0 + height * (1 - (value(r, name) - least) / (most - least)):.1f}"
                              for i, r in enumerate(steps))
            out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="{2.5 if name == "lbmap" else 1.2}" points="{points}"/>')
        for i in range(len(steps)):
            out.append(f'<text x="{left + width * (i + 0.5) / len(steps):.1f}" y="{y0 + height + 14}" text-anchor="middle">{i}</text>')
    for i, (name, colour) in enumerate(zip(names, COLOURS)):
        out.append(f'<rect x="{left + width + 16}" y="{top + 20 * i}" width="14" height="4" fill="{colour}"/>')
        out.append(f'<text x="{left + width + 36}" y="{top + 20 * i + 6}">{name}</text>')
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n</svg>\n")


def compare(report):
    """Who moved how much for which J, on the average, and at how many steps somebody was better than lbmap in both."""
    steps = report["steps"]
    names = list(steps[0].get("peers", {}))
    print(f"\n{'':16} {'moved':>8} {'J/fresh':>8} {'uneven':>8}   steps at which it has less of both than lbmap")
    mean = lambda values: sum(values) / len(steps)
    print(f"{'lbmap':16} {mean([100 * r['moved'] / r['weight'] for r in steps]):7.2f}% {mean([r['J'] / r['J_fresh'] for r in steps]):8.3f} "
          f"{100 * max(r['end'] for r in steps):7.1f}%")
    worse = set()
    for name in names:
        rows = [r["peers"][name] for r in steps]
        below = [r["step"] for r, p in zip(steps, rows) if p["moved"] < r["moved"] and p["J"] < r["J"] and p["imbalance"] <= 0.05]
        worse |= set(below)
        print(f"{name:16} {mean([100 * p['moved'] / r['weight'] for r, p in zip(steps, rows)]):7.2f}% "
              f"{mean([p['J'] / r['J_fresh'] for r, p in zip(steps, rows)]):8.3f} {100 * max(p['imbalance'] for p in rows):7.1f}%   {below or '-'}")
    late = [r["step"] for r in steps if r["back"] is None or r["back"] > 5]
    moved = sum(r["moved"] for r in steps) / max(1, sum(r["flow"] for r in steps))
    print(f"{len(steps)} steps, {len(late)} not within 5 % in 5 s {late or ''}; J at most {max(r['J'] / r['J_fresh'] for r in steps):.3f} of a "
          f"fresh plan; moved {moved:.2f} times the least flow; nobody has less of both at {len(steps) - len(worse)} steps")
    report.update(late=late, worse=sorted(worse), moved_of_flow=moved)


def measure(field, hosts, guest, report, workers):
    order, size = guest.front(), int(args.part * guest.n)
    before, phase = set(), 0
    peers = Peers(guest, hosts) if args.peers else None
    for k in range(args.steps):
        after = set(order[k * size : (k + 1) * size])
        step = Step(guest, before, after)
        where, handed = field.where(), job()["moved"]
        origin = step.origin(where)
        sums = [0] * hosts.n
        for v, host in origin.items():
            sums[host] += WORK
        least, flow = sum(max(0, s - 1.03 * sum(sums) / hosts.n) for s in sums), least_flow(hosts, sums, 1.03)
        began = time.time()
        step.carry_out(field, phase + 1, step.adding, 60)
        lost = (7 * k + 3) % (hosts.n - 1) + 1 if k < args.lose else None
        if lost is not None:
            lose(workers, lost)
        step.carry_out(field, phase + 2, step.changing, 120)
        changed = time.time()
        phase += 2
        if lost is not None:
            bring_back(workers, lost)
            wait_until(120, "all vertices are owned again", lambda: all(field.owners[v] < hosts.n for v in step.vertices))
            settle(60)
        back = watch(field, hosts, step.vertices, changed, args.seconds)
        now = field.where()
        moved = sum(WORK for v, host in origin.items() if now[v] != host)
        row = dict(step=k, worst=imbalance(sums), back=back, end=imbalance(field.sums(hosts, step.vertices)), least=least,
                   flow=flow, moved=moved, handed=job()["moved"] - handed, changing=changed - began,
                   weight=WORK * len(step.vertices), J=hop_bytes(hosts, step.edges, now))
        write_graph(f"{scratch}/step.graph", step.vertices, step.edges)
        plan = fresh_plan(f"{scratch}/step.graph", f"{scratch}/plan")
        row["J_fresh"] = hop_bytes(hosts, step.edges, dict(zip(step.vertices, plan)))
        if args.peers:
            row["peers"] = peers.step(step, f"{scratch}/step.graph")
        report["steps"].append(row)
        back = "never" if row["back"] is None else f"{row['back']:.1f} s"
        print(f"step {k}: {len(step.new)} refined in {row['changing']:.1f} s, uneven {100 * row['worst']:.0f} %, within 5 % after {back}, "
              f"at the end {100 * row['end']:.1f} %; J {row['J']}, fresh {row['J_fresh']}, {row['J'] / row['J_fresh']:.3f}; moved "
              f"{100 * moved / row['weight']:.1f} % where {100 * flow / row['weight']:.1f} % must", flush=True)
        if args.check:
            check(step, field, hosts)
        before = after
    compare(report)
    if args.plot:
        draw(report, args.plot)


def check(step, field, hosts):
    """What daemons say of the guest is what it should be, once all owners have heard of all edges."""
    settle(60)
    place = {int(i): v for v, i in enumerate(field.numbers("ids")) if v in step.live}
    wanted = {(min(a, b), max(a, b)) for a, b in step.edges}
    begin, vertices, edges = time.time(), None, None
    while time.time() < begin + 20 and (vertices != sorted(step.vertices) or edges != wanted):
        time.sleep(0.2)
        if subprocess.run([lbctl, "-q", "-s", cluster + "/h0/lbmapd.sock", "map", "job", "--format", "graphml", "-o",
                           scratch + "/map.graphml"], stderr=subprocess.DEVNULL).returncode != 0:
            continue
        text = open(scratch + "/map.graphml").read()
        vertices = sorted(place.get(int(i), -1) for i in re.findall(r'<node id="(\d+)"', text))
        ends = [(place.get(int(a), -1), place.get(int(b), -1)) for a, b in re.findall(r'source="(\d+)" target="(\d+)"', text)]
        edges = {(min(pair), max(pair)) for pair in ends}
    seconds = time.time() - begin
    expect(vertices == sorted(step.vertices), f"the map has the {len(step.vertices)} vertices there are")
    expect(edges == wanted, f"and their {len(step.edges)} edges, after {seconds:.1f} s")
    if failed and os.environ.get("STAY"):
        raise SystemExit(1)
    owners = subprocess.run(["bash", os.path.dirname(os.path.abspath(__file__)) + "/../tests/owners.sh", job()["id"],
                             *(f"{cluster}/h{host}/lbmap.db" for host in range(hosts.n))], stdout=subprocess.PIPE, text=True).stdout
    counts = dict(re.findall(r"(\w+)=(\d+)", owners.split("\n")[0]))
    expect(counts.get("one_owner") == counts.get("vertices") == str(len(step.vertices)), f"each with one owner: {owners.strip()[:200]}")
    if edges is not None and edges != wanted:
        print(f"too many: {sorted(edges - wanted)[:9]}; missing: {sorted(wanted - edges)[:9]}", flush=True)


def main():
    workers = {}
    report = dict(guest=os.path.basename(args.guest), hosts=args.hosts, steps=[])
    path = args.guest
    try:
        if not os.path.exists(path):
            run(lbctl, "-q", "gen", path, "-o", scratch + "/guest.graph")
            path = scratch + "/guest.graph"
        guest, hosts = Guest(path), Hosts(args.hosts)
        field = Field(4 * guest.n, guest.n)
        with open(scratch + "/submit.graph", "w") as out:
            out.write(f"{guest.n} {sum(map(len, guest.neighbours)) // 2} 10\n")
            for row in guest.neighbours:
                out.write(f"{WORK} " + " ".join(str(u + 1) for u in row) + "\n")
        run(lbctl, "-q", "cluster", "up", "--hosts", args.hosts, "--dir", cluster, "--daemon", daemon)
        if args.lose:
            run(lbctl, "-q", "cluster", "down", "--dir", cluster)
            for host in range(hosts.n):
                with open(f"{cluster}/h{host}/lbmapd.conf", "a") as conf:
                    conf.write("evict = { per_minute = 1000; percent = 1000; };\n")
            run(lbctl, "-q", "cluster", "up", "--dir", cluster, "--daemon", daemon)
        ask(0, "submit", scratch + "/submit.graph", "--name", "job")
        settle(120)
        for host in range(hosts.n):
            start_worker(workers, host)
        wait_until(120, "every vertex is served", lambda: NOWHERE not in field.owners[: guest.n])
        settle(120)
        print(f"{report['guest']} on {args.hosts}: {guest.n} vertices, imbalance {100 * imbalance(field.sums(hosts, range(guest.n))):.1f} %",
              flush=True)
        measure(field, hosts, guest, report, workers)
        expect(all(worker.poll() is None for worker in workers.values()), "all applications run")
    finally:
        for worker in workers.values():
            worker.send_signal(signal.SIGTERM)
        for worker in workers.values():
            try:
                worker.wait(10)
            except subprocess.TimeoutExpired:
                worker.kill()
        if failed or sys.exc_info()[0] not in (None,):
            for host in range(Hosts(args.hosts).n):
                subprocess.run(f"grep -iE 'warn|error|assert' {cluster}/h{host}/lbmapd.log | tail -n 3", shell=True)
        if os.environ.get("STAY") and (failed or sys.exc_info()[0]):
            print(cluster, flush=True)
            time.sleep(float(os.environ["STAY"]))
        subprocess.run([lbctl, "-q", "cluster", "down", "--dir", cluster], stdout=subprocess.DEVNULL)
        if not (os.environ.get("STAY") and (failed or sys.exc_info()[0])):
            shutil.rmtree(scratch, ignore_errors=True)
    if args.json:
        json.dump(report, open(args.json, "w"), indent=1)
    return bool(failed)


sys.exit(main())
