#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A link that takes its time: what two daemons send each other waits, what all others send them does not.

    delayer.py MILLISECONDS HOST:PORT:ADDRESS HOST:PORT:ADDRESS

Listens at 127.0.0.1:PORT for the daemon of the first and of the second host and passes connections on to its
ADDRESS. Who connects is known from the first frame (docs/protocol.md): its field 2 is the sender's host.
MILLISECONDS is for each way. Prints "listens" once it does, and a line for each connection.
"""
import asyncio
import sys


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def sender(message):
    """Field 2 of a packed message; 0, the value that is left out, if it has none."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        if key & 7 != 0:
            return 0
        value, at = varint(message, at)
        if key >> 3 == 2:
            return value
    return 0


async def pass_on(reader, writer, held, delay_s):
    """`held` at once and all that follows, each piece delay_s after it came."""
    clock = asyncio.get_running_loop().time
    pieces = asyncio.Queue()
    pieces.put_nowait((clock() + delay_s, held))

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


async def serve(reader, writer, address, slow_host, delay_s):
    out = None
    try:
        length = await reader.readexactly(4)
        message = await reader.readexactly(int.from_bytes(length, "little"))
        host, port = address.rsplit(":", 1)
        back, out = await asyncio.open_connection(host, int(port))
        if sender(message) != slow_host:
            delay_s = 0
        print(f"host {sender(message)} connects, {1000 * delay_s:g} ms", flush=True)
        forth = asyncio.create_task(pass_on(reader, out, length + message, delay_s))
        await asyncio.wait({forth, asyncio.create_task(back.read())}, return_when=asyncio.FIRST_COMPLETED)
        forth.cancel()
    except (OSError, asyncio.IncompleteReadError):
        pass
    for end in (writer, out):
        if end is not None:
            end.close()


async def main():
    delay_s = float(sys.argv[1]) / 1000
    ends = [end.split(":", 2) for end in sys.argv[2:4]]
    for (_, port, address), (other, _, _) in zip(ends, reversed(ends)):
        await asyncio.start_server(
            lambda reader, writer, address=address, other=int(other):
                serve(reader, writer, address, other, delay_s),
            "127.0.0.1", int(port))
    print("listens", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
