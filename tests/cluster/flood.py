#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strangers at a daemon's port, all at once.

    flood.py PORT SECONDS handshakes RATE       so many TLS handshakes a second, without a certificate
    flood.py PORT SECONDS connections NUMBER    so many connections in that time, which say nothing and stay
    flood.py PORT SECONDS slow NUMBER           so many connections, which send a byte of a handshake a second

Prints how many were begun, how many stood (the other end took the bytes), how many it ended by then, and the
longest time that one was kept.
"""
import asyncio
import ssl
import sys
import time


class Count:
    def __init__(self):
        self.begun = self.refused = self.ended = 0
        self.longest = 0.0


async def handshake(port, count, context):
    try:
        _, writer = await asyncio.wait_for(
            asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=""), 10)
        writer.close()
        count.ended += 1
    except (OSError, ssl.SSLError, asyncio.TimeoutError, ValueError):
        count.refused += 1


async def stay(port, count, end, drip):
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        count.refused += 1
        return
    began = time.monotonic()
    reading = asyncio.create_task(reader.read(1))
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)
    try:
        for at in range(len(hello)):
            if drip:
                writer.write(hello[at:at + 1])
            done, _ = await asyncio.wait({reading}, timeout=1)
            if done or time.monotonic() >= end:
                break
    except OSError:
        pass
    if reading.done():
        count.ended += 1
        reading.exception()
    reading.cancel()
    count.longest = max(count.longest, time.monotonic() - began)
    writer.close()


async def main():
    port, seconds, kind, number = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["lbmap-peer/1"])
    count = Count()
    begin = time.monotonic()
    total = int(number * seconds) if kind == "handshakes" else number
    tasks = set()
    while count.begun < total and time.monotonic() < begin + seconds:
        due = min(total, int(total * (time.monotonic() - begin) / seconds) + 1)
        while count.begun < due:
            count.begun += 1
            task = asyncio.create_task(
                handshake(port, count, context) if kind == "handshakes"
                else stay(port, count, begin + seconds + 8, kind == "slow"))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.sleep(0.002)
    while tasks:
        await asyncio.wait(set(tasks))
    print(f"{count.begun} begun, {count.refused} refused at once, {count.ended} ended by the other end, "
          f"the longest after {count.longest:.1f} s")


asyncio.run(main())
