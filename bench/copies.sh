#!/usr/bin/env bash
# What a second copy of each record costs: ratios of copies 2 to copies 1, measured in turn in one run.
#
#   bench/copies.sh [-n RUNS] [-g GUEST] [-d DIRECTORY] [-j FILE] [BUILD_DIRECTORY]
#
# RUNS is 3, GUEST lattice:200x200. Four daemons on mesh:2x2, the guest submitted at the first: seconds until it is
# placed and settled, vertices a second that the first host hands over (from a tenth to nine tenths of what it gives),
# bytes that all daemons send and write, time of the processor. Then lbsim scale on mesh:4x4, once each: transactions and
# messages of a host from the submission until the job has settled. DIRECTORY, /tmp unless told, is where databases are.
# -j writes JSON.
set -eu

runs=3 guest=lattice:200x200 where=/tmp json=
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
open_build "$build" sim/lbsim
needs python3
exec python3 - "$build" "$runs" "$guest" "$where" "$json" <<'END'
import json, os, shutil, statistics, subprocess, sys, tempfile, time

build, runs, guest, where, report = sys.argv[1:]
lbctl, daemon, lbsim = build + "/client/lbctl", build + "/daemon/lbmapd", build + "/sim/lbsim"
scratch = tempfile.mkdtemp(prefix="lbmap-bench.", dir=where)
cluster = scratch + "/c"
HOSTS = 4


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def ask(host, *command):
    return run(lbctl, "-q", "-s", f"{cluster}/h{host}/lbmapd.sock", *command)


def status(host):
    return json.loads(ask(host, "status", "--json"))


def used(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    written = next(line for line in open(f"/proc/{pid}/io") if line.startswith("write_bytes"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(written.split()[1])


def in_sync():
    rows = json.loads(ask(0, "hosts", "--json"))
    rows = rows if isinstance(rows, list) else rows["hosts"]
    return len(rows) == HOSTS and all(row["insync"] for row in rows)


def measure(copies):
    subprocess.run([lbctl, "-q", "cluster", "up", "--hosts", "mesh:2x2", "--log", "local", "--copies", str(copies),
                    "--dir", cluster, "--daemon", daemon], check=True)
    try:
        pids = [int(open(f"{cluster}/h{host}/lbmapd.pid").read()) for host in range(HOSTS)]
        while not in_sync():
            time.sleep(0.1)
        before, sent = [used(pid) for pid in pids], sum(status(host)["bytes_sent"] for host in range(HOSTS))
        begin = time.monotonic()
        ask(0, "submit", "--name", "job", scratch + "/guest.graph")
        gives, times = vertices * (HOSTS - 1) // HOSTS * 0.95, [(begin, 0)]
        while times[-1][1] < 0.9 * gives and times[-1][0] < begin + 600:
            time.sleep(0.02)
            times.append((time.monotonic(), status(0)["handoffs"]))
        ask(0, "wait", "job", "--timeout", "600")
        settled = time.monotonic() - begin
        after = [used(pid) for pid in pids]
        first, last = next(t for t in times if t[1] >= 0.1 * gives), times[-1]
        return {"settled_s": settled, "handed_over_s": (last[1] - first[1]) / (last[0] - first[0]),
                "bytes_sent": sum(status(host)["bytes_sent"] for host in range(HOSTS)) - sent,
                "bytes_written": sum(b[1] - a[1] for a, b in zip(before, after)),
                "processor_s": sum(b[0] - a[0] for a, b in zip(before, after))}
    finally:
        subprocess.run([lbctl, "-q", "cluster", "down", "--dir", cluster], stdout=subprocess.DEVNULL)
        shutil.rmtree(cluster, ignore_errors=True)


def simulated(copies):
    out = run(lbsim, "scale", "--hosts", "mesh:4x4", "--guest", "lattice:80x80", "--churn", "0", "--minutes", "0",
              "--copies", str(copies), "--json")
    phases = {phase["phase"]: phase for phase in json.loads(out)["phases"]}
    return {"transactions": phases["settling"]["transactions"], "messages": phases["settling"]["messages"]}


try:
    run(lbctl, "-q", "gen", guest, "-o", scratch + "/guest.graph")
    vertices = int(open(scratch + "/guest.graph").readline().split()[0])
    measured = {1: [], 2: []}
    for _ in range(int(runs)):
        for copies in measured:
            measured[copies].append(measure(copies))
            print(f"copies {copies}: " + ", ".join(f"{k} {v:.6g}" for k, v in measured[copies][-1].items()), flush=True)
    cost = {copies: {k: statistics.median(m[k] for m in list_) for k in list_[0]} for copies, list_ in measured.items()}
    for copies in cost:
        cost[copies].update(simulated(copies))
finally:
    shutil.rmtree(scratch, ignore_errors=True)
ratio = {k: cost[2][k] / cost[1][k] for k in cost[1] if cost[1][k]}
print(f"{guest}, copies 2 to copies 1, medians of {runs}: " + ", ".join(f"{k} {v:.2f}" for k, v in ratio.items()))
if report:
    json.dump({"guest": guest, "vertices": vertices, "measured": measured, "cost": cost, "ratio": ratio}, open(report, "w"),
              indent=1)
END
