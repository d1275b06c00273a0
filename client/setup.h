/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host's own files, as lbctl init and lbctl enroll make them, and its daemon's start: in the system's
 * folders, or all of them in one folder.
 *
 * Never: replaces an identity or a configuration that is there. */
#ifndef LBM_CLIENT_SETUP_H
#define LBM_CLIENT_SETUP_H

#include <limits.h>
#include <sys/types.h>

#include "client/command.h"
#include "pki/pki.h"

#define LBM_SETUP_LISTEN "[::]:7411"
#define LBM_SETUP_PORT "7411"

/* Options of both commands: rows of their tables, in this order. */
enum {
    LBM_SETUP_DIR,
    LBM_SETUP_NAME,
    LBM_SETUP_ADDRESS,
    LBM_SETUP_AT,
    LBM_SETUP_STAY,
    LBM_SETUP_DAEMON,
    LBM_SETUP_OPTIONS
};
#define LBM_SETUP_ROWS                                                                                       \
    [LBM_SETUP_DIR] =                                                                                        \
        LBM_TEXT_OPTION("dir", "DIR",                                                                        \
                        "keep all files of this host there, and start its daemon as this user; "             \
                        "the system's folders and its service if absent",                                    \
                        .letter = 'd'),                                                                      \
    [LBM_SETUP_NAME] = LBM_TEXT_OPTION("name", "NAME", "name of this host; the machine's if absent"),        \
    [LBM_SETUP_ADDRESS] =                                                                                    \
        LBM_TEXT_OPTION("address", "ADDRESS:PORT", "where other hosts reach this one; found out if absent"), \
    [LBM_SETUP_AT] =                                                                                         \
        LBM_TEXT_OPTION("listen", "ADDRESS:PORT", "where its daemon listens", .fallback = LBM_SETUP_LISTEN), \
    [LBM_SETUP_STAY] = LBM_FLAG_OPTION("no-start", "write the files, and leave the start to somebody else"), \
    [LBM_SETUP_DAEMON] = LBM_TEXT_OPTION(                                                                    \
        "daemon", "FILE", "with --dir: the daemon to run; the one next to lbctl, or in PATH, if absent")

struct lbm_setup {
    char dir[PATH_MAX]; /* absolute; empty: the system's folders */
    char config[PATH_MAX], identity[PATH_MAX], log[PATH_MAX], socket[PATH_MAX];
    char name[LBM_NAME_MAX + 1];
    char address[LBM_ADDRESS_MAX + 1];
    const char *listen;
    uint32_t copies; /* by who founds a cluster; 0: not told */
    uid_t uid;       /* whose the files are to be: the daemon's user; -1: this one's */
    gid_t gid;
};

/* Where everything goes, by the options of the command; makes the folders.
 * Errors: LBM_E_EXISTS this host has an identity or a configuration already; LBM_E_IO, LBM_E_DENIED,
 * LBM_E_RANGE of the name; diag. */
enum lbm_err lbm_setup_begin(const struct lbm_cli *client, struct lbm_setup *setup,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

/* Write the configuration. measures: this host founds a cluster whose links are measured. */
enum lbm_err lbm_setup_configure(const struct lbm_setup *setup, const char *cluster, int measures,
                                 struct lbm_diag *diag) LBM_MUST_CHECK;

/* Give the files to the daemon's user, start it unless the options say not to, and wait until it is a member.
 * Prints what is wrong. */
enum lbm_status lbm_setup_start(const struct lbm_cli *client, const struct lbm_setup *setup);

/* The folder of this host's identity, with --dir or without. */
void lbm_setup_identity(const struct lbm_option_value *dir, char path[PATH_MAX]);

/* Port of an address, as text inside it; NULL: it has none. */
const char *lbm_setup_port(const char *address);

#endif
