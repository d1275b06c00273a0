/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process that starts etcd for this daemon, and starts it again when it ends. It is forked before the
 * sandbox, in which nothing can be executed any more.
 *
 * Owns: the etcd process, the folder of its data. It ends with the daemon, however that ends, and etcd with
 * it. Never: decides which ensemble this host belongs to; listens at any address of the network. */
#ifndef LBM_DAEMON_KEEPER_H
#define LBM_DAEMON_KEEPER_H

#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"

enum { LBM_KEEPER_NAME_MAX = 48, LBM_KEEPER_CLUSTER_MAX = LBM_ENSEMBLE_MAX * (2 * LBM_KEEPER_NAME_MAX + 16) };

/* What etcd is to be. Its data are in the folder of that name, its sockets next to it. */
struct lbm_keeper_order {
    int runs;                             /* 0: it is stopped, and all data are removed */
    int is_fresh;                         /* data of that name are removed first */
    int is_new;                           /* 1: it begins an ensemble; 0: it joins one */
    char name[LBM_KEEPER_NAME_MAX];       /* of the member and its folder; data of others are removed */
    char cluster[LBM_KEEPER_CLUSTER_MAX]; /* all members: name=url,... */
    uint64_t token;                       /* of the ensemble */
};

struct lbm_keeper;

/* Fork. In: program, etcd; dir, an absolute path, made by the daemon when it needs it.
 * Out: *out NULL if the program cannot be executed: this host then runs no etcd. Errors: LBM_E_IO,
 * LBM_E_NOMEM. */
enum lbm_err lbm_keeper_new(const char *program, const char *dir, struct lbm_keeper **out,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* Carry that out from now on. Errors: LBM_E_IO the process is gone. */
enum lbm_err lbm_keeper_tell(struct lbm_keeper *keeper, const struct lbm_keeper_order *order) LBM_MUST_CHECK;

/* Readable when etcd has ended by itself, which lbm_keeper_ended tells. */
int lbm_keeper_fd(const struct lbm_keeper *keeper);

/* Value: nonzero if etcd has ended since the last question; *status is that of waitpid. -1: the process is
 * gone. */
int lbm_keeper_ended(struct lbm_keeper *keeper, int *status);

/* End etcd and the process. NULL is allowed. */
void lbm_keeper_free(struct lbm_keeper *keeper);

#endif
