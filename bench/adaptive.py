#!/usr/bin/env python3
# Real daemons and applications whose guest is refined and coarsened while they run; see bench/adaptive.sh.
import argparse, array, os, re, struct, subprocess, sys, time
from statistics import median

sys.dont_write_bytecode = True  # next to the source
from adaptive_guest import WORK, Guest, Step
from adaptive_peers import Peers
from adaptive_report import compare, draw, print_step
from cluster import Cluster, parse, wait_until, write_json
from measure import Mesh, adjacency, hop_bytes, imbalance, seconds_until_even, surplus, write_metis

NONE, GONE, NOWHERE = 2**32 - 1, 254, 255
OWNERS = os.path.dirname(os.path.abspath(__file__)) + "/../tests/cluster/owners.sh"


def parse_all():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--part", type=float, default=0.05,
                        help="of the vertices is refined in a step, and as many coarsened")
    parser.add_argument("--seconds", type=float, default=8, help="a step takes at least")
    parser.add_argument("--lose", type=int, default=0,
                        help="number of hosts lose power within a step, one after the other, and come back")
    parser.add_argument("--plot", help="draw J and moved work there, as SVG")
    parser.add_argument("--peers", action="store_true", help="compare with Scotch and METIS")
    return parse(parser)


class Field:
    """What applications share with this program (tests/cluster/refiner.c): vertices by their numbers here."""

    def __init__(self, cluster, n, submitted):
        self.scratch = cluster.scratch
        self.phase = cluster.share("phase", struct.pack("I", 0))
        ids = array.array("I", list(range(submitted)) + [NONE] * (n - submitted))
        self.ids = cluster.share("ids", ids.tobytes())
        self.done = cluster.share("done", bytes(4 * n))
        self.owners = cluster.share("owners", bytes([NOWHERE]) * n)
        self.heard = cluster.share("heard", bytes(4 * n))

    def where(self, hosts):
        """Host of each vertex that somebody has."""
        return {v: host for v, host in enumerate(self.owners[:]) if host < hosts.n}

    def carry_out(self, phase, lines, patience):
        """Applications do what the lines say."""
        with open(f"{self.scratch}/ops.{phase}.new", "w") as out:
            out.write("".join(line + "\n" for line in lines))
        os.rename(f"{self.scratch}/ops.{phase}.new", f"{self.scratch}/ops.{phase}")
        self.phase[:] = struct.pack("I", phase)
        numbers = {int(line.split()[0]) for line in lines}
        new = [int(c) for line in lines if line.split()[1] == "add" for c in line.split()[3:]]

        def is_over():
            done, owners = array.array("I", self.done[:]), self.owners[:]
            return all(done[v] >= phase for v in numbers) and all(owners[c] < GONE for c in new)

        wait_until(patience, f"{len(lines)} lines of phase {phase}", is_over)


def sums_of(hosts, where, vertices):
    sums = [0] * hosts.n
    for v in vertices:
        if v in where:
            sums[where[v]] += WORK
    return sums


def start_application(args, cluster, host):
    cluster.start_application(host, args.build + "/tests/cluster/refiner", cluster.scratch)


def take_step(args, cluster, field, hosts, step, k):
    """Carry a step out; its numbers, but for J of others."""
    handed, origin = cluster.job()["moved"], step.origin(field.where(hosts))
    sums = sums_of(hosts, origin, origin)
    least, flow = surplus(hosts, sums)
    began = time.time()
    field.carry_out(2 * k + 1, step.adding, 60)
    lost = (7 * k + 3) % (hosts.n - 1) + 1 if k < args.lose else None
    if lost is not None:
        cluster.lose(lost)
    field.carry_out(2 * k + 2, step.changing, 120)
    changed = time.time()
    if lost is not None:
        cluster.up()
        start_application(args, cluster, lost)
        wait_until(120, "all vertices are owned again", lambda: set(step.vertices) <= set(field.where(hosts)))
        cluster.settle(60, must=False)
    now_sums = lambda: sums_of(hosts, field.where(hosts), step.vertices)
    back = seconds_until_even(now_sums, changed, args.seconds)
    now = field.where(hosts)
    return dict(step=k, refined=len(step.new), worst=imbalance(sums), back=back,
                imbalance=imbalance(now_sums()), least=least, flow=flow,
                moved=sum(WORK for v, host in origin.items() if now.get(v) != host),
                handed=cluster.job()["moved"] - handed, changing=changed - began,
                weight=WORK * len(step.vertices), J=hop_bytes(hosts, step.edges, now))


def measure(args, cluster, field, hosts, guest, report):
    order, size = guest.front(), int(args.part * guest.n)
    before, path = set(), cluster.scratch + "/step.graph"
    peers = Peers(guest, hosts, cluster.scratch) if args.peers else None
    for k in range(args.steps):
        after = set(order[k * size : (k + 1) * size])
        step = Step(guest, before, after)
        row = take_step(args, cluster, field, hosts, step, k)
        write_metis(path, adjacency(step.vertices, step.edges))
        row["J_fresh"] = median(cluster.fresh(
            path, lambda part: hop_bytes(hosts, step.edges, dict(zip(step.vertices, part)))))
        if peers:
            row["peers"] = peers.step(step, path)
        report["steps"].append(row)
        print_step(row)
        if args.check:
            check(cluster, field, step)
        before = after
    compare(report)


def read_map(cluster, number):
    """Vertices and edges that daemons say there are, by number; None: they cannot just now."""
    path = cluster.scratch + "/map.graphml"
    command = cluster.at(0, "map", "job", "--format", "graphml", "-o", path)
    if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
        return None, None
    text = open(path).read()
    vertices = sorted(number.get(int(i), -1) for i in re.findall(r'<node id="(\d+)"', text))
    ends = re.findall(r'source="(\d+)" target="(\d+)"', text)
    return vertices, {tuple(sorted((number.get(int(a), -1), number.get(int(b), -1)))) for a, b in ends}


def unheard(field, edges):
    """Vertices of which the last that an application has heard is not what their edges are."""
    ids, heard = array.array("I", field.ids[:]), array.array("I", field.heard[:])
    sums = {}
    for a, b in edges:
        sums[a] = sums.get(a, 0) + (ids[b] + 1) * 2654435761 + 1
        sums[b] = sums.get(b, 0) + (ids[a] + 1) * 2654435761 + 1
    return [v for v in sums if heard[v] != sums[v] % 2**32]


def owned_once(cluster, n):
    """Over all databases every vertex has exactly one owner: empty, or what is wrong. They are read one after the
    other, so a vertex that is handed over meanwhile may be seen twice: then they are read again, and what is wrong
    stays wrong."""
    stores = [f"{cluster.directory}/h{host}/lbmap.db" for host in cluster.applications]
    command = ["bash", OWNERS, cluster.job()["id"], *stores]
    for attempt in range(6):
        if attempt > 0:
            time.sleep(2)
        owners = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip()
        counts = dict(re.findall(r"(\w+)=(\d+)", owners.split("\n")[0]))
        if counts.get("one_owner") == counts.get("vertices") == str(n):
            return ""
    return owners or "no owners are told"


def check(cluster, field, step):
    """What daemons say of the guest is what it should be, once all owners have heard of all edges."""
    cluster.settle(60, must=False)
    live = set(step.vertices)
    number = {i: v for v, i in enumerate(array.array("I", field.ids[:])) if v in live}
    wanted_vertices, wanted_edges = sorted(step.vertices), {tuple(sorted(edge)) for edge in step.edges}
    begin, vertices, edges, deaf = time.time(), None, None, None
    while time.time() < begin + 20 and (vertices != wanted_vertices or edges != wanted_edges or deaf):
        time.sleep(0.2)
        vertices, edges = read_map(cluster, number)
        deaf = unheard(field, wanted_edges)
    seconds = time.time() - begin
    cluster.expect(vertices == wanted_vertices, f"the map has the {len(wanted_vertices)} vertices there are")
    cluster.expect(edges == wanted_edges, f"and their {len(wanted_edges)} edges, after {seconds:.1f} s")
    cluster.expect(deaf == [], f"applications have heard of all of them: {(deaf or [])[:9]}")
    if edges is not None and edges != wanted_edges:
        more, less = sorted(edges - wanted_edges), sorted(wanted_edges - edges)
        print(f"too many: {more[:9]}; missing: {less[:9]}", flush=True)
    owners = owned_once(cluster, len(wanted_vertices))
    cluster.expect(owners == "", f"each vertex with one owner {owners[:200]}")


def be_ready_to_lose(cluster, hosts):
    """Several hosts may be evicted soon one after the other."""
    cluster.down()
    for host in range(hosts.n):
        with open(f"{cluster.directory}/h{host}/lbmapd.conf", "a") as conf:
            conf.write("evict = { percent = 100.0; };\n")
    cluster.up()


def main():
    args = parse_all()
    report = dict(guest=os.path.basename(args.guest), hosts=args.hosts, steps=[])
    hosts = Mesh(args.hosts)
    with Cluster(args.build, args.hosts) as cluster:
        guest = Guest(cluster.guest(args.guest))
        field = Field(cluster, 4 * guest.n, guest.n)
        write_metis(cluster.scratch + "/submit.graph", guest.neighbours, [WORK] * guest.n)
        cluster.up()
        if args.lose:
            be_ready_to_lose(cluster, hosts)
        cluster.ask(0, "submit", cluster.scratch + "/submit.graph", "--name", "job")
        cluster.settle(120)
        for host in range(hosts.n):
            start_application(args, cluster, host)
        wait_until(120, "every vertex is served", lambda: NOWHERE not in field.owners[: guest.n])
        cluster.settle(120)
        uneven = imbalance(sums_of(hosts, field.where(hosts), range(guest.n)))
        print(f"{report['guest']} on {args.hosts}: {guest.n} vertices, imbalance {100 * uneven:.1f} %",
              flush=True)
        measure(args, cluster, field, hosts, guest, report)
        cluster.expect_applications()
    if args.plot:
        draw(report, args.plot)
    write_json(args.json, report)
    return bool(cluster.failed)


sys.exit(main())
