/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables computed at the same time: a child computes a table and writes its cells to a pipe. */
#include "papers/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MAX = 64 };

struct worker {
    pid_t pid;    /* 0: free */
    int fd;       /* its cells arrive here */
    size_t index; /* of its table */
    LBM_VEC(char) bytes;
};

/* ---- in the child -------------------------------------------------------------------------------------- */

static void
write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n != 0) {
        ssize_t written = write(fd, at, n);
        if (written < 0 && errno != EINTR)
            _exit(3);
        if (written > 0) {
            at += written;
            n -= (size_t)written;
        }
    }
}

_Noreturn static void
be_worker(const struct table *table, const struct table_options *options, int fd)
{
    struct table_run run = {.options = options};
    table->run(&run);
    write_all(fd, &run.diag, sizeof run.diag);
    write_all(fd, run.cells.at, run.cells.n * sizeof *run.cells.at);
    fflush(NULL);
    _exit(0);
}

/* ---- in the parent ------------------------------------------------------------------------------------- */

static enum lbm_err
begin(struct worker *worker, const struct table *table, size_t index, const struct table_options *options,
      struct lbm_diag *diag)
{
    int ends[2];
    if (pipe(ends) != 0)
        return lbm_diag_set(diag, LBM_E_IO, "pipe", 0, "%s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return lbm_diag_set(diag, LBM_E_IO, "fork", 0, "%s", strerror(errno));
    }
    if (pid == 0) {
        close(ends[0]);
        be_worker(table, options, ends[1]);
    }
    close(ends[1]);
    worker->pid = pid;
    worker->fd = ends[0];
    worker->index = index;
    worker->bytes.n = 0;
    return LBM_OK;
}

/* The child has closed its pipe: turn what it wrote into cells. */
static enum lbm_err
end(struct worker *worker, const struct table *table, struct table_run *run)
{
    int status = 0;
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(worker->fd);
    worker->pid = 0;
    size_t cells = (worker->bytes.n - sizeof run->diag) / sizeof *run->cells.at;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || worker->bytes.n < sizeof run->diag) {
        (void)lbm_diag_set(&run->diag, LBM_E_STATE, table->name, 0, "the process that computes it died");
        return LBM_OK;
    }
    memcpy(&run->diag, worker->bytes.at, sizeof run->diag);
    if (lbm_vec_reserve(&run->cells, cells) != LBM_OK)
        return LBM_E_NOMEM;
    if (cells != 0)
        memcpy(run->cells.at, worker->bytes.at + sizeof run->diag, cells * sizeof *run->cells.at);
    run->cells.n = cells;
    return LBM_OK;
}

/* Read what has arrived. Value: nonzero if that was the end. */
static int
take(struct worker *worker, enum lbm_err *err)
{
    enum { AT_ONCE = 1 << 16 };
    if ((*err = lbm_vec_reserve(&worker->bytes, AT_ONCE)) != LBM_OK)
        return 1;
    ssize_t n = read(worker->fd, worker->bytes.at + worker->bytes.n, AT_ONCE);
    if (n > 0)
        worker->bytes.n += (size_t)n;
    return n == 0 || (n < 0 && errno != EINTR);
}

static int
wait_for_bytes(const struct worker *worker, uint32_t jobs, fd_set *ready)
{
    int highest = -1;
    FD_ZERO(ready);
    for (uint32_t i = 0; i < jobs; i++)
        if (worker[i].pid != 0) {
            FD_SET(worker[i].fd, ready);
            highest = worker[i].fd > highest ? worker[i].fd : highest;
        }
    return select(highest + 1, ready, NULL, NULL, NULL) > 0;
}

enum lbm_err
pool_run(const struct table *const *table, size_t n, const struct table_options *options, uint32_t jobs,
         void (*begun)(const struct table *table, size_t done), struct table_run *run, struct lbm_diag *diag)
{
    struct worker worker[JOBS_MAX] = {{0}};
    size_t next = 0, done = 0;
    enum lbm_err err = LBM_OK;
    jobs = jobs < JOBS_MAX ? jobs : JOBS_MAX;
    while (done < n && err == LBM_OK) {
        for (uint32_t i = 0; i < jobs && next < n && err == LBM_OK; i++)
            if (worker[i].pid == 0) {
                begun(table[next], done);
                err = begin(&worker[i], table[next], next, options, diag);
                next++;
            }
        fd_set ready;
        if (err != LBM_OK || !wait_for_bytes(worker, jobs, &ready))
            continue;
        for (uint32_t i = 0; i < jobs && err == LBM_OK; i++)
            if (worker[i].pid != 0 && FD_ISSET(worker[i].fd, &ready) && take(&worker[i], &err)) {
                size_t index = worker[i].index;
                if (err == LBM_OK)
                    err = end(&worker[i], table[index], &run[index]);
                done++;
            }
    }
    for (uint32_t i = 0; i < jobs; i++)
        lbm_vec_free(&worker[i].bytes);
    return err;
}
