#!/usr/bin/env bash
# Time in which real daemons carry out the flows of a load policy by each schedule: a pile of vertices on host 0,
# all schedules in turns, so that all meet the same load of the machine. Medians, of the slowest host.
#
#   bench/transfer.sh [-n RUNS] [-H HOSTS] [-g GUEST] [-p POLICY] [-s MICROSECONDS] [-j FILE] [BUILD_DIRECTORY]
#
# RUNS is 5, HOSTS hypercube:4, GUEST lattice:100x100, POLICY dem. The daemons of one machine share its disk and its
# processors, so that no schedule can gain much; hosts of a network do not. So the databases are in memory, and each
# daemon waits -s MICROSECONDS, 12000 as a rotating disk takes to seek and turn, whenever it syncs: a disk of its own. 0: no wait.
# -j writes the numbers as JSON. Exit: 1 if pipelined takes more than 0.75 of plain, unless -s is 0.
set -eu

runs=5 hosts=hypercube:4 guest=lattice:100x100 policy=dem sync=12000 json=
while getopts n:H:g:p:s:j: option; do
    case $option in
    n) runs=$OPTARG ;;
    H) hosts=$OPTARG ;;
    g) guest=$OPTARG ;;
    p) policy=$OPTARG ;;
    s) sync=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" daemon/lbmapd
needs python3 cc
exec python3 - "$build" "$runs" "$hosts" "$guest" "$policy" "$sync" "$json" "$top/bench/slow_sync.c" <<'END'
import json, os, shutil, statistics, subprocess, sys, tempfile, time

build, runs, hosts, guest, policy, sync, report, shim = sys.argv[1:]
lbctl, daemon = build + "/client/lbctl", build + "/daemon/lbmapd"
scratch = tempfile.mkdtemp(prefix="lbmap-bench.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
cluster = scratch + "/c"
SCHEDULES = ["plain", "overlapped", "pipelined"]


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def ask(*command):
    return run(lbctl, "-q", "-s", cluster + "/h0/lbmapd.sock", *command)


def once(schedule, i):
    name = f"{schedule}{i}"
    ask("submit", "--name", name, "--start", "coordinator", "--policy", policy, "--schedule", schedule, scratch + "/guest.graph")
    ask("wait", name)
    time.sleep(1.5)  # every host has told of its part
    job = json.loads(ask("jobs", name, "--json"))
    while "policy" not in job:
        job = job["jobs"][0] if isinstance(job, dict) else job[0]
    ask("cancel", name)
    time.sleep(0.5)
    return job


try:
    run("cc", "-O2", "-shared", "-fPIC", "-o", scratch + "/slow.so", shim)
    run(lbctl, "-q", "gen", guest, "-o", scratch + "/guest.graph")
    subprocess.run([lbctl, "-q", "cluster", "up", "--hosts", hosts, "--dir", cluster, "--daemon", daemon], check=True,
                   env=dict(os.environ, LD_PRELOAD=scratch + "/slow.so", SYNC_US=sync))
    took = {schedule: [] for schedule in SCHEDULES}
    flow = 0
    for i in range(int(runs)):
        for schedule in SCHEDULES:
            job = once(schedule, i)
            took[schedule].append(job["transfer_s"])
            flow = job["flow"]
finally:
    subprocess.run([lbctl, "-q", "cluster", "down", "--dir", cluster], stdout=subprocess.DEVNULL)
    shutil.rmtree(scratch, ignore_errors=True)

median = {schedule: statistics.median(took[schedule]) for schedule in SCHEDULES}
print(f"{hosts}, {guest} on host 0, {policy}: {flow} units over links; a sync takes {int(sync) / 1000:g} ms")
for schedule in SCHEDULES:
    print(f"{schedule:<12} median {median[schedule]:6.3f} s  least {min(took[schedule]):6.3f} s  "
          f"most {max(took[schedule]):6.3f} s  {median[schedule] / median['plain']:.2f} of plain")
if report:
    json.dump({"hosts": hosts, "guest": guest, "policy": policy, "sync_us": int(sync), "flow": flow, "seconds": took,
               "median": median}, open(report, "w"), indent=1)
sys.exit(sync != "0" and median["pipelined"] > 0.75 * median["plain"])
END
