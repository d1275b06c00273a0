/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs begin, go on, stand still, are killed, begin again. */
#include "sim/programs/programs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/lease_page.h"

enum {
    BEGIN_US = 50000,
    AGAIN_LEAST_US = 200000, /* until whoever looks after a program begins it again */
    AGAIN_US = 4000000,
    LOCKED_US = 30000, /* a process that dies lets go of its lock so much after its sockets */
    PAGE_WORDS = LBM_LEASE_PAGE_BYTES / sizeof(uint64_t),
    PROGRAM_STREAM = 90,
};

static struct program *running;

struct program *
program_running(void)
{
    LBM_ASSERT(running != NULL);
    return running;
}

uint32_t
program_draw(struct program *p, uint32_t bound)
{
    return lbm_rng_below(&p->of->cluster->rng, bound);
}

void
program_violates(struct program *p, const char *invariant, const char *fmt, ...)
{
    char text[240];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!p->is_dead)
        check_violated(&p->of->cluster->check, invariant, "program %" PRIu32 " of %s at host %" PRIu32 ": %s",
                       p->number, p->of->name, p->host, text);
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

void
program_goes_on(struct program *p, int64_t at_us)
{
    struct happen wake = {
        .at_us = at_us, .kind = HAPPEN_PROGRAM, .host = p->host, .from = p->number, .number = ++p->wake};
    happen_push(p->of->cluster, wake);
}

void
program_waits(struct program *p, int64_t us, int for_input)
{
    LBM_ASSERT(p == running);
    if (p->is_dead) {
        p->skipped_us += us;
        return;
    }
    p->waits_for_input = for_input;
    program_goes_on(p, p->of->cluster->now_us + us);
    fiber_wait(p->fiber);
    p->waits_for_input = 0;
}

/* ---- work ---------------------------------------------------------------------------------------------- */

static uint64_t
token_of(const struct program *p, uint32_t vertex)
{
    return p->service != NULL ? held_token(p->service, vertex) : 0;
}

/* P1: nobody works on a vertex that another one works on, or has worked on by a higher token. */
static void
works_alone(struct program *p, uint32_t vertex)
{
    struct program_job *of = p->of;
    const struct program *other = of->worker[vertex];
    uint64_t token = token_of(p, vertex);
    if (other != NULL && !other->is_interrupted)
        program_violates(p, "P1",
                         "works on vertex %" PRIu32 " (token %" PRIu64 ") while program %" PRIu32
                         " at host %" PRIu32 " does",
                         vertex, token, other->number, other->host);
    else if (token < of->token[vertex] || (token == of->token[vertex] && p->host != of->host[vertex]))
        program_violates(p, "P1",
                         "works on vertex %" PRIu32 " by token %" PRIu64 ", host %" PRIu32
                         " has done so by %" PRIu64,
                         vertex, token, of->host[vertex], of->token[vertex]);
    of->token[vertex] = token;
    of->host[vertex] = p->host;
}

int
program_works(struct program *p, uint32_t vertex, int64_t us)
{
    struct program_job *of = p->of;
    if (p->is_dead)
        return 0;
    works_alone(p, vertex);
    of->worker[vertex] = p;
    p->vertex = vertex;
    p->is_interrupted = 0;
    program_waits(p, us, 0);
    if (of->worker[vertex] == p)
        of->worker[vertex] = NULL;
    p->vertex = LBM_NONE;
    return !p->is_dead;
}

/* ---- lives --------------------------------------------------------------------------------------------- */

static void
be_program(void *arg)
{
    struct program *p = arg;
    char message[LBM_DIAG_TEXT_MAX] = "";
    enum lbmap_error error = p->of->kind->main(p, message, sizeof message);
    static const uint8_t is_usual[LBMAP_E_BUSY + 1] = {
        [LBMAP_OK] = 1,     [LBMAP_E_IO] = 1,          [LBMAP_E_NOTFOUND] = 1, [LBMAP_E_STATE] = 1,
        [LBMAP_E_BUSY] = 1, [LBMAP_E_UNREACHABLE] = 1, [LBMAP_E_TIMEOUT] = 1,
    };
    if (p->is_dead)
        return;
    trace(p->of->cluster, p->host, "program %" PRIu32 " ends: %s: %s", p->number, lbmap_strerror(error),
          message);
    if (!is_usual[error])
        program_violates(p, "P0", "ends: %s: %s", lbmap_strerror(error), message);
    if (error == LBMAP_OK && !p->of->is_done)
        program_violates(p, "P3", "ends although the job is not done");
    p->is_over = error == LBMAP_OK;
}

static void
begin_later(struct program *p, int64_t us)
{
    struct happen begin = {.at_us = p->of->cluster->now_us + us,
                           .kind = HAPPEN_PROGRAM_BEGIN,
                           .host = p->host,
                           .from = p->number};
    happen_push(p->of->cluster, begin);
}

static void
has_ended(struct program *p)
{
    struct cluster *c = p->of->cluster;
    const struct guest *guest = check_guest(&c->check, p->of->job);
    socket_close(p);
    fiber_free(p->fiber);
    p->fiber = NULL;
    p->service = NULL;
    p->wake++;
    p->is_over |= guest == NULL || guest->deleted;
    if (!p->is_over)
        begin_later(p, AGAIN_LEAST_US + lbm_rng_below(&c->rng, AGAIN_US));
}

static void
run(struct program *p)
{
    LBM_ASSERT(running == NULL);
    running = p;
    int ended = fiber_resume(p->fiber);
    running = NULL;
    if (ended)
        has_ended(p);
}

static void
begins(struct program *p)
{
    const struct guest *guest = check_guest(&p->of->cluster->check, p->of->job);
    p->is_over |= guest == NULL || guest->deleted;
    if (p->fiber != NULL || p->is_over)
        return;
    p->is_dead = p->is_stopped = p->has_missed = p->waits_for_input = p->stop = 0;
    p->skipped_us = 0;
    p->vertex = LBM_NONE;
    p->lives++;
    p->fiber = fiber_new(be_program, p);
    run(p);
}

static void
kill_program(struct program *p)
{
    if (p->fiber == NULL)
        return;
    trace(p->of->cluster, p->host, "program %" PRIu32 " is killed", p->number);
    if (p->vertex != LBM_NONE && p->of->worker[p->vertex] == p)
        p->of->worker[p->vertex] = NULL;
    p->is_dead = p->stop = 1;
    socket_close(p);
    run(p);
    LBM_ASSERT(p->fiber == NULL); /* a dead one waits for nothing */
}

/* ---- events -------------------------------------------------------------------------------------------- */

void
happen_program(struct cluster *c, const struct happen *happen)
{
    struct program *p = c->programs->list.at[happen->from];
    if (happen->kind == HAPPEN_PROGRAM_TOLD) {
        programs_told(c, happen);
        return;
    }
    if (happen->kind == HAPPEN_PROGRAM_BEGIN && !c->machine[p->host].suspended)
        begins(p);
    else if (happen->kind == HAPPEN_PROGRAM_BEGIN)
        begin_later(p, AGAIN_LEAST_US);
    else if (happen->number != p->wake || p->fiber == NULL)
        return;
    else if (p->is_stopped || c->machine[p->host].suspended)
        p->has_missed = 1;
    else
        run(p);
    judge(c);
}

/* It may run again: at once, or when others have. */
static void
catches_up(struct program *p)
{
    struct cluster *c = p->of->cluster;
    if (p->is_stopped || c->machine[p->host].suspended || !p->has_missed)
        return;
    p->has_missed = 0;
    program_goes_on(p, c->now_us + (int64_t)lbm_rng_below(&c->rng, 2) * lbm_rng_below(&c->rng, 3000) - 1);
}

void
programs_sleep(struct cluster *c, uint32_t host)
{
    for (size_t i = 0; c->programs != NULL && i < c->programs->list.n; i++)
        if (c->programs->list.at[i]->host == host)
            c->programs->list.at[i]->is_interrupted = 1;
}

void
programs_continue(struct cluster *c, uint32_t host)
{
    for (size_t i = 0; c->programs != NULL && i < c->programs->list.n; i++)
        if (c->programs->list.at[i]->host == host)
            catches_up(c->programs->list.at[i]);
}

/* The daemon that comes next does not know that it has ended, and runs it once more. */
static void
begins_once_more(struct program *p)
{
    if (!p->is_over || p->fiber != NULL)
        return;
    p->is_over = 0;
    begin_later(p, AGAIN_LEAST_US);
}

void
programs_disconnected(struct cluster *c, uint32_t host)
{
    c->machine[host].locked_us = c->now_us + lbm_rng_below(&c->rng, LOCKED_US);
    for (size_t i = 0; i < c->programs->list.n; i++)
        if (c->programs->list.at[i]->host == host) {
            socket_ends(c->programs->list.at[i]);
            begins_once_more(c->programs->list.at[i]);
        }
}

void
programs_kill(struct cluster *c, uint32_t host)
{
    for (size_t i = 0; c->programs != NULL && i < c->programs->list.n; i++)
        if (c->programs->list.at[i]->host == host)
            kill_program(c->programs->list.at[i]);
}

/* ---- the lease page ------------------------------------------------------------------------------------ */

void *
programs_page(struct cluster *c, uint32_t host)
{
    return c->programs->page + (size_t)host * PAGE_WORDS;
}

void
programs_write_page(struct cluster *c, uint32_t host, struct page page)
{
    if (c->programs == NULL)
        return;
    const struct lbm_lease_page lease = {.host = host,
                                         .life = c->machine[host].life,
                                         .boot = 1,
                                         .deadline_us = page.deadline_us,
                                         .term = page.term,
                                         .used = (uint32_t)page.used,
                                         .gone = page.gone};
    lbm_lease_page_put(programs_page(c, host), &lease);
}

/* ---- jobs ---------------------------------------------------------------------------------------------- */

static struct program_job *
job_of(struct cluster *c, const char *name)
{
    struct programs *all = c->programs;
    uint64_t job = check_job(&c->check, name);
    const struct guest *guest = check_guest(&c->check, job);
    for (size_t i = 0; i < all->jobs.n; i++)
        if (all->jobs.at[i]->job == job)
            return all->jobs.at[i];
    if (guest == NULL || guest->deleted)
        return NULL;
    struct program_job *of = lbm_alloc(1, sizeof *of);
    *of = (struct program_job){.cluster = c, .job = job, .n = guest->g.n, .g = guest->g, .kind = all->kind};
    snprintf(of->name, sizeof of->name, "%s", name);
    lbm_rng_stream(&of->rng, c->options.seed, PROGRAM_STREAM + all->jobs.n);
    of->token = lbm_alloc(of->n, sizeof *of->token);
    of->host = lbm_alloc(of->n, sizeof *of->host);
    of->worker = lbm_alloc(of->n, sizeof(struct program *));
    of->kind->begin(of);
    LBM_ASSERT(lbm_vec_push(&all->jobs, of) == LBM_OK);
    return of;
}

void
program_begin(struct cluster *c, uint32_t host, const char *name)
{
    struct program_job *of = job_of(c, name);
    if (of == NULL)
        return;
    struct program *p = lbm_alloc(1, sizeof *p);
    p->of = of;
    p->host = host;
    p->number = (uint32_t)c->programs->list.n;
    p->vertex = LBM_NONE;
    LBM_ASSERT(lbm_vec_push(&c->programs->list, p) == LBM_OK);
    trace(c, host, "program %" PRIu32 " for %s", p->number, name);
    begin_later(p, lbm_rng_below(&c->rng, BEGIN_US));
}

int
programs_serve(const struct cluster *c, uint32_t host, const char *job)
{
    for (size_t i = 0; c->programs != NULL && i < c->programs->list.n; i++) {
        const struct program *p = c->programs->list.at[i];
        if (p->host == host && strcmp(p->of->name, job) == 0)
            return 1;
    }
    return 0;
}

uint32_t
programs_at(const struct cluster *c, uint32_t host)
{
    uint32_t n = 0;
    for (size_t i = 0; c->programs != NULL && i < c->programs->list.n; i++)
        n += c->programs->list.at[i]->host == host && c->programs->list.at[i]->fiber != NULL;
    return n;
}

/* ---- from outside -------------------------------------------------------------------------------------- */

static struct program *
drawn(struct cluster *c, uint32_t number)
{
    struct program *p = c->programs != NULL && c->programs->list.n != 0
                            ? c->programs->list.at[number % c->programs->list.n]
                            : NULL;
    return p != NULL && p->fiber != NULL ? p : NULL;
}

int
cluster_kill_program(struct cluster *c, uint32_t number)
{
    struct program *p = drawn(c, number);
    if (p != NULL)
        kill_program(p);
    return p != NULL;
}

int
cluster_cut_program(struct cluster *c, uint32_t number)
{
    struct program *p = drawn(c, number);
    if (p != NULL)
        program_cut(c, p->number);
    return p != NULL && p->is_connected;
}

int
cluster_stop_program(struct cluster *c, uint32_t number, int on)
{
    struct program *p = drawn(c, number);
    if (p == NULL)
        return 0;
    trace(c, p->host, "program %" PRIu32 " %s", p->number, on ? "stands still" : "goes on");
    p->is_stopped = on;
    p->is_interrupted |= on;
    catches_up(p);
    return 1;
}

void
cluster_continue_programs(struct cluster *c)
{
    for (size_t i = 0; c->programs != NULL && i < c->programs->list.n; i++) {
        c->programs->list.at[i]->is_stopped = 0;
        catches_up(c->programs->list.at[i]);
    }
}

int
cluster_programs_are_done(const struct cluster *c, const uint8_t *absent)
{
    for (size_t i = 0; c->programs != NULL && i < c->programs->jobs.n; i++) {
        const struct program_job *of = c->programs->jobs.at[i];
        if (!of->is_done && !check_guest(&c->check, of->job)->deleted)
            return 0;
    }
    for (size_t i = 0; c->programs != NULL && i < c->programs->list.n; i++)
        if (!c->programs->list.at[i]->is_over && !absent[c->programs->list.at[i]->host])
            return 0;
    return 1;
}

void
cluster_tell_programs(const struct cluster *c, char *text, size_t len)
{
    size_t running_yet = 0;
    snprintf(text, len, "no program");
    for (size_t i = 0; i < c->programs->list.n; i++)
        running_yet += !c->programs->list.at[i]->is_over;
    for (size_t i = 0; i < c->programs->jobs.n; i++) {
        const struct program_job *of = c->programs->jobs.at[i];
        char what[160] = "is done";
        if (!of->is_done)
            of->kind->tell(of, what, sizeof what);
        if (check_guest(&c->check, of->job)->deleted)
            continue;
        snprintf(text, len, "%s %s; %zu programs have not ended", of->name, what, running_yet);
        if (!of->is_done)
            return;
    }
}

void
programs_new(struct cluster *c)
{
    static const struct program_kind *const kinds[] = {
        [CLUSTER_PROGRAMS_STEPS] = &program_steps, [CLUSTER_PROGRAMS_SEND] = &program_send};
    if (c->options.programs == CLUSTER_PROGRAMS_NONE)
        return;
    c->programs = lbm_alloc(1, sizeof *c->programs);
    c->programs->kind = kinds[c->options.programs];
    c->programs->page = lbm_alloc(c->n, LBM_LEASE_PAGE_BYTES);
    for (uint32_t p = 0; p < c->n; p++)
        programs_write_page(c, p, (struct page){0});
}

void
programs_free(struct cluster *c)
{
    struct programs *all = c->programs;
    if (all == NULL)
        return;
    for (size_t i = 0; i < all->list.n; i++) {
        kill_program(all->list.at[i]);
        lbm_buf_free(&all->list.at[i]->in);
        lbm_buf_free(&all->list.at[i]->out);
        free(all->list.at[i]);
    }
    for (size_t i = 0; i < all->jobs.n; i++) {
        struct program_job *of = all->jobs.at[i];
        of->kind->end(of);
        free(of->token);
        free(of->host);
        free(of->worker);
        free(of);
    }
    lbm_vec_free(&all->list);
    lbm_vec_free(&all->jobs);
    lbm_vec_free(&all->cut);
    free(all->page);
    free(all);
    c->programs = NULL;
}
