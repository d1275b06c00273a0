#!/usr/bin/env bash
# How long real daemons take to settle after a load step next to a link that is slow, and next to a host that
# is stopped, against the same without. The capacity of a corner is trebled and set back, by turns as it is,
# with the delay and with the stopped host.
#
#   bench/delay.sh [-n RUNS] [-H HOSTS] [-g GUEST] [-d MILLISECONDS] [-l P,Q] [-s HOST] [-j FILE]
#       [BUILD_DIRECTORY]
#
# RUNS is 5, HOSTS mesh:4x4, GUEST lattice:100x100. What the hosts P and Q say to each other takes
# MILLISECONDS, each way: 200 unless told, and the first link in the middle of the mesh of which neither end
# is the other's backup. HOST, 10 unless told, is stopped, and no host is evicted. Settled: all that take
# part are, and the corner has most of what was to come or go. -j writes JSON.
set -eu

runs=5 hosts=mesh:4x4 guest=lattice:100x100 delay=200 link= stopped=10 json=
while getopts n:H:g:d:l:s:j: option; do
    case $option in
    n) runs=$OPTARG ;;
    H) hosts=$OPTARG ;;
    g) guest=$OPTARG ;;
    d) delay=$OPTARG ;;
    l) link=$OPTARG ;;
    s) stopped=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" daemon/lbmapd
needs python3
exec python3 - "$build" "$runs" "$hosts" "$guest" "$delay" "$link" "$stopped" "$json" \
    "$top/tests/cluster/delayer.py" <<'END'
import glob, json, shutil, socket, statistics, subprocess, sys, tempfile, threading, time

build, runs, hosts, guest, delay, link, stopped, report, delayer = sys.argv[1:]
lbctl, daemon = build + "/client/lbctl", build + "/daemon/lbmapd"
scratch = tempfile.mkdtemp(prefix="lbmap-bench.", dir="/tmp")
cluster, proxy = scratch + "/c", None
INNER = ["5,6", "9,10", "5,9", "6,10"]  # links of mesh:4x4
NOTICE_S, LONGEST_S = 4, 120  # so long until silence and delays are noticed for certain
LEAST = 0.6  # of what is due: the others keep all that the bound allows, those that are away all they have


DEGRADED = 5  # exit status of lbctl: the answer is there, and says that not all is well


def run(*command, allowed=(0,)):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in allowed:
        raise subprocess.CalledProcessError(done.returncode, command)
    return done.stdout


def ask(*command):
    return run(lbctl, "-q", "-s", cluster + "/h0/lbmapd.sock", *command)


def has_copies(p, q):
    return backup[p] == q or backup[q] == p


def whole_cluster(*command):
    run(lbctl, "-q", "cluster", *command, "--dir", cluster)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def job():
    found = json.loads(run(lbctl, "-q", "-s", cluster + "/h0/lbmapd.sock", "jobs", "job", "--json",
                           allowed=(0, DEGRADED)))
    while "hosts" not in found:
        found = found["jobs"][0] if isinstance(found, dict) else found[0]
    return found


def at_corner(found):
    return next(host["vertices"] for host in found["hosts"] if host["host"] == 0)


# Seconds until the others have settled with the corner's capacity as told.
def step(capacity):
    found = job()
    before, n = at_corner(found), len(found["hosts"])
    due = found["vertices"] * capacity / (n - 1 + capacity)
    begin = time.monotonic()
    ask("set", "0", "--capacity", str(capacity))
    since, seen = None, 0
    while seen < 3:
        time.sleep(0.1)
        now, found = time.monotonic(), job()
        came = (at_corner(found) - before) / (due - before)
        is_settled = found["heard_phase"] == "SETTLED" and came >= LEAST
        since = since if is_settled and seen else now
        seen = seen + 1 if is_settled else 0
        if now - begin > LONGEST_S:
            sys.exit(f"not settled within {LONGEST_S} s: {found['heard_phase']}, {came:.0%} have come, "
                     f"missing {found['missing']}")
    return since - begin


# What goes between the two ends goes by here, and takes so long.
def set_delay(milliseconds):
    global proxy
    if proxy is not None:
        proxy.kill()
        proxy.wait()
    proxy = subprocess.Popen([sys.executable, delayer, milliseconds, *way], stdout=subprocess.PIPE, text=True)
    proxy.stdout.readline()
    threading.Thread(target=proxy.stdout.read, daemon=True).start()
    time.sleep(NOTICE_S)


def both_steps():
    there = step(3)
    settle()
    return [there, step(1)]


def settle():
    ask("wait", "job", "--timeout", str(LONGEST_S))
    time.sleep(1)


took = {"as it is": [], "delayed": [], "stopped": []}
try:
    run(lbctl, "-q", "gen", guest, "-o", scratch + "/guest.graph")
    whole_cluster("up", "--hosts", hosts, "--daemon", daemon)
    whole_cluster("down")
    for file in glob.glob(cluster + "/h*/lbmapd.conf"):
        with open(file, "a") as conf:
            conf.write("evict = { percent = 0.0; };\n")
    whole_cluster("up", "--daemon", daemon)
    ask("submit", "--name", "job", scratch + "/guest.graph")
    settle()
    address = {str(host["host"]): host["address"] for host in json.loads(ask("hosts", "--json"))}
    backup = {str(host["host"]): str(host["backup"]) for host in json.loads(ask("hosts", "--json"))}
    ends = next(p.split(",") for p in [link] * (link != "") + INNER if link or not has_copies(*p.split(",")))
    way = [f"{end}:{free_port()}:{address[end]}" for end in ends]
    set_delay("0")
    for part in way:
        end, port, _ = part.split(":", 2)
        ask("set", end, "--address", f"127.0.0.1:{port}")
    for i in range(int(runs)):
        set_delay("0")
        took["as it is"] += both_steps()
        settle()
        set_delay(delay)
        took["delayed"] += both_steps()
        settle()
        set_delay("0")
        for capacity in (3, 1):
            whole_cluster("kill", stopped, "--signal", "STOP")
            time.sleep(NOTICE_S)
            took["stopped"].append(step(capacity))
            whole_cluster("kill", stopped, "--signal", "CONT")
            settle()
finally:
    if proxy is not None:
        proxy.kill()
    subprocess.run([lbctl, "-q", "cluster", "down", "--dir", cluster], stdout=subprocess.DEVNULL)
    shutil.rmtree(scratch, ignore_errors=True)

median = {how: statistics.median(took[how]) for how in took}
print(f"{hosts}, {guest}: link {'-'.join(ends)} with {delay} ms"
      f"{', which carries copies' if has_copies(*ends) else ''}, host {stopped} stopped; "
      "seconds until the others have settled")
for how in took:
    print(f"{how:<10} median {median[how]:6.2f}  least {min(took[how]):6.2f}  most {max(took[how]):6.2f}  "
          f"{median[how] / median['as it is']:.2f} of as it is")
if report:
    json.dump({"hosts": hosts, "guest": guest, "delay_ms": float(delay), "link": ends,
               "stopped": int(stopped), "seconds": took, "median": median}, open(report, "w"), indent=1)
END
