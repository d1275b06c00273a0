#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a daemon's port refuses: one case a line of the table, each by a client that stays and listens.

    tls_cases.py PORT FOLDER

FOLDER has certificates CASE.pem and keys CASE.key (tests/cluster/tls_refused.sh makes them), good.pem among them. A
TLS case is refused if the daemon ends the connection at once, well before the five seconds that a stranger has
to say Hello: good.pem, which is shown first, is kept open that long. A case of raw bytes is refused if the
connection ends within eight seconds and nothing but an alert came back. Prints "ok: CASE" or "FAILED: CASE: why".
"""
import concurrent.futures
import os
import socket
import ssl
import struct
import sys
import time

PORT, FOLDER = int(sys.argv[1]), sys.argv[2]
AT_ONCE_S, STRANGER_S, TOGETHER = 3, 8, 8
PEER, ENROL, CONTROL = "lbmap-peer/1", "lbmap-enrol/1", "lbmap-control/1"


def connect():
    return socket.create_connection(("127.0.0.1", PORT), STRANGER_S + 2)


def client(certificate=None, alpn=(PEER,), change=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if certificate is not None:
        context.load_cert_chain(f"{FOLDER}/{certificate}.pem", f"{FOLDER}/{certificate}.key")
    if change is not None:
        change(context)
    return context


def ends_at_once(line):
    """Value: how the other end ended the connection, or "" if it did not."""
    line.settimeout(AT_ONCE_S)
    try:
        data = line.recv(4096)
    except socket.timeout:
        return ""
    except OSError as error:
        return str(error)
    return "closed" if not data else ""


def by_tls(certificate=None, alpn=(PEER,), change=None):
    with connect() as raw:
        try:
            line = client(certificate, alpn, change).wrap_socket(raw)
        except OSError as error:
            return str(error)
        return ends_at_once(line)


def by_bytes(*pieces, pause=0.0, then_close=False, may_answer=False):
    """Value: how it ended, or "" if it went on, or if something else than an alert came back, unless it may."""
    began, got = time.monotonic(), b""
    with connect() as raw:
        try:
            for piece in pieces:
                raw.sendall(piece)
                time.sleep(pause)
            if then_close:
                raw.shutdown(socket.SHUT_WR)
            while time.monotonic() < began + STRANGER_S:
                data = raw.recv(4096)
                if not data:
                    break
                got += data
            else:
                return ""
        except socket.timeout:
            return ""
        except OSError:
            pass
    if time.monotonic() > began + STRANGER_S or (got and got[0] != 21 and not may_answer):
        return ""
    return "closed" if not got else "alert"


def record(kind, body, length=None):
    return struct.pack(">BHH", kind, 0x0301, len(body) if length is None else length) + body


def hello_bytes():
    """A true ClientHello, as bytes."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    line = client().wrap_bio(incoming, outgoing)
    try:
        line.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def cut_handshake(after):
    """A handshake with the good certificate, of which only so many bytes of what the client says arrive."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    line, said = client("good").wrap_bio(incoming, outgoing), 0
    began = time.monotonic()
    with connect() as raw:
        raw.settimeout(STRANGER_S)
        try:
            while True:
                try:
                    line.do_handshake()
                    done = True
                except ssl.SSLWantReadError:
                    done = False
                data = outgoing.read()
                piece = data[: max(0, after - said)]
                raw.sendall(piece)
                said += len(data)
                if said >= after or done:
                    break
                incoming.write(raw.recv(65536))
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(65536):
                pass
        except OSError:
            pass
    return "closed" if time.monotonic() - began < STRANGER_S - 1 else ""


def cut_frame():
    """After a good handshake, half a frame, and the end without a word of TLS."""
    with connect() as raw:
        line = client("good").wrap_socket(raw)
        line.sendall(struct.pack("<I", 200) + b"\x08\x01" * 20)
        raw = socket.socket(fileno=os.dup(line.fileno()))
        raw.shutdown(socket.SHUT_WR)
        raw.settimeout(STRANGER_S)
        try:
            while raw.recv(4096):
                pass
        except socket.timeout:
            return ""
        except OSError:
            pass
    return "closed"


def after_handshake(body, alpn=PEER, certificate="good"):
    with connect() as raw:
        line = client(certificate, (alpn,)).wrap_socket(raw)
        line.sendall(body)
        return ends_at_once(line)


def old_session():
    """A session of another server, which gave a ticket, offered in place of a certificate."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(f"{FOLDER}/good.pem", f"{FOLDER}/good.key")
    server.set_alpn_protocols([PEER])
    listener = socket.create_server(("127.0.0.1", 0))
    context = client()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        def serve():
            with server.wrap_socket(listener.accept()[0], server_side=True) as line:
                line.sendall(b"x")
                line.recv(1)
        served = pool.submit(serve)
        with context.wrap_socket(socket.create_connection(listener.getsockname())) as line:
            line.recv(1)
            session = line.session
            line.sendall(b"x")
        served.result()
    if not session.has_ticket:
        return ""
    with connect() as raw:
        try:
            line = context.wrap_socket(raw, session=session)
        except OSError as error:
            return str(error)
        return "" if line.session_reused else ends_at_once(line)


def version(most):
    def change(context):
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = most
    return change


def option(**values):
    def change(context):
        for name, value in values.items():
            getattr(context, name)(value)
    return change


HELLO = hello_bytes()
SHOWN = {  # certificate of that name at the peers' port
    "expired": "a certificate that has expired",
    "not-yet": "a certificate that is not valid yet",
    "other-authority": "a certificate of an authority of the same name with another key",
    "self-signed": "a certificate signed by itself",
    "authority": "the authority's own certificate, by who has its key",
    "leaf-authority": "a certificate that may sign others",
    "other-cluster": "a certificate of this authority for another cluster",
    "alien": "a host's certificate of another cluster",
    "user": "a user's certificate at the hosts' port",
    "self-host": "the daemon's own certificate",
    "dns": "a DNS name in place of the URI",
    "two-names": "two names",
    "no-name": "no name",
    "host-out-of-range": "a host id out of range",
    "host-not-a-number": "a host id that is no number",
    "name-in-subject": "the URI in the subject alone",
    "server-alone": "a certificate for servers alone",
    "client-use-missing": "a certificate for mail",
    "no-uses": "a certificate that says no use",
    "no-signature-use": "a key that may not sign",
    "p224": "a key on P-224",
    "p384": "a key on P-384",
    "rsa1024": "an RSA key of 1024 bits",
    "rsa2048": "an RSA key of 2048 bits",
    "ed25519": "an Ed25519 key",
    "intermediate": "a chain over another authority that this one signed",
    "too-long": "a chain of more than 16 KiB",
    "unknown-critical": "a critical extension that nobody knows",
    "revoked": "a host that is revoked",
}
CASES = {f"shown: {text}": (lambda name=name: by_tls(name)) for name, text in SHOWN.items()}
CASES.update({
    "no certificate": lambda: by_tls(),
    "no certificate, as an operator": lambda: by_tls(alpn=(CONTROL,)),
    "a user's certificate that asks for a host's": lambda: by_tls("user", (ENROL,)),
    "a host's certificate that asks as an operator": lambda: by_tls("good", (CONTROL,)),
    "a revoked host that renews its certificate": lambda: by_tls("revoked", (ENROL,)),
    "an expired host that renews its certificate": lambda: by_tls("expired", (ENROL,)),
    "an expired user": lambda: by_tls("user-expired", (CONTROL,)),
    "a user of another cluster": lambda: by_tls("user-alien", (CONTROL,)),
    "a user whose right is none": lambda: by_tls("user-of-no-right", (CONTROL,)),
    "a user number 0 that only submits": lambda: by_tls("user-root", (CONTROL,)),
    "TLS 1.2": lambda: by_tls("good", change=version(ssl.TLSVersion.TLSv1_2)),
    "TLS 1.1": lambda: by_tls("good", change=version(ssl.TLSVersion.TLSv1_1)),
    "TLS 1.0": lambda: by_tls("good", change=version(ssl.TLSVersion.TLSv1)),
    "no ALPN": lambda: by_tls("good", ()),
    "ALPN of the web": lambda: by_tls("good", ("h2", "http/1.1")),
    "ALPN of a version that never was": lambda: by_tls("good", ("lbmap-peer/0",)),
    "ALPN with another case": lambda: by_tls("good", ("LBMAP-PEER/1",)),
    "ALPN that is longer": lambda: by_tls("good", ("lbmap-peer/11",)),
    "a group that is not spoken": lambda: by_tls("good", change=option(set_ecdh_curve="secp521r1")),
    "a ticket of another server": old_session,
    "early application data, in place of a handshake": lambda: by_bytes(record(23, b"\0" * 64)),
    "plain text of the web": lambda: by_bytes(b"GET / HTTP/1.0\r\n\r\n"),
    "plain text of ssh": lambda: by_bytes(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "a frame of lbmap in plain text": lambda: by_bytes(struct.pack("<I", 6) + b"\x08\x01\x52\x02\x08\x01"),
    "SSL 2": lambda: by_bytes(b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + b"\x01\x00\x80" * 7 + b"a" * 16),
    "a record of no kind": lambda: by_bytes(record(99, b"\0" * 16)),
    "a record of more than 16 KiB": lambda: by_bytes(record(22, b"\1" * 200, 0xFFFF)),
    "a ClientHello that announces 16 MB": lambda: by_bytes(record(22, b"\x01\xff\xff\xff" + b"\0" * 200)),
    "empty records for ever": lambda: by_bytes(*[record(22, b"")] * 200),
    "an alert before anything else": lambda: by_bytes(record(21, b"\x02\x28")),
    "change of cipher before anything else": lambda: by_bytes(*[record(20, b"\x01")] * 200),
    "heartbeat": lambda: by_bytes(record(24, b"\x01\xff\xff")),
    "a second ClientHello, as in a renegotiation": lambda: by_tls_twice(),
    "a ClientHello and garbage": lambda: by_bytes(HELLO + bytes(range(256)) * 2, may_answer=True),
    "half a ClientHello, and the end": lambda: by_bytes(HELLO[:100], then_close=True),
    "half a ClientHello, and silence": lambda: by_bytes(HELLO[:100]),
    "silence": lambda: by_bytes(),
    "a byte at a time": lambda: by_bytes(*[HELLO[i:i + 1] for i in range(14)], pause=0.5),
    "truncated after the certificate's first bytes": lambda: cut_handshake(len(HELLO) + 100),
    "truncated within the last message": lambda: cut_handshake(len(HELLO) + 1000),
    "half a frame, and the end without close_notify": cut_frame,
    "a frame that is no Hello": lambda: after_handshake(struct.pack("<I", 40) + b"\xff" * 40),
    "a frame of 4 GB": lambda: after_handshake(struct.pack("<I", 0xFFFFFFFF) + b"\0" * 64),
    "a frame of nothing": lambda: after_handshake(struct.pack("<I", 0)),
    "plain text inside TLS": lambda: after_handshake(b"GET / HTTP/1.0\r\n\r\n"),
})


def by_tls_twice():
    """A second ClientHello in the clear, where the client's last flight is due: a renegotiation, as TLS 1.3 sees it."""
    with connect() as raw:
        raw.settimeout(STRANGER_S)
        raw.sendall(HELLO)
        if not raw.recv(5):
            return ""
        raw.sendall(HELLO)
        try:
            while True:
                data = raw.recv(65536)
                if not data:
                    return "closed"
        except socket.timeout:
            return ""
        except OSError:
            return "closed"


def main():
    if by_tls("good") != "":
        print("FAILED: the good certificate is refused, too:", by_tls("good"))
        return 1
    print("ok: the good certificate is kept open")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        tried = {name: pool.submit(case) for name, case in CASES.items()}
        for name, result in tried.items():
            try:
                how = result.result()
            except Exception as error:  # the harness, not the daemon
                how, name = "", f"{name}: {error!r}"
            print(f"ok: refused: {name} ({how})" if how else f"FAILED: not refused: {name}")
            failed |= not how
    print(f"{len(CASES)} cases")
    return failed


sys.exit(main())
