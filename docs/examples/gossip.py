# SPDX-License-Identifier: LGPL-3.0-or-later
"""gossip.py JOB ROUNDS FILE [SOCKET]: rounds of sums on a graph, by messages between vertices; on every host.

In each round a vertex adds what its neighbours had before it to what it has, modulo 2**32; it begins with its number
and 1. A message to a neighbour has the round as its tag. A neighbour may be a round ahead, so what comes early is kept.
A vertex that is done, and whose vertices 2 v + 1 and 2 v + 2 have said that all below them are, says so to the vertex
(v - 1) / 2; so vertex 0 hears when all are, and its program tells the others by finish().

Checkpoints have what a vertex was told and what it has said, so whatever moves or fails, each message counts once.
FILE gets a line 'vertex sum' for each vertex that is done here; after a loss some may come again.
"""
import struct
import sys
import time

import lbmap

KEPT = struct.Struct('<IIIII')   # round, sum, messages sent in it, reports from below, reported
EARLY = struct.Struct('<III')    # and for each round of which something has come: round, sum, messages
WORD = struct.Struct('<I')
REPORT = 2**32 - 1               # a tag


class Vertex:
    def __init__(self, number, payload):
        kept = payload[:KEPT.size] or KEPT.pack(0, number + 1, 0, 0, 0)
        self.round, self.sum, self.sent, self.reports, self.reported = KEPT.unpack(kept)
        self.early = {r: [s, n] for r, s, n in EARLY.iter_unpack(payload[KEPT.size:])}
        self.neighbours = None

    def pack(self):
        return (KEPT.pack(self.round, self.sum, self.sent, self.reports, self.reported) +
                b''.join(EARLY.pack(r, s, n) for r, (s, n) in self.early.items()))

    def hear(self, tag, message):
        if tag == REPORT:
            self.reports += 1
        else:
            early = self.early.setdefault(tag, [0, 0])
            early[0] = (early[0] + WORD.unpack(message)[0]) % 2**32
            early[1] += 1


class Program:
    def __init__(self, map, rounds, file):
        self.map, self.rounds, self.file = map, rounds, file
        self.vertices, self.changed, self.is_over = {}, set(), False
        map.serve(self.acquire, lambda number: self.vertices.pop(number).pack(), self.vertices.pop,
                  edges=self.edges, peer_up=self.peer_up, deliver=self.deliver)
        map.publish()

    def acquire(self, number, payload):
        self.vertices[number] = Vertex(number, payload)

    def edges(self, number, edges):
        self.vertices[number].neighbours = sorted(e.other for e in edges)

    def peer_up(self, peer):
        self.is_over |= peer.finished

    def deliver(self, to, _sender, tag, message):
        self.vertices[to].hear(tag, message)
        self.changed.add(to)

    def step(self, number, v):
        """Say what this vertex has, and add up rounds that are complete. E_BUSY may end it anywhere."""
        while v.neighbours is not None and v.round < self.rounds:
            self.changed.add(number)
            for other in v.neighbours[v.sent:]:
                self.map.send(number, other, v.round, WORD.pack(v.sum))
                v.sent += 1
            if v.early.get(v.round, [0, 0])[1] < len(v.neighbours):
                return
            v.sum = (v.sum + v.early.pop(v.round, [0, 0])[0]) % 2**32
            v.round, v.sent = v.round + 1, 0
            if v.round == self.rounds:
                print(number, v.sum, file=self.file, flush=True)
        below = sum(child < self.map.vertices for child in (2 * number + 1, 2 * number + 2))
        if v.round < self.rounds or v.reported or v.reports < below:
            return
        if number == 0:
            self.map.finish()
            self.is_over = True
        else:
            self.map.send(number, (number - 1) // 2, REPORT)
        v.reported = 1
        self.changed.add(number)

    def run(self):
        kept = time.monotonic()
        while not self.is_over:
            try:
                self.map.dispatch(0.005)
                for number, v in self.vertices.items():
                    if self.map.lease() == lbmap.WORK:
                        self.step(number, v)
                if time.monotonic() - kept > 0.2:
                    self.map.checkpoint({n: self.vertices[n].pack() for n in self.changed if n in self.vertices})
                    self.changed.clear()
                    kept = time.monotonic()
            except lbmap.Error as error:
                if error.code not in (lbmap.E_BUSY, lbmap.E_STATE):  # the daemon is away, or a vertex is lost: dispatch
                    raise


with lbmap.Map(sys.argv[1], sys.argv[4] if len(sys.argv) > 4 else None) as map, open(sys.argv[3], 'a') as file:
    Program(map, int(sys.argv[2]), file).run()
