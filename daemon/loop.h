/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event loop: events in, effects out.
 *
 * Owns: the node, the clock, and everything an effect is carried out with. One thread runs the node and all
 * sockets; two more wait for the disk (store_worker.h) and compute plans (plan_worker.h).
 * Never: decides anything the node could decide. */
#ifndef LBM_DAEMON_LOOP_H
#define LBM_DAEMON_LOOP_H

#include "base/numbers.h"
#include "daemon/keeper.h"
#include "daemon/programs.h"
#include "daemon/settings.h"

/* Exit statuses of lbmapd. */
#define LBM_EXIT_LIST(X)                                                                                     \
    X(STOPPED, 0, "stopped by a signal, or did what the option asked for")                                   \
    X(FAILED, 1, "something failed; the log says what")                                                      \
    X(INPUT, 2, "wrong usage or configuration")                                                              \
    X(BUSY, 3, "another process has the database, the address or the control socket")

enum lbm_exit {
#define LBM_EXIT_ENUM(id, number, text) LBM_EXIT_##id = number,
    LBM_EXIT_LIST(LBM_EXIT_ENUM)
#undef LBM_EXIT_ENUM
        LBM_EXIT_COUNT = 0 LBM_EXIT_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_EXIT_LIST, LBM_EXIT_COUNT);

struct lbm_loop_config {
    const struct lbm_settings *settings;
    const char *settings_path;             /* read again for the log level on SIGHUP */
    struct lbm_keeper *keeper;             /* starts etcd; NULL: this host runs none. Borrowed. */
    struct lbm_programs_process *programs; /* of jobs; NULL: this host runs none. Borrowed. */
    int debug;                             /* nonzero: the log level stays debug whatever the file says */
};

/* Run the daemon until a signal stops it or it fails. Does not return in one case: when a plan is being
 * computed at the end, which cannot be interrupted; then the process exits from here with that status. */
enum lbm_exit lbm_loop_run(const struct lbm_loop_config *config);

#endif
