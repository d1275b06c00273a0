/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of a cluster on this machine: who belongs to it, and each host's files.
 *   DIR/cluster.json    ids, names, addresses
 *   DIR/hN/lbmapd.conf, lbmap.db, lbmapd.sock, lbmapd.pid, lbmapd.log */
#ifndef LBM_CLIENT_CLUSTER_DIR_H
#define LBM_CLIENT_CLUSTER_DIR_H

#include <limits.h>
#include <sys/types.h>

#include "base/mem.h"
#include "client/command.h"
#include "host/host.h"

struct lbm_place {
    uint32_t id;
    char name[LBM_NAME_MAX + 1];
    char address[64];
    pid_t started; /* by this command; 0: it ran before, or does not run */
};

struct lbm_cluster {
    char dir[PATH_MAX]; /* absolute */
    LBM_VEC(struct lbm_place) places;
};

/* What the configuration of a host says beyond its place. */
struct lbm_place_config {
    const struct lbm_place *leader;
    double capacity;
    const char *log_engine; /* of lbmapd.conf */
    uint32_t copies;        /* the same */
    const double *site;     /* [m] or NULL */
    unsigned m;
    const struct lbm_link *links; /* p is this host */
    size_t n_links;
};

/* Room for the path of any file of a host. */
enum { LBM_CLUSTER_PATH_MAX = PATH_MAX + 128 };

/* DIR/NAME/FILE, written into path and returned. */
const char *lbm_cluster_path(const struct lbm_cluster *cluster, const struct lbm_place *place,
                             const char *file, char path[LBM_CLUSTER_PATH_MAX]);

/* The process of a host's daemon, or 0. */
pid_t lbm_cluster_process(const struct lbm_cluster *cluster, const struct lbm_place *place);

/* Find the folder `dir` (make it if make is set) and set cluster->dir. The following print what is wrong and
 * return its status. */
enum lbm_status lbm_cluster_open(const struct lbm_cli *client, const char *dir, struct lbm_cluster *cluster,
                                 int make);
enum lbm_status lbm_cluster_load(const struct lbm_cli *client, struct lbm_cluster *cluster);
enum lbm_status lbm_cluster_save(const struct lbm_cli *client, const struct lbm_cluster *cluster);

/* Make a host's folder and write its configuration. */
enum lbm_status lbm_cluster_configure(const struct lbm_cli *client, const struct lbm_cluster *cluster,
                                      const struct lbm_place *place, const struct lbm_place_config *config);

#endif
