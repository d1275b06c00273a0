/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who may ask what: one row a request, looked at before anything else is.
 *
 * A job belongs to the user that the control log names as its owner (JobCreate.owner): that user may do with
 * it what an administrator may, and nobody else gets its payloads. An entry that names nobody reads as user
 * 0, so such a job is the administrators'. Never: knows groups; the shell has made an enum lbm_access of what
 * a client is. */
#include <inttypes.h>

#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/log/log.h"
#include "node/view/view.h"

/* What a request needs beyond enum lbm_access. */
enum need {
    LOOKS,      /* LBM_ACCESS_READ */
    SUBMITS,    /* LBM_ACCESS_SUBMIT */
    OWNS,       /* the job that it names, or LBM_ACCESS_ADMIN */
    SERVES,     /* a job that this connection has attached to before: who attaches owns */
    ADMINISTERS /* LBM_ACCESS_ADMIN */
};

static const char *
job_of_cancel(const Lbm__Request *request)
{
    return request->cancel->job;
}

static const char *
job_of_change(const Lbm__Request *request)
{
    return request->job_change->job;
}

static const char *
job_of_recovery(const Lbm__Request *request)
{
    return request->recover_begin->job;
}

static const char *
job_of_cut(const Lbm__Request *request)
{
    return request->map->job;
}

static const char *
job_of_attach(const Lbm__Request *request)
{
    return request->attach->job;
}

static const char *
job_of_run(const Lbm__Request *request)
{
    return request->run->job;
}

static const struct right {
    Lbm__Request__WhatCase what;
    enum need need;
    const char *action;                              /* "may not ..." */
    const char *(*job)(const Lbm__Request *request); /* OWNS: which one */
} rights[] = {
    {LBM__REQUEST__WHAT_STATUS, LOOKS, "look at this daemon", NULL},
    {LBM__REQUEST__WHAT_HOSTS, LOOKS, "look at hosts", NULL},
    {LBM__REQUEST__WHAT_NETWORK, LOOKS, "look at the network", NULL},
    {LBM__REQUEST__WHAT_JOBS, LOOKS, "look at jobs", NULL},
    {LBM__REQUEST__WHAT_MAP, LOOKS, "look at a mapping", NULL},
    {LBM__REQUEST__WHAT_LOCATE, LOOKS, "look for vertices", NULL},
    {LBM__REQUEST__WHAT_EXPLAIN, LOOKS, "look at moves", NULL},
    {LBM__REQUEST__WHAT_LOG, LOOKS, "look at the control log", NULL},
    {LBM__REQUEST__WHAT_EVENTS, LOOKS, "look at events", NULL},
    {LBM__REQUEST__WHAT_SUBMIT_BEGIN, SUBMITS, "submit jobs", NULL},
    {LBM__REQUEST__WHAT_SUBMIT_ROWS, SUBMITS, "submit jobs", NULL},
    {LBM__REQUEST__WHAT_SUBMIT_END, SUBMITS, "submit jobs", NULL},
    {LBM__REQUEST__WHAT_CANCEL, OWNS, "cancel", job_of_cancel},
    {LBM__REQUEST__WHAT_RUN, OWNS, "run programs for", job_of_run},
    {LBM__REQUEST__WHAT_JOB_CHANGE, OWNS, "change", job_of_change},
    {LBM__REQUEST__WHAT_ATTACH, OWNS, "attach to", job_of_attach},
    {LBM__REQUEST__WHAT_RELEASED, SERVES, "serve a job", NULL},
    {LBM__REQUEST__WHAT_CHECKPOINT, SERVES, "serve a job", NULL},
    {LBM__REQUEST__WHAT_LOAD, SERVES, "serve a job", NULL},
    {LBM__REQUEST__WHAT_IDS, SERVES, "serve a job", NULL},
    {LBM__REQUEST__WHAT_CHANGE, SERVES, "serve a job", NULL},
    {LBM__REQUEST__WHAT_RECOVER_BEGIN, OWNS, "recover", job_of_recovery},
    {LBM__REQUEST__WHAT_RECOVER_ROWS, SUBMITS, "recover jobs", NULL},
    {LBM__REQUEST__WHAT_RECOVER_END, SUBMITS, "recover jobs", NULL},
    {LBM__REQUEST__WHAT_PUBLISH, SERVES, "serve a job", NULL},
    {LBM__REQUEST__WHAT_POST, SERVES, "serve a job", NULL},
    {LBM__REQUEST__WHAT_BLOB_PUT, LOOKS, "bring payloads", NULL}, /* of what it serves or submits */
    {LBM__REQUEST__WHAT_BLOB_READ, SERVES, "serve a job", NULL},
    {LBM__REQUEST__WHAT_HOST_CHANGE, ADMINISTERS, "change hosts", NULL},
    {LBM__REQUEST__WHAT_PROMOTE, ADMINISTERS, "promote a host", NULL},
    {LBM__REQUEST__WHAT_LOG_MOVE, ADMINISTERS, "move the control log", NULL},
    {LBM__REQUEST__WHAT_ADMIT, ADMINISTERS, "admit hosts", NULL},
    {LBM__REQUEST__WHAT_REVOKE, ADMINISTERS, "revoke hosts", NULL},
    {LBM__REQUEST__WHAT_REVOKE_USER, ADMINISTERS, "revoke users", NULL},
};

/* A mapping with payloads: those are the owner's. */
static const struct right cut_right = {LBM__REQUEST__WHAT_MAP, OWNS, "read payloads of", job_of_cut};

static const char *
job_of_blob(const Lbm__Request *request)
{
    return request->blob_read->job;
}

/* The same of a large one. */
static const struct right blob_right = {LBM__REQUEST__WHAT_BLOB_READ, OWNS, "read payloads of", job_of_blob};

static const struct right *
right_of(const Lbm__Request *request)
{
    Lbm__Request__WhatCase what = request->what_case;
    if (what == LBM__REQUEST__WHAT_MAP && (request->map->cut != 0 || request->map->hold != 0))
        return &cut_right;
    if (what == LBM__REQUEST__WHAT_BLOB_READ && request->blob_read->job[0] != '\0')
        return &blob_right;
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++)
        if (rights[i].what == what)
            return &rights[i];
    return NULL; /* a request without a row is nobody's */
}

/* The least access that is enough whoever owns the job. */
static enum lbm_access
enough(enum need need)
{
    return need == LOOKS || need == SERVES ? LBM_ACCESS_READ
           : need == SUBMITS               ? LBM_ACCESS_SUBMIT
                                           : LBM_ACCESS_ADMIN;
}

static void
refuse(struct lbm_node *node, const struct client *client, const struct right *right)
{
    const char *lack = right->need == LOOKS     ? "the right to look (groups.read in lbmapd.conf(5))"
                       : right->need == SUBMITS ? "the right to submit (groups.submit in lbmapd.conf(5))"
                                                : "the right of an administrator (admins and groups.admin in "
                                                  "lbmapd.conf(5))";
    static const char *const levels[] = {"none", "read", "submit", "admin"};
    _Static_assert(sizeof levels / sizeof *levels == LBM_ACCESS_ADMIN + 1, "all are named");
    if (client->is_remote)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_DENIED,
                             "user %" PRIu32 " may not %s: its certificate says %s; ask for another one "
                             "(lbctl pki user --group)",
                             client->uid, right->action, levels[client->access]);
    else
        lbm_core_reply_error(node, client->id, client->request, LBM_E_DENIED,
                             "user %" PRIu32 " may not %s: it lacks %s; ask an administrator", client->uid,
                             right->action, lack);
}

/* An application has a lease, which it reads in memory that it shares with its daemon (lease_page.h): nobody
 * works on a vertex from another machine. */
static int
is_too_far(struct lbm_node *node, const struct client *client, const struct right *right)
{
    if (!client->is_remote || (right->need != SERVES && right->what != LBM__REQUEST__WHAT_ATTACH))
        return 0;
    lbm_core_reply_error(node, client->id, client->request, LBM_E_DENIED,
                         "user %" PRIu32 " may not %s from another machine; ask the daemon of its own one",
                         client->uid, right->action);
    return 1;
}

/* Nonzero if the leader would refuse that of this host (log/propose_right.c): the client has been told. */
static int
is_elsewhere(struct lbm_node *node, const struct client *client, const struct right *right,
             const Lbm__Request *request)
{
    if (lbm_log_is_operator(node, node->host) || (right->need != ADMINISTERS && right->need != OWNS) ||
        request->what_case == LBM__REQUEST__WHAT_ATTACH)
        return 0;
    const struct lbm_job_entry *entry =
        right->need == OWNS ? lbm_view_job_named(&node->view, right->job(request)) : NULL;
    int is_own = right->need == OWNS ? entry == NULL || entry->coordinator == node->host
                                     : request->what_case == LBM__REQUEST__WHAT_HOST_CHANGE &&
                                           request->host_change->host == node->host;
    if (is_own)
        return 0;
    lbm_core_reply_error(node, client->id, client->request, LBM_E_DENIED,
                         "user %" PRIu32 " may not %s at host %" PRIu32
                         ": the cluster does not listen to operators there; ask at a host that operators in "
                         "lbmapd.conf(5) names",
                         client->uid, right->action, node->host);
    return 1;
}

int
lbm_client_may(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    static const struct right unknown = {LBM__REQUEST__WHAT__NOT_SET, ADMINISTERS, "ask that", NULL};
    const struct right *right = right_of(request);
    if (right == NULL)
        right = &unknown;
    if (is_too_far(node, client, right))
        return 0;
    if (client->access >= enough(right->need))
        return !is_elsewhere(node, client, right, request);
    if (right->need != OWNS || client->access == LBM_ACCESS_NONE) {
        refuse(node, client, right);
        return 0;
    }
    const struct lbm_job_entry *entry = lbm_view_job_named(&node->view, right->job(request));
    if (entry == NULL || entry->owner == client->uid) /* the answer says that there is none */
        return !is_elsewhere(node, client, right, request);
    lbm_core_reply_error(node, client->id, client->request, LBM_E_DENIED,
                         "user %" PRIu32 " may not %s job %s: it belongs to user %" PRIu32
                         "; ask its owner, or an administrator",
                         client->uid, right->action, entry->name, entry->owner);
    return 0;
}
