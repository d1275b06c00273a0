/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who a local client is, by the kernel's word, and what that lets it do.
 *
 * Owns: the rule from a user and its groups to an enum lbm_access.
 * Never: knows a request; asks a name service while the daemon runs: settings hold numbers. */
#ifndef LBM_DAEMON_ACCESS_H
#define LBM_DAEMON_ACCESS_H

#include <sys/types.h>

#include "daemon/settings.h"

enum {
    LBM_PEER_GROUPS_MAX = 1024
}; /* more than NGROUPS that any directory gives a person; later ones do not count */

struct lbm_access_peer {
    pid_t pid;
    uint32_t uid;
    size_t n_groups; /* the primary one first */
    uint32_t group[LBM_PEER_GROUPS_MAX];
};

/* What the kernel says of the process that connected, as it was then.
 * In:      fd a connected Unix socket
 * Out:     *peer; untouched on error
 * Errors:  LBM_E_IO the kernel does not say. */
enum lbm_err lbm_access_peer(int fd, struct lbm_access_peer *peer) LBM_MUST_CHECK;

/* What that client may do.  Root, this process's user, the users in admins and the members of
 * groups.admin are administrators. Without any groups.* the mode of the socket says who else gets in, and
 * whoever does may submit; with one, members of groups.submit may submit and those of groups.read may look,
 * each of which is this process's group if it is not given, and all others are turned away. */
enum lbm_access lbm_access_of(const struct lbm_rights_setting *rights, const struct lbm_access_peer *peer);

/* The mode of the socket's file: with groups that are not the file's own, everybody may connect and is judged
 * by lbm_access_of. */
mode_t lbm_access_socket_mode(const struct lbm_rights_setting *rights);

#endif
