/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What operators do to hosts, and what they may read of this one's past.
 *
 * Owns: the clients that wait for the control log's word on a change, the ring of events.
 * Never: changes a member by itself; a change is a command, and what the log makes of it is the answer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/client/client.h"
#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/log/log.h"
#include "node/membership/membership.h"
#include "node/replication/replication.h"

enum { EVENT_BYTES_MAX = 255 }; /* of an event's text */

/* ---- clients that wait for the log ------------------------------------------------------------------- */

/* What of a command's fate its client is told. */
enum operator_request {
    TELL_FATE,    /* whatever it is */
    TELL_REFUSAL, /* only a refusal: what is wanted comes later */
    TELL_SUCCESS  /* only success: until then it is proposed again */
};

static void
operator_drop(struct lbm_node *node, size_t at)
{
    free(node->operators.at[at].command);
    memmove(&node->operators.at[at], &node->operators.at[at + 1],
            (node->operators.n - at - 1) * sizeof *node->operators.at);
    node->operators.n--;
}

/* Forget one client's question (request 0: all of its questions). */
static void
operator_forget(struct lbm_node *node, uint64_t client, uint64_t request)
{
    for (size_t i = node->operators.n; i-- > 0;)
        if (node->operators.at[i].client == client &&
            (request == 0 || node->operators.at[i].request == request))
            operator_drop(node, i);
}

/* What nobody waits for any more need not happen, if it has not yet. */
void
lbm_client_admin_gone(struct lbm_node *node, uint64_t client)
{
    for (size_t i = 0; i < node->operators.n; i++)
        if (node->operators.at[i].client == client && node->operators.at[i].token != 0)
            lbm_log_withdraw(node, node->operators.at[i].token);
    operator_forget(node, client, 0);
}

void
lbm_client_admin_free(struct lbm_node *node)
{
    while (node->operators.n != 0)
        operator_drop(node, 0);
    lbm_vec_free(&node->operators);
    for (size_t i = 0; i < node->events.n; i++)
        free(node->events.at[i].text);
    lbm_vec_free(&node->events);
}

static void
await(struct lbm_node *node, const struct client *client, const Lbm__Command *command,
      enum operator_request target, uint64_t token)
{
    struct operator_wait wait = {.client = client->id,
                                 .until_us = client->until_us,
                                 .host = LBM_NONE,
                                 .request = client->request,
                                 .tell = (int)target,
                                 .token = token,
                                 .len = lbm__command__get_packed_size(command)};
    wait.command = lbm_alloc(wait.len, 1);
    if (wait.command == NULL || lbm_vec_push(&node->operators, wait) != LBM_OK) {
        free(wait.command);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    lbm__command__pack(command, wait.command);
}

static void tell_operator(struct lbm_node *node, uint64_t client, uint64_t request,
                          const Lbm__Command *command, const char *refusal);

/* Waits first: a proposal may be refused at once. */
static void
propose(struct lbm_node *node, const struct client *client, const Lbm__Command *command,
        enum operator_request target, int64_t until_us)
{
    Lbm__Command keyed = *command;
    keyed.request = client->key;
    await(node, client, &keyed, target, node->append_token + 1);
    uint64_t token = lbm_log_append_until(node, &keyed, until_us);
    LBM_ASSERT(node->failed != LBM_OK || token == node->append_token);
}

/* A request that the log has already is answered by what it says. Nonzero if it is one. */
static int
is_logged(struct lbm_node *node, const struct client *client)
{
    const struct lbm_logged_request *logged = lbm_view_request(&node->view, client->key);
    if (logged == NULL)
        return 0;
    if (logged->is_refused)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE,
                             "it was refused before, by entry %" PRIu64 " of the control log", logged->index);
    else
        tell_operator(node, client->id, client->request, NULL, "");
    return 1;
}

void
lbm_client_propose(struct lbm_node *node, const struct client *client, const Lbm__Command *command)
{
    if (is_logged(node, client))
        return;
    propose(node, client, command, TELL_FATE, client->until_us);
}

void
lbm_client_proposal_given_up(struct lbm_node *node, uint64_t token, int is_unknown)
{
    for (size_t i = 0; i < node->operators.n; i++) {
        const struct operator_wait wait = node->operators.at[i];
        if (wait.token != token)
            continue;
        operator_forget(node, wait.client, wait.request);
        char awaited[160];
        lbm_log_tell_wait(node, awaited, sizeof awaited);
        if (is_unknown)
            lbm_core_reply_error(node, wait.client, wait.request, LBM_E_TIMEOUT,
                                 "the control log has not said in time whether it has the change (it waits "
                                 "for %s): lbctl log show "
                                 "tells, once it can be written again",
                                 awaited);
        else
            lbm_core_reply_error(node, wait.client, wait.request, LBM_E_TIMEOUT,
                                 "the control log could not be written in time (it waits for %s): nothing is "
                                 "changed, and nothing will be",
                                 awaited);
        return;
    }
}

static int
is_told(enum operator_request target, int refused)
{
    return target == TELL_FATE || (target == TELL_REFUSAL) == (refused != 0);
}

static void
tell_operator(struct lbm_node *node, uint64_t client, uint64_t request, const Lbm__Command *command,
              const char *refusal)
{
    Lbm__AdmitReply admit = LBM__ADMIT_REPLY__INIT;
    if (refusal[0] != '\0') {
        lbm_core_reply_error(node, client, request, LBM_E_STATE, "%s", refusal);
        return;
    }
    Lbm__Response response = LBM__RESPONSE__INIT;
    if (command != NULL && command->what_case == LBM__COMMAND__WHAT_ADMIT) {
        admit.host = command->admit->host;
        response.what_case = LBM__RESPONSE__WHAT_ADMIT;
        response.admit = &admit;
    }
    lbm_core_reply(node, client, request, 1, &response);
}

/* The host that a command is about, and what happens to it; LBM_NONE: it is about none. */
static uint32_t
concerned(const Lbm__Command *command, const char **what)
{
    switch (command->what_case) {
    case LBM__COMMAND__WHAT_JOIN:
        *what = "joins, or announces itself again";
        return command->join->host;
    case LBM__COMMAND__WHAT_ACTIVATE:
        *what = "is active";
        return command->activate->host;
    case LBM__COMMAND__WHAT_SET:
        *what = "is changed";
        return command->set->host;
    case LBM__COMMAND__WHAT_DRAIN:
        *what = "drains";
        return command->drain->host;
    case LBM__COMMAND__WHAT_MAINTAIN:
        *what = command->maintain->duration_us != 0 ? "is in maintenance" : "is in maintenance no more";
        return command->maintain->host;
    case LBM__COMMAND__WHAT_LEAVE:
        *what = "has left";
        return command->leave->host;
    case LBM__COMMAND__WHAT_EVICT:
        *what = "is evicted";
        return command->evict->host;
    case LBM__COMMAND__WHAT_TAKE_OVER:
        *what = "is taken over by its successor";
        return command->take_over->host;
    case LBM__COMMAND__WHAT_REJOIN:
        *what = "is back with what it had";
        return command->rejoin->host;
    case LBM__COMMAND__WHAT_REVOKE:
        *what = "is revoked: its certificate is believed no more";
        return command->revoke->host;
    default:
        return LBM_NONE;
    }
}

/* What happens to members is an event, though no daemon's own log needs it. */
static void
tell_members(struct lbm_node *node, const Lbm__Command *command)
{
    const char *what = NULL;
    char text[128];
    uint32_t host = concerned(command, &what);
    if (host == LBM_NONE || node->starting)
        return;
    snprintf(text, sizeof text, "host %" PRIu32 " %s (view %" PRIu64 ")", host, what, node->view.index);
    lbm_client_event(node, LBM_NOTE_INFO, text);
}

void
lbm_client_proposal_applied(struct lbm_node *node, const Lbm__Command *command, const char *refusal)
{
    const struct lbm_logged_request *logged = lbm_view_request(&node->view, command->request);
    lbm_client_recover_applied(node, command, refusal);
    if (logged != NULL && logged->index < node->view.index && !logged->is_refused)
        refusal = ""; /* it is the same request once more: it has been carried out */
    else if (refusal[0] == '\0')
        tell_members(node, command);
    if (node->operators.n == 0)
        return;
    Lbm__Command plain = *command;
    Lbm__Leave leave;
    if (plain.what_case == LBM__COMMAND__WHAT_LEAVE) { /* whatever its host knew when it said so */
        leave = *command->leave;
        leave.known = 0;
        plain.leave = &leave;
    }
    size_t len = lbm__command__get_packed_size(&plain);
    uint8_t *bytes = lbm_alloc(len, 1);
    if (bytes == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    lbm__command__pack(&plain, bytes);
    for (size_t i = 0; i < node->operators.n;) {
        const struct operator_wait wait = node->operators.at[i];
        if (wait.len != len || memcmp(wait.command, bytes, len) != 0) {
            i++;
        } else if (is_told((enum operator_request)wait.tell, refusal[0] != '\0')) {
            operator_forget(node, wait.client, wait.request);
            tell_operator(node, wait.client, wait.request, command, refusal);
            i = 0; /* more than one may have gone */
        } else if (wait.tell == TELL_REFUSAL) {
            operator_drop(node, i);
        } else {
            i++;
        }
    }
    free(bytes);
}

/* ---- changes of hosts ---------------------------------------------------------------------------------- */

static void
change_join(struct lbm_node *node, const struct client *client, const struct lbm_member *member,
            const Lbm__HostChange *change, Lbm__Command *command)
{
    (void)change;
    Lbm__Activate activate = LBM__ACTIVATE__INIT;
    if (member->state == LBM_MEMBER_DRAINING) {
        double site[LBM_DIMENSIONS_MAX];
        memcpy(site, member->site, sizeof site);
        activate.host = member->host;
        activate.incarnation = member->incarnation;
        activate.n_site = node->view.m;
        activate.site = site;
        command->what_case = LBM__COMMAND__WHAT_ACTIVATE;
        command->activate = &activate;
        lbm_client_propose(node, client, command);
    } else if (lbm_view_participates(member)) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE,
                             "host %" PRIu32 " takes part: it is %s", member->host,
                             lbm_member_state_name(member->state));
    } else if (member->state == LBM_MEMBER_EVICTED) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE,
                             "host %" PRIu32 " is evicted: it joins again by itself once its lbmapd runs",
                             member->host);
    } else if (member->host != node->host) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE,
                             "host %" PRIu32
                             " has left: only its own lbmapd can begin again; ask that one with -s",
                             member->host);
    } else if (lbm_replication_rejoin(node)) {
        Lbm__Response response = LBM__RESPONSE__INIT;
        lbm_core_reply_stored(node, client->id, client->request, 1, &response);
    } else {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_BUSY,
                             "this host is about to join; see lbctl hosts");
    }
}

static void
fill_drain(const struct lbm_member *member, Lbm__Drain *drain, Lbm__Command *command)
{
    lbm__drain__init(drain);
    drain->host = member->host;
    drain->incarnation = member->incarnation;
    command->what_case = LBM__COMMAND__WHAT_DRAIN;
    command->drain = drain;
}

static void
change_drain(struct lbm_node *node, const struct client *client, const struct lbm_member *member,
             const Lbm__HostChange *change, Lbm__Command *command)
{
    (void)change;
    Lbm__Drain drain;
    fill_drain(member, &drain, command);
    lbm_client_propose(node, client, command);
}

/* Only the host itself knows when it is empty, and then says so in the log: that is the answer. */
static void
change_leave(struct lbm_node *node, const struct client *client, const struct lbm_member *member,
             const Lbm__HostChange *change, Lbm__Command *command)
{
    (void)change;
    Lbm__Leave leave = LBM__LEAVE__INIT;
    leave.host = member->host;
    leave.incarnation = member->incarnation;
    command->what_case = LBM__COMMAND__WHAT_LEAVE;
    command->leave = &leave;
    if (member->state == LBM_MEMBER_LEFT) {
        tell_operator(node, client->id, client->request, NULL, "");
        return;
    }
    await(node, client, command, TELL_SUCCESS, 0);
    if (node->failed == LBM_OK)
        node->operators.at[node->operators.n - 1].host = member->host;
    if (member->state == LBM_MEMBER_DRAINING)
        return;
    Lbm__Drain drain;
    fill_drain(member, &drain, command);
    propose(node, client, command, TELL_REFUSAL, client->until_us);
}

static void
change_evict(struct lbm_node *node, const struct client *client, const struct lbm_member *member,
             const Lbm__HostChange *change, Lbm__Command *command)
{
    Lbm__Evict evict = LBM__EVICT__INIT;
    evict.host = member->host;
    evict.incarnation = member->incarnation;
    evict.lost = change->lost;
    command->what_case = LBM__COMMAND__WHAT_EVICT;
    command->evict = &evict;
    /* Later another host may have the only copy of the one lost meanwhile. */
    int64_t until_us = node->now_us + COMMAND_LATE_US;
    propose(node, client, command, TELL_FATE, until_us < client->until_us ? until_us : client->until_us);
}

static void
change_maintain(struct lbm_node *node, const struct client *client, const struct lbm_member *member,
                const Lbm__HostChange *change, Lbm__Command *command)
{
    Lbm__Maintain maintain = LBM__MAINTAIN__INIT;
    maintain.host = member->host;
    maintain.incarnation = member->incarnation;
    maintain.duration_us = change->duration_us;
    maintain.reason = change->reason;
    maintain.moves = change->moves;
    command->what_case = LBM__COMMAND__WHAT_MAINTAIN;
    command->maintain = &maintain;
    lbm_client_propose(node, client, command);
}

static void
change_set(struct lbm_node *node, const struct client *client, const struct lbm_member *member,
           const Lbm__HostChange *change, Lbm__Command *command)
{
    for (size_t i = 0; i < change->n_link_host; i++)
        if (change->link_host[i] == member->host) {
            lbm_core_reply_error(node, client->id, client->request, LBM_E_RANGE,
                                 "host %" PRIu32 " has no link to itself", member->host);
            return;
        }
    Lbm__Set set = LBM__SET__INIT;
    set.host = member->host;
    set.incarnation = member->incarnation;
    set.capacity = change->capacity;
    set.n_site = change->n_site;
    set.site = change->site;
    set.change_links = change->change_links;
    set.n_link_host = change->n_link_host;
    set.link_host = change->link_host;
    set.n_link_cost = change->n_link_cost;
    set.link_cost = change->link_cost;
    set.address = change->address;
    command->what_case = LBM__COMMAND__WHAT_SET;
    command->set = &set;
    lbm_client_propose(node, client, command);
}

static const struct {
    Lbm__HostAction action;
    void (*change)(struct lbm_node *node, const struct client *client, const struct lbm_member *member,
                   const Lbm__HostChange *change, Lbm__Command *command);
} actions[] = {
    {LBM__HOST_ACTION__HOST_JOIN, change_join},   {LBM__HOST_ACTION__HOST_DRAIN, change_drain},
    {LBM__HOST_ACTION__HOST_LEAVE, change_leave}, {LBM__HOST_ACTION__HOST_EVICT, change_evict},
    {LBM__HOST_ACTION__HOST_SET, change_set},     {LBM__HOST_ACTION__HOST_MAINTAIN, change_maintain},
};

void
lbm_client_answer_host_change(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    const Lbm__HostChange *change = request->host_change;
    const struct lbm_member *member = lbm_view_member(&node->view, change->host);
    if (member == NULL) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_NOTFOUND,
                             "there is no host %" PRIu32 "; lbctl hosts lists them", change->host);
        return;
    }
    Lbm__Command command = LBM__COMMAND__INIT;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if ((uint32_t)actions[i].action == change->action) {
            actions[i].change(node, client, member, change, &command);
            return;
        }
    lbm_core_reply_error(node, client->id, client->request, LBM_E_UNSUPPORTED,
                         "a change this daemon does not know");
}

/* A host that was to leave has not. */
static void
tell_staying(struct lbm_node *node, const struct operator_wait *wait)
{
    const struct lbm_member *member = lbm_view_member(&node->view, wait->host);
    const struct peer *peer = lbm_membership_peer_known(node, wait->host);
    int is_heard =
        wait->host == node->host || !lbm_membership_is_unreachable(node, wait->host, UNREACHABLE_US);
    char awaited[160];
    lbm_log_tell_wait(node, awaited, sizeof awaited);
    if (member == NULL || member->state != LBM_MEMBER_DRAINING)
        lbm_core_reply_error(node, wait->client, wait->request, LBM_E_TIMEOUT,
                             "host %" PRIu32 " has not left in time: the control log waits for %s",
                             wait->host, awaited);
    else if (!is_heard)
        lbm_core_reply_error(node, wait->client, wait->request, LBM_E_TIMEOUT,
                             "host %" PRIu32 " has not left in time: it drains, and is unreachable",
                             wait->host);
    else
        lbm_core_reply_error(node, wait->client, wait->request, LBM_E_TIMEOUT,
                             "host %" PRIu32 " has not left in time: it drains, and had %" PRIu64
                             " vertices when last heard; it goes on, see lbctl hosts",
                             wait->host, peer != NULL ? peer->vertices : 0);
}

void
lbm_client_admin_timer(struct lbm_node *node)
{
    for (size_t i = node->operators.n; i-- > 0 && node->failed == LBM_OK;) {
        const struct operator_wait wait = node->operators.at[i];
        if (wait.host == LBM_NONE || node->now_us <= wait.until_us)
            continue;
        tell_staying(node, &wait);
        operator_forget(node, wait.client, wait.request);
        i = node->operators.n; /* more than one may have gone */
    }
}

/* ---- identities ---------------------------------------------------------------------------------------- */

/* Nonzero if there is a cluster; else the client is answered. */
static int
has_cluster(struct lbm_node *node, const struct client *client)
{
    if (node->view.index == 0)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE,
                             "this host knows no cluster yet; try again in a moment");
    return node->view.index != 0;
}

void
lbm_client_answer_admit(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    const char *name = request->admit->name;
    if (!has_cluster(node, client))
        return;
    for (size_t i = 0; name[0] != '\0' && i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (strcmp(member->name, name) != 0 || lbm_view_has_gone(&node->view, member))
            continue;
        lbm_core_reply_error(
            node, client->id, client->request, LBM_E_EXISTS,
            "host %" PRIu32 " has the name %s already; give another one, or, if that host is this "
            "machine before it was set up again, bring its identity back, or give it up first: lbctl "
            "evict %" PRIu32,
            member->host, name, member->host);
        return;
    }
    Lbm__Admit admit = LBM__ADMIT__INIT;
    admit.host = lbm_view_next_host(&node->view);
    admit.request = lbm_rng_next(&node->rng);
    if (admit.host >= LBM_HOSTS_MAX) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_LIMIT,
                             "all %d ids of hosts have been given; none is given twice", LBM_HOSTS_MAX);
        return;
    }
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_ADMIT;
    command.admit = &admit;
    lbm_client_propose(node, client, &command);
}

void
lbm_client_answer_revoke(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    if (!has_cluster(node, client))
        return;
    Lbm__Revoke revoke = LBM__REVOKE__INIT;
    revoke.host = request->revoke->host;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_REVOKE;
    command.revoke = &revoke;
    lbm_client_propose(node, client, &command);
}

void
lbm_client_answer_revoke_user(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    if (!has_cluster(node, client))
        return;
    if (request->revoke_user->name[0] == '\0' || request->revoke_user->made_s == 0) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_SYNTAX,
                             "which user, and until when? lbctl revoke --user says both");
        return;
    }
    Lbm__RevokeUser revoke = LBM__REVOKE_USER__INIT;
    revoke.name = request->revoke_user->name;
    revoke.made_s = request->revoke_user->made_s;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_REVOKE_USER;
    command.revoke_user = &revoke;
    lbm_client_propose(node, client, &command);
}

/* ---- events -------------------------------------------------------------------------------------------- */

void
lbm_client_event(struct lbm_node *node, enum lbm_note_level level, const char *text)
{
    size_t len = strlen(text) < EVENT_BYTES_MAX ? strlen(text) : EVENT_BYTES_MAX;
    struct event_line line = {.at_us = node->now_us, .level = level, .text = lbm_alloc(len + 1, 1)};
    int is_full = node->events.n == LBM_EVENTS_MAX;
    if (line.text == NULL || (!is_full && lbm_vec_reserve(&node->events, 1) != LBM_OK)) {
        free(line.text);
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    memcpy(line.text, text, len);
    line.number = ++node->n_events;
    if (is_full) {
        struct event_line *oldest = &node->events.at[(line.number - 1) % LBM_EVENTS_MAX];
        free(oldest->text);
        *oldest = line;
    } else {
        node->events.at[node->events.n++] = line;
    }
}

void
lbm_client_answer_events(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    uint64_t oldest = node->n_events - node->events.n + 1;
    uint64_t from = request->events->from > oldest ? request->events->from : oldest;
    size_t n = from <= node->n_events ? (size_t)(node->n_events - from + 1) : 0;
    Lbm__Event *events = lbm_alloc(n, sizeof *events), **list = lbm_alloc(n, sizeof *list);
    if (events == NULL || list == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++) {
        struct event_line *line = &node->events.at[(from + i - 1) % LBM_EVENTS_MAX];
        LBM_ASSERT(line->number == from + i);
        lbm__event__init(&events[i]);
        events[i].number = line->number;
        events[i].age_s = (double)(node->now_us - line->at_us) / 1e6;
        events[i].level = (uint32_t)line->level;
        events[i].text = line->text;
        list[i] = &events[i];
    }
    Lbm__EventsReply answer = LBM__EVENTS_REPLY__INIT;
    answer.n_events = n;
    answer.events = list;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_EVENTS;
    response.events = &answer;
    lbm_core_reply(node, client->id, client->request, 1, &response);
    free(events);
    free(list);
}
