/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes of hosts: which host the command line names, and asking its cluster. */
#ifndef LBM_CLIENT_MEMBERS_H
#define LBM_CLIENT_MEMBERS_H

#include "client/daemon.h"

/* The host that the first operand names, or the daemon's own. Prints why there is none. */
enum lbm_status lbm_members_find(struct lbm_daemon *daemon, uint32_t *host);

/* Find the host, and ask for the change of it; change->host is filled in. Prints why it failed. */
enum lbm_status lbm_members_change(struct lbm_daemon *daemon, Lbm__HostChange *change);

#endif
