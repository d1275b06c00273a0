/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces: the hosts, the guest and the mapping of a job at some time, and what changed afterwards. The
 * format is in docs/formats.md.
 *
 * Owns: the representation, its text and back.  Never: touches files, decides anything. */
#ifndef LBM_TRACE_TRACE_H
#define LBM_TRACE_TRACE_H

#include "base/mem.h"
#include "graph/graph.h"
#include "host/host.h"

enum {
    LBM_TRACE_VERSION = 2,              /* that is written; 1, in which guests do not change, is read too */
    LBM_TRACE_WORD_MAX = 31,            /* the name of a policy */
    LBM_TRACE_SECONDS_MAX = 1000000000, /* of a trace: thirty years */
};

struct lbm_trace_link {
    uint32_t host; /* id */
    uint32_t cost;
};

/* A host as it was at some time. */
struct lbm_trace_host {
    uint32_t id;
    char name[LBM_NAME_MAX + 1]; /* printable ASCII without blanks */
    double capacity;
    unsigned m; /* numbers of the site, 0: none is known */
    double site[LBM_DIMENSIONS_MAX];
    LBM_VEC(struct lbm_trace_link) links;
};

/* What happens. a, b and c are numbers as the last column says. */
#define LBM_TRACE_EVENT_LIST(X)                                                                              \
    X(ADD, "add")       /* vertex a, the next number, is there, at host b; it weighs 1 and has no edges */   \
    X(EDGE, "edge")     /* the edge of vertices a and b weighs c from now on; 0: there is none */            \
    X(LOAD, "load")     /* vertex a weighs b from now on */                                                  \
    X(OWN, "own")       /* vertex a is host b's */                                                           \
    X(REMOVE, "remove") /* vertex a is gone, with its edges */                                               \
    X(JOIN, "join")     /* host described by hosts.at[a] takes part, for the first time or again */          \
    X(HOST, "host")     /* a host that takes part is now as described by hosts.at[a] */                      \
    X(DRAIN, "drain")   /* host a gives everything away, to leave */                                         \
    X(BACK, "back")     /* host a does not leave after all */                                                \
    X(LEFT, "left")     /* host a has left */                                                                \
    X(LOST, "lost")     /* host a is lost for good, with all it had */

enum lbm_trace_event_kind {
#define LBM_TRACE_EVENT_ENUM(id, word) LBM_TRACE_##id,
    LBM_TRACE_EVENT_LIST(LBM_TRACE_EVENT_ENUM)
#undef LBM_TRACE_EVENT_ENUM
        LBM_TRACE_EVENT_COUNT
};

const char *lbm_trace_event_word(enum lbm_trace_event_kind kind);
/* Nonzero if it is about vertices, not about a host. */
int lbm_trace_is_of_guest(enum lbm_trace_event_kind kind);

struct lbm_trace_event {
    enum lbm_trace_event_kind kind;
    uint32_t a, b, c;
};

/* Events that happen at one time: events.at[first .. first + n). */
struct lbm_trace_step {
    int64_t at_us; /* since the beginning; ascending */
    size_t first, n;
};

struct lbm_trace {
    char job[LBM_NAME_MAX + 1];
    double imbalance;                    /* bound of the job */
    char policy[LBM_TRACE_WORD_MAX + 1]; /* as the job was asked to have */
    uint64_t seed;
    int measured; /* nonzero: loads are measurements; 0: weights as records of vertices have them */
    LBM_VEC(struct lbm_trace_host) hosts; /* the first n_present take part at the beginning */
    uint32_t n_present;
    struct lbm_graph g; /* at the beginning; pins are ids of hosts */
    uint32_t *owner;    /* [g.n] id of its host at the beginning */
    uint32_t n;         /* vertices that are ever there: those of g, and those that are added */
    LBM_VEC(struct lbm_trace_event) events;
    LBM_VEC(struct lbm_trace_step) steps;
    int64_t end_us; /* when it ends; of a trace that was cut, its last step */
    int cut;        /* nonzero: the text ends before the trace does */
};

/* Read a whole text. name: of the file, for messages. A text that was cut after its guest is complete counts
 * as far as its lines are whole. Out:    *out owned by the caller; every number in it names something that is
 * there, but a pin may name a host that is none of the trace's.
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE, LBM_E_VERSION, LBM_E_NOMEM; diag names the line; *out untouched.
 * Cost:   O(text). */
enum lbm_err lbm_trace_read(const char *name, const char *text, size_t len, struct lbm_trace *out,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

void lbm_trace_free(struct lbm_trace *trace);

/* Append to a text: everything up to the beginning; one step; the end. Shortage of memory is buf->failed.
 * What of a name cannot stand in a trace becomes an underscore. */
void lbm_trace_put_head(struct lbm_buf *buf, const struct lbm_trace *trace, const char *comment);
void lbm_trace_put_step(struct lbm_buf *buf, const struct lbm_trace *trace,
                        const struct lbm_trace_step *step);
void lbm_trace_put_end(struct lbm_buf *buf, int64_t end_us);

/* Begin a step, or add an event to the last one. Value: LBM_OK or LBM_E_NOMEM. */
enum lbm_err lbm_trace_step_begin(struct lbm_trace *trace, int64_t at_us) LBM_MUST_CHECK;
enum lbm_err lbm_trace_event_add(struct lbm_trace *trace, enum lbm_trace_event_kind kind, uint32_t a,
                                 uint32_t b, uint32_t c) LBM_MUST_CHECK;

#endif
