#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands between a machine that enrols and a daemon, and writes down what it sees of both directions.

    recorder.py relay DAEMON_PORT FILE                   bytes as they are on the wire
    recorder.py middle DAEMON_PORT FILE CHAIN.pem KEY.pem  ends TLS itself with that certificate: what is inside

Prints the port of 127.0.0.1 at which it listens, and serves one connection after the other until it is ended.
"""
import select
import socket
import ssl
import sys

WAIT_S = 30


def relay(one, other, seen):
    """Carry bytes until an end closes; what comes from the first is written down."""
    ends = {one: other, other: one}
    while True:
        ready = [end for end in ends if isinstance(end, ssl.SSLSocket) and end.pending()]
        for end in ready or select.select(list(ends), [], [], WAIT_S)[0] or [None]:
            data = end.recv(65536) if end is not None else b""
            if not data:
                return
            seen.write(data)
            seen.flush()
            ends[end].sendall(data)


def to_daemon(port, ends_tls):
    daemon = socket.create_connection(("127.0.0.1", port), WAIT_S)
    if not ends_tls:
        return daemon
    believes_all = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    believes_all.check_hostname = False
    believes_all.verify_mode = ssl.CERT_NONE
    believes_all.set_alpn_protocols(["lbmap-enrol/1"])
    return believes_all.wrap_socket(daemon)


def main():
    mode, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    server = None
    if mode == "middle":
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(sys.argv[4], sys.argv[5])
        server.set_alpn_protocols(["lbmap-enrol/1"])
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    with open(path, "ab") as seen:
        while True:
            client = listener.accept()[0]
            try:
                if server is not None:
                    client = server.wrap_socket(client, server_side=True)
                relay(client, to_daemon(port, server is not None), seen)
            except OSError:
                pass  # refused: the next one
            client.close()


main()
