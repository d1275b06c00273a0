/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings and their quality; the plan pipeline; refinement between neighbours.
 * Source: HEI97 eq. (1) and section 9. */
#ifndef LBM_MAP_MAP_H
#define LBM_MAP_MAP_H

#include "base/rng.h"
#include "embed/embed.h"
#include "graph/graph.h"
#include "host/host.h"

/* What a mapping costs; field names are those of `lbctl eval --json`. */
struct lbm_quality {
    double imbalance;     /* max_p L_p / T_p - 1 */
    uint64_t hop_bytes;   /* J: sum over edges, each once, of c_ij d(F(i), F(j)) */
    uint64_t cut;         /* sum of c_ij with F(i) != F(j) */
    double dilation_mean; /* J / sum of c_ij */
    uint32_t dilation_max;
    uint64_t comm_volume_total; /* sum over vertices of the foreign hosts among its neighbours */
    uint64_t comm_volume_max;   /* largest such sum of one host */
    uint32_t empty_hosts;
};

/* Measure a mapping.
 * In:      part [n], each < h->n.
 * Errors:  LBM_E_RANGE naming the vertex, LBM_E_LIMIT a sum exceeds 64 bits, LBM_E_NOMEM; *out untouched.
 * Cost:    O(n + m). */
enum lbm_err lbm_map_evaluate(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part,
                              struct lbm_quality *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* J alone, of a graph that lbm_map_check_sums accepts. */
uint64_t lbm_map_hop_bytes(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part);

/* The part of J of edges between hosts that no link joins. */
uint64_t lbm_map_unlinked_hop_bytes(const struct lbm_graph *g, const struct lbm_hosts *h,
                                    const uint32_t *part);
/* Each host's part of J: half of what the edges of its vertices cost. Out: hop_bytes [h->n], together J. */
void lbm_map_host_hop_bytes(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part,
                            double *hop_bytes);

/* Pieces in which hosts have components of the guest, beyond one of each for each host.
 * In: part [n], each < h->n.  Out: *extra.  Errors: LBM_E_NOMEM.  Cost: O(n + m). */
enum lbm_err lbm_map_pieces(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part,
                            uint32_t *extra) LBM_MUST_CHECK;

/* Whether J and every gain of g on h fit 63 bits, whatever the mapping: bandwidths times largest distance.
 * Errors: LBM_E_LIMIT. */
enum lbm_err lbm_map_check_sums(const struct lbm_graph *g, const struct lbm_hosts *h,
                                struct lbm_diag *diag) LBM_MUST_CHECK;

/* Out: load [h->n], work units. */
void lbm_map_loads(const struct lbm_graph *g, uint32_t n_hosts, const uint32_t *part, uint64_t *load);

/* Largest load each host may carry: (1 + eps) T_p rounded down, or, where a packing of the vertices does not
 * keep that, what it reaches: the same part more on every host. A vertex heavier than any host may carry has
 * a host to itself, and the others share the rest. All in units of the weights' common divisor: weights times
 * c have limits times c. In:     pins in range.  Out: limit [h->n].  Errors: LBM_E_NOMEM. Cost:   O(n), that
 * of lbm_map_balance where vertices are heavy. */
enum lbm_err lbm_map_limits(const struct lbm_graph *g, const struct lbm_hosts *h, double eps,
                            uint64_t *limit) LBM_MUST_CHECK;

/* What imbalance may be had at all, edges aside. */
struct lbm_balance {
    double least;         /* no mapping is below it */
    double longest_first; /* of the heaviest vertex first, each to the host that it fills least */
};

/* Source: Graham 1969 for longest first; the lower bound counts, for each weight, how many vertices of it
 *         and more the hosts hold.
 * In:     pins in range.  Errors: LBM_E_NOMEM.  Cost: O(n log n), and hosts times vertices up to 2^24. */
enum lbm_err lbm_map_balance(const struct lbm_graph *g, const struct lbm_hosts *h,
                             struct lbm_balance *out) LBM_MUST_CHECK;

/* Work over the limits, summed over the hosts: 0 if the mapping is balanced within the bound. */
uint64_t lbm_map_excess(uint32_t n_hosts, const uint64_t *load, const uint64_t *limit);

/* Gain in J of moving v from its host to q: sum over neighbours of c (d(p, .) - d(q, .)). */
int64_t lbm_map_gain(const struct lbm_graph *g, const struct lbm_hosts *h, const uint32_t *part, uint32_t v,
                     uint32_t q);

/* Memory that rounds over one graph or patch share, so that each costs in proportion to its members only.
 */
struct lbm_pair_workspace;
struct lbm_pair_workspace *lbm_pair_workspace_new(uint32_t rows); /* NULL if memory is short */
void lbm_pair_workspace_free(struct lbm_pair_workspace *ws);

enum { LBM_PAIR_PRICE_PARTS = 256 }; /* of a unit of gain, in which lbm_pair.price counts */

/* One Fiduccia-Mattheyses round between hosts a and b, third hosts included in every gain.
 * The same code serves the plan (whole graph), the daemon (own vertices, the partner's band, ghosts) and
 * the simulator. */
struct lbm_pair {
    const struct lbm_graph *g; /* graph or patch; rows are the vertices that may move */
    const struct lbm_hosts *h;
    uint32_t *part;       /* [rows and ghosts] host of each; changed for moved rows */
    const uint8_t *fixed; /* [rows] nonzero: stays; NULL: all may move */
    uint32_t a, b;
    const uint32_t *member; /* [n_members] rows now on a or b that may move */
    uint32_t n_members;
    uint32_t room; /* 0: the members alone may move; else all rows on a or b may that are not fixed, at most
                    * that many, and members are those at the boundary */
    uint64_t load[2];        /* present loads of a and b, work units */
    uint64_t limit[2];       /* bounds; an overloaded side is forced to give */
    const uint64_t *least;   /* [2] smallest loads, which no round leaves; NULL: 0 */
    uint64_t shift;          /* work that should leave a for b first (GDE's share); 0: none */
    uint32_t stall_limit;    /* moves without gain before giving up (100); 0: shift only */
    const uint32_t *most;    /* [2] rows that may leave a and b; NULL: any number */
    uint32_t price;          /* gain that a move beyond the shift must bring, in those parts */
    const uint32_t *current; /* [rows] host a row comes from, LBM_NONE: none; NULL: no matter */
    const int64_t *stay;     /* [rows] cost of not being at current, in those parts; with current */
    double escalation;       /* of a cut: what the shift may cost for a unit of work at most, J and
                              * stay in those parts; 0: anything */
    struct lbm_pair_workspace *workspace; /* for at least g->n rows; NULL: a temporary one */
};

/* Refine the boundary of a pair. A row may move if it has a neighbour nearer to the other side, or loses
 * nothing by it; for the shift alone any member of a may, once no such row is left.
 * Source:  Fiduccia & Mattheyses 1982, with the gain of HEI97 eq. (1)'s objective.
 * Out: load updated; *gain = decrease of J (may be negative if balance forced it), with current that of J and
 *      stay in LBM_PAIR_PRICE_PARTS; *moved [n_members, or room]
 *      rows that changed host, *n_moved of them.  Returns to the best prefix: least violation, then most
 *      gain less the price of the moves, then better balance.  With shift > 0 the shifted work is part of
 *      the prefix that is kept, and a ends no heavier than the shift left it (or its limit, if that is more).
 * Errors: LBM_E_NOMEM, part and loads unchanged.
 * Cost: O(k log k), k directions of the members, and of rows that move with room. */
enum lbm_err lbm_pair_refine(struct lbm_pair *pair, struct lbm_rng *rng, int64_t *gain, uint32_t *moved,
                             uint32_t *n_moved) LBM_MUST_CHECK;

/* The same with the best boundary that the members allow: least J and stay of those that change host, a least
 * cut for each price of work, and refinement where a cut has more or less work than was asked for. Of the
 * shift no more is carried out than what costs no more than escalation. If rows are limited (most) or costs
 * are too large for this, refinement alone. In:      stay [rows]; room 0, current NULL; price is not used.
 * Source: Picard & Ratliff 1975; Everett 1963. Out, errors: as lbm_pair_refine; load, *gain (of J), *moved
 * [n_members]. Cost:    a few maximal flows over the members, each a few times their directions. */
enum lbm_err lbm_pair_cut(struct lbm_pair *pair, struct lbm_rng *rng, int64_t *gain, uint32_t *moved,
                          uint32_t *n_moved) LBM_MUST_CHECK;

#define LBM_METHOD_LIST(X)                                                                                   \
    X(LBMAP, "lbmap", "levels, embedding, balanced power diagram, flow, pair refinement")                    \
    X(HEIRICH, "heirich", "HEI97 alone: pins, diffusion, equal regions, fig. 9 balancing")

enum lbm_method {
#define LBM_METHOD_ENUM(id, name, text) LBM_METHOD_##id,
    LBM_METHOD_LIST(LBM_METHOD_ENUM)
#undef LBM_METHOD_ENUM
        LBM_METHOD_COUNT
};

#define LBM_EFFORT_LIST(X)                                                                                   \
    X(FAST, "fast", "two starts on a coarsened guest, a short annealing")                                    \
    X(NORMAL, "normal", "all starts, the best one annealed on the guest")                                    \
    X(BEST, "best", "all starts from several seeds, the best annealed at length and combined")

enum lbm_effort {
#define LBM_EFFORT_ENUM(id, name, text) LBM_EFFORT_##id,
    LBM_EFFORT_LIST(LBM_EFFORT_ENUM)
#undef LBM_EFFORT_ENUM
        LBM_EFFORT_COUNT
};

/* Carries out tasks that do not depend on each other, as lbm_parallel_run of lib/threads does. */
typedef void lbm_parallel(void (*task)(void *context), void *const *context, unsigned n);

struct lbm_plan_options {
    enum lbm_method method;
    enum lbm_effort effort; /* of the method lbmap: time for quality */
    double imbalance;       /* bound, 0.03 = 3 % */
    uint64_t load_least;    /* of every host, work units; 0: none */
    uint64_t load_most;     /* the same; 0: any */
    int connected; /* what a host has of a component of the guest is connected, whatever loads and J */
    uint64_t seed;
    /* Of the method heirich: in which order its sweeps update vertices, and where to. ANGLES begins where
     * MEAN comes to rest and lets go of the guest's own pins. */
    enum lbm_order order;
    enum lbm_diffusion_rule rule;
    /* Remap: where the vertices are now, host ids or LBM_NONE where that host is gone; NULL: a fresh plan.
     * [n], borrowed. The method heirich balances it by fig. 9 alone, whatever that moves. */
    const uint32_t *current;
    double migration_cost; /* hop-bytes that moving a unit of work must save, >= 0; a tenth of that while no
                              more moves than 1.4 times what equal loads ask for */
    uint32_t draws_max; /* remap: draws of each annealing on a level at most; 0: as many as the effort has */
    unsigned ways_max;  /* remap: ways to balance that compete at most; 0: all */
    /* Remap: parts of migration_cost, in (0, 1], for vertices that are on each host; NULL: 1. [hosts],
     * borrowed.
     */
    const double *host_cost;
    /* Asked between stages and rounds; nonzero stops early with the best so far. NULL: never. */
    int (*stop)(void *arg);
    /* Told what runs, done in [0, 1]. NULL: nothing is told. */
    void (*progress)(void *arg, const char *stage, double done);
    /* Calls task(context[i]) once for every i < n, several at the same time if it can, and returns when all
     * have returned; stop is then asked by all of them. NULL: one after the other. The plan is the same. */
    lbm_parallel *parallel;
    void *arg; /* of stop and progress */
};

void lbm_plan_defaults(struct lbm_plan_options *options);

/* Halve the hosts and the guest with them, again and again, on a coarsened guest; no embedding, no annealing:
 * a start. In: h with distances; imbalance as of a plan. Out: part [n]; loads are near the limits, pins are
 * not looked at.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_map_halve(const struct lbm_graph *g, const struct lbm_hosts *h, double imbalance,
                           uint64_t seed, uint32_t *part) LBM_MUST_CHECK;

/* Carry out n tasks as options->parallel says. */
void lbm_plan_parallel(const struct lbm_plan_options *options, void (*task)(void *context),
                       void *const *context, unsigned n);

/* A plan: the mapping and the geometry behind it. */
struct lbm_plan {
    uint32_t n;
    uint32_t *part; /* [n] host of each vertex */
    unsigned m;
    double *x;      /* [n * m] coordinates in the unit box */
    double *weight; /* [hosts] power weights of the regions */
};

/* Map g onto h. Works for 1 and 2 hosts, more hosts than vertices, no edges, disconnected guests; pinned
 * vertices (g->pin) stay. Deterministic: same input and seed, same bytes.
 * Errors: LBM_E_RANGE (a pin or the present mapping names no host), LBM_E_LIMIT (lbm_map_check_sums; a
 * migration cost that with J may exceed 62 bits), LBM_E_NOMEM; LBM_E_UNSUPPORTED no mapping has the loads
 * asked for, or none was found; *out untouched.
 */
enum lbm_err lbm_plan_make(const struct lbm_graph *g, const struct lbm_hosts *h,
                           const struct lbm_plan_options *options, struct lbm_plan *out,
                           struct lbm_diag *diag) LBM_MUST_CHECK;
/* The best of that many plans, each from random numbers of its own, next to each other: for who keeps a
 * mapping for long. Least beyond the limits, then least J and lbm_map_unlinked_hop_bytes together (ADR 18).
 * In:      options as of lbm_plan_make, but progress is told nothing; starts at least 1, one of them is what
 *          lbm_plan_make makes.
 * Errors:  as lbm_plan_make. */
enum lbm_err lbm_plan_make_best(const struct lbm_graph *g, const struct lbm_hosts *h,
                                const struct lbm_plan_options *options, unsigned starts, struct lbm_plan *out,
                                struct lbm_diag *diag) LBM_MUST_CHECK;
void lbm_plan_free(struct lbm_plan *plan);

/* HEI97 fig. 9 on a mapping: pinned vertices stay. */
struct lbm_edge_remap {
    const struct lbm_graph *g; /* borrowed, as the arrays are */
    uint32_t *part;            /* [g->n] */
    uint64_t *load;            /* [hosts] work */
    const double *target;      /* [hosts] what each is to have */
    double tolerance;          /* work units */
    uint32_t out;              /* hosts farther than that from their target; 0: the end */
};

/* Count the hosts that are out. */
void lbm_edge_remap_start(struct lbm_edge_remap *r, uint32_t n_hosts);
/* One iterate: a random edge across regions gives a vertex from the fuller to the other. */
void lbm_edge_remap_draw(struct lbm_edge_remap *r, struct lbm_rng *rng);

/* What a remapping moves. */
struct lbm_migration {
    uint32_t vertices;    /* that change host, or had none */
    uint64_t work;        /* of those */
    uint64_t unavoidable; /* work without host, or over the limits, or away from its pin: at least so much
                             must move */
};

/* In:     before [n], host ids or LBM_NONE; after [n]; limit [n_hosts] of lbm_map_limits.
 * Errors: LBM_E_NOMEM. */
enum lbm_err lbm_map_migration(const struct lbm_graph *g, uint32_t n_hosts, const uint64_t *limit,
                               const uint32_t *before, const uint32_t *after,
                               struct lbm_migration *out) LBM_MUST_CHECK;

/* A migration cost for guests of any size and weights: six times the mean bandwidth of a unit of work,
 * times the square root of hosts over vertices. For meshes that is about eight times J for each unit of work,
 * so that a part of the work that moves weighs as eight times that part of J. */
double lbm_map_migration_cost(const struct lbm_graph *g, uint32_t n_hosts);

#endif
