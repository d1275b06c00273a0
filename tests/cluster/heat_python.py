# SPDX-License-Identifier: GPL-3.0-or-later
"""heat_python.py JOB STEPS FILE SOCKET: the steps of docs/examples/heat.c by the Python binding. States have 8 bytes,
or 12 while the vertex is hot: what is not used is neither sent nor kept. heat_python.py fail JOB SOCKET: a step raises."""
import struct
import sys

import lbmap


def pack(value):
    return struct.pack('<d', value) + (b'hot!' if value > 100 else b'')


def unpack(state):
    value = struct.unpack_from('<d', state)[0]
    assert len(state) == (12 if value > 100 else 8)
    return value


def flow(s):
    own, inflow = unpack(s.state), 0.0
    for n in s.neighbours:
        inflow += n.weight * (unpack(n.state) - own)
    return pack(own + 0.05 * inflow)


def fail(s):
    raise ZeroDivisionError(f'step {s.step}')


def begin(vertex):
    return pack(1000.0 if vertex % 64 == 0 else 20.0)


if sys.argv[1] == 'fail':
    try:
        lbmap.steps(sys.argv[2], 10, 12, begin, fail, socket=sys.argv[3])
    except ZeroDivisionError as error:
        print('raised:', error)
    try:
        lbmap.steps('no job', 10, 12, begin, flow, socket=sys.argv[3])
    except lbmap.Error as error:
        print('refused:', error.code, error)
else:
    lines = []
    lbmap.steps(sys.argv[1], int(sys.argv[2]), 12, begin, flow, socket=sys.argv[4],
                result=lambda vertex, state: lines.append(unpack(state).hex()))
    if lines:
        with open(sys.argv[3], 'w', encoding='ascii') as file:
            print(*lines, sep='\n', file=file)
