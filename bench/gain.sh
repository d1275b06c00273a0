#!/usr/bin/env bash
# What balancing saves two programs of docs/examples, on real daemons: time from the start of all programs to the end of
# the last, with the loads that they report balanced to 3 % and with the widest bound there is, twice a host's share, in
# turn. What computing costs is emulated: a program sleeps NS nanoseconds for each animal, or dark pixel, that it has
# worked on, so hosts compute at the same time although they share processors.
#
#   bench/gain.sh [-n RUNS] [-p PROGRAM ...] [-w HOSTS,SIDE,STEPS,NS] [-t HOSTS,SIDE,NS] [-j FILE] [BUILD_DIRECTORY]
#
# RUNS is 5; programs are "wator thinning"; -w ring:16,256,200,4000 and -t chain:8,128,20000 unless told. -j writes
# JSON.
set -eu

runs=5 programs="wator thinning" ocean=ring:16,256,200,4000 image=chain:8,128,20000 json=
while getopts n:p:w:t:j: option; do
    case $option in
    n) runs=$OPTARG ;;
    p) programs=$OPTARG ;;
    w) ocean=$OPTARG ;;
    t) image=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" daemon/lbmapd
open_build "$build" docs/examples/wator
needs python3
root=$(realpath "$(dirname "$0")/..")
exec python3 - "$build" "$root" "$runs" "$programs" "$ocean" "$image" "$json" <<'END'
import filecmp, json, shutil, statistics, subprocess, sys, tempfile, time

build, root, runs, programs, ocean, image, report = sys.argv[1:]
runs = int(runs)
lbctl, daemon = build + "/client/lbctl", build + "/daemon/lbmapd"
scratch = tempfile.mkdtemp(prefix="lbmap-bench.")
BOUND = {"balanced": "0.03", "as placed": "1"}  # load above its share that a host may carry


def run(*command, **more):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, **more)


def thinning():
    """It is no part of the build, since it needs libpng."""
    example, source = scratch + "/thinning", root + "/docs/examples/thinning.c"
    asked = ["pkg-config", "--cflags", "--libs", "libpng"]
    png = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    here = [f"-I{root}/include", f"-L{build}/.libs", f"-Wl,-rpath,{build}/.libs"]
    run("cc", "-std=gnu11", "-O2", *here, source, "-llbmap", *png, "-o", example)
    return example


class Program:
    def __init__(self, name):
        self.name, self.example = name, f"{build}/docs/examples/wator" if name == "wator" else thinning()
        self.guest, self.alone = f"{scratch}/{name}.graph", f"{scratch}/{name}.alone"
        if name == "wator":
            self.hosts, side, steps, self.ns = ocean.split(",")
            self.what = (side, side, steps)
            run(self.example, "alone", *self.what, self.alone)
            graph = [self.example, "graph", side]
        else:
            self.hosts, side, self.ns = image.split(",")
            run(self.example, "sample", side, f"{scratch}/sample.png")
            self.what = (f"{scratch}/sample.png",)
            run(self.example, "alone", *self.what, self.alone)
            graph = [self.example, "graph", *self.what]
        with open(self.guest, "w") as file:
            subprocess.run(graph, check=True, stdout=file)

    def cluster(self, word, *more):
        run(lbctl, "-q", "cluster", word, *more, "--dir", scratch + "/c")

    def seconds(self, how):
        self.cluster("up", "--hosts", self.hosts, "--daemon", daemon)
        n = int(self.hosts.split(":")[1])
        sockets = [f"{scratch}/c/h{host}/lbmapd.sock" for host in range(n)]
        submit = ["submit", self.guest, "--name", "job", "--imbalance", BOUND[how], "--start", "plan"]
        run(lbctl, "-q", "-s", sockets[0], *submit)
        run(lbctl, "-q", "-s", sockets[0], "wait", "job", "--timeout", "60")
        began = time.monotonic()
        all_of_them = [
            subprocess.Popen([self.example, "run", "job", *self.what, f"{scratch}/out.{host}", socket, self.ns])
            for host, socket in enumerate(sockets)
        ]
        status = [program.wait(timeout=600) for program in all_of_them]
        took = time.monotonic() - began
        self.cluster("down")
        shutil.rmtree(scratch + "/c")
        if any(status) or not filecmp.cmp(f"{scratch}/out.0", self.alone, shallow=False):
            sys.exit(f"{self.name}, {how}: statuses {status}, or not what one loop gives")
        return took


found = {}
try:
    for name in programs.split():
        program = Program(name)
        took = {how: [] for how in BOUND}
        for _ in range(runs):
            for how in BOUND:
                took[how].append(program.seconds(how))
            print(f"{name}: " + "  ".join(f"{how} {took[how][-1]:.1f} s" for how in BOUND), flush=True)
        saved = [1 - b / a for b, a in zip(took["balanced"], took["as placed"])]
        seconds = [statistics.median(took[how]) for how in BOUND]
        print(
            f"{name} on {program.hosts}: {100 * statistics.median(saved):.1f} % of the time is saved "
            f"({100 * min(saved):.1f} to {100 * max(saved):.1f}), {seconds[0]:.1f} s instead of {seconds[1]:.1f}"
        )
        found[name] = dict(hosts=program.hosts, ns=program.ns, seconds=took, saved=statistics.median(saved))
finally:
    down = [lbctl, "-q", "cluster", "down", "--dir", scratch + "/c"]
    subprocess.run(down, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    shutil.rmtree(scratch, ignore_errors=True)
if report:
    with open(report, "w") as file:
        json.dump(found, file, indent=1)
END
