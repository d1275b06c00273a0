/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the stages of a plan share. For the files of lib/map only. */
#ifndef LBM_MAP_INTERNAL_H
#define LBM_MAP_INTERNAL_H

#include "embed/embed.h"
#include "map/map.h"
#include "map/problem.h"

/* A mapping that stages work on. Borrows everything. */
struct mapping {
    const struct lbm_graph *g;
    const struct lbm_hosts *h;
    const uint64_t *limit;                  /* [hosts] largest load, work units */
    const uint64_t *least;                  /* [hosts] smallest; NULL: 0 */
    uint32_t *part;                         /* [n] changed in place; pinned vertices keep theirs */
    const struct lbm_plan_options *options; /* whom to ask whether to stop; NULL: nobody */
    int quick;                              /* try less: one good start is enough */
    const uint32_t *current; /* [n] host of each vertex before, LBM_NONE: none; NULL: moves cost nothing */
    const int64_t *stay; /* [n] cost of not being at current, in LBM_PAIR_PRICE_PARTS of J; with current */
    int64_t budget;      /* as long as no more stay than this is away, it costs MAPPING_EASE times less */
};

enum { MAPPING_EASE = 10 };

/* The methods of a plan. In: a guest that is not empty; plan's arrays allocated but x.  Out: plan.
 * Errors: LBM_E_NOMEM. */
enum lbm_err map_plan_multilevel(const struct problem *problem, struct lbm_plan *plan) LBM_MUST_CHECK;
enum lbm_err map_plan_remap(const struct problem *problem, struct lbm_plan *plan) LBM_MUST_CHECK;
enum lbm_err map_plan_heirich(const struct problem *problem, struct lbm_plan *plan) LBM_MUST_CHECK;

/* Work over the limits, and missing below what is least, summed over the hosts. */
uint64_t mapping_excess(const struct mapping *m, const uint64_t *load);

/* What decides between two mappings: balance within the limits, then J. */
struct objective {
    uint64_t excess;
    uint64_t hop_bytes; /* with current: J and the cost of moves, in LBM_PAIR_PRICE_PARTS */
};

/* Out: load [hosts], scratch that then holds the loads. */
struct objective mapping_objective(const struct mapping *m, uint64_t *load);
int objective_less(const struct objective *a, const struct objective *b); /* a is strictly better */

static inline int
mapping_stopped(const struct mapping *m)
{
    return m->options != NULL && m->options->stop != NULL && m->options->stop(m->options->arg);
}

/* What vertices away from current cost together, from the sum of their stay. */
static inline int64_t
mapping_price(const struct mapping *m, int64_t away)
{
    return away <= m->budget ? away / MAPPING_EASE : m->budget / MAPPING_EASE + away - m->budget;
}

/* Sum of stay of the vertices away from current; 0 without current. */
int64_t mapping_away(const struct mapping *m);

static inline int
mapping_pinned(const struct mapping *m, uint32_t v)
{
    return m->g->pin != NULL && m->g->pin[v] != LBM_NONE;
}

/* The best few mappings of one guest, best first. */
struct pool {
    uint32_t n_vertices, n, room;
    uint32_t *part;              /* [room * n_vertices] */
    uint32_t *slot;              /* [room] place in part of the i-th best */
    struct objective *objective; /* [room] by slot */
};

enum lbm_err pool_init(struct pool *pool, uint32_t n_vertices, uint32_t room) LBM_MUST_CHECK;
/* Copies part if it is good enough. */
void pool_offer(struct pool *pool, const uint32_t *part, struct objective objective);
static inline const uint32_t *
pool_part(const struct pool *pool, uint32_t i)
{
    return &pool->part[(size_t)pool->slot[i] * pool->n_vertices];
}
void pool_free(struct pool *pool);

/* The vertices of each host that may move: lists that change in constant time. */
struct resident_list {
    uint32_t *at;
    size_t n, capacity;
};

struct residents {
    uint32_t n_hosts;
    struct resident_list *list; /* [hosts] */
    uint32_t *place;            /* [n] of each vertex in its list; LBM_NONE: pinned */
};

enum lbm_err residents_init(struct residents *r, const struct mapping *m) LBM_MUST_CHECK;
/* Errors: LBM_E_NOMEM, unchanged. */
enum lbm_err residents_move(struct residents *r, uint32_t v, uint32_t from, uint32_t to) LBM_MUST_CHECK;
void residents_free(struct residents *r);

/* The vertices of each host, pinned ones too, that have a neighbour elsewhere or none at all, or are not at
 * current. */
struct border {
    uint32_t n_hosts;
    struct resident_list *list; /* [hosts] */
    uint32_t *place;            /* [n] of each vertex in its list; LBM_NONE: inside its host */
};

/* Errors: LBM_E_NOMEM; to be freed all the same. */
enum lbm_err border_init(struct border *b, const struct mapping *m) LBM_MUST_CHECK;

/* After vertices moved between hosts p and q.  Errors: LBM_E_NOMEM. */
enum lbm_err border_moved(struct border *b, const struct mapping *m, const uint32_t *moved, uint32_t n_moved,
                          uint32_t p, uint32_t q) LBM_MUST_CHECK;
void border_free(struct border *b);

/* Vertices without a host (part LBM_NONE) go to the hosts of their neighbours, layer by layer; a part of the
 * guest that is on no host to the emptiest.  Errors: LBM_E_NOMEM, part unchanged. */
enum lbm_err map_place_orphans(const struct mapping *m) LBM_MUST_CHECK;

/* The quotient graph: hosts joined by the bandwidth between their vertices. Neighbours sorted by id. */
struct quotient {
    uint32_t n;
    uint64_t *offset; /* [n + 1] */
    uint32_t *target; /* [offset[n]] */
    uint64_t *weight; /* [offset[n]] */
};

enum lbm_err quotient_build(struct quotient *q, const struct lbm_graph *g, uint32_t n_hosts,
                            const uint32_t *part) LBM_MUST_CHECK;
void quotient_free(struct quotient *q);

/* What is moved between two hosts for balance. */
struct shipment {
    uint32_t from, to;
    uint64_t work;
};

struct shipments {
    struct shipment *at;
    size_t n, capacity;
};

/* The cheapest transport of what is over the limits to where there is room. A shift over a link costs 1;
 * `jump` links and more are cheaper at once, by half their length; 0: nothing jumps.
 * Out: list, in an order in which what passes through a host has come before it goes on; lbm_vec_free.
 * Errors: LBM_E_NOMEM.  Cost: hosts times links times a few. */
enum lbm_err map_transport(const struct lbm_hosts *h, const uint64_t *load, const uint64_t *limit,
                           unsigned jump, struct shipments *list) LBM_MUST_CHECK;

/* Potential of H whose differences over link costs are the l2-optimal flow.
 * In: surplus [hosts] load - target, sums to 0.  Out: phi [hosts].  Errors: LBM_E_NOMEM. */
enum lbm_err map_potential(const struct lbm_hosts *h, const double *surplus, double *phi) LBM_MUST_CHECK;

/* Balance by the l2-optimal flow on H: the potential of the loads, then best-gain moves along each link;
 * what is left over (weights that do not fit a link's flow) goes wherever it fits best.
 * Out: never more excess than before; none with unit work. What is left of it with others is for rounds,
 * which see both hosts.  Errors: LBM_E_NOMEM. */
enum lbm_err map_flow(const struct mapping *m, struct lbm_rng *rng) LBM_MUST_CHECK;

/* Bring loads into their bounds by moves and exchanges of single vertices, at the least cost; as far as such
 * steps help, and not many are needed. Out: never more excess than before.  Errors: LBM_E_NOMEM. */
enum lbm_err map_repair(const struct mapping *m) LBM_MUST_CHECK;

/* What every method does last: repair, or fall back to the packing, if loads are out of bounds.
 * In:      m with the problem's guest, hosts, limits.  Errors: LBM_E_NOMEM. */
enum lbm_err map_finish(const struct problem *problem, const struct mapping *m) LBM_MUST_CHECK;

/* Bring what each host has of a component of the guest into one piece, but for pinned vertices, then loads
 * into their bounds as far as steps allow that part nothing.  Errors: LBM_E_NOMEM. */
enum lbm_err map_connect(const struct mapping *m) LBM_MUST_CHECK;

/* Moves and exchanges of single vertices, wherever they are, while J falls and the excess does not rise.
 * Guests of more than some thousand vertices stay as they are.  Errors: LBM_E_NOMEM. */
enum lbm_err map_descend(const struct mapping *m) LBM_MUST_CHECK;

/* Pair rounds over linked hosts and hosts that share edges of G, in random order; after the first round
 * only pairs of which a host changed.  Never worse in (excess, J).  Errors: LBM_E_NOMEM. */
enum lbm_err map_refine(const struct mapping *m, int rounds, uint32_t stall_limit,
                        struct lbm_rng *rng) LBM_MUST_CHECK;

/* Exchange whole parts between hosts while J falls and the limits hold.  Errors: LBM_E_NOMEM. */
enum lbm_err map_swap(const struct mapping *m) LBM_MUST_CHECK;

/* Coarsen inside hosts to about `target` vertices, refine upwards, keep the result if it is not worse.
 * Errors: LBM_E_NOMEM. */
enum lbm_err map_vcycle(const struct mapping *m, uint32_t target, struct lbm_rng *rng) LBM_MUST_CHECK;

/* How to anneal. The temperature falls geometrically from hot to cold. At 1, J rises by one edge of mean
 * weight over one link with probability 1/e, on a guest of six edges a vertex; with more edges a vertex the
 * unit grows as their square root. */
struct cooling {
    double hot, cold;
    uint64_t draws; /* vertices that are tried */
};

/* Remap vertices of the boundaries one at a time, uphill too. Neither J nor the loads are kept from rising:
 * balance and refine afterwards, and compare.
 * Errors: LBM_E_NOMEM.  Cost: O(n + m), and the edges of a vertex for each draw. */
enum lbm_err map_anneal(const struct mapping *m, const struct cooling *how,
                        struct lbm_rng *rng) LBM_MUST_CHECK;

/* A V-cycle that anneals on every level, draws and all, and refines on the finest only: loads need not be
 * right before.  Errors: LBM_E_NOMEM. */
enum lbm_err map_vcycle_annealed(const struct mapping *m, uint32_t target, const struct cooling *how,
                                 struct lbm_rng *rng) LBM_MUST_CHECK;

/* The same for a child of two mappings: coarsening stays inside what both put on one host, and m->part is
 * where the child begins. Errors: LBM_E_NOMEM. */
enum lbm_err map_combine(const struct mapping *m, const uint32_t *other, uint32_t target,
                         const struct cooling *how, struct lbm_rng *rng) LBM_MUST_CHECK;

/* Largest work of a cluster when about `target` vertices shall remain. */
uint64_t map_cluster_work(const struct lbm_graph *g, uint32_t target);

/* part of a coarse level from the next finer one, of which all children of a vertex agree */
void map_restrict(const uint32_t *parent, uint32_t n_fine, const uint32_t *fine, uint32_t *coarse);

/* part of a fine level from that of the next coarser one */
void map_prolong(const uint32_t *parent, uint32_t n_fine, const uint32_t *coarse, uint32_t *fine);

/* Turn coordinates x [n * m] about the centre so that the work they carry fills an upright box best: the
 * least fourth moments along the axes, as of a cube against its diagonals. */
void map_set_upright(const struct lbm_graph *g, unsigned m, double *x);

/* Isometries about the centre of Omega. matrix: [4] or [9], row-major. */
void map_isometry_plane(double angle, int mirrored, double *matrix);
void map_isometry_space(struct lbm_rng *rng, double *matrix);
void map_isometry_axes(unsigned order, double *matrix); /* of space, order < 6 */
void map_isometry_apply(const double *matrix, unsigned m, uint32_t n, const double *x, double *out);

/* Cut coordinates into the regions of a balanced power diagram; pinned vertices keep their hosts.
 * In: y [n * m].  Out: m->part; weight [hosts].  Errors: LBM_E_NOMEM. */
enum lbm_err map_cut_regions(const struct mapping *m, const double *y, double *weight) LBM_MUST_CHECK;

/* Sites of the hosts in the plane, if their own are in space and a plane suits them too (hypercubes: Gray
 * codes on a grid). Out: site [2 * hosts]. Value: whether there are any. */
int map_plane_sites(const struct lbm_hosts *h, double *site);

/* Lay coordinates over the sites in several ways, balance the power diagram of each, refine a little, and
 * offer what comes out to the pool.
 * In: x [n * m] mean 1/2 and variance 1/12, is set upright; m->part is scratch.  Errors: LBM_E_NOMEM. */
enum lbm_err map_start_regions(const struct mapping *m, double *x, struct lbm_rng *rng,
                               struct pool *pool) LBM_MUST_CHECK;

/* Where the diffusion of HEI97 comes to rest: every vertex that is not pinned at the mean of its neighbours.
 * In:      pinned [n], at least one, g connected; x [n * dimensions] of the pinned, and a guess of the
 * others. Out:     x. Errors:  LBM_E_NOMEM.  Cost: O(n^1.5) for meshes. */
enum lbm_err map_harmonic(const struct mapping *m, const uint8_t *pinned, unsigned dimensions,
                          double *x) LBM_MUST_CHECK;

/* Pin the outer face of a planar guest, let the others come to rest, cut into regions.
 * In:      m->h has sites in the plane.
 * Out:     m->part; *applies zero (and part scratch) if the guest is not planar.
 * Errors:  LBM_E_NOMEM. */
enum lbm_err map_start_face(const struct mapping *m, struct lbm_rng *rng, int *applies) LBM_MUST_CHECK;

/* Draw the guest itself and cut it into regions: balanced on a coarser level, so that loads need not be
 * right. Out: m->part.  Errors: LBM_E_NOMEM. */
enum lbm_err map_start_drawing(const struct mapping *m, const struct lbm_levels *levels,
                               struct lbm_rng *rng) LBM_MUST_CHECK;

/* What a network gets whose hosts stand in groups far from each other, as racks in halls do: at least twice
 * as far as hosts inside. Each depth at which such groups have come apart is a stage. */
struct staging {
    uint32_t draws_vertex; /* of each annealing on each level */
    int tries;             /* of each stage, annealed; the best one is gone on from */
    uint32_t draws_try;    /* at most */
    int cycles;            /* of the best one, annealed again and again */
    uint32_t draws_cycle;  /* at most */
};

/* Split the hosts by halves, and the guest with them, with refinement on all levels after each halving: finds
 * what no plane drawing shows (trees, circuits). What a stage cuts is cut for good: later annealing, in units
 * of the shortest link, moves nothing over so long ones.  Out: m->part.  Errors: LBM_E_NOMEM. */
enum lbm_err map_start_bisection(const struct mapping *m, const struct staging *how,
                                 struct lbm_rng *rng) LBM_MUST_CHECK;

/* Out: staged, nonzero if halving the hosts comes by stages.  Errors: LBM_E_NOMEM. */
enum lbm_err map_is_staged(const struct lbm_hosts *h, int *staged) LBM_MUST_CHECK;

/* Bring coordinates x from the next coarser level to `level`, and smooth them.  Errors:
 * LBM_E_NOMEM. */
enum lbm_err map_interpolate(const struct lbm_levels *levels, uint32_t level, unsigned m, struct lbm_rng *rng,
                             double *x) LBM_MUST_CHECK;

/* Coordinates of all vertices and weights of the regions for a finished mapping: the interpolated embedding,
 * laid over the sites; each host's vertices fill its region.
 * In:      x [n * m] interpolated.  Out: x in the unit box; weight [hosts].  Errors: LBM_E_NOMEM. */
enum lbm_err map_geometry(const struct mapping *m, struct lbm_rng *rng, double *x,
                          double *weight) LBM_MUST_CHECK;

#endif
