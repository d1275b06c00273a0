#!/usr/bin/env bash
# Checkpoints of 100 MB, in one run on two real daemons, the second of which keeps the copy:
#
#   rate   blocking checkpoints of 2 payloads of 50 MB and 100 of 1 MB, next to a plain copy of as many bytes over loopback
#          TCP; SHA-256 of them alone, and SQLite alone with as many bytes in transactions as the daemon makes them; time of
#          the processor of the program and of each thread of the daemons
#   work   a program that computes all the time and makes such a checkpoint every ten seconds, by lbmap_checkpoint_start and
#          by lbmap_checkpoint, next to the same without checkpoints
#   heat   docs/examples/heat.c on both hosts: steps a second; with -o the same with another liblbmap, in turn
#
#   bench/checkpoint.sh [-n RUNS] [-s SECONDS] [-p PART ...] [-m DURABILITY ...] [-o LIBRARY_DIRECTORY]
#       [-d DIRECTORY] [-j FILE] [BUILD_DIRECTORY]
#
# RUNS is 5, SECONDS of each `work` 30; parts are "rate work heat". DIRECTORY, /tmp unless told, is where databases
# are. With -m "disk memory" `rate` is measured with each such durability of lbmapd.conf, by turns; the other parts
# have the first one. -j writes JSON.
set -eu

runs=5 seconds=30 parts="rate work heat" other= where=/tmp json= modes=disk
while getopts n:s:p:m:o:d:j: option; do
    case $option in
    n) runs=$OPTARG ;;
    s) seconds=$OPTARG ;;
    p) parts=$OPTARG ;;
    m) modes=$OPTARG ;;
    o) other=$(realpath "$OPTARG") ;;
    d) where=$(realpath "$OPTARG") ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" daemon/lbmapd
open_build "$build" bench/checkpoint
case $parts in *heat*) open_build "$build" docs/examples/heat ;; esac
needs python3
exec python3 - "$build" "$runs" "$seconds" "$parts" "$other" "$where" "$json" "$modes" <<'END'
import json, os, shutil, sqlite3, statistics, subprocess, sys, tempfile, time

build, runs, seconds, parts, other, where, report, modes = sys.argv[1:]
runs, parts, modes = int(runs), parts.split(), modes.split()
lbctl, daemon, bench, heat = (build + "/" + name for name in ("client/lbctl", "daemon/lbmapd", "bench/checkpoint", "docs/examples/heat"))
scratch = tempfile.mkdtemp(prefix="lbmap-bench.", dir=where)
BYTES, PIECE, EVERY, STEPS = 100_000_000, 262144, 10, 500
found = dict(bytes=BYTES)
if not modes or set(modes) - {"disk", "memory"}:
    sys.exit("bench/checkpoint.sh: -m takes disk and memory")


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **more).stdout


# A cluster for each durability.
def folder(mode):
    return f"{scratch}/{mode}"


def socket(host, mode=modes[0]):
    return f"{folder(mode)}/h{host}/lbmapd.sock"


def up(mode=modes[0]):
    start = [lbctl, "-q", "cluster", "up", "--hosts", "chain:2", "--dir", folder(mode), "--daemon", daemon]
    subprocess.run(start, check=True)
    if mode != "disk":
        subprocess.run([lbctl, "-q", "cluster", "down", "--dir", folder(mode)], check=True)
        for host in (0, 1):
            with open(f"{folder(mode)}/h{host}/lbmapd.conf", "a") as settings:
                settings.write(f'durability = "{mode}";\n')
        subprocess.run([word for word in start if word not in ("--hosts", "chain:2")], check=True)


def down():
    for mode in modes:
        if os.path.isdir(folder(mode)):
            subprocess.run([lbctl, "-q", "cluster", "down", "--dir", folder(mode)], stdout=subprocess.DEVNULL)
            shutil.rmtree(folder(mode), ignore_errors=True)


def submit(name, guest, mode=modes[0]):
    run(lbctl, "-q", "gen", guest, "-o", f"{scratch}/{name}.graph")
    for command in (("submit", "--name", name, f"{scratch}/{name}.graph"), ("wait", name, "--timeout", "60")):
        run(lbctl, "-q", "-s", socket(0, mode), *command)


# Seconds of the processor of every thread of both daemons.
def threads(mode):
    used = {}
    for host in (0, 1):
        pid = int(open(f"{folder(mode)}/h{host}/lbmapd.pid").read())
        for task in os.listdir(f"/proc/{pid}/task"):
            fields = open(f"/proc/{pid}/task/{task}/stat").read().rsplit(")", 1)[1].split()
            kind = "loop" if int(task) == pid else "threads"
            key = f"host {host} {kind}"
            used[key] = used.get(key, 0) + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


# As many bytes as a checkpoint, in rows of a piece, four to a transaction that is synced.
def sqlite_alone():
    path = scratch + "/alone.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("pragma wal_autocheckpoint = 0")
    db.execute("create table piece (job integer, v integer, content blob, primary key (job, v)) without rowid")
    content = os.urandom(PIECE)
    begin = time.monotonic()
    for at in range(0, BYTES // PIECE, 4):
        db.execute("begin")
        db.executemany("insert into piece values (1, ?, ?)", [(v, content) for v in range(at, at + 4)])
        db.execute("commit")
    took = time.monotonic() - begin
    db.close()
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
    return took


def write_alone():
    path, content = scratch + "/alone", os.urandom(PIECE)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    begin = time.monotonic()
    for at in range(BYTES // PIECE):
        os.write(fd, content)
        if at % 4 == 3:
            os.fdatasync(fd)
    took = time.monotonic() - begin
    os.close(fd)
    os.remove(path)
    return took


def middle(values):
    return statistics.median(values)


def measure_rate(name, n, mode):
    before, begun = threads(mode), os.times()
    took = float(run(bench, "rate", name, socket(0, mode), n, BYTES // n, 1))
    after, ended = threads(mode), os.times()
    used = {key: after[key] - before.get(key, 0) for key in after}
    used["program"] = ended.children_user + ended.children_system - begun.children_user - begun.children_system
    time.sleep(3)  # what is written to the log of the database is moved by then
    return took, used


def rates():
    alone = dict(copy=[], hash=[], sqlite=[], disk=[])
    shapes = (("few", 2), ("many", 100))
    took = {f"{name}, {mode}": [] for name, _ in shapes for mode in modes}
    cpu = {key: [] for key in took}
    try:
        for mode in modes:
            up(mode)
            for name, n in shapes:
                submit(name, f"lattice:{n}x2", mode)
        for _ in range(runs):
            alone["copy"].append(float(run(bench, "copy", BYTES)))
            alone["hash"].append(float(run(bench, "hash", BYTES)))
            alone["sqlite"].append(sqlite_alone())
            alone["disk"].append(write_alone())
            for name, n in shapes:
                for mode in modes:
                    seconds, used = measure_rate(name, n, mode)
                    took[f"{name}, {mode}"].append(seconds)
                    cpu[f"{name}, {mode}"].append(used)
            print("  ".join(f"{key} {values[-1]:.3f} s" for key, values in {**alone, **took}.items()), flush=True)
    finally:
        down()
    found["rate"] = dict(alone=alone, took=took, cpu=cpu)
    copy_s = middle(alone["copy"])
    print(f"{BYTES // 1000000} MB, medians of {runs}: loopback TCP {BYTES / 1e6 / copy_s:.0f} MB/s; SHA-256 alone "
          f"{BYTES / 1e6 / middle(alone['hash']):.0f}, write and fdatasync each MiB {BYTES / 1e6 / middle(alone['disk']):.0f}, "
          f"SQLite alone {BYTES / 1e6 / middle(alone['sqlite']):.0f} MB/s")
    for name, n in shapes:
        for mode in modes:
            times, used = took[f"{name}, {mode}"], cpu[f"{name}, {mode}"]
            print(f"  {n} payloads, {mode}: {BYTES / 1e6 / middle(times):.0f} MB/s ({BYTES / 1e6 / max(times):.0f} to "
                  f"{BYTES / 1e6 / min(times):.0f}), {copy_s / middle(times):.2f} of loopback TCP, "
                  f"{middle(alone['sqlite']) / middle(times):.2f} of SQLite alone; seconds of the processor: "
                  + ", ".join(f"{key} {middle([c[key] for c in used]):.2f}" for key in sorted(used[0])))


def works():
    rounds = {how: [] for how in ("none", "start", "wait")}
    rows, own = {how: [] for how in rounds}, {how: [] for how in rounds}
    up()
    try:
        submit("few", "lattice:2x2")
        for _ in range(runs):
            for how in rounds:
                row = run(bench, "work", "few", socket(0), 2, BYTES // 2, seconds, how, EVERY).split()
                rounds[how].append(float(row[0]))
                own[how].append(float(row[1]))
                rows[how].append([float(value) for value in row])
                time.sleep(2)
            print("rounds a second: " + "  ".join(f"{how} {values[-1]:.1f}" for how, values in rounds.items()), flush=True)
    finally:
        down()
    found["work"] = rows
    none = rounds["none"]
    for how in ("start", "wait"):
        slower = [100 * (1 - mine / base) for mine, base in zip(rounds[how], none)]
        dearer = [100 * (1 - mine / base) for mine, base in zip(own[how], own["none"])]
        print(f"{how}: {middle(slower):.1f} % fewer rounds than without checkpoints ({min(slower):.1f} to {max(slower):.1f}), "
              f"{middle(dearer):.1f} % fewer in a second of its own processor time, kept after "
              f"{middle([row[3] for row in rows[how]]):.2f} s, longest time between rounds {middle([row[5] for row in rows[how]]):.1f} ms")


def heat_once(library):
    environment = {**os.environ, "LD_LIBRARY_PATH": library} if library else dict(os.environ)
    program = build + "/docs/examples/.libs/heat" if library else heat
    program = program if os.path.exists(program) else heat
    begin = time.monotonic()
    all_ = [subprocess.Popen([program, "heat", str(STEPS), f"{scratch}/heat{host}", socket(host)], env=environment) for host in (0, 1)]
    if any(one.wait() != 0 for one in all_):
        sys.exit("heat failed")
    return STEPS / (time.monotonic() - begin)


def heats():
    kinds = {"this": build + "/.libs"}
    if other:
        kinds["other"] = other
    rate = {kind: [] for kind in kinds}
    for _ in range(runs):
        for kind, library in kinds.items():
            up()
            try:
                submit("heat", "lattice:100x100")
                rate[kind].append(heat_once(library))
            finally:
                down()
        print("heat, steps a second: " + "  ".join(f"{kind} {values[-1]:.0f}" for kind, values in rate.items()), flush=True)
    found["heat"] = rate
    print(f"heat, {STEPS} steps of 10,000 vertices on two hosts, medians: "
          + ", ".join(f"{kind} {middle(values):.0f} steps/s ({min(values):.0f} to {max(values):.0f})" for kind, values in rate.items()))


try:
    for part, measure in (("rate", rates), ("work", works), ("heat", heats)):
        if part in parts:
            measure()
finally:
    down()
    shutil.rmtree(scratch, ignore_errors=True)
if report:
    json.dump(found, open(report, "w"), indent=1)
END
