#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lbctl says of a job, at every daemon that runs, against the databases and the processes.

    truth.py LBCTL DIR JOB VERTICES whole|short|any [LEAST]

A vertex is attended if a daemon that runs (its process lives and is not stopped), and whose lease page lets applications
work, has a record of it that is its own (OWN, or OUT: offered). whole: all are, and every daemon comes to say so; short:
some are not (LEAST at least), and no daemon says anything better; any: no daemon says anything better than what is true
before and after it was asked. Exit: 0 so it is; 1 not, with a line for each lie; 2 usage.
"""
import glob, json, os, sqlite3, struct, subprocess, sys, time

OWN, OUT = 1, 2


def process(folder):
    """The pid of the daemon of that folder if it runs, else None."""
    try:
        pid = int(open(os.path.join(folder, "lbmapd.pid")).read())
        command = open("/proc/%d/cmdline" % pid).read()
        state = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0]
    except (OSError, ValueError, IndexError):
        return None
    return pid if folder in command and state not in "TtZX" else None


def may_work(folder):
    """Nonzero if the lease page lets applications work now."""
    try:
        page = open(os.path.join(folder, "lbmapd.sock.lease"), "rb").read(64)
    except OSError:
        return False
    word = struct.unpack("=8Q", page)
    deadline = struct.unpack("=q", page[40:48])[0]
    return page[:8] == b"LBMLEASE" and (
        deadline == 2**63 - 1 or time.clock_gettime(time.CLOCK_BOOTTIME) * 1e6 < deadline)


def records(folder, job):
    """Vertices that the database has as its own; None: it cannot be read."""
    try:
        base = sqlite3.connect("file:%s?mode=ro" % os.path.join(folder, "lbmap.db"), uri=True, timeout=5)
        rows = base.execute("SELECT v FROM vertex WHERE job = ? AND stage IN (?, ?)", (job, OWN, OUT)).fetchall()
        base.close()
    except sqlite3.Error:
        return None
    return {row[0] for row in rows}


def attended(root, job):
    """Vertices that somebody may work on, and the folders of the daemons that run."""
    found, running = set(), []
    for folder in sorted(glob.glob(os.path.join(root, "h*"))):
        if process(folder) is None:
            continue
        running.append(folder)
        if may_work(folder):
            found |= records(folder, job) or set()
    return found, running


def ask(lbctl, folder, *words):
    done = subprocess.run([lbctl, "-s", os.path.join(folder, "lbmapd.sock"), *words], capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


class Lies:
    def __init__(self):
        self.lines = []

    def unless(self, holds, *text):
        if not holds:
            self.lines.append(" ".join(str(part) for part in text))


def told(lbctl, folder, name):
    """All that a daemon says of the job, in every form."""
    status, text, error = ask(lbctl, folder, "jobs", name, "--json")
    answer = {"jobs": status, "error": error}
    if text.startswith("["):
        answer["row"] = json.loads(text)[0]
    answer["plain"], answer["text"], _ = ask(lbctl, folder, "jobs", name)
    answer["wait"], _, answer["waited"] = ask(lbctl, folder, "wait", name, "--timeout", "0.1")
    answer["status"], text, _ = ask(lbctl, folder, "status", "--json")
    answer["alerts"] = [a["id"] for a in json.loads(text)["alerts"]] if text.startswith("{") else []
    answer["hosts"] = json.loads(ask(lbctl, folder, "hosts", "--all", "--json")[1] or "[]")
    return answer


def judge_short(lies, folder, answer, missing, total):
    host, row = os.path.basename(folder), answer.get("row")
    lies.unless(row is not None, host, "does not answer:", answer["error"].strip())
    if row is None:
        return
    lies.unless(row["state"] in ("DEGRADED", "LOST"), host, "says", row["state"], "and", missing, "vertices are idle")
    lies.unless(row["phase"] != "SETTLED" and not row["settled"], host, "says settled:", row["phase"], row["settled"])
    lies.unless(row["imbalance"] is None, host, "says an imbalance of", row["imbalance"])
    lies.unless(row["idle"] >= missing, host, "says", row["idle"], "idle, but", missing, "are")
    lies.unless(row["known"] <= total, host, "knows", row["known"], "of", total)
    lies.unless(row["reason"] != "", host, "gives no reason")
    worst = 6 if row["state"] == "LOST" else 5
    lies.unless(answer["jobs"] == worst and answer["plain"] == worst, host, "jobs ends with", answer["jobs"],
                answer["plain"], "and it is", row["state"])
    lies.unless(row["state"] in answer["text"] and "unknown" in answer["text"], host, "prints:", answer["text"])
    lies.unless(answer["wait"] in (5, 6), host, "wait ends with", answer["wait"], answer["waited"].strip())
    lies.unless(answer["status"] in (5, 6), host, "status ends with", answer["status"])


def judge_whole(lies, folder, answer):
    host, row = os.path.basename(folder), answer.get("row")
    lies.unless(row is not None, host, "does not answer:", answer["error"].strip())
    if row is None:
        return
    lies.unless(row["settled"] and row["state"] == "SETTLED" and row["phase"] == "SETTLED", host, "says", row["state"],
                row["reason"])
    lies.unless(row["idle"] == 0 and row["known"] == row["present"], host, "says", row["idle"], "idle")
    lies.unless(row["imbalance"] is not None and row["imbalance"] >= 0, host, "imbalance", row["imbalance"])
    lies.unless(answer["jobs"] == 0 and answer["plain"] == 0 and answer["wait"] == 0, host, "ends with", answer["jobs"],
                answer["plain"], answer["wait"], answer["waited"].strip())


def judge_any(lies, folder, answer, missing):
    row = answer.get("row")
    if row is not None and missing:
        lies.unless(not row["settled"] and row["state"] != "SETTLED" and answer["wait"] != 0, os.path.basename(folder),
                    "says", row["state"], "and", missing, "vertices are idle")


def judge_hosts(lies, folder, answer, running):
    alive = {int(os.path.basename(f)[1:]) for f in running}
    for row in answer["hosts"]:
        lies.unless(row["host"] in alive or not row["reachable"], os.path.basename(folder), "hears host", row["host"],
                    "which does not run")


def main():
    lbctl, root, name, total, how = sys.argv[1:6]
    least = int(sys.argv[6]) if len(sys.argv) > 6 else 1
    number = int(open(os.path.join(root, "job.id")).read(), 16)
    job, total, lies = number - (number >> 63 << 64), int(total), Lies()
    before, running = attended(root, job)
    answers = [(folder, told(lbctl, folder, name)) for folder in running]
    after, running_after = attended(root, job)
    missing = total - len(before | after)  # at both times
    if how == "short":
        lies.unless(missing >= least, "the fault leaves only", missing, "vertices idle, not", least)
    if how == "whole":
        lies.unless(total - len(before & after) == 0, total - len(before & after), "vertices are idle")
    for folder, answer in answers:
        if how == "short":
            judge_short(lies, folder, answer, missing, total)
        elif how == "whole":
            judge_whole(lies, folder, answer)
        else:
            judge_any(lies, folder, answer, missing)
        if how != "any" and running == running_after:
            judge_hosts(lies, folder, answer, running)
    print("%d of %d vertices attended, %d daemons asked" % (len(before), total, len(answers)))
    for line in lies.lines:
        print(line)
    return 1 if lies.lines else 0


if __name__ == "__main__":
    if len(sys.argv) < 6 or sys.argv[5] not in ("whole", "short", "any"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main())
