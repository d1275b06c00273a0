/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the library asks of the system, for programs in virtual time (api/system.h, api/page.h). */
#include <errno.h>

#include "api/page.h"
#include "api/system.h"
#include "sim/programs/programs.h"

enum {
    SPIN_US = 100,    /* a look that does not wait takes so long: a loop cannot stop the time */
    DEAD_US = 1000,   /* the same for a dead program's look at its clock, */
    COARSE_US = 4000, /* the coarse clock stands still for so long */
    DESCRIPTOR = 7,
};

/* ---- a connection -------------------------------------------------------------------------------------- */

int
lbm_system_connect(const char *path)
{
    (void)path;
    if (socket_connect(program_running()))
        return DESCRIPTOR;
    errno = ECONNREFUSED;
    return -1;
}

void
lbm_system_close(int fd)
{
    (void)fd;
    socket_close(program_running());
}

int
lbm_system_wait(int fd, int events, int timeout_ms)
{
    struct program *p = program_running();
    (void)fd;
    int ready = events & LBM_SYSTEM_WRITE;
    if (!p->is_dead && ready == 0 && !socket_has_input(p))
        program_waits(p, timeout_ms > 0 ? (int64_t)timeout_ms * 1000 : SPIN_US, 1);
    return ready | (p->is_dead || socket_has_input(p) ? LBM_SYSTEM_READ : 0);
}

int
lbm_system_has_hung_up(int fd)
{
    (void)fd;
    return program_running()->is_dead || program_running()->has_hung_up;
}

ssize_t
lbm_system_send(int fd, const uint8_t *bytes, size_t len)
{
    struct program *p = program_running();
    (void)fd;
    if (!p->is_dead && !p->has_hung_up)
        return (ssize_t)socket_send(p, bytes, len);
    errno = EPIPE;
    return -1;
}

ssize_t
lbm_system_receive(int fd, uint8_t *bytes, size_t len)
{
    struct program *p = program_running();
    (void)fd;
    if (p->is_dead || (p->is_at_end && p->in.len == p->taken))
        return 0;
    if (p->in.len != p->taken)
        return (ssize_t)socket_receive(p, bytes, len);
    errno = EAGAIN;
    return -1;
}

/* ---- time ---------------------------------------------------------------------------------------------- */

void
lbm_system_sleep(int64_t ms)
{
    program_waits(program_running(), ms > 0 ? ms * 1000 : SPIN_US, 0);
}

/* The clock that goes on while the machine sleeps. */
int64_t
lbm_page_now_us(void)
{
    struct program *p = program_running();
    p->skipped_us += p->is_dead ? DEAD_US : 0;
    return machine_now(p->of->cluster, p->host) + p->skipped_us;
}

/* And the one that does not. */
static int64_t
monotonic_us(void)
{
    const struct program *p = program_running();
    return lbm_page_now_us() - p->of->cluster->machine[p->host].slept_us;
}

int64_t
lbm_page_coarse_us(void)
{
    return monotonic_us() / COARSE_US * COARSE_US;
}

int64_t
lbm_page_coarse_wall_us(void)
{
    return lbm_page_now_us() / COARSE_US * COARSE_US;
}

int64_t
lbm_system_now_ms(void)
{
    return monotonic_us() / 1000;
}

/* ---- the lease page ------------------------------------------------------------------------------------ */

enum lbm_err
lbm_page_open(struct lbm_page *page, const char *control, int *replaced)
{
    struct program *p = program_running();
    (void)control;
    if (p->is_dead)
        return LBM_E_IO;
    *replaced = 0; /* a page is another one after the machine has started again: no program has seen both */
    *page = (struct lbm_page){.fd = DESCRIPTOR, .mapping = programs_page(p->of->cluster, p->host)};
    p->service = held_service(page);
    return LBM_OK;
}

void
lbm_page_close(struct lbm_page *page)
{
    *page = (struct lbm_page){.fd = -1};
    program_running()->service = NULL;
}

int
lbm_page_is_written(const struct lbm_page *page)
{
    const struct program *p = program_running();
    const struct machine *m = &p->of->cluster->machine[p->host];
    (void)page;
    return m->node != NULL || p->of->cluster->now_us < m->locked_us;
}
