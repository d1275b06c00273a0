#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Talk to etcd's JSON gateway for tests/cluster/etcd.sh.

  etcd_gate.py URL fill PREFIX N   append N commands to the control log, as a daemon would: jobs that do not
                                   exist get another bound, so the entries change nothing but the index
  etcd_gate.py URL count PREFIX    how many entries are there
  etcd_gate.py URL call PATH JSON  one request; prints the answer
"""
import base64
import json
import struct
import sys
import urllib.request


def call(url, path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def text(value):
    return base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()


def key(prefix, index):
    return text("%s/log/%020d" % (prefix, index))


def last_index(url, prefix):
    found = call(url, "/v3/kv/range", {"key": key(prefix, 0), "range_end": text(prefix + "/log0"), "limit": 1,
                                       "sort_order": "DESCEND", "sort_target": "KEY", "keys_only": True})
    return int(base64.b64decode(found["kvs"][0]["key"])[-20:])


def job_set(job):
    """A packed Command with a JobSet (lib/wire/peer.proto)."""
    number = b""
    while job > 127:
        number, job = number + bytes([job & 127 | 128]), job >> 7
    inner = b"\x08" + number + bytes([job]) + b"\x11" + struct.pack("<d", 0.03)
    return b"\x6a" + bytes([len(inner)]) + inner


def fill(url, prefix, n):
    left, last = n, last_index(url, prefix)
    while left > 0:
        batch = min(left, 100)  # etcd allows 128 operations a transaction
        free = {"target": "CREATE", "result": "EQUAL", "create_revision": "0"}
        there = {"target": "CREATE", "result": "GREATER", "create_revision": "0"}
        done = call(url, "/v3/kv/txn", {
            "compare": [dict(there, key=key(prefix, last))] +
                       [dict(free, key=key(prefix, last + 1 + i)) for i in range(batch)],
            "success": [{"request_put": {"key": key(prefix, last + 1 + i), "value": text(job_set(10**9 + left - i))}}
                        for i in range(batch)]})
        if done.get("succeeded"):
            left, last = left - batch, last + batch
        else:
            last = last_index(url, prefix)
    print(last)


def main():
    url, what = sys.argv[1], sys.argv[2]
    if what == "fill":
        fill(url, sys.argv[3], int(sys.argv[4]))
    elif what == "count":
        print(call(url, "/v3/kv/range", {"key": key(sys.argv[3], 0), "range_end": text(sys.argv[3] + "/log0"),
                                         "count_only": True}).get("count", "0"))
    else:
        print(json.dumps(call(url, sys.argv[3], json.loads(sys.argv[4]))))


main()
