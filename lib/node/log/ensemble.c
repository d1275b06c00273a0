/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which hosts run the ensemble of etcd, and when the log moves there (protocol.md section 2).
 *
 * While a daemon orders the log, that one forms an ensemble as soon as enough hosts can run a member, and
 * moves the log once each member answers. From then on the first member that is heard tends the ensemble: a
 * member that drains, leaves or is evicted, and one whose etcd does not answer for long, is replaced by
 * another host. Never: runs anything; the shell brings etcd in line with what the log says. */
#include <inttypes.h>
#include <string.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"
#include "node/membership/membership.h"

enum {
    FAILURES_MAX = 5, /* doublings of the time before another ensemble is formed */
};

/* ---- who can be a member --------------------------------------------------------------------------------
 */

static int
is_avoided(const struct lbm_node *node, uint32_t host)
{
    for (size_t i = 0; i < node->ensemble.avoided.n; i++)
        if (node->ensemble.avoided.at[i] == host)
            return 1;
    return 0;
}

static int
answers(const struct lbm_node *node, uint32_t host)
{
    const struct lbm_ensemble_report *report = &node->ensemble.report;
    for (uint32_t i = 0; report->id == node->view.ensemble.id && i < report->n; i++)
        if (report->host[i] == host)
            return 1;
    return 0;
}

/* Nonzero if that member of an ensemble is still the host that it was when it became one. */
static int
is_there(const struct lbm_node *node, const struct lbm_ensemble_member *of)
{
    const struct lbm_member *member = lbm_view_member(&node->view, of->host);
    return member != NULL && lbm_view_participates(member) && member->incarnation == of->incarnation &&
           !lbm_view_revoked(&node->view, of->host);
}

static int
drains(const struct lbm_node *node, uint32_t host)
{
    return lbm_view_member(&node->view, host)->state == LBM_MEMBER_DRAINING;
}

static int
can_run(const struct lbm_node *node, const struct lbm_member *member)
{
    return member->state == LBM_MEMBER_ACTIVE && lbm_membership_runs_etcd(node, member->host) &&
           !lbm_view_revoked(&node->view, member->host);
}

static int
shares_domain(const struct lbm_node *node, const struct lbm_ensemble *ensemble, const struct lbm_member *with)
{
    for (uint32_t i = 0; i < ensemble->n; i++) {
        const struct lbm_member *member = lbm_view_member(&node->view, ensemble->member[i].host);
        if (member != NULL && with->failure_domain[0] != '\0' &&
            strcmp(member->failure_domain, with->failure_domain) == 0)
            return 1;
    }
    return 0;
}

/* Add the host that is best as a further member: of another failure domain, not avoided, with a low number.
 * Value: 0: there is none. */
static int
add_best(const struct lbm_node *node, struct lbm_ensemble *ensemble)
{
    const struct lbm_member *best = NULL;
    int least = 0;
    for (size_t i = 0; i < node->view.members.n && ensemble->n < LBM_ENSEMBLE_MAX; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (!can_run(node, member) || lbm_ensemble_member(ensemble, member->host) != NULL)
            continue;
        int cost = 2 * is_avoided(node, member->host) + shares_domain(node, ensemble, member);
        if (best == NULL || cost < least) {
            best = member;
            least = cost;
        }
    }
    if (best == NULL)
        return 0;
    ensemble->member[ensemble->n++] =
        (struct lbm_ensemble_member){.host = best->host, .incarnation = best->incarnation};
    return 1;
}

static uint32_t
wanted(const struct lbm_node *node)
{
    return node->view.active.n >= ENSEMBLE_LARGE_HOSTS ? ENSEMBLE_LARGE : ENSEMBLE_SMALL;
}

int
lbm_log_ensemble_choose(const struct lbm_node *node, struct lbm_ensemble *out)
{
    *out = (struct lbm_ensemble){0};
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (lbm_view_participates(member) && !lbm_membership_knows_ensembles(node, member->host))
            return 0;
    }
    while (out->n < wanted(node) && add_best(node, out))
        continue;
    out->n -= out->n != 0 && out->n % 2 == 0; /* a fourth member would only make entries slower */
    return out->n >= ENSEMBLE_SMALL;
}

/* ---- proposing ------------------------------------------------------------------------------------------
 */

static void
propose(struct lbm_node *node, enum lbm_ensemble_step step, uint64_t id, const struct lbm_ensemble *members)
{
    uint32_t host[LBM_ENSEMBLE_MAX];
    uint64_t incarnation[LBM_ENSEMBLE_MAX];
    Lbm__Ensemble ensemble = LBM__ENSEMBLE__INIT;
    ensemble.id = id;
    ensemble.step = (uint32_t)step;
    ensemble.changed = step == LBM_ENSEMBLE_CHANGE ? node->view.ensemble.changed : 0;
    ensemble.host = host;
    ensemble.incarnation = incarnation;
    for (uint32_t i = 0; members != NULL && i < members->n; i++) {
        host[i] = members->member[i].host;
        incarnation[i] = members->member[i].incarnation;
        ensemble.n_host = ensemble.n_incarnation = i + 1;
    }
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_ENSEMBLE;
    command.ensemble = &ensemble;
    node->ensemble.retry_us = node->now_us + APPEND_AGAIN_US;
    (void)lbm_log_append_until(node, &command, node->now_us + APPEND_AGAIN_US);
}

static enum lbm_err
avoid(struct lbm_node *node, uint32_t host)
{
    return is_avoided(node, host) ? LBM_OK : lbm_vec_push(&node->ensemble.avoided, host);
}

/* An ensemble that was formed does not answer: its members that do not are avoided from now on. */
static void
give_up(struct lbm_node *node)
{
    const struct lbm_ensemble *ensemble = &node->view.ensemble;
    uint32_t silent = LBM_NONE;
    for (uint32_t i = 0; i < ensemble->n; i++) {
        uint32_t host = ensemble->member[i].host;
        if (answers(node, host))
            continue;
        silent = host;
        if (avoid(node, host) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
    uint32_t times = node->ensemble.failures < FAILURES_MAX ? node->ensemble.failures : FAILURES_MAX;
    node->ensemble.failures++;
    node->ensemble.ready_us = node->now_us + ((int64_t)ENSEMBLE_FORM_US << times);
    lbm_core_note(node, LBM_NOTE_WARNING,
                  "etcd on host %" PRIu32
                  " does not answer: the control log stays with this host; another ensemble is tried later",
                  silent);
}

/* ---- forming: engine local, the leader -------------------------------------------------------------------
 */

static int
wants_ensemble(const struct lbm_node *node)
{
    return node->view.log_place == LBM_LOG_PLACE_ETCD ||
           (node->view.log_place == LBM_LOG_PLACE_AUTO && node->ensemble.ability == LBM_ETCD_ABILITY_RUNS);
}

static void
form(struct lbm_node *node)
{
    struct lbm_ensemble chosen;
    if (!lbm_log_ensemble_choose(node, &chosen)) {
        node->ensemble.ready_us = node->ensemble.ready_us > node->now_us ? node->ensemble.ready_us : 0;
        return;
    }
    if (node->ensemble.ready_us == 0)
        node->ensemble.ready_us = node->now_us + ENSEMBLE_REST_US;
    if (node->now_us >= node->ensemble.ready_us)
        propose(node, LBM_ENSEMBLE_FORM, lbm_rng_next(&node->rng) | 1, &chosen);
}

static void
tick_leader(struct lbm_node *node)
{
    const struct lbm_ensemble *ensemble = &node->view.ensemble;
    uint32_t n_answer = 0, n_there = 0;
    if (!wants_ensemble(node) || node->appends.n != 0 || node->now_us < node->ensemble.retry_us)
        return;
    for (uint32_t i = 0; i < ensemble->n; i++) {
        n_answer += answers(node, ensemble->member[i].host) != 0;
        n_there += is_there(node, &ensemble->member[i]) && !drains(node, ensemble->member[i].host);
    }
    int is_given_up = node->ensemble.ready_us > node->ensemble.since_us;
    if (ensemble->id != 0 && n_there == ensemble->n && n_answer == ensemble->n)
        propose(node, LBM_ENSEMBLE_MOVE, ensemble->id, NULL);
    else if (ensemble->id == 0 || n_there < ensemble->n || is_given_up)
        form(node);
    else if (node->now_us - node->ensemble.since_us >= ENSEMBLE_FORM_US)
        give_up(node);
}

/* ---- tending: engine external ----------------------------------------------------------------------------
 */

/* The first member that is there and heard, by this host's word. */
static int
is_first_heard(const struct lbm_node *node)
{
    const struct lbm_ensemble *ensemble = &node->view.ensemble;
    for (uint32_t i = 0; i < ensemble->n; i++) {
        const struct lbm_ensemble_member *member = &ensemble->member[i];
        if (!is_there(node, member))
            continue;
        if (member->host == node->host)
            return member->incarnation == node->incarnation;
        if (!lbm_membership_is_unreachable(node, member->host, UNREACHABLE_US))
            return 0;
    }
    return 0;
}

/* The member that another host is to replace, or n: first those that are gone, then those that drain, then
 * those that are heard and whose etcd does not answer. */
static uint32_t
worst(const struct lbm_node *node)
{
    const struct lbm_ensemble *ensemble = &node->view.ensemble;
    int is_late = node->now_us - node->ensemble.since_us >= ENSEMBLE_SICK_US;
    for (uint32_t i = 0; i < ensemble->n; i++)
        if (!is_there(node, &ensemble->member[i]))
            return i;
    for (uint32_t i = 0; i < ensemble->n; i++)
        if (drains(node, ensemble->member[i].host))
            return i;
    for (uint32_t i = 0; is_late && node->ensemble.report.id == ensemble->id && i < ensemble->n; i++)
        if (!answers(node, ensemble->member[i].host) &&
            !lbm_membership_is_unreachable(node, ensemble->member[i].host, UNREACHABLE_US))
            return i;
    return ensemble->n;
}

static void
tick_external(struct lbm_node *node)
{
    struct lbm_ensemble next = node->view.ensemble;
    uint32_t bad = worst(node), size = next.n;
    const struct lbm_ensemble_report *report = &node->ensemble.report;
    /* Else a majority of those whom etcd knows could go before it has heard of any that comes. */
    int is_listed = report->id == next.id && report->changed == next.changed && report->is_listed;
    if (!node->ensemble.tends || !node->caught_up || node->appends.n != 0 || !is_listed ||
        node->now_us < node->ensemble.retry_us)
        return;
    if (bad < next.n) {
        struct lbm_ensemble_member gone = next.member[bad];
        memmove(&next.member[bad], &next.member[bad + 1], (next.n - 1 - bad) * sizeof *next.member);
        next.n--;
        int is_more = next.n >= wanted(node) || (next.n >= ENSEMBLE_SMALL && node->view.active.n < size);
        int is_replaced = !is_more && add_best(node, &next);
        if (is_replaced && next.member[next.n - 1].host == gone.host &&
            next.member[next.n - 1].incarnation == gone.incarnation)
            return; /* nobody else could */
        if (!is_replaced && !is_more)
            return;
    } else if (next.n >= wanted(node) || !report->is_settled || !add_best(node, &next)) {
        return;
    }
    propose(node, LBM_ENSEMBLE_CHANGE, next.id, &next);
}

/* ---- the shell -------------------------------------------------------------------------------------------
 */

static int
is_told(const struct lbm_ensemble *told, const struct lbm_ensemble *now)
{
    return told->id == now->id && told->moved == now->moved && told->changed == now->changed;
}

void
lbm_log_ensemble_tell(struct lbm_node *node)
{
    if (!node->starting) /* the stored log has been read */
        lbm_log_ensemble_start(node);
}

void
lbm_log_ensemble_start(struct lbm_node *node)
{
    static const struct lbm_ensemble none;
    struct ensemble *e = &node->ensemble;
    const struct lbm_ensemble *now = lbm_log_is_forced(node) ? &none : &node->view.ensemble;
    if (lbm_log_is_forced(node) && node->persisted < node->forced_id)
        return; /* what it has is needed until it is certain that nobody asks for it again */
    int tends = lbm_log_is_managed(node) && is_first_heard(node);
    int is_same = is_told(&e->told, now);
    if (is_same && tends == e->tends)
        return;
    if (!is_same) {
        e->since_us = node->now_us;
        e->look_us = node->now_us;
    }
    e->told = *now;
    e->tends = tends;
    lbm_core_emit_ensemble(node, now, tends);
}

void
lbm_log_on_ensemble(struct lbm_node *node, const struct lbm_ensemble_report *report)
{
    node->ensemble.report = *report;
    node->ensemble.look_us = node->now_us;
}

static int
is_concerned(const struct lbm_node *node)
{
    return node->configured == LBM_LOG_ENGINE_LOCAL &&
           (node->view.ensemble.id != 0 || node->ensemble.ability == LBM_ETCD_ABILITY_RUNS ||
            node->view.log_place == LBM_LOG_PLACE_ETCD);
}

void
lbm_log_ensemble_timer(struct lbm_node *node)
{
    if (!is_concerned(node) || node->now_us < node->ensemble.look_us)
        return;
    node->ensemble.look_us = node->now_us + ENSEMBLE_LOOK_US;
    lbm_log_ensemble_tell(node);
    if (lbm_log_is_forced(node))
        lbm_log_forced_timer(node);
    else if (lbm_log_is_managed(node))
        tick_external(node);
    else if (node->leader && node->caught_up && !node->ensemble.is_closed)
        tick_leader(node);
}

int64_t
lbm_log_ensemble_deadline(const struct lbm_node *node)
{
    return is_concerned(node) ? node->ensemble.look_us : INT64_MAX;
}

int
lbm_log_ensemble_closes(const uint8_t *bytes, size_t len)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    int closes = lbm_wire_unpack_command(bytes, len, &command, &diag) == LBM_OK &&
                 command->what_case == LBM__COMMAND__WHAT_ENSEMBLE &&
                 command->ensemble->step == LBM_ENSEMBLE_MOVE;
    if (command != NULL)
        lbm__command__free_unpacked(command, NULL);
    return closes;
}

/* ---- operators -------------------------------------------------------------------------------------------
 */

static const char *
why_not(struct lbm_node *node, uint32_t place)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    struct lbm_ensemble chosen;
    if (node->configured == LBM_LOG_ENGINE_EXTERNAL)
        return "the control log is in an ensemble that the configuration names (log_engine), and stays there";
    if (self == NULL || self->incarnation != node->incarnation || self->state != LBM_MEMBER_ACTIVE)
        return "this host is not active: ask another one";
    if (place == LBM_LOG_PLACE_ETCD && !node->view.external && !lbm_log_ensemble_choose(node, &chosen))
        return "an ensemble needs three active hosts that are heard and can run etcd: install etcd-server "
               "there, and have log_engine = \"auto\" in lbmapd.conf";
    return NULL;
}

void
lbm_log_answer_move(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    uint32_t place = request->log_move->place;
    const char *why = why_not(node, place);
    Lbm__LogMove move = LBM__LOG_MOVE__INIT;
    Lbm__Command command = LBM__COMMAND__INIT;
    if (why != NULL) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE, "%s", why);
        return;
    }
    move.place = place;
    move.leader = node->host;
    move.term = (node->term > node->view.log_term ? node->term : node->view.log_term) + 1;
    command.what_case = LBM__COMMAND__WHAT_LOG_MOVE;
    command.log_move = &move;
    node->raise->client_propose(node, client, &command);
}
