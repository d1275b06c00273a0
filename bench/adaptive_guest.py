# For bench/adaptive.py: a mesh in which vertices become four each, and one again.
from measure import read_metis

WORK = 100  # of a vertex


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
            near = [u for u in self.neighbours[order[-1]] if u in left] if order else []
            order.append(min(near or left))
            left.remove(order[-1])
        return {u: i for i, u in enumerate(order)}

    def front(self):
        """Vertices as a front passes through them, from one end of the mesh to the other."""
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

    def children(self, v):
        """Those it has next to itself."""
        return [self.child(v, i) for i in (1, 2, 3)]

    def end(self, v, other, fine):
        """Which of the four that v is has the edge to other."""
        return self.child(v, self.round[v][other] * 4 // max(1, len(self.round[v]))) if v in fine else v

    def refined(self, fine):
        """Vertices and edges, by number, when those in `fine` are refined."""
        vertices = list(range(self.n)) + [c for v in fine for c in self.children(v)]
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


class Step:
    """From one state of the mesh to the next. First vertices are added, then edges change and vertices go:
    `adding` and `changing` are lines for the applications (tests/cluster/refiner.c)."""

    def __init__(self, guest, before, after):
        self.guest = guest
        self.vertices, self.edges = guest.refined(after)
        _, old_edges = guest.refined(before)
        self.new = sorted(after - before)
        removed = [c for v in sorted(before - after) for c in guest.children(v)]
        for v in self.new:
            old_edges |= guest.inside(v)
        gone = set(removed)
        self.adding = [f"{v} add {WORK} " + " ".join(map(str, guest.children(v))) for v in self.new]
        self.changing = [f"{a} link {b} 1" for a, b in sorted(self.edges - old_edges)]
        self.changing += [f"{a} cut {b}" for a, b in sorted(old_edges - self.edges) if not {a, b} & gone]
        self.changing += [f"{c} remove" for c in removed]

    def origin(self, where):
        """Host of each vertex as the step begins, by those of the old ones: new ones begin next to theirs."""
        place = {v: where[v] for v in self.vertices if v in where}
        for v in self.new:
            for c in self.guest.children(v):
                place[c] = where[v]
        return place
