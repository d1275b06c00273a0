#!/usr/bin/env bash
# How plans grow with the guest and with the hosts, next to scotch_gmap in the same run where it knows the hosts: time,
# memory and hop-bytes of whole processes, lattices as guests.
#
#   bench/plan_scale.sh [BUILD_DIRECTORY [EFFORT [VERTICES... [-- HOSTS...]]]]
#                       default: the current directory, fast, 10000 100000 1000000, mesh:2x2 mesh:8x8 mesh:32x32
#
# Processor seconds are those of one process whatever its threads; wall seconds mean something on an idle machine only.
set -eu

. "$(dirname "$0")/lib.sh"
open_build "${1:-.}" client/lbctl
effort=${2:-fast}
shift $(($# < 2 ? $# : 2))
needs python3
exec python3 - "$build/client/lbctl" "$effort" "$@" <<'END'
import json, math, os, re, shutil, subprocess, sys, tempfile, time

lbctl, effort, *words = sys.argv[1:]
split = words.index("--") if "--" in words else len(words)
sizes = [int(w) for w in words[:split]] or [10000, 100000, 1000000]
hosts = words[split + 1:] or ["mesh:2x2", "mesh:8x8", "mesh:32x32"]

def run(command, out):
    """Processor and wall seconds of one process, and its largest memory in MB."""
    began = time.monotonic()
    with open(out, "w") as file:
        child = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit("bench/plan_scale.sh: failed: " + " ".join(command))
    return used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss / 1024

def scotch_part(path, parts):
    """Scotch's mapping as one host a line. Not in here: a child's memory counts from what its parent had."""
    with open(parts, "w") as file:
        subprocess.run("tail -n +2 '%s' | sort -n | cut -f2" % path, shell=True, check=True, stdout=file)

def hop_bytes(graph, parts, spec):
    out = subprocess.run([lbctl, "eval", graph, parts, "--hosts", spec, "--json"], check=True, capture_output=True)
    return json.loads(out.stdout)["hop_bytes"]

print("%9s %-12s %-8s %9s %8s %8s %8s" % ("vertices", "hosts", "", "J", "cpu s", "wall s", "MB"))
with tempfile.TemporaryDirectory() as scratch:
    at = lambda name: os.path.join(scratch, name)
    for size in sizes:
        side = round(math.sqrt(size))
        subprocess.run([lbctl, "gen", "lattice:%dx%d" % (side, side), "-o", at("g.graph"), "-q"], check=True)
        subprocess.run([lbctl, "convert", at("g.graph"), at("g.grf"), "-q"], check=True)
        for spec in hosts:
            row = run([lbctl, "plan", at("g.graph"), "--hosts", spec, "--effort", effort, "-q", "-o", at("map")], at("out"))
            print("%9d %-12s %-8s %9d %8.2f %8.2f %8.0f" % (side * side, spec, effort, hop_bytes(at("g.graph"), at("map"), spec), *row),
                  flush=True)
            mesh = re.fullmatch(r"mesh:(\d+)x(\d+)", spec)
            if mesh and shutil.which("scotch_gmap"):
                with open(at("target"), "w") as file:
                    file.write("mesh2D %s %s\n" % mesh.groups())
                row = run(["scotch_gmap", "-b0.03", at("g.grf"), at("target"), at("scotch")], at("out"))
                scotch_part(at("scotch"), at("map"))
                print("%9d %-12s %-8s %9d %8.2f %8.2f %8.0f" % (side * side, spec, "scotch",
                      hop_bytes(at("g.graph"), at("map"), spec), *row), flush=True)
END
