/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of a trace, line by line: first the head, up to `begin`, then steps, then `end`. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "graph/rows.h"
#include "trace/trace.h"
#include "trace/words.h"

enum { VERTEX_BYTES = 13 }; /* of the shortest line of a vertex */

enum presence { UNKNOWN, PRESENT, DRAINING, GONE };

struct reader {
    struct lbm_scan s;
    struct lbm_trace t;
    struct lbm_edge_list edges;
    uint64_t n_edges; /* as the head says */
    uint32_t next;    /* vertex */
    uint32_t version;
    struct lbm_idmap removed; /* vertices */
    size_t len;               /* of the text */
    int has_job, begun, ended;
    uint8_t presence[LBM_HOSTS_MAX];
};

static const struct lbm_field field_host = {"host", 0, LBM_HOSTS_MAX - 1, ""};
static const struct lbm_field field_cost = {"cost of a link", 1, LBM_LINK_COST_MAX, ""};
static const struct lbm_field field_edges = {"number of edges", 0, LBM_EDGE_DIRECTIONS_MAX / 2, ""};
static const struct lbm_field field_vertices = {"number of vertices", 1, LBM_VERTICES_MAX, ""};

/* ---- words ------------------------------------------------------------------------------------------- */

static enum lbm_err
read_seed(struct reader *r, uint64_t *seed)
{
    char word[24], *end;
    enum lbm_err err = lbm_trace_word(&r->s, "seed", word, sizeof word);
    if (err != LBM_OK)
        return err;
    errno = 0;
    *seed = strtoull(word, &end, 10);
    if (errno != 0 || *end != '\0' || word[0] < '0' || word[0] > '9')
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "the seed must be a number of 64 bits, not \"%s\"", word);
    return LBM_OK;
}

static enum lbm_err
short_of_memory(const struct reader *r)
{
    return lbm_scan_refuse(&r->s, LBM_E_NOMEM, "no memory for the trace");
}

static struct lbm_field
vertex_field(const struct reader *r)
{
    return (struct lbm_field){"vertex", 0, r->t.n - 1, "vertices are numbered from 0"};
}

/* Refuse one that is gone. */
static enum lbm_err
check_is_there(const struct reader *r, uint32_t v)
{
    if (lbm_idmap_get(&r->removed, v) == LBM_NONE)
        return LBM_OK;
    return lbm_scan_refuse(&r->s, LBM_E_RANGE, "vertex %" PRIu32 " is gone", v);
}

/* ---- head -------------------------------------------------------------------------------------------- */

static enum lbm_err
read_job(struct reader *r)
{
    struct lbm_trace *t = &r->t;
    if (r->has_job)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "the job is known already");
    r->has_job = 1;
    enum lbm_err err = lbm_trace_word(&r->s, "name of the job", t->job, sizeof t->job);
    if (err == LBM_OK)
        err = lbm_scan_real(&r->s, "imbalance", &t->imbalance);
    if (err == LBM_OK && !(t->imbalance >= 0 && t->imbalance <= 1e6))
        err = lbm_scan_refuse(&r->s, LBM_E_RANGE, "the imbalance must be between 0 and 1e6");
    if (err == LBM_OK)
        err = lbm_trace_word(&r->s, "policy", t->policy, sizeof t->policy);
    return err == LBM_OK ? read_seed(r, &t->seed) : err;
}

static enum lbm_err
read_measured(struct reader *r)
{
    r->t.measured = 1;
    return LBM_OK;
}

static enum lbm_err
read_guest(struct reader *r)
{
    struct lbm_trace *t = &r->t;
    uint32_t n = 0;
    if (t->g.n != 0)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "the size of the guest is known already");
    enum lbm_err err = lbm_scan_u32(&r->s, &field_vertices, &n);
    if (err == LBM_OK)
        err = lbm_scan_u64(&r->s, &field_edges, &r->n_edges);
    if (err != LBM_OK)
        return err;
    if ((uint64_t)n * VERTEX_BYTES > r->len)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX,
                               "the text is too short for %" PRIu32 " vertices: is it cut?", n);
    t->g.n = t->n = n;
    t->g.work = lbm_alloc(n, sizeof *t->g.work);
    t->owner = lbm_alloc(n, sizeof *t->owner);
    return t->g.work != NULL && t->owner != NULL ? LBM_OK : short_of_memory(r);
}

static enum lbm_err
read_links(struct reader *r, struct lbm_trace_host *host)
{
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && !lbm_scan_line_done(&r->s)) {
        struct lbm_trace_link link = {0};
        err = lbm_trace_pair(&r->s, &field_host, &field_cost, &link.host, &link.cost);
        if (err == LBM_OK && link.host == host->id)
            err = lbm_scan_refuse(&r->s, LBM_E_RANGE, "host %" PRIu32 " has a link to itself", host->id);
        if (err == LBM_OK && lbm_vec_push(&host->links, link) != LBM_OK)
            err = short_of_memory(r);
    }
    return err;
}

/* ID NAME CAPACITY [at X Y [Z]] [to ID:COST ...] */
static enum lbm_err
describe_host(struct reader *r, struct lbm_trace_host *host)
{
    enum lbm_err err = lbm_scan_u32(&r->s, &field_host, &host->id);
    if (err == LBM_OK)
        err = lbm_trace_word(&r->s, "name of the host", host->name, sizeof host->name);
    if (err == LBM_OK)
        err = lbm_scan_real(&r->s, "capacity", &host->capacity);
    if (err == LBM_OK && !(host->capacity > 0))
        err = lbm_scan_refuse(&r->s, LBM_E_RANGE, "the capacity must be more than 0");
    if (err == LBM_OK && lbm_scan_word(&r->s, "at"))
        while (err == LBM_OK && host->m < LBM_DIMENSIONS_MAX && !lbm_scan_line_done(&r->s) &&
               (host->m == 0 || *r->s.at != 't'))
            err = lbm_scan_real(&r->s, "place of the host", &host->site[host->m++]);
    if (err == LBM_OK && host->m == 1)
        err = lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "the place of a host has two or three numbers");
    return err == LBM_OK && lbm_scan_word(&r->s, "to") ? read_links(r, host) : err;
}

/* Out: *at, where the description is. */
static enum lbm_err
add_host(struct reader *r, uint32_t *at)
{
    struct lbm_trace_host host = {0};
    enum lbm_err err = describe_host(r, &host);
    *at = (uint32_t)r->t.hosts.n;
    if (err == LBM_OK && *at != 0 && r->t.hosts.at[0].m != host.m)
        err = lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "places of hosts have as many numbers as the first one's");
    if (err == LBM_OK && lbm_vec_push(&r->t.hosts, host) != LBM_OK)
        err = short_of_memory(r);
    if (err != LBM_OK)
        lbm_vec_free(&host.links);
    return err;
}

static enum lbm_err
read_first_host(struct reader *r)
{
    uint32_t at;
    enum lbm_err err = add_host(r, &at);
    if (err != LBM_OK)
        return err;
    const struct lbm_trace_host *host = &r->t.hosts.at[at];
    if (r->presence[host->id] != UNKNOWN)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "host %" PRIu32 " is there already", host->id);
    r->presence[host->id] = PRESENT;
    r->t.n_present = (uint32_t)r->t.hosts.n;
    return LBM_OK;
}

static enum lbm_err
read_pin(struct reader *r, uint32_t v)
{
    uint32_t pin = 0;
    struct lbm_graph *g = &r->t.g;
    enum lbm_err err = lbm_scan_u32(&r->s, &field_host, &pin);
    if (err != LBM_OK)
        return err;
    if (g->pin == NULL) {
        g->pin = lbm_alloc(g->n, sizeof *g->pin);
        if (g->pin == NULL)
            return short_of_memory(r);
        memset(g->pin, 0xff, g->n * sizeof *g->pin);
    }
    g->pin[v] = pin;
    return LBM_OK;
}

/* V WORK HOST [pin HOST] [NEIGHBOUR:WEIGHT ...] */
static enum lbm_err
read_vertex(struct reader *r)
{
    struct lbm_trace *t = &r->t;
    struct lbm_field field = {"number of the next vertex", r->next, r->next, ""}, other = vertex_field(r);
    uint32_t v = 0;
    if (t->g.n == 0 || r->next == t->g.n)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "the guest has %" PRIu32 " vertices", t->g.n);
    enum lbm_err err = lbm_scan_u32(&r->s, &field, &v);
    if (err == LBM_OK)
        err = lbm_scan_u32(&r->s, &lbm_field_work, &t->g.work[v]);
    if (err == LBM_OK)
        err = lbm_scan_u32(&r->s, &field_host, &t->owner[v]);
    if (err == LBM_OK && r->presence[t->owner[v]] != PRESENT)
        err = lbm_scan_refuse(&r->s, LBM_E_RANGE, "host %" PRIu32 " is not there", t->owner[v]);
    if (err == LBM_OK && lbm_scan_word(&r->s, "pin"))
        err = read_pin(r, v);
    while (err == LBM_OK && !lbm_scan_line_done(&r->s)) {
        struct lbm_edge edge = {.u = v};
        err = lbm_trace_pair(&r->s, &other, &lbm_field_weight, &edge.v, &edge.weight);
        if (err == LBM_OK && edge.v == v)
            err = lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "vertex %" PRIu32 " is its own neighbour", v);
        if (err == LBM_OK)
            err = lbm_edge_list_add(&r->edges, &r->s, edge.u, edge.v, edge.weight);
    }
    r->next++;
    return err;
}

static enum lbm_err
read_begin(struct reader *r)
{
    struct lbm_trace *t = &r->t;
    struct lbm_graph built;
    if (!r->has_job || t->g.n == 0 || t->n_present == 0)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "before `begin` there must be a job, a guest and hosts");
    if (r->next != t->g.n)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "vertex %" PRIu32 " is missing", r->next);
    enum lbm_err err = lbm_edge_list_build(&r->edges, t->g.n, LBM_DIRECTIONS_EQUAL, &r->s, &built);
    if (err != LBM_OK)
        return err;
    built.work = t->g.work;
    built.pin = t->g.pin;
    t->g = built;
    r->begun = 1;
    if (lbm_graph_directions(&t->g) != 2 * r->n_edges)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "the guest has %" PRIu64 " edges, not %" PRIu64,
                               lbm_graph_directions(&t->g) / 2, r->n_edges);
    return LBM_OK;
}

/* ---- steps ------------------------------------------------------------------------------------------- */

static enum lbm_err
read_time(struct reader *r, int64_t *us)
{
    double seconds = 0;
    enum lbm_err err = lbm_scan_real(&r->s, "time", &seconds);
    if (err != LBM_OK)
        return err;
    if (!(seconds >= 0 && seconds <= LBM_TRACE_SECONDS_MAX))
        return lbm_scan_refuse(&r->s, LBM_E_RANGE, "the time must be between 0 and %d seconds",
                               LBM_TRACE_SECONDS_MAX);
    *us = llround(seconds * 1e6);
    if (*us < r->t.end_us)
        return lbm_scan_refuse(&r->s, LBM_E_RANGE, "this time is before that of the step before");
    return LBM_OK;
}

static enum lbm_err
read_at(struct reader *r)
{
    int64_t us = 0;
    enum lbm_err err = read_time(r, &us);
    if (err == LBM_OK && lbm_trace_step_begin(&r->t, us) != LBM_OK)
        err = short_of_memory(r);
    return err;
}

static enum lbm_err
read_end(struct reader *r)
{
    int64_t us = 0;
    enum lbm_err err = read_time(r, &us);
    if (err != LBM_OK)
        return err;
    r->t.end_us = us;
    r->ended = 1;
    return LBM_OK;
}

static enum lbm_err
add_event(struct reader *r, enum lbm_trace_event_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
    if (r->t.steps.n == 0)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "when does this happen? `at` must come first");
    return lbm_trace_event_add(&r->t, kind, a, b, c) == LBM_OK ? LBM_OK : short_of_memory(r);
}

static enum lbm_err
read_load(struct reader *r)
{
    struct lbm_field vertex = vertex_field(r);
    enum lbm_err err = LBM_OK;
    do {
        uint32_t v = 0, work = 0;
        err = lbm_trace_pair(&r->s, &vertex, &lbm_field_work, &v, &work);
        if (err == LBM_OK)
            err = check_is_there(r, v);
        if (err == LBM_OK)
            err = add_event(r, LBM_TRACE_LOAD, v, work, 0);
    } while (err == LBM_OK && !lbm_scan_line_done(&r->s));
    return err;
}

static enum lbm_err
read_own(struct reader *r)
{
    struct lbm_field vertex = vertex_field(r);
    uint32_t host = 0;
    enum lbm_err err = lbm_scan_u32(&r->s, &field_host, &host);
    if (err == LBM_OK && r->presence[host] == UNKNOWN)
        err = lbm_scan_refuse(&r->s, LBM_E_RANGE, "host %" PRIu32 " was never there", host);
    if (err != LBM_OK)
        return err;
    do {
        uint32_t v = 0;
        err = lbm_scan_u32(&r->s, &vertex, &v);
        if (err == LBM_OK)
            err = check_is_there(r, v);
        if (err == LBM_OK)
            err = add_event(r, LBM_TRACE_OWN, v, host, 0);
    } while (err == LBM_OK && !lbm_scan_line_done(&r->s));
    return err;
}

static enum lbm_err
read_add(struct reader *r)
{
    uint32_t host = 0;
    enum lbm_err err = lbm_scan_u32(&r->s, &field_host, &host);
    if (err == LBM_OK && r->presence[host] == UNKNOWN)
        err = lbm_scan_refuse(&r->s, LBM_E_RANGE, "host %" PRIu32 " was never there", host);
    if (err != LBM_OK)
        return err;
    do {
        struct lbm_field field = {"number of the next vertex", r->t.n, r->t.n, ""};
        uint32_t v = 0;
        err = lbm_scan_u32(&r->s, &field, &v);
        if (err == LBM_OK && v == LBM_VERTICES_MAX)
            err = lbm_scan_refuse(&r->s, LBM_E_LIMIT, "there are at most %" PRIu32 " vertices",
                                  (uint32_t)LBM_VERTICES_MAX);
        if (err == LBM_OK)
            err = add_event(r, LBM_TRACE_ADD, v, host, 0);
        r->t.n += err == LBM_OK;
    } while (err == LBM_OK && !lbm_scan_line_done(&r->s));
    return err;
}

static enum lbm_err
read_edge(struct reader *r)
{
    static const struct lbm_field weight = {"edge weight", 0, LBM_WEIGHT_MAX, "0: there is none"};
    struct lbm_field vertex = vertex_field(r);
    uint32_t v = 0;
    enum lbm_err err = lbm_scan_u32(&r->s, &vertex, &v);
    if (err == LBM_OK)
        err = check_is_there(r, v);
    if (err != LBM_OK)
        return err;
    do {
        uint32_t other = 0, bandwidth = 0;
        err = lbm_trace_pair(&r->s, &vertex, &weight, &other, &bandwidth);
        if (err == LBM_OK && other == v)
            err = lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "vertex %" PRIu32 " is its own neighbour", v);
        if (err == LBM_OK)
            err = check_is_there(r, other);
        if (err == LBM_OK)
            err = add_event(r, LBM_TRACE_EDGE, v, other, bandwidth);
    } while (err == LBM_OK && !lbm_scan_line_done(&r->s));
    return err;
}

static enum lbm_err
read_remove(struct reader *r)
{
    struct lbm_field vertex = vertex_field(r);
    enum lbm_err err = LBM_OK;
    do {
        uint32_t v = 0;
        err = lbm_scan_u32(&r->s, &vertex, &v);
        if (err == LBM_OK)
            err = check_is_there(r, v);
        if (err == LBM_OK && lbm_idmap_put(&r->removed, v, 1) != LBM_OK)
            err = short_of_memory(r);
        if (err == LBM_OK && r->removed.n == r->t.n)
            err = lbm_scan_refuse(&r->s, LBM_E_RANGE, "this was the last vertex");
        if (err == LBM_OK)
            err = add_event(r, LBM_TRACE_REMOVE, v, 0, 0);
    } while (err == LBM_OK && !lbm_scan_line_done(&r->s));
    return err;
}

/* Which hosts may do what, and what they are then. */
static const struct {
    uint8_t from[GONE + 1];
    enum presence to;
} changes[LBM_TRACE_EVENT_COUNT] = {
    [LBM_TRACE_JOIN] = {{[UNKNOWN] = 1, [GONE] = 1}, PRESENT},
    [LBM_TRACE_HOST] = {{[PRESENT] = 1, [DRAINING] = 1}, UNKNOWN /* what it was */},
    [LBM_TRACE_DRAIN] = {{[PRESENT] = 1}, DRAINING},
    [LBM_TRACE_BACK] = {{[DRAINING] = 1}, PRESENT},
    [LBM_TRACE_LEFT] = {{[PRESENT] = 1, [DRAINING] = 1}, GONE},
    [LBM_TRACE_LOST] = {{[PRESENT] = 1, [DRAINING] = 1}, GONE},
};

static enum lbm_err
host_changes(struct reader *r, enum lbm_trace_event_kind kind, uint32_t host, uint32_t a)
{
    static const char *const states[] = {"was never there", "takes part", "is about to leave", "is gone"};
    if (!changes[kind].from[r->presence[host]])
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "%s: host %" PRIu32 " %s", lbm_trace_event_word(kind),
                               host, states[r->presence[host]]);
    if (changes[kind].to != UNKNOWN)
        r->presence[host] = (uint8_t)changes[kind].to;
    return add_event(r, kind, a, 0, 0);
}

static enum lbm_err
read_described(struct reader *r, enum lbm_trace_event_kind kind)
{
    uint32_t at = 0;
    enum lbm_err err = add_host(r, &at);
    return err == LBM_OK ? host_changes(r, kind, r->t.hosts.at[at].id, at) : err;
}

static enum lbm_err
read_join(struct reader *r)
{
    return read_described(r, LBM_TRACE_JOIN);
}

static enum lbm_err
read_host(struct reader *r)
{
    return r->begun ? read_described(r, LBM_TRACE_HOST) : read_first_host(r);
}

#define NAMED(name, kind)                                                                                    \
    static enum lbm_err read_##name(struct reader *r)                                                        \
    {                                                                                                        \
        uint32_t host = 0;                                                                                   \
        enum lbm_err err = lbm_scan_u32(&r->s, &field_host, &host);                                          \
        return err == LBM_OK ? host_changes(r, kind, host, host) : err;                                      \
    }
NAMED(drain, LBM_TRACE_DRAIN)
NAMED(back, LBM_TRACE_BACK)
NAMED(left, LBM_TRACE_LEFT)
NAMED(lost, LBM_TRACE_LOST)

/* ---- lines ------------------------------------------------------------------------------------------- */

enum { IN_HEAD = 1, IN_STEPS = 2 };

static const struct {
    const char *word;
    int where;
    uint32_t since; /* version */
    enum lbm_err (*read)(struct reader *r);
} rows[] = {
    {"vertex", IN_HEAD, 1, read_vertex},     {"load", IN_STEPS, 1, read_load},
    {"own", IN_STEPS, 1, read_own},          {"at", IN_STEPS, 1, read_at},
    {"add", IN_STEPS, 2, read_add},          {"edge", IN_STEPS, 2, read_edge},
    {"remove", IN_STEPS, 2, read_remove},    {"host", IN_HEAD | IN_STEPS, 1, read_host},
    {"job", IN_HEAD, 1, read_job},           {"guest", IN_HEAD, 1, read_guest},
    {"measured", IN_HEAD, 1, read_measured}, {"begin", IN_HEAD, 1, read_begin},
    {"join", IN_STEPS, 1, read_join},        {"drain", IN_STEPS, 1, read_drain},
    {"back", IN_STEPS, 1, read_back},        {"left", IN_STEPS, 1, read_left},
    {"lost", IN_STEPS, 1, read_lost},        {"end", IN_STEPS, 1, read_end},
};

static enum lbm_err
read_line(struct reader *r)
{
    char word[16] = "";
    size_t row = 0;
    lbm_scan_token(&r->s, word, sizeof word);
    while (row < sizeof rows / sizeof *rows && strcmp(rows[row].word, word) != 0)
        row++;
    if (row == sizeof rows / sizeof *rows || rows[row].since > r->version)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "\"%s\" is no word of a trace", word);
    if (r->ended)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "%s follows `end`: the file should end there", word);
    if ((rows[row].where & (r->begun ? IN_STEPS : IN_HEAD)) == 0)
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "%s belongs %s `begin`", word,
                               r->begun ? "before" : "behind");
    r->s.at += strlen(word);
    enum lbm_err err = rows[row].read(r);
    return err == LBM_OK ? lbm_scan_expect_line_end(&r->s, word) : err;
}

static enum lbm_err
read_version(struct reader *r)
{
    static const struct lbm_field field = {"version of the format", 1, 1000000, ""};
    if (lbm_scan_skip_lines(&r->s, "#", 1) || !lbm_scan_word(&r->s, "lbmap-trace"))
        return lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "this is no trace: it does not begin with lbmap-trace");
    enum lbm_err err = lbm_scan_u32(&r->s, &field, &r->version);
    if (err == LBM_OK && r->version > LBM_TRACE_VERSION)
        return lbm_scan_refuse(&r->s, LBM_E_VERSION,
                               "this trace has version %" PRIu32 ", this program reads 1 to %d", r->version,
                               LBM_TRACE_VERSION);
    return err == LBM_OK ? lbm_scan_expect_line_end(&r->s, "the version") : err;
}

static enum lbm_err
read_text(struct reader *r)
{
    enum lbm_err err = read_version(r);
    if (err == LBM_OK)
        lbm_scan_next_line(&r->s);
    while (err == LBM_OK && !lbm_scan_skip_lines(&r->s, "#", 1)) {
        (void)lbm_scan_line_done(&r->s); /* to the word */
        err = read_line(r);
        if (err == LBM_OK)
            lbm_scan_next_line(&r->s);
    }
    if (err == LBM_OK && !r->begun)
        err = lbm_scan_refuse(&r->s, LBM_E_SYNTAX, "the trace ends before its guest is complete: it was cut");
    return err;
}

enum lbm_err
lbm_trace_read(const char *name, const char *text, size_t len, struct lbm_trace *out, struct lbm_diag *diag)
{
    struct reader *r = lbm_alloc(1, sizeof *r);
    if (r == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, name, 0, "no memory for the trace");
    while (len > 0 && text[len - 1] != '\n') /* what is left of a line that was cut */
        len--;
    r->len = len;
    lbm_scan_begin(&r->s, name, text, len, diag);
    enum lbm_err err = read_text(r);
    r->t.cut = !r->ended;
    lbm_edge_list_free(&r->edges);
    lbm_idmap_free(&r->removed);
    if (err == LBM_OK)
        *out = r->t;
    else
        lbm_trace_free(&r->t);
    free(r);
    return err;
}
