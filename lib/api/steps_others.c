/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What goes to programs of other hosts and comes from them: states, questions for states that are missing. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "api/steps.h"

enum {
    ASK_MS = 100,      /* a missing state is asked for again after that, then twice, four times ... */
    ASK_DOUBLINGS = 4, /* up to that often */
    ASK_ALL = 2,       /* asked that often in vain: the owner may be any other host */
};

/* Hosts of the neighbours of an own line, each once. Returns how many, at most max. */
size_t
lbm_steps_hosts(const struct lbm_line *line, uint32_t *host, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < line->edges.n && n < max; i++) {
        const struct lbm_line *to = line->edges.at[i].to;
        size_t k = 0;
        while (k < n && host[k] != to->host)
            k++;
        if (to->token == 0 && to->host != LBMAP_NOWHERE && k == n)
            host[n++] = to->host;
    }
    return n;
}

static int
is_known(const struct lbm_steps *steps, uint32_t vertex)
{
    return vertex < lbmap_vertices(steps->map);
}

void
lbm_steps_heard(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t step, uint64_t durable,
                struct lbm_state *state)
{
    uint32_t at = lbm_idmap_get(&steps->at, vertex);
    struct lbm_line *line = at != LBM_NONE ? steps->lines.at[at] : NULL;
    if (line == NULL || line->token != 0) {
        free(state);
        return;
    }
    line->host = host;
    line->unheard = 0;
    lbm_steps_set_durable(steps, line, durable);
    if (state == NULL || line->used.n == 0 || step != lbm_line_next(line)) {
        free(state);
        return;
    }
    if (lbm_line_push(line, state) != LBM_OK) {
        free(state);
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a state of vertex %u", vertex);
        return;
    }
    lbm_steps_grown(steps, line);
}

static void
ask(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, const struct lbm_line *of)
{
    uint64_t from = lbm_line_next(of);
    /* Parts for others may be here already, but none for this line. It may be the one that asks for all,
     * those before it included. */
    if (steps->program.share_with != NULL && lbm_line_step(line) < from)
        from = lbm_line_step(line);
    lbm_mail_want(steps, host, line, of->vertex, from);
}

void
lbm_steps_wanted(struct lbm_steps *steps, uint32_t host, uint32_t vertex, uint64_t durable, uint32_t other,
                 uint64_t from)
{
    struct lbm_line *asker = is_known(steps, vertex) ? lbm_steps_line(steps, vertex) : NULL;
    uint32_t at = lbm_idmap_get(&steps->at, other);
    struct lbm_line *line = at != LBM_NONE ? steps->lines.at[at] : NULL;
    if (asker == NULL || line == NULL || line->token == 0)
        return;
    if (asker->token == 0) {
        int is_new = asker->host != host;
        asker->host = host;
        lbm_steps_set_durable(steps, asker, durable);
        /* It has its own states up to the one that it asks for: one that lacks here was lost on its way. */
        if ((is_new || lbm_line_step(line) <= from) && line->has_edges && line->have < line->edges.n &&
            !lbm_export_has(asker, lbm_line_step(line), line->vertex))
            ask(steps, host, line, asker);
    }
    if (from < line->lo)
        from = line->lo;
    if (from >= lbm_line_next(line))
        lbm_mail_durable(steps, host, line);
    for (; from < lbm_line_next(line); from++)
        lbm_mail_state(steps, host, line, from);
}

void
lbm_steps_on_message(void *context, uint32_t host, const void *bytes, size_t n)
{
    lbm_mail_take(context, host, bytes, n);
}

/* Programs at that host have come, gone or changed: what one of them has got another lacks. */
static void
doubt_collector(struct lbm_steps *steps, uint32_t host)
{
    if (host == steps->collector)
        steps->collector = LBMAP_NOWHERE;
}

void
lbm_steps_on_peer_up(void *context, const struct lbmap_peer *peer)
{
    struct lbm_steps *steps = context;
    size_t i = 0;
    if (peer->finished)
        steps->finished = 1;
    doubt_collector(steps, peer->host);
    while (i < steps->peers.n && steps->peers.at[i] < peer->host)
        i++;
    if (i < steps->peers.n && steps->peers.at[i] == peer->host)
        return;
    if (lbm_vec_reserve(&steps->peers, 1) != LBM_OK) {
        lbm_steps_fail(steps, LBMAP_E_NOMEM, "no memory for a list of hosts");
        return;
    }
    memmove(&steps->peers.at[i + 1], &steps->peers.at[i], (steps->peers.n - i) * sizeof *steps->peers.at);
    steps->peers.at[i] = peer->host;
    steps->peers.n++;
}

void
lbm_steps_on_peer_down(void *context, uint32_t host)
{
    struct lbm_steps *steps = context;
    size_t n = 0;
    doubt_collector(steps, host);
    for (size_t i = 0; i < steps->peers.n; i++)
        if (steps->peers.at[i] != host)
            steps->peers.at[n++] = steps->peers.at[i];
    steps->peers.n = n;
}

/* ---- what is missing ---- */

/* A line asks, and so do others that lack what they see of the same one: which of them are here its owner has
 * to know, and the state that one lacks may be one that the others have passed. */
static void
ask_for_users(struct lbm_steps *steps, uint32_t host, const struct lbm_line *line, const struct lbm_line *of)
{
    ask(steps, host, line, of);
    for (size_t i = 0; i < of->used.n && steps->program.share_with != NULL; i++) {
        const struct lbm_line *user = of->used.at[i];
        if (user != line && user->has_edges && !lbm_steps_is_done(steps, user) &&
            !lbm_export_has(of, lbm_line_step(user), user->vertex))
            ask(steps, host, user, of);
    }
}

static void
ask_again(struct lbm_steps *steps, const struct lbm_line *line, struct lbm_line *of, int64_t now_ms)
{
    unsigned doublings = of->asked < ASK_DOUBLINGS ? of->asked : ASK_DOUBLINGS;
    if (of->asked_ms == 0)
        of->asked_ms = now_ms; /* it is on its way, as a rule */
    if (now_ms - of->asked_ms < (int64_t)ASK_MS << doublings)
        return;
    of->asked_ms = now_ms;
    of->asked++;
    if (of->unheard++ < ASK_ALL && of->host != LBMAP_NOWHERE) {
        ask_for_users(steps, of->host, line, of);
        return;
    }
    for (size_t i = 0; i < steps->peers.n; i++)
        ask_for_users(steps, steps->peers.at[i], line, of);
}

/* A line that waits for a neighbour's state, or for word that one is kept. */
void
lbm_steps_look(struct lbm_steps *steps, int64_t now_ms)
{
    for (size_t i = 0; i < steps->own.n; i++) {
        const struct lbm_line *line = steps->own.at[i];
        if (!line->has_edges || line->queued || lbm_steps_is_done(steps, line))
            continue;
        for (size_t k = 0; k < line->edges.n; k++) {
            struct lbm_line *of = line->edges.at[k].to;
            int is_missing = !lbm_export_has(of, lbm_line_step(line), line->vertex);
            int holds_up = line->n > steps->window && of->durable <= line->lo;
            if (of->token == 0 && (is_missing || holds_up))
                ask_again(steps, line, of, now_ms);
        }
    }
}

/* Vertices that have just come tell their neighbours where they are, and ask for what they need. */
void
lbm_steps_greet(struct lbm_steps *steps)
{
    for (size_t i = 0; i < steps->fresh.n; i++) {
        const struct lbm_line *line = steps->fresh.at[i];
        for (size_t k = 0; k < line->edges.n && line->token != 0; k++) {
            const struct lbm_line *of = line->edges.at[k].to;
            if (of->token == 0)
                ask(steps, of->host, line, of);
        }
    }
    steps->fresh.n = 0;
}
