#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A link that takes its time: what two daemons send each other waits, what all others send them does not.

    delayer.py MILLISECONDS DIR HOST:PORT:ADDRESS HOST:PORT:ADDRESS

Listens at 127.0.0.1:PORT for the daemon of the first and of the second host and passes connections on to its
ADDRESS. Who connects is the process of a host of the cluster in DIR that has the connection's other end: what it
says is encrypted. MILLISECONDS is for each way. Prints "listens" once it does, and a line for each connection.
"""
import asyncio
import glob
import os
import re
import sys


def socket_of(port):
    """The inode of the connected socket at this local port of 127.0.0.1; None: it has gone."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in table:
            field = line.split()
            if field[1] == f"0100007F:{port:04X}" and field[9] != "0":
                return field[9]
    return None


def host_at(port, folder):
    """The host whose daemon has the connected socket at that port; -1: none of them."""
    link = f"socket:[{socket_of(port)}]"
    for path in glob.glob(f"{folder}/h*/lbmapd.pid"):
        try:
            with open(path, encoding="ascii") as file:
                pid = int(file.read())
            if any(os.readlink(f"/proc/{pid}/fd/{fd}") == link for fd in os.listdir(f"/proc/{pid}/fd")):
                return int(re.search(r"/h(\d+)/", path).group(1))
        except (OSError, ValueError):
            continue
    return -1


async def pass_on(reader, writer, delay_s):
    """All that comes, each piece delay_s after it came."""
    clock = asyncio.get_running_loop().time
    pieces = asyncio.Queue()

    async def write():
        while True:
            due, piece = await pieces.get()
            if not piece:
                return
            await asyncio.sleep(max(0, due - clock()))
            writer.write(piece)
            await writer.drain()

    writing = asyncio.create_task(write())
    while piece := await reader.read(1 << 16):
        pieces.put_nowait((clock() + delay_s, piece))
    pieces.put_nowait((clock(), b""))
    await writing


async def serve(reader, writer, address, slow_host, delay_s, folder):
    out = None
    try:
        source = host_at(writer.get_extra_info("peername")[1], folder)
        host, port = address.rsplit(":", 1)
        back, out = await asyncio.open_connection(host, int(port))
        if source != slow_host:
            delay_s = 0
        print(f"host {source} connects, {1000 * delay_s:g} ms", flush=True)
        ways = {asyncio.create_task(pass_on(reader, out, delay_s)),
                asyncio.create_task(pass_on(back, writer, delay_s))}
        _, other = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in other:
            way.cancel()
    except OSError:
        pass
    for end in (writer, out):
        if end is not None:
            end.close()


async def main():
    delay_s = float(sys.argv[1]) / 1000
    ends = [end.split(":", 2) for end in sys.argv[3:5]]
    for (_, port, address), (other, _, _) in zip(ends, reversed(ends)):
        await asyncio.start_server(
            lambda reader, writer, address=address, other=int(other):
                serve(reader, writer, address, other, delay_s, sys.argv[2]),
            "127.0.0.1", int(port))
    print("listens", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
