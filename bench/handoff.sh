#!/usr/bin/env bash
# How many vertices a second one daemon hands over to another with durable commits on both sides and with both as the other's
# backup, next to the rows a second that SQLite alone commits on the same disk, in batches of the same size, in the same run.
#
#   bench/handoff.sh [-n RUNS] [-g GUEST] [-d DIRECTORY] [-j FILE] [BUILD_DIRECTORY]
#
# RUNS is 3, GUEST lattice:400x400. Two daemons on chain:2: half of the guest goes from the first, where it is submitted, to the
# second ("placed"), then the second drains ("drained"); vertices are counted from a tenth to nine tenths of that half. DIRECTORY,
# /tmp unless told, is where databases are. -j writes JSON.
set -eu

runs=3 guest=lattice:400x400 where=/tmp json=
while getopts n:g:d:j: option; do
    case $option in
    n) runs=$OPTARG ;;
    g) guest=$OPTARG ;;
    d) where=$(realpath "$OPTARG") ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" daemon/lbmapd
needs python3
exec python3 - "$build" "$runs" "$guest" "$where" "$json" <<'END'
import json, os, shutil, sqlite3, statistics, subprocess, sys, tempfile, time

build, runs, guest, where, report = sys.argv[1:]
lbctl, daemon = build + "/client/lbctl", build + "/daemon/lbmapd"
scratch = tempfile.mkdtemp(prefix="lbmap-bench.", dir=where)
cluster = scratch + "/c"
BATCH, ROWS = 256, 256 * 200


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def ask(host, *command):
    return run(lbctl, "-q", "-s", f"{cluster}/h{host}/lbmapd.sock", *command)


# Rows a second, and bytes of one: as a record of a vertex with four neighbours.
def sqlite_alone():
    path = scratch + "/alone.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("create table vertex (job integer, v integer, epoch integer, stage integer, peer integer, work integer, "
               "content blob, primary key (job, v)) without rowid")
    content = bytes(80)
    begin = time.monotonic()
    for at in range(0, ROWS, BATCH):
        db.execute("begin")
        db.executemany("insert into vertex values (1, ?, 1, 0, 0, 1, ?)", [(v, content) for v in range(at, at + BATCH)])
        db.execute("commit")
    took = time.monotonic() - begin
    db.close()
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
    return ROWS / took


def cpu_s(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def handoffs(host):
    return json.loads(ask(host, "status", "--json"))["handoffs"]


def job(host):
    found = json.loads(ask(host, "jobs", "job", "--json"))
    return found[0] if isinstance(found, list) else found


def watch(host, n, before):
    """Vertices a second that a host has handed over, from a tenth of n to nine tenths."""
    times = [(time.monotonic(), 0)]
    while times[-1][1] < n and times[-1][0] < times[0][0] + 600:
        time.sleep(0.02)
        times.append((time.monotonic(), handoffs(host) - before))
    first = next(t for t in times if t[1] >= 0.1 * n)
    last = next(t for t in times if t[1] >= 0.9 * n)
    return (last[1] - first[1]) / (last[0] - first[0])


def handed_over():
    subprocess.run([lbctl, "-q", "cluster", "up", "--hosts", "chain:2", "--dir", cluster, "--daemon", daemon], check=True)
    try:
        pids = [int(open(f"{cluster}/h{host}/lbmapd.pid").read()) for host in (0, 1)]
        ask(0, "submit", "--name", "job", scratch + "/guest.graph")
        n = vertices // 2 * 0.98
        while job(0)["phase"] == "SUBMITTED":
            time.sleep(0.02)
        cpu = [cpu_s(pid) for pid in pids]
        placed = watch(0, n, 0)
        cpu = sum(cpu_s(pid) for pid in pids) - sum(cpu)
        ask(0, "wait", "job", "--timeout", "600")
        time.sleep(1.5)
        before, begun = job(1), handoffs(1)
        ask(0, "drain", "1")
        drained = watch(1, next(h["vertices"] for h in before["hosts"] if h["host"] == 1), begun)
        return placed, drained, 1e6 * cpu / n
    finally:
        subprocess.run([lbctl, "-q", "cluster", "down", "--dir", cluster], stdout=subprocess.DEVNULL)
        shutil.rmtree(cluster, ignore_errors=True)


try:
    run(lbctl, "-q", "gen", guest, "-o", scratch + "/guest.graph")
    vertices = int(open(scratch + "/guest.graph").readline().split()[0])
    alone, placed, drained, cost = [], [], [], []
    for _ in range(int(runs)):
        alone.append(sqlite_alone())
        for list_, value in zip((placed, drained, cost), handed_over()):
            list_.append(value)
        print(f"SQLite alone {alone[-1]:7.0f} rows/s   placed {placed[-1]:7.0f} vertices/s, {cost[-1]:.0f} us of the processor each   "
              f"drained {drained[-1]:7.0f} vertices/s", flush=True)
finally:
    shutil.rmtree(scratch, ignore_errors=True)
middle = {name: statistics.median(values) for name, values in (("alone", alone), ("placed", placed), ("drained", drained))}
print(f"{guest}, half of {vertices} vertices from one daemon to the other, medians: placed {middle['placed']:.0f}, drained "
      f"{middle['drained']:.0f} vertices/s; SQLite alone, batches of {BATCH}, {middle['alone']:.0f} rows/s: "
      f"{middle['placed'] / middle['alone']:.2f} and {middle['drained'] / middle['alone']:.2f} of that")
if report:
    json.dump(dict(guest=guest, vertices=vertices, batch=BATCH, rows_s=alone, placed_s=placed, drained_s=drained, cpu_us=cost),
              open(report, "w"), indent=1)
END
