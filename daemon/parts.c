/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening and closing of what the loop drives, in an order in which nothing is touched before it is sure
 * that no other daemon uses it. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon/contacts.h"
#include "daemon/log.h"
#include "daemon/loop_internal.h"
#include "daemon/supervisor.h"

static enum lbm_err
draw_seed(uint64_t *seed, struct lbm_diag *diag)
{
    if (getrandom(seed, sizeof *seed, 0) == sizeof *seed)
        return LBM_OK;
    return lbm_diag_set(diag, LBM_E_IO, NULL, 0, "the system gives no random numbers: %s", strerror(errno));
}

static enum lbm_err
open_node(struct loop *loop, uint64_t seed, struct lbm_diag *diag)
{
    const struct lbm_settings *s = loop->config.settings;
    struct lbm_node_contact contacts[LBM_CONTACTS_MAX];
    size_t n_contacts;
    char found[PATH_MAX];
    int founds = access(lbm_identity_path(s->identity, LBM_IDENTITY_FOUND, found), F_OK) == 0;
    uint32_t self = loop->identity.subject.host;
    enum lbm_err err = lbm_contacts_read(s->identity, self, contacts, &n_contacts, diag);
    if (err != LBM_OK)
        return err;
    if (founds && s->cluster[0] == '\0')
        return lbm_diag_set(diag, LBM_E_NOTFOUND, loop->config.settings_path, 0,
                            "cluster is missing: the host that founds the cluster names it");
    for (size_t i = 0; i < s->host.links.n; i++)
        if (s->host.links.at[i].host == self)
            return lbm_diag_set(diag, LBM_E_RANGE, loop->config.settings_path, 0,
                                "host.links: a host has no link to itself, and this is host %u", self);
    const struct lbm_node_config config = {
        .host = self,
        .name = s->host.name,
        .address = s->address,
        .capacity = s->host.capacity,
        .links = s->host.links.at,
        .n_links = s->host.links.n,
        .hop_us = s->network.measure ? (uint32_t)(1000 * s->network.unit + 0.5) : 0,
        .m = s->dimensions,
        .copies = s->copies,
        .site = s->host.site.n != 0 ? s->host.site.at : NULL,
        .failure_domain = s->host.failure_domain,
        .policy = s->policy,
        .schedule = s->schedule,
        .evict_share = s->evict.percent / 100,
        .operators = s->operators.at,
        .n_operators = s->operators.n,
        .leader = founds,
        .cluster_name = s->cluster,
        .cluster = loop->identity.subject.cluster,
        .contacts = contacts,
        .n_contacts = n_contacts,
        .engine = s->log_engine == LBM_LOG_PLACE_ETCD ? LBM_LOG_ENGINE_EXTERNAL : LBM_LOG_ENGINE_LOCAL,
        .etcd = loop->config.keeper != NULL ? LBM_ETCD_ABILITY_RUNS : LBM_ETCD_ABILITY_NONE,
        .programs = s->programs.run,
        .uid = (uint32_t)geteuid(),
        .program_grace_us = s->programs.grace > 0 ? (int64_t)(s->programs.grace * 1e6) : -1,
        .seed = seed,
        .version = PACKAGE_VERSION,
    };
    return lbm_node_new(&config, &loop->node, diag);
}

int
loop_is_revoked(void *context, const struct lbm_pki_subject *subject, int64_t made_s)
{
    const struct loop *loop = context;
    if (loop->node == NULL)
        return 0;
    return subject->kind == LBM_PKI_USER
               ? lbm_node_revoked_user(loop->node, subject->user, made_s > 0 ? (uint64_t)made_s : 0)
               : lbm_node_revoked(loop->node, subject->host);
}

static enum lbm_err
open_identity(struct loop *loop, struct lbm_diag *diag)
{
    enum lbm_err err = lbm_identity_read(loop->config.settings->identity, &loop->identity, diag);
    if (err == LBM_OK)
        err = lbm_tls_new(&loop->identity, &loop->tls, diag);
    if (err == LBM_OK)
        lbm_tls_revoked(loop->tls, loop_is_revoked, loop);
    return err;
}

/* The database's lock comes first: it keeps a second daemon of this host from everything else. */
static enum lbm_err
open_store(struct loop *loop, struct lbm_recovered **recovered, struct lbm_diag *diag)
{
    const struct lbm_settings *s = loop->config.settings;
    const struct lbm_store_how how = {.durability = s->durability};
    enum lbm_err err = lbm_store_open(s->data, &how, &loop->store, diag);
    if (err == LBM_OK && lbm_store_set_aside(loop->store) != NULL)
        lbm_log(
            LBM_NOTE_WARNING,
            "%s: not trusted and moved to %s: the machine has started again since the database counted in "
            "memory (durability). This host begins with nothing; its backup has what it had",
            s->data, lbm_store_set_aside(loop->store));
    if (err == LBM_OK)
        err = lbm_store_load(loop->store, recovered, diag);
    return err;
}

static enum lbm_err
open_sockets(struct loop *loop, uint64_t seed, const struct lbm_inbound_handler *inbound,
             const struct lbm_outgoing_handler *outgoing, const struct lbm_control_handler *control,
             struct lbm_diag *diag)
{
    const struct lbm_settings *s = loop->config.settings;
    struct lbm_address address;
    enum lbm_err err = lbm_address_parse(s->listen, "listen", 0, &address, diag);
    if (err == LBM_OK)
        err = lbm_inbound_new(loop->base, loop->tls, &address, s->listen, inbound, &loop->inbound, diag);
    if (err == LBM_OK)
        err = lbm_resolver_new(loop->base, &loop->resolver, diag);
    if (err == LBM_OK)
        err = lbm_outgoing_new(loop->base, loop->tls, loop->resolver, seed, outgoing, &loop->outgoing, diag);
    if (err == LBM_OK)
        err = lbm_control_new(loop->base, s->control, &s->rights, control, &loop->control, diag);
    return err;
}

/* Before the control socket: whoever can connect finds the page of this life. */
static enum lbm_err
open_lease_page(struct loop *loop, uint64_t life, struct lbm_recovered *recovered, struct lbm_diag *diag)
{
    const struct lbm_settings *s = loop->config.settings;
    struct lbm_lease_past past;
    enum lbm_err err = lbm_lease_file_open(s->control, loop->identity.subject.host, life, loop_boottime_us(),
                                           LBM_LEASE_EVER_US, &loop->lease_file, &past, diag);
    if (err != LBM_OK)
        return err;
    recovered->lease_us = past.deadline_us;
    recovered->lease_term = past.term;
    recovered->lease_used = past.used;
    recovered->lease_gone = past.gone;
    return LBM_OK;
}

static enum lbm_err
open_etcd(struct loop *loop, const struct lbm_etcd_handler *handler, struct lbm_diag *diag)
{
    const struct lbm_settings *s = loop->config.settings;
    const struct lbm_etcd_config config = {
        .endpoint = s->etcd.endpoints.at,
        .n_endpoints = s->etcd.endpoints.n,
        .prefix = s->etcd.prefix,
        .ca = s->etcd.ca,
        .cert = s->etcd.cert,
        .key = s->etcd.key,
        .user = s->etcd.user,
        .password_file = s->etcd.password_file,
    };
    if (s->log_engine != LBM_LOG_PLACE_ETCD)
        return LBM_OK;
    return lbm_etcd_new(loop->base, &config, handler, &loop->etcd, diag);
}

static enum lbm_err
open_ensemble(struct loop *loop, const struct lbm_ensemble_handler *handler, struct lbm_diag *diag)
{
    const struct lbm_ensemble_config config = {.base = loop->base,
                                               .tls = loop->tls,
                                               .resolver = loop->resolver,
                                               .keeper = loop->config.keeper,
                                               .host = loop->identity.subject.host,
                                               .data = loop->config.settings->data};
    return lbm_ensemble_new(&config, handler, &loop->ensemble, diag);
}

static enum lbm_err
open_workers(struct loop *loop, struct lbm_diag *diag)
{
    enum lbm_err err = lbm_store_worker_start(loop->store, &loop->store_worker, diag);
    if (err != LBM_OK)
        return err;
    loop->store = NULL;
    return lbm_plan_worker_new(&loop->plan_worker, diag);
}

static size_t
renewing_contacts(void *context, struct lbm_node_contact *contacts, size_t max)
{
    return lbm_node_contacts(((const struct loop *)context)->node, contacts, max);
}

enum lbm_err
parts_open(struct loop *loop, const struct lbm_inbound_handler *inbound,
           const struct lbm_outgoing_handler *outgoing, const struct lbm_control_handler *control,
           const struct lbm_enrol_handler *enrol, const struct lbm_etcd_handler *etcd,
           const struct lbm_ensemble_handler *ensemble, struct lbm_recovered **recovered,
           struct lbm_diag *diag)
{
    const char *pid_file = loop->config.settings->pid_file;
    const int64_t lasts_s = (int64_t)(loop->config.settings->certificate_days * 86400);
    const struct lbm_renew_handler renew = {.context = loop, .contacts = renewing_contacts};
    uint64_t seed;
    enum lbm_err err = draw_seed(&seed, diag);
    if (err == LBM_OK)
        err = open_identity(loop, diag);
    if (err == LBM_OK)
        err = open_store(loop, recovered, diag);
    if (err == LBM_OK)
        err = open_node(loop, seed, diag);
    if (err == LBM_OK)
        err = open_lease_page(loop, seed + 2, *recovered, diag);
    if (err == LBM_OK)
        err = lbm_enrol_new(loop->base, &loop->identity, loop->config.settings->identity, lasts_s, enrol,
                            &loop->enrol, diag);
    if (err == LBM_OK)
        err = open_sockets(loop, seed + 1, inbound, outgoing, control, diag);
    if (err == LBM_OK)
        err = lbm_renew_new(loop->base, &loop->identity, loop->tls, loop->resolver,
                            loop->config.settings->identity, lasts_s, &renew, &loop->renew, diag);
    if (err == LBM_OK)
        err = open_etcd(loop, etcd, diag);
    if (err == LBM_OK && loop->etcd == NULL)
        err = open_ensemble(loop, ensemble, diag);
    if (err == LBM_OK)
        err = open_workers(loop, diag);
    if (err == LBM_OK && loop->config.settings->host.measure)
        err = lbm_spare_new("/proc", &loop->spare, diag);
    if (err == LBM_OK && pid_file[0] != '\0') {
        err = lbm_pid_file_write(pid_file, diag);
        loop->has_pid_file = err == LBM_OK;
    }
    return err;
}

void
parts_close(struct loop *loop)
{
    struct lbm_diag diag = {0};
    lbm_control_free(loop->control);
    lbm_enrol_free(loop->enrol);
    lbm_renew_free(loop->renew);
    lbm_etcd_free(loop->etcd);
    lbm_ensemble_free(loop->ensemble);
    lbm_inbound_free(loop->inbound);
    lbm_outgoing_free(loop->outgoing);
    lbm_resolver_free(loop->resolver);
    lbm_tls_free(loop->tls);
    lbm_identity_free(&loop->identity);
    carry_drop(loop);
    if (lbm_store_worker_stop(loop->store_worker, &diag) != LBM_OK && loop->status == LBM_EXIT_STOPPED) {
        lbm_log_diag(LBM_NOTE_ERROR, &diag);
        loop->status = LBM_EXIT_FAILED;
    }
    lbm_store_close(loop->store);
    if (loop->has_pid_file && unlink(loop->config.settings->pid_file) != 0)
        lbm_log(LBM_NOTE_WARNING, "%s: cannot remove the pid file: %s", loop->config.settings->pid_file,
                strerror(errno));
    /* Exit handlers must not tear libraries down under a thread that computes. */
    if (!lbm_plan_worker_stop(loop->plan_worker))
        _exit((int)loop->status);
    lbm_spare_free(loop->spare);
    lbm_node_free(loop->node);
    lbm_lease_file_close(loop->lease_file);
}
