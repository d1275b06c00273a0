/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of members to ask after the disk was lost, next to this host's certificate: lines "ID ADDRESS". */
#ifndef LBM_DAEMON_CONTACTS_H
#define LBM_DAEMON_CONTACTS_H

#include "node/node.h"

/* Out: contacts [LBM_CONTACTS_MAX], *n; those of `self` are left out. A file that is not there has none.
 * Errors:  LBM_E_SYNTAX with file and line, LBM_E_IO, LBM_E_DENIED. */
enum lbm_err lbm_contacts_read(const char *dir, uint32_t self, struct lbm_node_contact *contacts, size_t *n,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* Replace the file. */
enum lbm_err lbm_contacts_write(const char *dir, const struct lbm_node_contact *contacts, size_t n,
                                struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
