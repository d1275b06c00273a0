#!/usr/bin/env python3
"""slow_cable.py INTERFACE INTERFACE MILLISECONDS: a cable between two interfaces on which every packet takes so long.

For kernels without netem. What the sender has left to its network card (checksums, segments) travels with the packet.
"""
import collections
import select
import socket
import sys
import time

SOL_PACKET, PACKET_VNET_HDR, ETH_P_ALL, OUTGOING = 263, 15, 3, 4


def end(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    s.bind((interface, 0))
    s.setblocking(False)
    return s


ends = [end(sys.argv[1]), end(sys.argv[2])]
delay = float(sys.argv[3]) / 1000
under_way = collections.deque()  # when due, where to, what
while True:
    now = time.monotonic()
    while under_way and under_way[0][0] <= now:
        _, to, packet = under_way.popleft()
        try:
            to.send(packet)
        except OSError:
            pass  # lost, as packets are
    wait = under_way[0][0] - now if under_way else None
    for s in select.select(ends, [], [], wait)[0]:
        packet, where = s.recvfrom(1 << 17)
        if where[2] != OUTGOING:
            under_way.append((time.monotonic() + delay, ends[1 - ends.index(s)], packet))
