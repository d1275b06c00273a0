# What benches of real clusters compute of guests, hosts and mappings.
import gzip, sys


def read_metis(path):
    """Neighbours of each vertex, from 0; a file with weights is refused."""
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as opened:
        lines = [line for line in opened if not line.startswith("%")]
    head = lines[0].split()
    if len(head) > 2 and head[2].strip("0"):
        sys.exit(f"{path}: weights are not read here")
    return [[int(x) - 1 for x in line.split()] for line in lines[1 : int(head[0]) + 1]]


class Hosts:
    """A mesh."""

    def __init__(self, spec):
        kind, sizes = spec.split(":")
        self.a, self.b = (int(x) for x in sizes.split("x"))
        if kind != "mesh":
            sys.exit("hosts are a mesh of two dimensions")
        self.n = self.a * self.b

    def distance(self, p, q):
        return abs(p % self.a - q % self.a) + abs(p // self.a - q // self.a)


def imbalance(sums):
    return max(sums) * len(sums) / max(1, sum(sums)) - 1


def hop_bytes(hosts, edges, where):
    row = [[hosts.distance(p, q) for q in range(hosts.n)] for p in range(hosts.n)]
    return sum(row[where[a]][where[b]] for a, b in edges)


# The least work over links, one for each of them, that leaves every host at most `bound` of its share. Transport of
# what is too much to where there is room: cheapest paths one after the other, with flows that may be taken back.
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
