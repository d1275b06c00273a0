/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificate authority of a cluster on this machine, and what each host has of it:
 *   DIR/ca                 the CA's certificate and key
 *   DIR/hN/identity        certificate, key and contacts of a host */
#ifndef LBM_CLIENT_CLUSTER_PKI_H
#define LBM_CLIENT_CLUSTER_PKI_H

#include "client/cluster_dir.h"

/* Draw a CA. */
enum lbm_err lbm_cluster_authority(const struct lbm_cluster *cluster, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Give a host its identity, signed by that CA. founds: it founds the cluster; else leader is asked. */
enum lbm_err lbm_cluster_identity(const struct lbm_cluster *cluster, const struct lbm_place *place,
                                  const struct lbm_place *leader, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
