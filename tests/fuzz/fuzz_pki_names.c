/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a certificate says, and tokens, as text: what is taken is written back the same, byte by byte. */
#include <string.h>

#include "base/check.h"
#include "harnesses.h"
#include "pki/pki.h"

static int
take_subject(const uint8_t *data, size_t size)
{
    struct lbm_pki_subject subject;
    char uri[LBM_PKI_URI_MAX + 1];
    if (lbm_pki_subject_parse((const char *)data, size, &subject) != LBM_OK)
        return 0;
    LBM_ASSERT(subject.kind < LBM_PKI_KIND_COUNT && subject.cluster != 0 && subject.host < LBM_HOSTS_MAX);
    LBM_ASSERT(subject.kind != LBM_PKI_USER || subject.level < LBM_PKI_LEVEL_COUNT);
    LBM_ASSERT(subject.kind != LBM_PKI_USER || subject.uid != 0 || subject.level == LBM_PKI_ADMIN);
    lbm_pki_subject_print(&subject, uri);
    LBM_ASSERT(strlen(uri) == size && memcmp(uri, data, size) == 0);
    return 1;
}

static int
take_token(const char *text)
{
    struct lbm_token token;
    uint8_t authority[LBM_PKI_HASH];
    char again[LBM_TOKEN_TEXT + 1];
    enum lbm_err err = lbm_token_parse_authority(text, authority);
    if (lbm_token_parse(text, &token) != LBM_OK)
        return err == LBM_OK;
    LBM_ASSERT(err == LBM_OK && memcmp(authority, token.authority, sizeof authority) == 0);
    lbm_token_print(&token, again);
    LBM_ASSERT(strcmp(text, again) == 0);
    return 1;
}

int
fuzz_pki_names(const uint8_t *data, size_t size)
{
    char text[256];
    int is_subject = take_subject(data, size);
    if (size >= sizeof text)
        return is_subject;
    memcpy(text, data, size);
    text[size] = '\0';
    return take_token(text) || is_subject;
}
