# For bench/adaptive.py: what others make of the same guest.
import shutil

from adaptive_guest import WORK
from cluster import run
from measure import adjacency, hop_bytes, imbalance, write_metis


class Peers:
    """Others, each of which goes on from its own mapping of the step before."""

    RATIOS = ("0.25", "1", "4")

    def __init__(self, guest, hosts, scratch):
        self.hosts, self.scratch, self.before = hosts, scratch, {}
        self.scotch, self.metis = shutil.which("scotch_gmap") or shutil.which("gmap"), shutil.which("gpmetis")
        if not self.scotch or not self.metis:
            missing = [n for n, p in (("Scotch", self.scotch), ("METIS", self.metis)) if not p]
            print("without " + " and ".join(missing))
        with open(scratch + "/mesh.tgt", "w") as out:
            out.write(f"mesh2D {hosts.a} {hosts.b}\n")
        vertices, edges = guest.refined(set())
        write_metis(scratch + "/peers.graph", adjacency(vertices, edges))
        for name in self.names():
            part = self.map(name, scratch + "/peers.graph", None, vertices, edges)
            self.before[name] = dict(zip(vertices, part))

    def names(self):
        names = [f"scotch -rr{ratio}" for ratio in self.RATIOS] + ["scotch again"] if self.scotch else []
        return names + (["metis again"] if self.metis else [])

    def map(self, name, path, origin, vertices, edges):
        """Host of each vertex of the graph at `path`. origin: host of each before, or None."""
        if name.startswith("metis"):
            return self.relabel(self.map_metis(path), origin, vertices, edges)
        part = self.map_scotch(name, origin, vertices, edges)
        if not name.endswith("again") or origin is None:
            return part
        return min(([f[p] for p in part] for f in self.symmetries()),
                   key=lambda p: sum(a != origin[v] for a, v in zip(p, vertices)))

    def map_scotch(self, name, origin, vertices, edges):
        graph, target, result = (self.scratch + p for p in ("/peers.grf", "/mesh.tgt", "/peers.map"))
        with open(graph, "w") as out:
            out.write(f"0\n{len(vertices)}\t{2 * len(edges)}\n0\t000\n")
            for row in adjacency(vertices, edges):
                out.write(f"{len(row)} " + " ".join(map(str, row)) + "\n")
        options = ["-b0.03", "-Cf"]
        if "-rr" in name and origin is not None:
            with open(self.scratch + "/old.map", "w") as out:
                out.write(f"{len(vertices)}\n")
                out.writelines(f"{i}\t{origin[v]}\n" for i, v in enumerate(vertices))
            options += ["-ro" + self.scratch + "/old.map", name.split()[1]]
        run(self.scotch, graph, target, result, *options)
        part = [0] * len(vertices)
        for line in list(open(result))[1:]:
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
        """Parts get hosts so that little moves or, at first, J is low: exchanges of two while they help."""
        n = self.hosts.n
        weight = [[0] * n for _ in range(n)]
        if origin is None:
            place = dict(zip(vertices, part))
            for a, b in ((place[a], place[b]) for a, b in edges):
                weight[a][b] += 1
                weight[b][a] += 1
            far = self.hosts.distance
            cost = lambda f: sum(weight[p][q] * far(f[p], f[q]) for p in range(n) for q in range(p))
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
            origin = step.origin(self.before[name])
            part = self.map(name, path, origin, step.vertices, step.edges)
            self.before[name] = dict(zip(step.vertices, part))
            sums = [0] * self.hosts.n
            for p in part:
                sums[p] += WORK
            moved = sum(WORK for v, p in zip(step.vertices, part) if p != origin[v])
            rows[name] = dict(moved=moved, J=hop_bytes(self.hosts, step.edges, self.before[name]),
                              imbalance=imbalance(sums))
        return rows
