/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Round-trip times, measured by the pings that go to and fro anyway: each says when it was sent, and how long
 * ago the last one from its receiver came. So what is measured is what messages experience, over the very
 * connections that carry data. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"

enum {
    USUAL_EACH = 8,               /* what is usual is looked at again after that many */
    ECHO_US = 2 * PING_US,        /* a ping that came longer ago is not echoed: clocks differ */
    TRIP_MOST_US = 10000000,      /* longer: something else happened */
    ABSURD_US = 6 * TRIP_MOST_US, /* a prediction that is off by more than trips that were taken explain, */
    ABSURD_TIMES = 10,            /* and by that factor, is no error of measurement */
    ANSWERS_DUE_MAX = 4 * ROTATING_PINGS, /* answers a round of pings */
};

static void
start_trip(struct round_trip *trip, uint32_t host, uint64_t incarnation)
{
    *trip = (struct round_trip){.host = host, .incarnation = incarnation};
}

const struct round_trip *
lbm_membership_network_trip(const struct lbm_node *node, uint32_t host)
{
    uint32_t at = lbm_idmap_get(&node->network.trip_at, host);
    return at != LBM_NONE ? &node->network.trips.at[at] : NULL;
}

int
lbm_membership_network_gives_links(const struct lbm_node *node)
{
    return node->view.hop_us != 0 && node->n_links == 0;
}

/* In a large cluster hosts look at those near them alone, unless links follow from it. NULL: it is not looked
 * at, or memory is short. */
static struct round_trip *
trip_of(struct lbm_node *node, const struct lbm_member *member, uint64_t incarnation)
{
    struct network *network = &node->network;
    uint32_t at = lbm_idmap_get(&network->trip_at, member->host);
    if (at != LBM_NONE)
        return &network->trips.at[at];
    if (!lbm_membership_network_gives_links(node) && !lbm_membership_is_watched(node, member))
        return NULL;
    if (lbm_vec_reserve(&network->trips, 1) != LBM_OK ||
        lbm_idmap_put(&network->trip_at, member->host, (uint32_t)network->trips.n) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    struct round_trip *trip = &network->trips.at[network->trips.n++];
    start_trip(trip, member->host, incarnation);
    return trip;
}

int
lbm_membership_network_is_deaf(const struct lbm_node *node, uint32_t host)
{
    const struct round_trip *trip = lbm_membership_network_trip(node, host);
    return trip != NULL && trip->sent_us != 0 && node->view.members.n <= LBM_VIEW_SMALL + 1 &&
           node->now_us - trip->came_us <= UNREACHABLE_US && node->now_us - trip->echoed_us > DEAF_US;
}

double
lbm_membership_network_measured(const struct lbm_node *node, uint32_t host)
{
    const struct round_trip *trip = lbm_membership_network_trip(node, host);
    return trip != NULL ? trip->usual_us : 0;
}

double
lbm_membership_network_predicted(const struct lbm_node *node, uint32_t host)
{
    const struct round_trip *trip = lbm_membership_network_trip(node, host);
    return trip != NULL && trip->has_place ? lbm_coordinate_distance(&node->network.here, &trip->place) : 0;
}

static int
ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The lower quartile: a busy host answers late, never early, and the very least is a matter of chance where
 * times vary. */
static double
usual(const struct round_trip *trip)
{
    uint32_t sorted[ROUND_TRIPS], n = trip->n < ROUND_TRIPS ? trip->n : ROUND_TRIPS;
    memcpy(sorted, trip->recent_us, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    return sorted[n / 4];
}

/* A place that predicts a round trip far from the one that is measured pulls nobody. */
static int
is_absurd(struct lbm_node *node, const struct round_trip *trip)
{
    double predicted_us = lbm_coordinate_distance(&node->network.here, &trip->place);
    if (predicted_us <= ABSURD_TIMES * (double)trip->usual_us + ABSURD_US)
        return 0;
    lbm_local_refused(node,
                      "host %" PRIu32
                      " says a coordinate %.0f ms away, and answers within %.0f ms: that is out of reach",
                      trip->host, predicted_us / 1e3, (double)trip->usual_us / 1e3);
    return 1;
}

static void
measured(struct lbm_node *node, struct round_trip *trip, int64_t rtt_us)
{
    trip->recent_us[trip->n++ % ROUND_TRIPS] = rtt_us > 0 ? (uint32_t)rtt_us : 1;
    if (trip->n <= USUAL_EACH || trip->n % USUAL_EACH == 0)
        trip->usual_us = usual(trip);
    if (trip->has_place && is_absurd(node, trip))
        trip->has_place = 0;
    if (trip->has_place)
        lbm_coordinate_observe(&node->network.here, &trip->place, trip->usual_us,
                               node->host * LBM_HOSTS_MAX + trip->host);
}

/* Microseconds since this host sent the ping that this one echoes, without the time it lay there; < 0:
 * none. */
static int64_t
round_trip_us(const struct lbm_node *node, const Lbm__Ping *ping)
{
    uint64_t now_us = (uint64_t)node->now_us;
    if (ping->echo_us == 0 || ping->echo_us > now_us || ping->held_us > now_us - ping->echo_us)
        return -1; /* of an earlier life, on a clock that has begun again since */
    uint64_t us = now_us - ping->echo_us - ping->held_us;
    return us <= TRIP_MOST_US ? (int64_t)us : -1;
}

void
lbm_membership_network_heard(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Ping *ping = message->ping;
    struct round_trip *trip =
        trip_of(node, lbm_view_member(&node->view, message->src), message->src_incarnation);
    if (trip == NULL || ping->sent_us == 0)
        return;
    if (trip->incarnation != message->src_incarnation)
        start_trip(trip, message->src, message->src_incarnation);
    trip->sent_us = ping->sent_us;
    if (ping->echo_us != 0 || node->now_us - trip->came_us > UNREACHABLE_US)
        trip->echoed_us = node->now_us; /* who was not heard before has had no time to hear */
    trip->came_us = node->now_us;
    trip->calls_slow = ping->slow != 0;
    if (ping->n_coordinate == LBM_COORDINATE_DIMENSIONS && ping->height > 0) {
        trip->has_place = 1;
        for (int k = 0; k < LBM_COORDINATE_DIMENSIONS; k++)
            trip->place.x[k] = ping->coordinate[k];
        trip->place.height = ping->height;
        trip->place.error = ping->error;
    }
    int64_t rtt_us = round_trip_us(node, ping);
    if (rtt_us >= 0)
        measured(node, trip, rtt_us);
    /* Pings in turn are answered, so that hosts that are no neighbours measure each other as well. */
    if (ping->echo_us == 0 && node->view.hop_us != 0 && node->view.members.n > LBM_VIEW_SMALL &&
        node->network.answers_due.n < ANSWERS_DUE_MAX &&
        lbm_vec_push(&node->network.answers_due, message->src) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

enum lbm_err
lbm_membership_network_pay(struct lbm_node *node, host_list *to)
{
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < node->network.answers_due.n; i++)
        err = lbm_vec_push(to, node->network.answers_due.at[i]);
    node->network.answers_due.n = 0;
    return err;
}

void
lbm_membership_network_fill(struct lbm_node *node, uint32_t host, Lbm__Ping *ping)
{
    struct lbm_coordinate *here = &node->network.here;
    const struct round_trip *trip = lbm_membership_network_trip(node, host);
    int echoes = trip != NULL && trip->sent_us != 0 && node->now_us - trip->came_us <= ECHO_US;
    ping->sent_us = (uint64_t)node->now_us;
    ping->echo_us = echoes ? trip->sent_us : 0;
    ping->held_us = echoes ? (uint64_t)(node->now_us - trip->came_us) : 0;
    ping->n_coordinate = LBM_COORDINATE_DIMENSIONS;
    ping->coordinate = here->x;
    ping->height = here->height;
    ping->error = here->error;
    ping->slow = lbm_membership_is_slow(node, host) != 0;
}

void
lbm_membership_network_free(struct lbm_node *node)
{
    lbm_vec_free(&node->network.trips);
    lbm_vec_free(&node->network.answers_due);
    lbm_idmap_free(&node->network.trip_at);
}

/* ---- lbctl network ------------------------------------------------------------------------------------- */

/* Where a host is, or NULL: it has not said. */
static const struct lbm_coordinate *
place_of(const struct lbm_node *node, uint32_t host)
{
    const struct round_trip *trip = lbm_membership_network_trip(node, host);
    if (host == node->host)
        return &node->network.here;
    return trip != NULL && trip->has_place ? &trip->place : NULL;
}

/* Links of a host in H, and how far away H has it from this one. */
static void
fill_links(struct lbm_node *node, Lbm__NetworkEntry *entry)
{
    struct lbm_view *view = &node->view;
    uint32_t p = lbm_view_number(view, entry->host), here = lbm_view_number(view, node->host);
    if (p == LBM_NONE || !lbm_membership_is_routable(node))
        return;
    const struct lbm_hosts *h = &view->hosts;
    uint32_t first = h->offset[p], n = h->offset[p + 1] - first;
    entry->link_host = lbm_alloc(n, sizeof *entry->link_host);
    entry->link_cost = lbm_alloc(n, sizeof *entry->link_cost);
    if (entry->link_host == NULL || entry->link_cost == NULL ||
        (here != LBM_NONE && lbm_hosts_route_from(&view->hosts, here) != LBM_OK)) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    entry->n_link_host = entry->n_link_cost = n;
    for (uint32_t k = 0; k < n; k++) {
        entry->link_host[k] = lbm_view_host(view, h->target[first + k]);
        entry->link_cost[k] = h->cost[first + k];
    }
    entry->distance = here != LBM_NONE ? lbm_dist(h, here, p) : 0;
}

static void
fill_entry(struct lbm_node *node, struct lbm_member *member, Lbm__NetworkEntry *entry)
{
    const struct round_trip *trip = lbm_membership_network_trip(node, member->host);
    const struct lbm_coordinate *place = place_of(node, member->host);
    lbm__network_entry__init(entry);
    entry->host = member->host;
    entry->name = member->name;
    entry->measured_us = lbm_membership_network_measured(node, member->host);
    entry->predicted_us = lbm_membership_network_predicted(node, member->host);
    entry->measurements = trip != NULL ? trip->n : 0;
    if (place != NULL) {
        entry->n_coordinate = LBM_COORDINATE_DIMENSIONS;
        entry->coordinate = lbm_copy(place->x, LBM_COORDINATE_DIMENSIONS, sizeof *place->x);
        entry->height = place->height;
        entry->error = place->error;
        if (entry->coordinate == NULL)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
    fill_links(node, entry);
}

void
lbm_membership_answer_network(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    (void)request;
    size_t n = 0, n_members = node->view.members.n;
    Lbm__NetworkEntry *entries = lbm_alloc(n_members, sizeof *entries);
    Lbm__NetworkEntry **list = lbm_alloc(n_members, sizeof *list);
    if (entries == NULL || list == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    for (size_t i = 0; i < n_members && node->failed == LBM_OK; i++)
        if (lbm_view_participates(&node->view.members.at[i])) {
            fill_entry(node, &node->view.members.at[i], &entries[n]);
            list[n] = &entries[n];
            n++;
        }
    Lbm__NetworkReply network = LBM__NETWORK_REPLY__INIT;
    network.host = node->host;
    network.n_hosts = n;
    network.hosts = list;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_NETWORK;
    response.network = &network;
    if (node->failed == LBM_OK)
        lbm_core_reply(node, client->id, client->request, 1, &response);
    for (size_t i = 0; i < n; i++) {
        free(entries[i].coordinate);
        free(entries[i].link_host);
        free(entries[i].link_cost);
    }
    free(entries);
    free(list);
}
