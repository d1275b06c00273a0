# What benches of real clusters do with daemons, with lbctl and with applications.
import json, mmap, os, random, shutil, signal, subprocess, tempfile, time

FRESH_PLANS = 15  # that a mapping is compared with: the median of five scatters by 3 %, and the worst of many steps counts


DEGRADED = 5  # exit status of lbctl: the answer is there, and says that not all is well


def run(*command, allowed=(0,)):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in allowed:
        raise subprocess.CalledProcessError(done.returncode, command)
    return done.stdout


def parse(parser):
    """Command line of a bench whose applications work on one guest."""
    parser.add_argument("build")
    parser.add_argument("guest", help="a METIS file (.gz too), or what lbctl gen makes")
    parser.add_argument("--hosts", default="mesh:4x4")
    parser.add_argument("--check", action="store_true",
                        help="what must hold on any machine holds, or exit status 1")
    parser.add_argument("--json", help="write the numbers there")
    return parser.parse_args()


def wait_until(seconds, text, holds):
    end = time.time() + seconds
    while not holds():
        if time.time() > end:
            raise SystemExit(f"not within {seconds} s: {text}")
        time.sleep(0.02)


def write_json(path, numbers):
    if path:
        with open(path, "w") as out:
            json.dump(numbers, out, indent=1)


class Cluster:
    """Daemons of this machine, with applications of one job, in a directory that goes with them."""

    def __init__(self, build, hosts):
        self.lbctl, self.daemon, self.hosts = build + "/client/lbctl", build + "/daemon/lbmapd", hosts
        self.scratch = tempfile.mkdtemp(prefix="lbmap-bench.", dir="/tmp")
        self.directory = self.scratch + "/c"
        self.applications, self.failed = {}, []

    def __enter__(self):
        return self

    def __exit__(self, kind, _value, _trace):
        for application in self.applications.values():
            application.send_signal(signal.SIGTERM)
        for application in self.applications.values():
            try:
                application.wait(10)
            except subprocess.TimeoutExpired:
                application.kill()
        if self.failed or kind is not None:
            logs = f"{self.directory}/h*/lbmapd.log"
            subprocess.run(f"grep -siE 'warn|error|assert' {logs} | tail -n 40", shell=True)
        self.remove()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def expect(self, holds, text):
        print(("ok: " if holds else "FAILED: ") + text, flush=True)
        if not holds:
            self.failed.append(text)

    def guest(self, spec):
        """The file of a guest, generated if it is none."""
        if os.path.exists(spec):
            return spec
        path = f"{self.scratch}/{spec.replace(':', '_')}.graph"
        run(self.lbctl, "-q", "gen", spec, "-o", path)
        return path

    def plan(self, path, *options):
        """Host of each vertex."""
        hosts = run(self.lbctl, "-q", "plan", path, "--hosts", self.hosts, *options)
        return [int(host) for host in hosts.split()]

    def fresh(self, path, hop_bytes):
        """J of fresh plans, least first, each drawn from another seed; hop_bytes tells that of a mapping. For the
        same loads it differs by several parts of a hundred, so the median is compared with."""
        return sorted(hop_bytes(self.plan(path, "--seed", str(seed + 1))) for seed in range(FRESH_PLANS))

    # ---- daemons ----

    def up(self):
        """All that do not run are started."""
        made = [] if os.path.exists(self.directory) else ["--hosts", self.hosts]
        run(self.lbctl, "-q", "cluster", "up", *made, "--dir", self.directory, "--daemon", self.daemon)

    def down(self):
        run(self.lbctl, "-q", "cluster", "down", "--dir", self.directory)

    def remove(self):
        """Daemons, and all that they have stored."""
        if os.path.exists(self.directory):
            subprocess.run([self.lbctl, "-q", "cluster", "down", "--dir", self.directory],
                           stdout=subprocess.DEVNULL)
            shutil.rmtree(self.directory, ignore_errors=True)

    def pid(self, host):
        return int(open(f"{self.directory}/h{host}/lbmapd.pid").read())

    def memory_kb(self, host):
        """The most that it ever had."""
        for line in open(f"/proc/{self.pid(host)}/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1])

    def socket(self, host):
        return f"{self.directory}/h{host}/lbmapd.sock"

    def at(self, host, *command):
        """Command line of lbctl that asks this host."""
        return [self.lbctl, "-q", "-s", self.socket(host), *command]

    def ask(self, host, *command):
        return run(*self.at(host, *command))

    # ---- the job ----

    def job(self):
        found = json.loads(run(*self.at(0, "jobs", "job", "--json"), allowed=(0, DEGRADED)))
        return found[0] if isinstance(found, list) else found

    def shuffled(self, path, seed):
        """A file of the same guest with its vertices in another order; where each vertex is in it."""
        whole = f"{self.scratch}/whole.graph"
        run(self.lbctl, "-q", "convert", path, whole)
        with open(whole) as lines:
            header, *rows = lines.read().split("\n")
        n = int(header.split()[0])
        order = list(range(n))
        random.Random(int(seed)).shuffle(order)
        rows, mixed = [row.split() for row in rows[:n]], [""] * n
        if len(header.split()) > 2 and set(header.split()[2]) != {"0"}:
            raise SystemExit(f"{path}: only guests without weights are shuffled")
        for v, at in enumerate(order):
            mixed[at] = " ".join(str(order[int(u) - 1] + 1) for u in rows[v])
        with open(f"{self.scratch}/mixed.graph", "w") as out:
            out.write("\n".join([header] + mixed) + "\n")
        return f"{self.scratch}/mixed.graph", order

    def submit_parallel(self, n, path, seed, parts=None, *options):
        """Each host reads its part; with fewer parts than the n hosts, every so many-th host."""
        parts = parts or n
        run(self.lbctl, "-q", "convert", path, self.scratch + "/part", "--parts", str(parts))
        readers = []
        for number in range(parts):
            part = f"{self.scratch}/part.{number}"
            command = self.at(number * (n // parts), "submit", "--parallel", part, "--name", "job", "--seed", seed,
                              *options)
            readers.append(subprocess.Popen(command))
        if any([reader.wait() != 0 for reader in readers]):
            raise subprocess.CalledProcessError(1, "lbctl submit --parallel")

    def settle(self, seconds, must=True):
        subprocess.run(self.at(0, "wait", "job", "--timeout", str(seconds)), check=must)

    # ---- applications ----

    def share(self, name, content):
        """A file that applications and this program have in memory."""
        path = f"{self.scratch}/{name}"
        with open(path, "wb") as out:
            out.write(content)
        with open(path, "r+b") as opened:
            return mmap.mmap(opened.fileno(), len(content))

    def start_application(self, host, program, *arguments):
        self.applications[host] = subprocess.Popen([program, "job", self.socket(host), str(host), *arguments])

    def expect_applications(self):
        self.expect(all(a.poll() is None for a in self.applications.values()), "all applications run")

    def lose(self, host):
        """The host loses power: daemon and application at once."""
        os.kill(self.pid(host), signal.SIGKILL)
        self.applications[host].kill()
        self.applications[host].wait()
