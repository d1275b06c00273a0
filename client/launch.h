/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What launchers of parallel programs may be told of hosts: their names, their slots, their cores. */
#ifndef LBM_CLIENT_LAUNCH_H
#define LBM_CLIENT_LAUNCH_H

#include "client/command.h"
#include "client/formats.h"

/* Rows of the options, from any index of a command's table on: LBM_LAUNCH_OPTION_ROWS(PLAN_LAUNCH). */
enum { LBM_LAUNCH_NAMES, LBM_LAUNCH_SLOTS, LBM_LAUNCH_CORES, LBM_LAUNCH_OPTIONS };

#define LBM_LAUNCH_OPTION_ROWS(first)                                                                        \
    [(first) + LBM_LAUNCH_NAMES] =                                                                           \
        LBM_TEXT_OPTION("names", "FILE", "names of the hosts, one a host, instead of their own"),            \
               [(first) + LBM_LAUNCH_SLOTS] =                                                                \
                   LBM_INTEGER_OPTION("slots", "N", 1, LBM_LAUNCH_MAX,                                       \
                                      "for launchers: the ranks that a host takes; more are "                \
                                      "refused [as a hostfile says]"),                                       \
               [(first) + LBM_LAUNCH_CORES] =                                                                \
                   LBM_INTEGER_OPTION("cores", "N", 1, LBM_LAUNCH_MAX,                                       \
                                      "for rankfile: the cores of a host, shared by its slots "              \
                                      "[one a slot]")

enum { LBM_LAUNCH_MAX = 1 << 20 }; /* slots and cores of a host: more than any machine has */

/* Take the options from `first` on, and give the hosts their names.
 * Out:     *out.
 * Errors:  of the file of names; LBM_E_UNSUPPORTED, an option that means nothing for this format;
 *          LBM_E_SYNTAX, a name that the format cannot hold (lbm_launch_check_names). */
enum lbm_err lbm_launch_read(const struct lbm_cli *client, size_t first, enum lbm_map_format format,
                             struct lbm_hosts *hosts, struct lbm_launch *out,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

/* Remark what is not known of the hosts and would matter to the format. */
void lbm_launch_remark(const struct lbm_cli *client, enum lbm_map_format format,
                       const struct lbm_hosts *hosts, const struct lbm_launch *launch);

#endif
