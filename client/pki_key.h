/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The authority's key on its way to another host: one file, encrypted with a passphrase.
 *
 * Never: writes the key in the clear anywhere but into the folder of an identity. */
#ifndef LBM_CLIENT_PKI_KEY_H
#define LBM_CLIENT_PKI_KEY_H

#include "client/command.h"
#include "pki/pki.h"

enum { LBM_PASSPHRASE_MIN = 8, LBM_PASSPHRASE_MAX = 100 }; /* characters */

/* The first line of that file or, with NULL, what is typed at the terminal, twice if it is new.
 * Errors: LBM_E_NOTFOUND, LBM_E_IO, LBM_E_RANGE its length; diag. */
enum lbm_err lbm_passphrase_read(const char *file, int is_new, char passphrase[LBM_PASSPHRASE_MAX + 1],
                                 struct lbm_diag *diag) LBM_MUST_CHECK;

/* Write the certificate of the authority and its key, which are in the folder of this host's identity, to a
 * new file that only its owner reads: PKCS #8, AES-256, the passphrase by scrypt. Errors: LBM_E_NOTFOUND
 * there is no key, LBM_E_EXISTS the file is there, LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err lbm_pki_key_export(const char *identity, const char *file, const char *passphrase,
                                struct lbm_diag *diag) LBM_MUST_CHECK;

/* The way back, into the folder of another host of the same cluster.
 * Errors: LBM_E_NOTFOUND, LBM_E_EXISTS it has the key, LBM_E_DENIED another passphrase, or another cluster's.
 */
enum lbm_err lbm_pki_key_import(const char *identity, const char *file, const char *passphrase,
                                struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
