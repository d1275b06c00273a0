/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links of a host in a cluster where nobody declares them: to the hosts nearest to it, at costs that follow
 * from round-trip times. What all must agree on goes through the control log, as an operator's word does, and
 * seldom: what goes up and down changes nothing, what lasts does (docs/adr/0013). */
#include <stdlib.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"

enum {
    NEAREST = 8,         /* hosts that a host is linked to in any case: up to nine are all linked */
    LASTS_US = 5000000,  /* so long other links must be wanted at first */
    LASTS_DOUBLES = 6,   /* and twice as long after each change, so often, until a host comes or goes */
    APART_US = 10000000, /* between changes of a host's links, in a cluster of up to LBM_VIEW_SMALL hosts */
    FIRST_US =
        3000000, /* a host that joins waits so long for all to answer, and goes on with those that have */
    FIRST_ENOUGH = 2, /* measurements of each */
    COST_EXACT = 8,   /* costs above have three binary digits: 8, 10, 12, 14, 16, 20 ... */
};
_Static_assert(LASTS_US < APART_US, "a change that lasts is not held up by the one before");
_Static_assert(FIRST_US >= (FIRST_ENOUGH + 1) * PING_US,
               "a host that joins has heard enough answers by then");
_Static_assert((int)NEAREST < (int)LBM_VIEW_SMALL, "not all hosts of a large cluster are linked");

/* A cost holds while the round trip is so near to it: parts of the cost, and hops. */
static const double apart_share = 0.5, apart_hops = 0.75;

/* So much nearer another host must be to take the place of one that is linked; and so much farther than the
 * one before to be linked for that, or than the nearest ones to stay so. */
static const double nearer = 1.5, farther = 2, still_farther = 1.5;

struct candidate {
    uint32_t host, cost;
    uint32_t rank; /* cost, and more for those that are not linked */
    int is_linked;
    uint64_t lot; /* decides between equals: hosts of one place must not all choose the same few */
};

typedef LBM_VEC(struct candidate) candidate_list;
typedef LBM_VEC(struct lbm_link) link_list;

/* ---- costs -----------------------------------------------------------------------------------------------
 */

static uint32_t
cost_of(double hops)
{
    double step = 1;
    if (hops >= LBM_LINK_COST_MAX)
        return LBM_LINK_COST_MAX;
    while (hops / step >= COST_EXACT)
        step *= 2;
    uint32_t cost = (uint32_t)(hops / step + 0.5) * (uint32_t)step;
    return cost == 0 ? 1 : cost < LBM_LINK_COST_MAX ? cost : LBM_LINK_COST_MAX;
}

/* Nonzero if a link to a host may keep its cost. What it was given first was measured twice, and would be
 * corrected at some time or other as times vary: a whole minute decides once, for all of a host's links. */
static int
still_fits(const struct lbm_node *node, uint32_t host, uint32_t cost, double hops)
{
    const struct round_trip *trip = lbm_membership_network_trip(node, host);
    if (trip != NULL && trip->n >= ROUND_TRIPS && !trip->is_reviewed)
        return cost == cost_of(hops);
    double apart = apart_share * cost > apart_hops ? apart_share * cost : apart_hops;
    return hops <= cost + apart && (cost == 1 || hops >= cost - apart);
}

static uint32_t
declared(const struct lbm_member *from, uint32_t to)
{
    for (size_t k = 0; k < from->n_links; k++)
        if (from->links[k].q == to)
            return from->links[k].cost;
    return 0;
}

/* ---- which hosts -----------------------------------------------------------------------------------------
 */

/* The same at both ends (splitmix64 of the pair). */
static uint64_t
draw_lot(uint32_t p, uint32_t q)
{
    uint64_t x = p < q ? (uint64_t)p << 32 | q : (uint64_t)q << 32 | p;
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static int
nearest_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->is_linked != y->is_linked)
        return x->is_linked ? -1 : 1;
    return (x->lot > y->lot) - (x->lot < y->lot);
}

/* A link has the better of what is declared and what is measured: either may be by chance. */
static uint32_t
rank_of(const struct candidate *to, double hops)
{
    uint32_t measured = hops > 0 ? cost_of(to->is_linked ? hops : nearer * hops) : to->cost;
    return to->is_linked && to->cost < measured ? to->cost : measured;
}

/* ACTIVE hosts of which it is known how far away they are, or that are linked. */
static enum lbm_err
list_candidates(const struct lbm_node *node, const struct lbm_member *self, candidate_list *list)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < node->view.active.n; i++) {
        const struct lbm_member *other = lbm_view_member(&node->view, node->view.active.at[i]);
        if (other->host == self->host)
            continue;
        double us = lbm_membership_network_measured(node, other->host);
        us = us > 0 ? us : lbm_membership_network_predicted(node, other->host);
        double hops = us / (double)node->view.hop_us;
        uint32_t cost = declared(self, other->host);
        cost = cost != 0 ? cost : declared(other, self->host);
        struct candidate candidate = {.host = other->host,
                                      .cost = cost,
                                      .is_linked = cost != 0,
                                      .lot = draw_lot(self->host, other->host)};
        if (us > 0 && (cost == 0 || !still_fits(node, other->host, cost, hops)))
            candidate.cost = cost_of(hops);
        candidate.rank = rank_of(&candidate, hops);
        if (candidate.cost != 0)
            err = lbm_vec_push(list, candidate);
    }
    if (list->n != 0)
        qsort(list->at, list->n, sizeof *list->at, nearest_first);
    return err;
}

static int
by_host(const void *a, const void *b)
{
    const struct lbm_link *x = a, *y = b;
    return (x->q > y->q) - (x->q < y->q);
}

/* The links this host should declare. The nearest hosts; beyond them one wherever it is twice as far as to
 * the one before, so that each site is linked to others; and one to a host with a lower number: if all have
 * that, all are connected, whatever each knows of the others. A link that the other end declares need not be
 * declared here too, but for that one. */
static enum lbm_err
choose_links(const struct lbm_node *node, const struct lbm_member *self, link_list *links)
{
    candidate_list list = {0};
    uint32_t chosen = 0, last = 0, near = 0;
    int has_lower = 0;
    enum lbm_err err = list_candidates(node, self, &list);
    /* Of those with lower numbers the nearest is chosen in any case. */
    for (size_t i = 0; err == LBM_OK && i < list.n; i++) {
        const struct candidate *to = &list.at[i];
        int is_first_lower = to->host < self->host && !has_lower;
        near = chosen < NEAREST ? to->cost : near;
        int is_wanted = chosen < NEAREST || (to->is_linked && to->cost >= still_farther * near) ||
                        to->cost >= farther * last;
        has_lower |= is_first_lower;
        chosen += is_wanted;
        last = is_wanted ? to->cost : last;
        int is_theirs = declared(lbm_view_member(&node->view, to->host), self->host) != 0 &&
                        declared(self, to->host) == 0;
        if (is_first_lower || (is_wanted && !is_theirs))
            err = lbm_vec_push(links, ((struct lbm_link){self->host, to->host, to->cost}));
    }
    if (links->n != 0)
        qsort(links->at, links->n, sizeof *links->at, by_host);
    lbm_vec_free(&list);
    return err;
}

/* Nonzero if these are the links to ACTIVE hosts that this host declares already. */
static int
are_declared(const struct lbm_node *node, const struct lbm_member *self, const link_list *links)
{
    size_t n = 0;
    for (size_t k = 0; k < self->n_links; k++)
        n += lbm_view_number(&node->view, self->links[k].q) != LBM_NONE;
    for (size_t i = 0; n == links->n && i < links->n; i++)
        if (declared(self, links->at[i].q) != links->at[i].cost)
            return 0;
    return n == links->n;
}

/* ---- when ------------------------------------------------------------------------------------------------
 */

static int
is_linked_up(const struct lbm_node *node, const struct lbm_member *self)
{
    int others = 0;
    for (size_t i = 0; i < node->view.active.n; i++) {
        const struct lbm_member *other = lbm_view_member(&node->view, node->view.active.at[i]);
        if (other->host == self->host)
            continue;
        others = 1;
        if (declared(self, other->host) != 0 || declared(other, self->host) != 0)
            return 1;
    }
    return !others;
}

int
lbm_membership_may_activate(const struct lbm_node *node, const struct lbm_member *self)
{
    return !lbm_membership_network_gives_links(node) || is_linked_up(node, self);
}

/* Nonzero if every ACTIVE host that answers this one has done so, or had its time. */
static int
has_measured(struct lbm_node *node)
{
    struct network *network = &node->network;
    if (network->started_us == 0)
        network->started_us = node->now_us;
    int all = 1;
    for (size_t i = 0; i < node->watched.n; i++) {
        const struct round_trip *trip = lbm_membership_network_trip(node, node->watched.at[i]);
        all &= lbm_view_number(&node->view, node->watched.at[i]) == LBM_NONE ||
               (trip != NULL && trip->n >= FIRST_ENOUGH);
    }
    int is_small = node->view.members.n <= LBM_VIEW_SMALL;
    return (all && is_small) || node->now_us - network->started_us >= FIRST_US;
}

/* Another number when hosts come or go. */
static uint64_t
mark_hosts(const struct lbm_node *node)
{
    uint64_t mark = node->view.active.n;
    for (size_t i = 0; i < node->view.active.n; i++) {
        const struct lbm_member *member = lbm_view_member(&node->view, node->view.active.at[i]);
        mark = mark * 31 + member->host + member->incarnation;
    }
    return mark;
}

/* Nonzero if links that are wanted should be proposed now. Among many hosts there is always one to which some
 * other one seems to be nearer for a minute, and each change stirs up all of them. */
static int
is_time(struct lbm_node *node, const struct lbm_member *self)
{
    struct network *network = &node->network;
    if (!is_linked_up(node, self))
        return has_measured(node);
    if (network->differ_us == 0)
        network->differ_us = node->now_us;
    uint64_t mark = mark_hosts(node);
    if (mark != network->mark)
        network->n_changes = 0;
    network->mark = mark;
    int64_t lasts_us = (int64_t)LASTS_US << network->n_changes;
    return node->now_us - network->differ_us >= lasts_us && node->now_us >= network->next_us;
}

/* Links are as they should be by what is known now. */
static void
mark_reviewed(struct network *network)
{
    for (size_t i = 0; i < network->trips.n; i++)
        network->trips.at[i].is_reviewed = network->trips.at[i].n >= ROUND_TRIPS;
}

static void
propose(struct lbm_node *node, const link_list *links)
{
    uint32_t *host = lbm_alloc(links->n, sizeof *host), *cost = lbm_alloc(links->n, sizeof *cost);
    if (host == NULL || cost == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
    } else {
        for (size_t i = 0; i < links->n; i++) {
            host[i] = links->at[i].q;
            cost[i] = links->at[i].cost;
        }
        Lbm__Set set = LBM__SET__INIT;
        Lbm__Command command = LBM__COMMAND__INIT;
        set.host = node->host;
        set.incarnation = node->incarnation;
        set.change_links = 1;
        set.n_link_host = set.n_link_cost = links->n;
        set.link_host = host;
        set.link_cost = cost;
        command.what_case = LBM__COMMAND__WHAT_SET;
        command.set = &set;
        lbm_core_note(node, LBM_NOTE_DEBUG, "links to %zu hosts, as measured", links->n);
        node->raise->log_append(node, &command);
    }
    free(host);
    free(cost);
}

void
lbm_membership_network_timer(struct lbm_node *node)
{
    struct network *network = &node->network;
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    if (!lbm_membership_network_gives_links(node) || !lbm_local_is_alive(node) || !node->caught_up ||
        node->appends.n != 0 || node->log_waits.n != 0 || node->held != 0 || self == NULL ||
        self->incarnation != node->incarnation ||
        (self->state != LBM_MEMBER_ACTIVE && self->state != LBM_MEMBER_JOINING))
        return;
    link_list links = {0};
    if (choose_links(node, self, &links) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
    } else if (are_declared(node, self, &links)) {
        network->differ_us = 0;
        mark_reviewed(network);
    } else if (is_time(node, self)) {
        network->differ_us = 0;
        mark_reviewed(network);
        network->n_changes += network->n_changes < LASTS_DOUBLES;
        network->next_us = node->now_us + APART_US * (int64_t)(1 + node->view.members.n / LBM_VIEW_SMALL);
        propose(node, &links);
    }
    lbm_vec_free(&links);
}
