/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* nftw */
#include "daemon/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/sandbox.h"

enum {
    AGAIN_MS = 1000,         /* before etcd is started again */
    LOOK_MS = 100,           /* between looks whether it has ended */
    STOP_MS = 3000,          /* for ending in order */
    LOG_BYTES_MAX = 1 << 20, /* of etcd.log when etcd starts; then it begins again */
    OPEN_FILES = 4,
};

struct lbm_keeper {
    pid_t pid;
    int fd;
};

/* In the process that was forked. */
struct keep {
    const char *program, *dir;
    int fd;
    pid_t etcd; /* 0: it does not run */
    struct lbm_keeper_order order;
    int64_t again_ms; /* not started before */
    int lock;         /* of the folder: the process of the daemon before may still stop its etcd; -1: none */
};

static int64_t
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- data ------------------------------------------------------------------------------------------------
 */

static int
remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat;
    (void)type;
    (void)walk;
    return remove(path);
}

/* Folders of members; `but` stays (NULL: none does). The working directory is the daemon's folder of etcd. */
static void
remove_data(const char *but)
{
    DIR *dir = opendir(".");
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        if (strncmp(entry->d_name, "member-", strlen("member-")) == 0 &&
            (but == NULL || strcmp(entry->d_name + strlen("member-"), but) != 0))
            (void)nftw(entry->d_name, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    if (dir != NULL)
        closedir(dir);
}

/* ---- etcd ------------------------------------------------------------------------------------------------
 */

static void
redirect(int standard, const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)dup2(fd, standard);
}

/* In etcd's process. Heartbeats are a quarter of a second apart: at rest etcd then takes about one per cent
 * of a processor, and a leader that is lost has a successor within two seconds. */
static void
execute(const struct keep *keep)
{
    const struct lbm_keeper_order *order = &keep->order;
    char data[LBM_KEEPER_NAME_MAX + 16], url[LBM_KEEPER_NAME_MAX + 16], token[32];
    struct stat log;
    snprintf(data, sizeof data, "member-%s", order->name);
    snprintf(url, sizeof url, "unix://%s:1", order->name);
    snprintf(token, sizeof token, "%016" PRIx64, order->token);
    const char *const arguments[] = {"etcd",
                                     "--name",
                                     order->name,
                                     "--data-dir",
                                     data,
                                     "--listen-peer-urls",
                                     url,
                                     "--initial-advertise-peer-urls",
                                     url,
                                     "--listen-client-urls",
                                     "unix://client:1",
                                     "--advertise-client-urls",
                                     "unix://client:1",
                                     "--initial-cluster",
                                     order->cluster,
                                     "--initial-cluster-token",
                                     token,
                                     "--initial-cluster-state",
                                     order->is_new ? "new" : "existing",
                                     "--heartbeat-interval",
                                     "250",
                                     "--election-timeout",
                                     "1500",
                                     "--auto-compaction-mode",
                                     "revision",
                                     "--auto-compaction-retention",
                                     "1000",
                                     "--quota-backend-bytes",
                                     "1073741824",
                                     "--snapshot-count",
                                     "10000",
                                     "--max-request-bytes",
                                     "1572864",
                                     "--logger",
                                     "zap",
                                     "--log-level",
                                     "error",
                                     "--log-outputs",
                                     "stderr",
                                     NULL};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, "/dev/null", O_WRONLY);
    redirect(STDERR_FILENO, "etcd.log",
             O_WRONLY | O_CREAT | O_APPEND |
                 (stat("etcd.log", &log) == 0 && log.st_size > LOG_BYTES_MAX ? O_TRUNC : 0));
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    execv(keep->program, (char *const *)arguments);
    _exit(127);
}

/* Nonzero if no other process starts etcd in this folder. */
static int
has_folder(struct keep *keep)
{
    if (keep->lock < 0)
        keep->lock = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return keep->lock >= 0 && flock(keep->lock, LOCK_EX | LOCK_NB) == 0;
}

static void
start(struct keep *keep)
{
    char own[LBM_KEEPER_NAME_MAX + 8];
    if (!has_folder(keep))
        return;
    if (keep->order.is_fresh)
        remove_data(NULL);
    keep->order.is_fresh = 0;
    remove_data(keep->order.name);
    snprintf(own, sizeof own, "%s:1", keep->order.name);
    (void)unlink(own); /* etcd removes none that is left */
    (void)unlink("client:1");
    pid_t pid = fork();
    if (pid == 0)
        execute(keep);
    keep->etcd = pid > 0 ? pid : 0;
    keep->again_ms = now_ms() + AGAIN_MS;
}

static void
stop(struct keep *keep)
{
    int64_t end_ms = now_ms() + STOP_MS;
    const struct timespec pause = {.tv_nsec = LOOK_MS / 5 * 1000000};
    if (keep->etcd == 0)
        return;
    kill(keep->etcd, SIGTERM);
    while (waitpid(keep->etcd, NULL, WNOHANG) == 0) {
        if (now_ms() >= end_ms)
            kill(keep->etcd, SIGKILL);
        nanosleep(&pause, NULL);
    }
    keep->etcd = 0;
}

/* ---- the loop --------------------------------------------------------------------------------------------
 */

static void
carry_out(struct keep *keep, const struct lbm_keeper_order *order)
{
    int is_same = keep->etcd != 0 && order->runs && !order->is_fresh &&
                  strcmp(order->name, keep->order.name) == 0 && order->token == keep->order.token;
    if (is_same)
        return;
    stop(keep);
    keep->order = *order;
    keep->again_ms = 0;
    if (!order->runs)
        remove_data(NULL);
}

/* Value: 0: the daemon has ended. */
static int
listen_to(struct keep *keep)
{
    struct lbm_keeper_order order;
    struct pollfd poll_fd = {.fd = keep->fd, .events = POLLIN};
    int is_idle = keep->etcd == 0 && !keep->order.runs;
    if (poll(&poll_fd, 1, is_idle ? -1 : LOOK_MS) <= 0)
        return 1;
    ssize_t n = recv(keep->fd, &order, sizeof order, 0);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        return 0;
    if (n == (ssize_t)sizeof order && chdir(keep->dir) == 0)
        carry_out(keep, &order);
    return 1;
}

static void
look(struct keep *keep)
{
    int status;
    if (keep->etcd == 0 || waitpid(keep->etcd, &status, WNOHANG) != keep->etcd)
        return;
    keep->etcd = 0;
    (void)send(keep->fd, &status, sizeof status, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
keep_etcd(const char *program, const char *dir, int fd)
{
    struct keep keep = {.program = program, .dir = dir, .fd = fd, .lock = -1};
    struct lbm_diag diag;
    (void)prctl(PR_SET_NAME, "lbmapd-etcd");
    signal(SIGTERM, SIG_IGN); /* the daemon's end is this one's */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (lbm_sandbox_enter(0, &diag) != LBM_OK)
        _exit(1);
    while (listen_to(&keep)) {
        look(&keep);
        if (keep.order.runs && keep.etcd == 0 && now_ms() >= keep.again_ms)
            start(&keep);
    }
    stop(&keep);
    _exit(0);
}

/* ---- the daemon ------------------------------------------------------------------------------------------
 */

enum lbm_err
lbm_keeper_new(const char *program, const char *dir, struct lbm_keeper **out, struct lbm_diag *diag)
{
    int pair[2];
    *out = NULL;
    if (access(program, X_OK) != 0)
        return LBM_OK;
    struct lbm_keeper *keeper = lbm_alloc(1, sizeof *keeper);
    if (keeper == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        free(keeper);
        return lbm_diag_set(diag, LBM_E_IO, NULL, 0, "no socket for the process that runs etcd: %s",
                            strerror(errno));
    }
    keeper->pid = fork();
    if (keeper->pid == 0) {
        close(pair[0]);
        keep_etcd(program, dir, pair[1]);
    }
    close(pair[1]);
    keeper->fd = pair[0];
    if (keeper->pid < 0) {
        close(pair[0]);
        free(keeper);
        return lbm_diag_set(diag, LBM_E_IO, NULL, 0, "no process that runs etcd: %s", strerror(errno));
    }
    *out = keeper;
    return LBM_OK;
}

enum lbm_err
lbm_keeper_tell(struct lbm_keeper *keeper, const struct lbm_keeper_order *order)
{
    ssize_t n = send(keeper->fd, order, sizeof *order, MSG_NOSIGNAL);
    return n == (ssize_t)sizeof *order ? LBM_OK : LBM_E_IO;
}

int
lbm_keeper_fd(const struct lbm_keeper *keeper)
{
    return keeper->fd;
}

int
lbm_keeper_ended(struct lbm_keeper *keeper, int *status)
{
    ssize_t n = recv(keeper->fd, status, sizeof *status, MSG_DONTWAIT);
    if (n == (ssize_t)sizeof *status)
        return 1;
    return n == 0 ? -1 : 0;
}

void
lbm_keeper_free(struct lbm_keeper *keeper)
{
    if (keeper == NULL)
        return;
    struct pollfd end = {.fd = keeper->fd, .events = POLLIN};
    char none[sizeof(int)];
    shutdown(keeper->fd, SHUT_WR); /* it stops etcd, and ends; the system reaps it after this process */
    while (poll(&end, 1, STOP_MS + LOOK_MS) > 0 && recv(keeper->fd, none, sizeof none, MSG_DONTWAIT) > 0)
        continue;
    close(keeper->fd);
    free(keeper);
}
