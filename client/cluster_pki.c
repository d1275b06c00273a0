/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/cluster_pki.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "pki/pki.h"

static const char *
authority_folder(const struct lbm_cluster *cluster, char dir[LBM_CLUSTER_PATH_MAX])
{
    snprintf(dir, LBM_CLUSTER_PATH_MAX, "%s/ca", cluster->dir);
    return dir;
}

enum lbm_err
lbm_cluster_authority(const struct lbm_cluster *cluster, struct lbm_diag *diag)
{
    struct lbm_pki_subject subject = {.kind = LBM_PKI_AUTHORITY};
    char dir[LBM_CLUSTER_PATH_MAX];
    EVP_PKEY *key = NULL;
    X509 *ca = NULL;
    if (getrandom(&subject.cluster, sizeof subject.cluster, 0) != sizeof subject.cluster)
        return lbm_diag_set(diag, LBM_E_IO, NULL, 0, "the system gives no random numbers");
    subject.cluster |= 1;
    enum lbm_err err = lbm_identity_folder(authority_folder(cluster, dir), diag);
    if (err == LBM_OK)
        err = lbm_pki_key_new(&key, diag);
    if (err == LBM_OK)
        err = lbm_pki_authority_new(key, &subject, "local", &ca, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_key(dir, LBM_IDENTITY_CA_KEY, key, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_certificate(dir, LBM_IDENTITY_CA, ca, diag);
    EVP_PKEY_free(key);
    X509_free(ca);
    return err;
}

/* Read the CA. Out: *ca, *key owned by the caller, also on error. */
static enum lbm_err
read_authority(const struct lbm_cluster *cluster, X509 **ca, EVP_PKEY **key, struct lbm_diag *diag)
{
    char dir[LBM_CLUSTER_PATH_MAX], path[PATH_MAX];
    authority_folder(cluster, dir);
    enum lbm_err err = lbm_identity_read_certificate(lbm_identity_path(dir, LBM_IDENTITY_CA, path), ca, diag);
    if (err == LBM_OK)
        err = lbm_identity_read_key(lbm_identity_path(dir, LBM_IDENTITY_CA_KEY, path), NULL, key, diag);
    return err;
}

static enum lbm_err
write_certificate(const char *dir, X509 *ca, EVP_PKEY *ca_key, uint32_t host, struct lbm_diag *diag)
{
    struct lbm_pki_subject subject;
    EVP_PKEY *key = NULL;
    X509 *certificate = NULL;
    if (lbm_pki_subject_of(ca, &subject) != LBM_OK)
        return lbm_diag_set(diag, LBM_E_SYNTAX, dir, 0, "the CA's certificate names no cluster");
    subject.kind = LBM_PKI_HOST;
    subject.host = host;
    enum lbm_err err = lbm_pki_key_new(&key, diag);
    if (err == LBM_OK)
        err = lbm_pki_sign(ca, ca_key, key, &subject, LBM_PKI_CERTIFICATE_S, &certificate, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_key(dir, LBM_IDENTITY_KEY, key, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_certificate(dir, LBM_IDENTITY_CERT, certificate, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_certificate(dir, LBM_IDENTITY_CA, ca, diag);
    EVP_PKEY_free(key);
    X509_free(certificate);
    return err;
}

enum lbm_err
lbm_cluster_identity(const struct lbm_cluster *cluster, const struct lbm_place *place,
                     const struct lbm_place *leader, struct lbm_diag *diag)
{
    char dir[LBM_CLUSTER_PATH_MAX], contacts[128];
    X509 *ca = NULL;
    EVP_PKEY *ca_key = NULL;
    enum lbm_err err = lbm_identity_folder(lbm_cluster_path(cluster, place, "identity", dir), diag);
    if (err == LBM_OK)
        err = read_authority(cluster, &ca, &ca_key, diag);
    if (err == LBM_OK)
        err = write_certificate(dir, ca, ca_key, place->id, diag);
    /* The CA's key stays where it is, but for the host that founds: it may enrol others. */
    if (err == LBM_OK && place == leader)
        err = lbm_identity_write_key(dir, LBM_IDENTITY_CA_KEY, ca_key, diag);
    if (err == LBM_OK && place == leader)
        err = lbm_identity_write(dir, LBM_IDENTITY_FOUND, "", 0, diag);
    if (err == LBM_OK && place != leader) {
        snprintf(contacts, sizeof contacts, "%" PRIu32 " %s\n", leader->id, leader->address);
        err = lbm_identity_write(dir, LBM_IDENTITY_CONTACTS, contacts, strlen(contacts), diag);
    }
    X509_free(ca);
    EVP_PKEY_free(ca_key);
    return err;
}
