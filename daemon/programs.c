/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* pipe2 */
#include "daemon/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/program_start.h"
#include "daemon/sandbox.h"

enum {
    STOP_MS = 3000,       /* for a program to end in order */
    LOOK_MS = 100,        /* between looks at what is to be ended */
    LOOK_BYTES = 1 << 20, /* of output in that time: what is beyond waits, and its program with it */
};

struct lbm_programs_process {
    pid_t pid;
    int fd;
};

/* An order to the process. */
struct order {
    uint64_t end; /* that program; 0: start this: */
    struct lbm_program_order start;
};

/* ---- the process --------------------------------------------------------------------------------------- */

/* A program that was started. */
struct child {
    uint64_t id;
    pid_t pid;       /* 0: it has ended */
    int output, why; /* pipes; -1: closed */
    uint32_t status;
    int64_t kill_ms; /* SIGKILL then; 0: it is not to end */
    char text[LBM_PROGRAM_WHY_MAX];
};

struct runner {
    enum lbm_programs programs;
    const char *control;
    int fd;
    LBM_VEC(struct child) children;
    struct lbm_programs_report pending; /* not taken yet */
    size_t pending_len;                 /* 0: there is none */
    int64_t since_ms;                   /* output is counted since then */
    size_t bytes;                       /* that much has come */
};

static int64_t
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Nonzero if the daemon has taken what is pending. It is not waited for: it may wait for this process. */
static int
flush(struct runner *runner)
{
    if (runner->pending_len != 0 &&
        send(runner->fd, &runner->pending, runner->pending_len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        runner->pending_len = 0;
    return runner->pending_len == 0;
}

static void
report(struct runner *runner, uint32_t len)
{
    runner->pending.len = len;
    runner->pending_len = offsetof(struct lbm_programs_report, text) + len;
    (void)flush(runner);
}

static void
close_pipe(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
start(struct runner *runner, const struct lbm_program_order *order)
{
    struct child child = {.id = order->id, .output = -1, .why = -1};
    int output[2] = {-1, -1}, why[2] = {-1, -1};
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(why, O_CLOEXEC) != 0 ||
        fcntl(output[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(why[0], F_SETFL, O_NONBLOCK) != 0) {
        snprintf(child.text, sizeof child.text, "no pipe for it: %s", strerror(errno));
    } else {
        child.pid = fork();
        if (child.pid == 0)
            lbm_program_execute(order, runner->control, output[1], why[1]);
        if (child.pid < 0)
            snprintf(child.text, sizeof child.text, "no process for it: %s", strerror(errno));
    }
    child.pid = child.pid > 0 ? child.pid : 0;
    child.status = child.pid == 0 ? 1 : 0;
    child.output = output[0];
    child.why = why[0];
    close_pipe(&output[1]);
    close_pipe(&why[1]);
    if (child.pid != 0)
        (void)setpgid(child.pid, child.pid); /* it does so too: whoever is first */
    if (lbm_vec_push(&runner->children, child) != LBM_OK)
        _exit(1); /* the daemon sees it, and ends */
}

static void
end(struct child *child)
{
    if (child->pid == 0 || child->kill_ms != 0)
        return;
    kill(-child->pid, SIGTERM);
    child->kill_ms = now_ms() + STOP_MS;
}

/* Value: 0: the daemon has ended. */
static int
take_order(struct runner *runner)
{
    static struct order order; /* large */
    ssize_t n = recv(runner->fd, &order, sizeof order, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        return 0;
    if (n != (ssize_t)sizeof order)
        return 1;
    if (order.end == 0)
        start(runner, &order.start);
    for (size_t i = 0; i < runner->children.n; i++)
        if (runner->children.at[i].id == order.end)
            end(&runner->children.at[i]);
    return 1;
}

/* Those whose time to end in order is over, and those that have ended, with all that they have started. */
static void
look(struct runner *runner)
{
    int status;
    for (size_t i = 0; i < runner->children.n; i++) {
        struct child *child = &runner->children.at[i];
        if (child->pid == 0)
            continue;
        if (child->kill_ms != 0 && now_ms() >= child->kill_ms)
            kill(-child->pid, SIGKILL);
        if (waitpid(child->pid, &status, WNOHANG) != child->pid)
            continue;
        kill(-child->pid, SIGKILL);
        child->status =
            WIFSIGNALED(status) ? 128 + (uint32_t)WTERMSIG(status) : (uint32_t)WEXITSTATUS(status);
        child->pid = 0;
    }
}

/* Nonzero if there was something. */
static int
pass_output(struct runner *runner, struct child *child)
{
    if (child->output < 0)
        return 0;
    ssize_t n = read(child->output, runner->pending.text, sizeof runner->pending.text);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            close_pipe(&child->output);
        return 0;
    }
    runner->bytes += (size_t)n;
    runner->pending.id = child->id;
    runner->pending.has_ended = 0;
    report(runner, (uint32_t)n);
    return 1;
}

/* It has ended, and all that it wrote is passed on. */
static void
pass_end(struct runner *runner, size_t at)
{
    struct child *child = &runner->children.at[at];
    ssize_t n = child->why >= 0 ? read(child->why, child->text, sizeof child->text) : 0;
    size_t len = n > 0 ? (size_t)n : strlen(child->text);
    runner->pending.id = child->id;
    runner->pending.has_ended = 1;
    runner->pending.status = child->status;
    memcpy(runner->pending.text, child->text, len);
    close_pipe(&child->why);
    close_pipe(&child->output);
    *child = runner->children.at[--runner->children.n];
    report(runner, (uint32_t)len);
}

/* Pass on what programs have written, in turn, and what has become of them, while the daemon reads. */
static void
pass_on(struct runner *runner)
{
    int is_more = 1;
    if (now_ms() - runner->since_ms >= LOOK_MS) {
        runner->since_ms = now_ms();
        runner->bytes = 0;
    }
    while (is_more && runner->bytes < LOOK_BYTES && flush(runner)) {
        is_more = 0;
        for (size_t i = 0; i < runner->children.n && runner->pending_len == 0; i++) {
            if (pass_output(runner, &runner->children.at[i])) {
                is_more = 1;
            } else if (runner->children.at[i].pid == 0) {
                pass_end(runner, i);
                is_more = 1;
                break;
            }
        }
    }
}

/* Value: 0: the daemon has ended. */
static int
await(struct runner *runner)
{
    enum { POLLED_MAX = 1 + LBM_JOBS_MAX };
    struct pollfd polled[POLLED_MAX] = {{.fd = runner->fd, .events = POLLIN}};
    nfds_t n = 1;
    if (runner->pending_len != 0)
        polled[0].events |= POLLOUT;
    for (size_t i = 0;
         i < runner->children.n && n < POLLED_MAX && runner->pending_len == 0 && runner->bytes < LOOK_BYTES;
         i++)
        if (runner->children.at[i].output >= 0)
            polled[n++] = (struct pollfd){.fd = runner->children.at[i].output, .events = POLLIN};
    (void)poll(polled, n, runner->children.n != 0 ? LOOK_MS : -1);
    return (polled[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0 || take_order(runner);
}

static void
end_all(struct runner *runner)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS / 5 * 1000000};
    for (size_t i = 0; i < runner->children.n; i++)
        end(&runner->children.at[i]);
    for (int is_left = 1; is_left;) {
        is_left = 0;
        look(runner);
        for (size_t i = 0; i < runner->children.n; i++)
            is_left |= runner->children.at[i].pid != 0;
        if (is_left)
            nanosleep(&pause, NULL);
    }
}

static void
run(enum lbm_programs programs, const char *control, int fd)
{
    static struct runner runner;
    struct lbm_diag diag;
    runner.programs = programs;
    runner.control = control;
    runner.fd = fd;
    (void)prctl(PR_SET_NAME, "lbmapd-programs");
    signal(SIGTERM, SIG_IGN); /* the daemon's end is this one's */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (programs == LBM_PROGRAMS_OWN && lbm_sandbox_enter(0, &diag) != LBM_OK)
        _exit(1);
    while (await(&runner)) {
        look(&runner);
        pass_on(&runner);
    }
    end_all(&runner);
    _exit(0);
}

/* ---- the daemon ---------------------------------------------------------------------------------------- */

enum lbm_err
lbm_programs_new(enum lbm_programs programs, const char *control, struct lbm_programs_process **out,
                 struct lbm_diag *diag)
{
    int pair[2];
    *out = NULL;
    if (programs == LBM_PROGRAMS_NONE)
        return LBM_OK;
    if (programs == LBM_PROGRAMS_USERS && !lbm_program_may_become_others())
        return lbm_diag_set(diag, LBM_E_DENIED, NULL, 0,
                            "programs.run is \"users\", but user %u may not become others: start lbmapd with "
                            "CAP_SETUID, CAP_SETGID and CAP_KILL, or take \"own\"",
                            (unsigned)geteuid());
    struct lbm_programs_process *process = lbm_alloc(1, sizeof *process);
    if (process == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    int failed = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0;
    process->pid = failed ? -1 : fork();
    if (process->pid == 0) {
        close(pair[0]);
        run(programs, control, pair[1]);
    }
    if (process->pid < 0) {
        int error = errno;
        free(process);
        if (!failed) {
            close(pair[0]);
            close(pair[1]);
        }
        return lbm_diag_set(diag, LBM_E_IO, NULL, 0, "no process that runs programs: %s", strerror(error));
    }
    close(pair[1]);
    process->fd = pair[0];
    *out = process;
    return LBM_OK;
}

static enum lbm_err
tell(struct lbm_programs_process *programs, const struct order *order)
{
    ssize_t n = send(programs->fd, order, sizeof *order, MSG_NOSIGNAL);
    return n == (ssize_t)sizeof *order ? LBM_OK : LBM_E_IO;
}

enum lbm_err
lbm_programs_start(struct lbm_programs_process *programs, const struct lbm_program_order *start)
{
    struct order order = {.start = *start};
    return tell(programs, &order);
}

enum lbm_err
lbm_programs_end(struct lbm_programs_process *programs, uint64_t id)
{
    struct order order = {.end = id};
    return tell(programs, &order);
}

int
lbm_programs_fd(const struct lbm_programs_process *programs)
{
    return programs->fd;
}

int
lbm_programs_next(struct lbm_programs_process *programs, struct lbm_programs_report *next)
{
    ssize_t n = recv(programs->fd, next, sizeof *next, MSG_DONTWAIT);
    if (n >= (ssize_t)offsetof(struct lbm_programs_report, text))
        return 1;
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ? -1 : 0;
}

void
lbm_programs_free(struct lbm_programs_process *programs)
{
    static struct lbm_programs_report none;
    if (programs == NULL)
        return;
    struct pollfd end = {.fd = programs->fd, .events = POLLIN};
    shutdown(programs->fd, SHUT_WR); /* it ends all, and itself; the system reaps it after this process */
    while (poll(&end, 1, STOP_MS + LOOK_MS) > 0 && lbm_programs_next(programs, &none) > 0)
        continue;
    close(programs->fd);
    free(programs);
}
