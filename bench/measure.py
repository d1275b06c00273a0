# What benches of real clusters compute of guests, hosts and mappings.
import gzip, math, sys, time


def read_metis(path):
    """Neighbours of each vertex, from 0; a file with weights is refused."""
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as opened:
        lines = [line for line in opened if not line.startswith("%")]
    head = lines[0].split()
    if len(head) > 2 and head[2].strip("0"):
        sys.exit(f"{path}: weights are not read here")
    return [[int(x) - 1 for x in line.split()] for line in lines[1 : int(head[0]) + 1]]


def write_metis(path, rows, work=None):
    """Neighbours of each vertex, from 0, and what it weighs."""
    with open(path, "w") as out:
        out.write(f"{len(rows)} {sum(map(len, rows)) // 2}{' 10' if work else ''}\n")
        for v, row in enumerate(rows):
            numbers = ([work[v]] if work else []) + [u + 1 for u in row]
            out.write(" ".join(map(str, numbers)) + "\n")


def adjacency(vertices, edges):
    """Neighbours of each vertex by its place in the list."""
    place = {v: i for i, v in enumerate(vertices)}
    rows = [[] for _ in vertices]
    for a, b in edges:
        rows[place[a]].append(place[b])
        rows[place[b]].append(place[a])
    return [sorted(row) for row in rows]


def edges_of(neighbours):
    return [(v, u) for v, row in enumerate(neighbours) for u in row if v < u]


class Hosts:
    """A mesh or a torus."""

    def __init__(self, spec):
        kind, _, sizes = spec.partition(":")
        if kind not in ("mesh", "torus"):
            sys.exit("hosts are a mesh or a torus")
        self.sides, self.wraps = [int(side) for side in sizes.split("x")], kind == "torus"
        self.n = math.prod(self.sides)

    def distance(self, p, q):
        sum_ = 0
        for side in self.sides:
            d = abs(p % side - q % side)
            sum_ += min(d, side - d) if self.wraps else d
            p, q = p // side, q // side
        return sum_


class Mesh(Hosts):
    """Of two dimensions, a x b."""

    def __init__(self, spec):
        super().__init__(spec)
        if self.wraps or len(self.sides) != 2:
            sys.exit("hosts are a mesh of two dimensions")
        self.a, self.b = self.sides


def imbalance(sums):
    return max(sums) * len(sums) / max(1, sum(sums)) - 1


def seconds_until_even(sums, began, seconds):
    """After how long loads are within 5 % and stay so until the time is over; None: they are not then."""
    even = None
    while time.time() < began + seconds:
        if imbalance(sums()) > 0.05:
            even = None
        elif even is None:
            even = time.time() - began
        time.sleep(0.05)
    return even


def hop_bytes(hosts, edges, where):
    row = [[hosts.distance(p, q) for q in range(hosts.n)] for p in range(hosts.n)]
    return sum(row[where[a]][where[b]] for a, b in edges)


def surplus(hosts, sums):
    """Work that must go, for no host may have more than 1.03 of its share; the same times links it goes."""
    bound = 1.03
    share = sum(sums) / hosts.n
    return sum(max(0, s - bound * share) for s in sums), least_flow(hosts, sums, bound)


# The least work over links, one for each of them, that leaves every host at most `bound` of its share.
# Transport of what is too much to where there is room: cheapest paths one after the other, with flows that
# may be taken back.
def least_flow(hosts, sums, bound):
    share = sum(sums) / hosts.n
    supply = [max(0.0, s - bound * share) for s in sums]
    room = [max(0.0, bound * share - s) for s in sums]
    flow, cost = {}, 0.0
    while max(supply) > 1e-6 * share:
        far = [0.0 if s > 1e-6 * share else float("inf") for s in supply]
        back = [None] * hosts.n
        for _ in range(hosts.n):
            for p in range(hosts.n):
                for q in range(hosts.n):
                    if hosts.distance(p, q) != 1:
                        continue
                    step = -1.0 if flow.get((q, p), 0) > 1e-9 * share else 1.0
                    if far[p] + step < far[q] - 1e-9:
                        far[q], back[q] = far[p] + step, (p, step)
        end = min((q for q in range(hosts.n) if room[q] > 1e-6 * share), key=lambda q: far[q])
        path, q, most = [], end, room[end]
        while back[q] is not None:
            p, step = back[q]
            path.append((p, q, step))
            most = min(most, flow[(q, p)]) if step < 0 else most
            q = p
        most = min(most, supply[q])
        for p, r, step in path:
            edge = (r, p) if step < 0 else (p, r)
            flow[edge] = flow.get(edge, 0) + step * most
            cost += step * most
        supply[q] -= most
        room[end] -= most
    return cost
