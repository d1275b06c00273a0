/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Checkpoints, and the end: last states go to the collector, the program at the lowest host. When that has
 * all, it hands them out and says that the job is done. */
#include "config.h"

#include <stdlib.h>

#include "api/checkpoint.h"
#include "api/mutants.h"
#include "api/steps.h"

enum {
    KEEP_MS = 500,        /* what is due for its checkpoint waits so long for more */
    KEEP_AT_ONCE = 512,   /* payloads packed at a time, */
    KEEP_BYTES = 4 << 20, /* about */
    TELL_MS = 1000,       /* the collector is told again; it tells what is stable */
    KEPT_MS = 5000,       /* it is told of all that is kept, not only of news */
};

static uint64_t
unkept(const struct lbm_steps *steps, const struct lbm_line *line)
{
    uint64_t done = lbm_line_step(line) - line->durable;
    return lbm_steps_is_done(steps, line) && done != 0 ? UINT64_MAX : done;
}

/* Payloads on their way: their bytes are the library's until they are kept. */
struct lbm_batch {
    struct lbm_buf buf;
    struct lbmap_state state[KEEP_AT_ONCE];
    size_t from[KEEP_AT_ONCE];
    struct lbm_line *line[KEEP_AT_ONCE];
    uint64_t step[KEEP_AT_ONCE], acquired[KEEP_AT_ONCE];
    size_t n;
    size_t next; /* index in steps->own: what has not been looked at */
};

static void
tell_durable(struct lbm_steps *steps, const struct lbm_line *line)
{
    uint32_t host[HOSTS_OF_ONE];
    size_t n = lbm_steps_hosts(line, host, HOSTS_OF_ONE);
    for (size_t i = 0; i < n; i++)
        lbm_mail_durable(steps, host[i], line);
}

static void tell_one_kept(struct lbm_steps *steps, const struct lbm_line *line);

/* All of it is kept, but for vertices that have left since: those that came back begin from something else.
 */
static void
batch_is_kept(struct lbm_steps *steps, const struct lbm_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct lbm_line *line = batch->line[i];
        if (line->token == 0 || line->acquired != batch->acquired[i])
            continue;
        lbm_steps_set_durable(steps, line, batch->step[i]);
        tell_durable(steps, line);
        tell_one_kept(steps, line);
    }
}

static void
pack_line(struct lbm_steps *steps, struct lbm_batch *batch, struct lbm_line *line)
{
    lbm_steps_drop_old(steps, line);
    lbm_export_shorten(steps, line, line->lo, lbm_line_step(line));
    size_t k = batch->n++;
    batch->from[k] = batch->buf.len;
    lbm_line_pack(line, steps->value_size, &batch->buf);
    batch->line[k] = line;
    batch->step[k] = lbm_line_step(line);
    batch->acquired[k] = line->acquired;
    batch->state[k] =
        (struct lbmap_state){line->vertex, line->token, {NULL, batch->buf.len - batch->from[k]}};
}

/* Start with the lines that come next. Returns 0 if there are none, or they cannot be kept now. */
static int
start_batch(struct lbm_steps *steps, struct lbm_batch *batch)
{
    batch->n = batch->buf.len = 0;
    for (; batch->next < steps->own.n && batch->n < KEEP_AT_ONCE && batch->buf.len < KEEP_BYTES;
         batch->next++) {
        struct lbm_line *line = steps->own.at[batch->next];
        if (unkept(steps, line) >= (steps->program.keep + 1) / 2)
            pack_line(steps, batch, line);
    }
    if (batch->buf.failed)
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for payloads of %zu vertices", batch->n);
    if (batch->buf.failed || batch->n == 0)
        return 0;
    for (size_t i = 0; i < batch->n; i++)
        batch->state[i].payload.bytes = batch->buf.at + batch->from[i];
    enum lbm_err err = lbm_checkpoint_begin(steps->map, batch->state, batch->n, 1);
    if (err == LBM_E_NOMEM || err == LBM_E_RANGE)
        lbm_steps_fail(steps, (enum lbmap_error)err, "%s", lbmap_message(steps->map));
    if (err == LBM_OK && LBM_API_BUG(STABLE_BEFORE_KEPT)) {
        batch_is_kept(steps, batch);
        lbm_mail_flush(steps);
    }
    return err == LBM_OK;
}

/* What is not kept now is kept the next time, or is not ours any more. Returns 0 while it is on its way. */
static int
end_batch(struct lbm_steps *steps, int *is_well)
{
    int done = 0;
    enum lbmap_error error = lbmap_checkpoint_done(steps->map, &done);
    if (!done)
        return 0;
    if (error == LBMAP_OK)
        batch_is_kept(steps, steps->batch);
    if (error == LBMAP_E_NOMEM || error == LBMAP_E_RANGE)
        lbm_steps_fail(steps, error, "%s", lbmap_message(steps->map));
    *is_well = error == LBMAP_OK;
    return 1;
}

void
lbm_steps_keep_none(struct lbm_steps *steps)
{
    if (steps->batch != NULL)
        lbm_buf_free(&steps->batch->buf);
    free(steps->batch);
    steps->batch = NULL;
}

/* Begin to keep what is due, and what soon will be. */
static void
keep(struct lbm_steps *steps)
{
    steps->batch = lbm_alloc(1, sizeof *steps->batch);
    steps->keep_ms = 0;
    if (steps->batch != NULL && !start_batch(steps, steps->batch))
        lbm_steps_keep_none(steps);
}

void
lbm_steps_keep(struct lbm_steps *steps, int64_t now_ms)
{
    size_t due = 0;
    int is_well = 1;
    if (steps->batch != NULL && !end_batch(steps, &is_well))
        return;
    if (steps->batch != NULL && (!is_well || !start_batch(steps, steps->batch)))
        lbm_steps_keep_none(steps);
    if (steps->batch != NULL || !is_well)
        return;
    for (size_t i = 0; i < steps->own.n; i++)
        due += unkept(steps, steps->own.at[i]) >= steps->program.keep;
    if (due == 0)
        steps->keep_ms = 0;
    else if (steps->keep_ms == 0)
        steps->keep_ms = now_ms;
    int is_idle = steps->ready.n == 0;
    if (due != 0 && (is_idle || due * 2 > steps->own.n || now_ms - steps->keep_ms > KEEP_MS))
        keep(steps);
}

/* ---- the end ---- */

static int
is_known(const struct lbm_steps *steps, uint32_t vertex)
{
    return vertex < lbmap_vertices(steps->map);
}

void
lbm_steps_collect(struct lbm_steps *steps, uint32_t host, uint32_t vertex, struct lbm_state *state)
{
    if (state == NULL || !is_known(steps, vertex)) {
        free(state);
        return;
    }
    if (steps->result == NULL)
        steps->result = lbm_alloc(lbmap_vertices(steps->map), sizeof(struct lbm_state *));
    if (steps->result == NULL) {
        free(state);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for %u results", lbmap_vertices(steps->map));
        return;
    }
    if (steps->result[vertex] == NULL) {
        steps->result[vertex] = state;
        steps->n_done++;
    } else {
        free(state);
    }
    lbm_mail_got(steps, host, vertex);
}

void
lbm_steps_collected(struct lbm_steps *steps, uint32_t host, uint32_t vertex)
{
    uint32_t at = lbm_idmap_get(&steps->at, vertex);
    if (at != LBM_NONE && host == steps->collector)
        steps->lines.at[at]->told_ms = INT64_MAX;
}

static void
tell_result(struct lbm_steps *steps, uint32_t collector, struct lbm_line *line)
{
    if (lbm_line_get(line, lbm_line_step(line))->len <= LBMAP_STEPS_BYTES_MAX)
        lbm_mail_done(steps, collector, line);
    else
        lbm_pieces_send(steps, collector, line);
}

void
lbm_steps_tell(struct lbm_steps *steps, int64_t now_ms)
{
    uint32_t here = lbmap_host(steps->map);
    uint32_t collector = steps->peers.n != 0 && steps->peers.at[0] < here ? steps->peers.at[0] : here;
    int is_new = collector != steps->collector;
    steps->collector = collector;
    steps->kept_ms = is_new ? 0 : steps->kept_ms;
    for (size_t i = 0; i < steps->own.n; i++) {
        struct lbm_line *line = steps->own.at[i];
        if (is_new) {
            line->told_ms = 0;
            line->result_have = 0;
        }
        if (!lbm_steps_is_done(steps, line) || line->durable != lbm_line_step(line) ||
            line->told_ms == INT64_MAX || (line->told_ms != 0 && now_ms - line->told_ms < TELL_MS))
            continue;
        line->told_ms = now_ms;
        if (collector != here) {
            tell_result(steps, collector, line);
            continue;
        }
        const struct lbm_state *last = lbm_line_get(line, lbm_line_step(line));
        lbm_steps_collect(steps, here, line->vertex, lbm_state_new(last->bytes, last->len, last->len, 0));
        line->told_ms = INT64_MAX;
    }
}

/* ---- what is stable ---- */

void
lbm_steps_stable(struct lbm_steps *steps, uint64_t step)
{
    if (step <= steps->stable || step > steps->program.steps)
        return;
    steps->stable = step;
    if (steps->program.stable != NULL)
        steps->program.stable(steps->program.context, step);
}

void
lbm_steps_kept(struct lbm_steps *steps, uint32_t vertex, uint64_t durable)
{
    if (!is_known(steps, vertex))
        return;
    if (steps->kept == NULL)
        steps->kept = lbm_alloc(lbmap_vertices(steps->map), sizeof *steps->kept);
    if (steps->kept == NULL)
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for %u steps", lbmap_vertices(steps->map));
    else if (durable > steps->kept[vertex])
        steps->kept[vertex] = durable;
}

static void
tell_one_kept(struct lbm_steps *steps, const struct lbm_line *line)
{
    if (steps->program.stable == NULL || steps->collector == LBMAP_NOWHERE)
        return;
    if (steps->collector == lbmap_host(steps->map))
        lbm_steps_kept(steps, line->vertex, line->durable);
    else
        lbm_mail_step(steps, steps->collector, LBM_ROW_KEPT, line->vertex, line->durable);
}

/* What is kept never goes back, so the least that was heard holds, however old it is. */
static void
work_out_stable(struct lbm_steps *steps)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t v = 0; v < lbmap_vertices(steps->map); v++)
        least = steps->kept[v] < least ? steps->kept[v] : least;
    lbm_steps_stable(steps, least);
    for (size_t i = 0; i < steps->peers.n && steps->stable != 0; i++)
        lbm_mail_step(steps, steps->peers.at[i], LBM_ROW_STABLE, 0, steps->stable);
}

void
lbm_steps_tell_kept(struct lbm_steps *steps, int64_t now_ms)
{
    if (now_ms - steps->kept_ms >= KEPT_MS) {
        steps->kept_ms = now_ms;
        for (size_t i = 0; i < steps->own.n; i++)
            tell_one_kept(steps, steps->own.at[i]);
    }
    if (steps->collector == lbmap_host(steps->map) && steps->kept != NULL &&
        now_ms - steps->stable_ms >= TELL_MS) {
        steps->stable_ms = now_ms;
        work_out_stable(steps);
    }
}

/* All results are here: hand them out, and tell everybody that there is nothing left to do. */
void
lbm_steps_finish(struct lbm_steps *steps)
{
    const struct lbmap_steps *program = &steps->program;
    lbm_steps_stable(steps, program->steps);
    for (uint32_t v = 0; v < lbmap_vertices(steps->map) && program->result != NULL && !steps->handed_out; v++)
        program->result(program->context, v, steps->result[v]->bytes, steps->result[v]->len);
    steps->handed_out = 1;
    enum lbmap_error error = lbmap_finish(steps->map);
    if (error == LBMAP_OK || error == LBMAP_E_BUSY)
        steps->finished = error == LBMAP_OK;
    else
        lbm_steps_fail(steps, error, "%s", lbmap_message(steps->map));
}
