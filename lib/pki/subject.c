/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pki/pki.h"

#define SCHEME "lbmap://"

enum { CLUSTER_DIGITS = 16, ID_DIGITS = 4 };
_Static_assert(LBM_HOSTS_MAX <= 9999, "ids of hosts have four digits");

int
lbm_pki_name_valid(const char *text)
{
    size_t len = strlen(text);
    return len > 0 && len <= LBM_NAME_MAX &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

void
lbm_pki_subject_print(const struct lbm_pki_subject *subject, char uri[LBM_PKI_URI_MAX + 1])
{
    int len = snprintf(uri, LBM_PKI_URI_MAX + 1, SCHEME "%016" PRIx64, subject->cluster);
    if (subject->kind == LBM_PKI_HOST)
        snprintf(uri + len, LBM_PKI_URI_MAX + 1 - (size_t)len, "/host/%" PRIu32, subject->host);
    else if (subject->kind == LBM_PKI_USER)
        snprintf(uri + len, LBM_PKI_URI_MAX + 1 - (size_t)len, "/user/%s", subject->user);
}

/* The digits of an id, without leading zeros. */
static enum lbm_err
parse_id(const char *text, uint32_t *host)
{
    size_t len = strlen(text);
    if (len == 0 || len > ID_DIGITS || strspn(text, "0123456789") != len || (text[0] == '0' && len != 1))
        return LBM_E_SYNTAX;
    *host = (uint32_t)strtoul(text, NULL, 10);
    return *host < LBM_HOSTS_MAX ? LBM_OK : LBM_E_SYNTAX;
}

enum lbm_err
lbm_pki_subject_parse(const char *uri, size_t len, struct lbm_pki_subject *out)
{
    char text[LBM_PKI_URI_MAX + 1], digits[CLUSTER_DIGITS + 1];
    const size_t head = strlen(SCHEME);
    struct lbm_pki_subject subject = {.kind = LBM_PKI_AUTHORITY};
    if (len > LBM_PKI_URI_MAX || len < head + CLUSTER_DIGITS || memchr(uri, '\0', len) != NULL)
        return LBM_E_SYNTAX;
    memcpy(text, uri, len);
    text[len] = '\0';
    memcpy(digits, text + head, CLUSTER_DIGITS);
    digits[CLUSTER_DIGITS] = '\0';
    if (strncmp(text, SCHEME, head) != 0 || strspn(digits, "0123456789abcdef") != CLUSTER_DIGITS)
        return LBM_E_SYNTAX;
    subject.cluster = strtoull(digits, NULL, 16);
    if (subject.cluster == 0)
        return LBM_E_SYNTAX;
    const char *rest = text + head + CLUSTER_DIGITS;
    if (strncmp(rest, "/host/", 6) == 0) {
        subject.kind = LBM_PKI_HOST;
        if (parse_id(rest + 6, &subject.host) != LBM_OK)
            return LBM_E_SYNTAX;
    } else if (strncmp(rest, "/user/", 6) == 0 && lbm_pki_name_valid(rest + 6)) {
        subject.kind = LBM_PKI_USER;
        memcpy(subject.user, rest + 6, strlen(rest + 6) + 1);
    } else if (*rest != '\0') {
        return LBM_E_SYNTAX;
    }
    *out = subject;
    return LBM_OK;
}
