/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What loop.c, carry.c, parts.c and program_reports.c share. Nothing else includes this. */
#ifndef LBM_DAEMON_LOOP_INTERNAL_H
#define LBM_DAEMON_LOOP_INTERNAL_H

#include "daemon/control.h"
#include "daemon/enrol.h"
#include "daemon/ensemble.h"
#include "daemon/etcd.h"
#include "daemon/inbound.h"
#include "daemon/lease_page.h"
#include "daemon/loop.h"
#include "daemon/outgoing.h"
#include "daemon/plan_worker.h"
#include "daemon/renew.h"
#include "daemon/spare.h"
#include "daemon/store_worker.h"

/* A SEND or REPLY that waits for its transaction. */
struct waiting {
    struct lbm_effect effect;
    uint64_t connection; /* SEND: the one that stood when the node sent */
};

enum { WATCHES_MAX = 11 };

struct loop {
    struct lbm_loop_config config;
    enum lbm_exit status;
    int stopping;     /* nonzero: events are not taken any more */
    int is_ready;     /* the host has been a member in this life */
    double disk_used; /* as the node was last told */

    struct event_base *base;
    struct event *watches[WATCHES_MAX]; /* signals, the timer, the workers, the watchdog */
    size_t n_watches;
    int timer_fd;     /* on CLOCK_BOOTTIME, the node's clock; -1: none */
    int64_t armed_us; /* what timer_fd is set to */
    int64_t now_us;   /* of the last step */

    struct lbm_node *node;
    struct lbm_store *store; /* until the worker takes it */
    struct lbm_store_worker *store_worker;
    struct lbm_plan_worker *plan_worker;
    struct lbm_identity identity;
    enum lbm_err key_err; /* why the authority's key could not be read at the last look */
    struct lbm_tls *tls;
    struct lbm_resolver *resolver;
    uint64_t contacts_view; /* index of the control log that the file of contacts was looked at for */
    struct lbm_inbound *inbound;
    struct lbm_outgoing *outgoing;
    struct lbm_control *control;
    struct lbm_enrol *enrol;
    struct lbm_renew *renew;
    struct lbm_etcd *etcd;              /* that the configuration names; NULL: none */
    struct lbm_ensemble_part *ensemble; /* that daemons run; NULL: the configuration names one */
    struct lbm_lease_file *lease_file;
    struct lbm_spare *spare; /* NULL: the capacity is not measured */
    int has_pid_file;

    struct lbm_effects effects;
    LBM_VEC(struct waiting) waiting; /* in the order the node asked for them */
    uint64_t asked;                  /* last transaction handed to the store */
    uint64_t durable;                /* last one reported durable */
    int paused;                      /* the store is behind: nothing is read */
};

/* The node's clock. */
int64_t loop_boottime_us(void);

/* Have the node take an event, and carry out what follows. */
void loop_step(struct loop *loop, struct lbm_event *event);

/* Stop the loop as failed. */
void loop_fail(struct loop *loop);

/* ---- carry.c ------------------------------------------------------------------------------------------- */

/* Carry out the effects of a step, in order; loop->effects is empty afterwards. */
void carry_out(struct loop *loop);

/* After a step that failed: tell its notes, drop the rest. */
void carry_notes_only(struct loop *loop);

/* Transactions up to this id are durable: let what waited for them go. */
void carry_released(struct loop *loop, uint64_t durable);

/* Drop what still waits. */
void carry_drop(struct loop *loop);

/* Nonzero if the log says that a host, or a certificate of a user that was made then, is believed no more.
 * context: the loop. */
int loop_is_revoked(void *context, const struct lbm_pki_subject *subject, int64_t made_s);

/* ---- program_reports.c --------------------------------------------------------------------------------- */

/* What programs have written, and what has become of them: some of it, for something else may wait.
 * context: the loop. */
void loop_on_programs(evutil_socket_t fd, short what, void *context);

/* ---- parts.c ------------------------------------------------------------------------------------------- */

/* Open everything the loop drives: database, node, sockets, workers.
 * Out:     *recovered owned by the caller. What was opened before an error is for parts_close. */
enum lbm_err parts_open(struct loop *loop, const struct lbm_inbound_handler *inbound,
                        const struct lbm_outgoing_handler *outgoing,
                        const struct lbm_control_handler *control, const struct lbm_enrol_handler *enrol,
                        const struct lbm_etcd_handler *etcd, const struct lbm_ensemble_handler *ensemble,
                        struct lbm_recovered **recovered, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Store what the node asked for, close everything, and free the node. */
void parts_close(struct loop *loop);

#endif
