/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ensemble.c and ensemble_member.c share. Nothing else includes this. */
#ifndef LBM_DAEMON_ENSEMBLE_INTERNAL_H
#define LBM_DAEMON_ENSEMBLE_INTERNAL_H

#include "daemon/ensemble.h"
#include "daemon/etcd_message.h"
#include "daemon/http.h"
#include "daemon/log.h"

enum { LBM_ENSEMBLE_LOOK_MS = 500 }; /* between looks while something is not in line */

/* One member, as it answers. */
struct seen {
    struct lbm_ensemble_part *part;
    struct lbm_http_request *request; /* NULL: nothing is asked */
    int answers;
    struct lbm_etcd_status status;
};

struct lbm_ensemble_part {
    struct lbm_ensemble_config config;
    struct lbm_ensemble_handler handler;
    struct lbm_ensemble is;
    struct lbm_ensemble
        before; /* of the same id, before the last change: who has gone runs until etcd knows it */
    int tends;
    char dir[PATH_MAX];
    int dir_fd; /* -1: not opened */
    struct lbm_tunnel *tunnel;
    struct lbm_http *http;
    struct lbm_etcd *etcd;
    char url[LBM_ENSEMBLE_MAX][LBM_ETCD_URL_MAX + 1], socket[LBM_ENSEMBLE_MAX][LBM_ETCD_URL_MAX + 1];
    struct event *look, *ended;
    struct seen seen[LBM_ENSEMBLE_MAX]; /* by place in `is` */
    struct lbm_http_request *list_request, *change_request, *defragment_request;
    char change[LBM_KEEPER_NAME_MAX + 16]; /* what change_request is about */
    uint32_t turn;                         /* the member that is asked first, modulo their number */
    struct lbm_etcd_members list; /* as etcd said last; empty: not known */
    int is_listed, is_settled;
    int has_order;   /* the keeper runs etcd for this host's present membership */
    int was_removed; /* etcd ended: its data may be of a member that the list does not have */
    struct lbm_ensemble_report told;
    struct lbm_log_limit complaints;
    int64_t defragment_ms; /* not before */
};

/* ---- ensemble_member.c: what this host runs ---- */

/* Of a member, its folder and its socket: no other one has ever had it. Value: name. */
const char *lbm_ensemble_name(const struct lbm_ensemble_part *part, const struct lbm_ensemble_member *member,
                              char name[LBM_KEEPER_NAME_MAX]);
/* This host's membership, or NULL. */
const struct lbm_ensemble_member *lbm_ensemble_own(const struct lbm_ensemble_part *part);
/* The member of that name in etcd's list, or NULL. */
const struct lbm_etcd_member *lbm_ensemble_listed(const struct lbm_ensemble_part *part, const char *name);
/* Look at the ensemble so much later. */
void lbm_ensemble_look_after(struct lbm_ensemble_part *part, int ms);
/* Start this host's member once it is known how: with the data that are there; as one of those that begin the
 * ensemble; or as one that etcd has been told of, with nothing. */
void lbm_ensemble_run(struct lbm_ensemble_part *part);
/* Stop it, and remove its data. */
void lbm_ensemble_stop(struct lbm_ensemble_part *part);
/* For libevent: etcd has ended. */
void lbm_ensemble_ended(evutil_socket_t fd, short what, void *context);

#endif
