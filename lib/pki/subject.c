/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pki/pki.h"

#define SCHEME "lbmap://"

enum { CLUSTER_DIGITS = 16, ID_DIGITS = 4, UID_DIGITS = 10 };
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
        snprintf(uri + len, LBM_PKI_URI_MAX + 1 - (size_t)len, "/user/%s/%s/%" PRIu32, subject->user,
                 lbm_pki_level_name(subject->level), subject->uid);
}

static const char *const level_names[] = {
#define LEVEL_NAME(id, name) name,
    LBM_PKI_LEVEL_LIST(LEVEL_NAME)
#undef LEVEL_NAME
};

const char *
lbm_pki_level_name(enum lbm_pki_level level)
{
    return level_names[level];
}

enum lbm_err
lbm_pki_level_parse(const char *name, enum lbm_pki_level *out)
{
    for (int level = 0; level < LBM_PKI_LEVEL_COUNT; level++)
        if (strcmp(name, level_names[level]) == 0) {
            *out = (enum lbm_pki_level)level;
            return LBM_OK;
        }
    return LBM_E_SYNTAX;
}

/* A number of at most `digits` digits, without leading zeros. */
static enum lbm_err
parse_number(const char *text, size_t digits, uint64_t *number)
{
    size_t len = strlen(text);
    if (len == 0 || len > digits || strspn(text, "0123456789") != len || (text[0] == '0' && len != 1))
        return LBM_E_SYNTAX;
    *number = strtoull(text, NULL, 10);
    return LBM_OK;
}

/* NAME/LEVEL/UID, taken apart in place. */
static enum lbm_err
parse_user(char *text, struct lbm_pki_subject *subject)
{
    char *level = strchr(text, '/'), *uid = level != NULL ? strchr(level + 1, '/') : NULL;
    uint64_t number;
    if (uid == NULL)
        return LBM_E_SYNTAX;
    *level++ = *uid++ = '\0';
    if (!lbm_pki_name_valid(text) || lbm_pki_level_parse(level, &subject->level) != LBM_OK ||
        parse_number(uid, UID_DIGITS, &number) != LBM_OK || number > UINT32_MAX - 1 ||
        (number == 0 && subject->level != LBM_PKI_ADMIN))
        return LBM_E_SYNTAX;
    subject->kind = LBM_PKI_USER;
    subject->uid = (uint32_t)number;
    memcpy(subject->user, text, strlen(text) + 1);
    return LBM_OK;
}

/* The digits of an id, without leading zeros. */
static enum lbm_err
parse_id(const char *text, uint32_t *host)
{
    uint64_t number;
    if (parse_number(text, ID_DIGITS, &number) != LBM_OK || number >= LBM_HOSTS_MAX)
        return LBM_E_SYNTAX;
    *host = (uint32_t)number;
    return LBM_OK;
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
    char *rest = text + head + CLUSTER_DIGITS;
    if (strncmp(rest, "/host/", 6) == 0) {
        subject.kind = LBM_PKI_HOST;
        if (parse_id(rest + 6, &subject.host) != LBM_OK)
            return LBM_E_SYNTAX;
    } else if (strncmp(rest, "/user/", 6) == 0) {
        if (parse_user(rest + 6, &subject) != LBM_OK)
            return LBM_E_SYNTAX;
    } else if (*rest != '\0') {
        return LBM_E_SYNTAX;
    }
    *out = subject;
    return LBM_OK;
}
