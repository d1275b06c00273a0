#!/usr/bin/env bash
# A step of Jacobi's iteration with lbmap_steps, on two real daemons, next to the same by hand with MPI on two ranks:
# blocks of 1,024 cells, one for a vertex, of which neighbours see a side. Cells are the same in the end. What
# lbmap_steps does beyond MPI is in its time: checkpoints on two disks, so that a host may be lost.
#
#   bench/halo.sh [-n RUNS] [-b BLOCKS] [-s STEPS] [-k KEEP] [-m STEPS] [-j FILE] [BUILD_DIRECTORY]
#
# RUNS is 5, BLOCKS 16 (256 vertices), STEPS 200 for lbmap_steps and 20000 for MPI (-m), KEEP 16: steps between
# checkpoints of a vertex; another one shows what they cost. Needs mpicc and mpirun. -j writes JSON.
set -eu

runs=5 blocks=16 steps=200 keep=16 mpi_steps=20000 json=
while getopts n:b:s:k:m:j: option; do
    case $option in
    n) runs=$OPTARG ;;
    b) blocks=$OPTARG ;;
    s) steps=$OPTARG ;;
    k) keep=$OPTARG ;;
    m) mpi_steps=$OPTARG ;;
    j) json=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
root=$(realpath "$(dirname "$0")/..")
. "$root/bench/lib.sh"
open_build "${1:-.}" daemon/lbmapd
needs python3
needs mpicc
exec python3 - "$build" "$root" "$runs" "$blocks" "$steps" "$keep" "$mpi_steps" "$json" <<'END'
import json, os, shutil, statistics, subprocess, sys, tempfile

build, root, runs, blocks, steps, keep, mpi_steps, report = sys.argv[1:]
lbctl, daemon = build + "/client/lbctl", build + "/daemon/lbmapd"
scratch = tempfile.mkdtemp(prefix="lbmap-bench.")
source, ours, by_hand = root + "/bench/halo.c", scratch + "/halo", scratch + "/halo_mpi"


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def build_both():
    flags = ["-std=gnu11", "-O2", source]
    run("cc", *flags, f"-I{root}/include", f"-L{build}/.libs", f"-Wl,-rpath,{build}/.libs", "-llbmap", "-o", ours)
    run("mpicc", "-DHALO_MPI", *flags, "-o", by_hand)
    with open(scratch + "/guest.graph", "w") as file:
        subprocess.run([ours, "graph", blocks], check=True, stdout=file)


def with_steps():
    cluster = scratch + "/c"
    run(lbctl, "-q", "cluster", "up", "--hosts", "chain:2", "--dir", cluster, "--daemon", daemon)
    try:
        sockets = [f"{cluster}/h{host}/lbmapd.sock" for host in range(2)]
        run(lbctl, "-q", "-s", sockets[0], "submit", scratch + "/guest.graph", "--name", "job")
        run(lbctl, "-q", "-s", sockets[0], "wait", "job", "--timeout", "60")
        both = [
            subprocess.Popen([ours, "run", "job", blocks, steps, keep, f"{scratch}/out.{host}", socket])
            for host, socket in enumerate(sockets)
        ]
        if any([program.wait(timeout=900) for program in both]):
            sys.exit("halo fails")
    finally:
        run(lbctl, "-q", "cluster", "down", "--dir", cluster)
        shutil.rmtree(cluster)
    took, total = open(scratch + "/out.0").read().split()
    return float(took) / int(steps), float(total)


def with_mpi(how_many):
    mpirun = ["mpirun", "-n", "2", "--oversubscribe"] + (["--allow-run-as-root"] if os.getuid() == 0 else [])
    took, total = run(*mpirun, by_hand, blocks, how_many).split()[-2:]
    return float(took) / int(how_many), float(total)


try:
    build_both()
    pairs = []
    expected = with_mpi(steps)[1]
    for _ in range(int(runs)):
        mine, total = with_steps()
        if abs(total - expected) > 1e-6 * abs(expected):
            sys.exit(f"the sum is {total}, with MPI {expected}")
        pairs.append((mine, with_mpi(mpi_steps)[0]))
        print(f"lbmap_steps {1e3 * pairs[-1][0]:.3f} ms a step, MPI {1e3 * pairs[-1][1]:.3f} ms", flush=True)
    ratio = statistics.median(a / b for a, b in pairs)
    mine, mpi = (statistics.median(pair[i] for pair in pairs) for i in range(2))
    print(
        f"{int(blocks) ** 2} vertices of 1024 cells, keep {keep}: "
        f"lbmap_steps {1e3 * mine:.3f} ms a step, MPI {1e3 * mpi:.3f} ms; {ratio:.1f} times"
    )
finally:
    shutil.rmtree(scratch, ignore_errors=True)
if report:
    with open(report, "w") as file:
        json.dump(dict(vertices=int(blocks) ** 2, keep=int(keep), seconds=pairs, ratio=ratio), file, indent=1)
END
