/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "daemon/access.h"

#include <sys/socket.h>
#include <unistd.h>

enum lbm_err
lbm_access_peer(int fd, struct lbm_access_peer *peer)
{
    struct ucred who;
    socklen_t len = sizeof who;
    gid_t group[LBM_PEER_GROUPS_MAX];
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0)
        return LBM_E_IO;
    len = sizeof group;
    size_t n = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, group, &len) == 0)
        n = len / sizeof *group;
    /* A client that hides behind too many groups has its primary one alone: less, never more. */
    peer->pid = who.pid;
    peer->uid = who.uid;
    peer->n_groups = 0;
    peer->group[peer->n_groups++] = who.gid;
    for (size_t i = 0; i < n && peer->n_groups < LBM_PEER_GROUPS_MAX; i++)
        peer->group[peer->n_groups++] = group[i];
    return LBM_OK;
}

static int
is_in(const struct lbm_access_peer *peer, uint32_t group)
{
    for (size_t i = 0; i < peer->n_groups; i++)
        if (peer->group[i] == group)
            return 1;
    return 0;
}

static int
has_groups(const struct lbm_rights_setting *rights)
{
    return rights->read.is_given || rights->submit.is_given || rights->admin.is_given;
}

static int
is_admin(const struct lbm_rights_setting *rights, const struct lbm_access_peer *peer)
{
    if (peer->uid == 0 || peer->uid == geteuid())
        return 1;
    for (size_t i = 0; i < rights->admins.n; i++)
        if (rights->admins.at[i] == peer->uid)
            return 1;
    return rights->admin.is_given && is_in(peer, rights->admin.gid);
}

static uint32_t
or_own(const struct lbm_group_setting *group)
{
    return group->is_given ? group->gid : (uint32_t)getegid();
}

enum lbm_access
lbm_access_of(const struct lbm_rights_setting *rights, const struct lbm_access_peer *peer)
{
    if (is_admin(rights, peer))
        return LBM_ACCESS_ADMIN;
    if (!has_groups(rights) || is_in(peer, or_own(&rights->submit)))
        return LBM_ACCESS_SUBMIT;
    return is_in(peer, or_own(&rights->read)) ? LBM_ACCESS_READ : LBM_ACCESS_NONE;
}

mode_t
lbm_access_socket_mode(const struct lbm_rights_setting *rights)
{
    return has_groups(rights) ? 0666 : 0660;
}
