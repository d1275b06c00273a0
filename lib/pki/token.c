/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbm1-HASH-SECRET, both in base32 with small letters and the digits 2 to 7: whoever reads a token aloud or
 * copies it by double click gets all of it. */
#include <openssl/rand.h>
#include <string.h>

#include "pki/pki.h"

#define PREFIX "lbm1-"

enum { HASH_LETTERS = (LBM_PKI_HASH * 8 + 4) / 5, SECRET_LETTERS = (LBM_TOKEN_SECRET * 8 + 4) / 5 };
_Static_assert(sizeof PREFIX - 1 + HASH_LETTERS + 1 + SECRET_LETTERS == LBM_TOKEN_TEXT, "what a token has");

static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";

static char *
put(char *at, const uint8_t *bytes, size_t n)
{
    unsigned held = 0, bits = 0;
    for (size_t i = 0; i < n; i++) {
        held = (held << 8 | bytes[i]) & 0xfff;
        for (bits += 8; bits >= 5; bits -= 5)
            *at++ = letters[held >> (bits - 5) & 31];
    }
    if (bits != 0)
        *at++ = letters[held << (5 - bits) & 31];
    return at;
}

/* Exactly n bytes; bits left over are 0. */
static enum lbm_err
take(const char *text, uint8_t *bytes, size_t n)
{
    unsigned held = 0, bits = 0;
    for (size_t i = 0; i < n;) {
        const char *letter = *text != '\0' ? strchr(letters, *text++) : NULL;
        if (letter == NULL)
            return LBM_E_SYNTAX;
        held = (held << 5 | (unsigned)(letter - letters)) & 0xfff;
        bits += 5;
        if (bits >= 8) {
            bits -= 8;
            bytes[i++] = (uint8_t)(held >> bits);
        }
    }
    return (held & ((1u << bits) - 1)) == 0 ? LBM_OK : LBM_E_SYNTAX;
}

enum lbm_err
lbm_token_new(X509 *ca, struct lbm_token *out, struct lbm_diag *diag)
{
    struct lbm_token token;
    if (lbm_pki_key_hash(ca, token.authority) != LBM_OK || RAND_bytes(token.secret, LBM_TOKEN_SECRET) != 1)
        return lbm_pki_fail(diag, LBM_E_IO, NULL, "no token can be drawn");
    *out = token;
    return LBM_OK;
}

void
lbm_token_print(const struct lbm_token *token, char text[LBM_TOKEN_TEXT + 1])
{
    memcpy(text, PREFIX, sizeof PREFIX - 1);
    char *at = put(text + sizeof PREFIX - 1, token->authority, LBM_PKI_HASH);
    *at++ = '-';
    *put(at, token->secret, LBM_TOKEN_SECRET) = '\0';
}

enum lbm_err
lbm_token_print_authority(X509 *ca, char text[LBM_TOKEN_TEXT + 1])
{
    uint8_t hash[LBM_PKI_HASH];
    enum lbm_err err = lbm_pki_key_hash(ca, hash);
    if (err != LBM_OK)
        return err;
    memcpy(text, PREFIX, sizeof PREFIX - 1);
    *put(text + sizeof PREFIX - 1, hash, LBM_PKI_HASH) = '\0';
    return LBM_OK;
}

enum lbm_err
lbm_token_parse_authority(const char *text, uint8_t authority[LBM_PKI_HASH])
{
    uint8_t hash[LBM_PKI_HASH];
    struct lbm_token token;
    enum lbm_err err = lbm_token_parse(text, &token);
    if (err == LBM_OK)
        memcpy(hash, token.authority, sizeof hash);
    else if (strlen(text) == sizeof PREFIX - 1 + HASH_LETTERS &&
             strncmp(text, PREFIX, sizeof PREFIX - 1) == 0)
        err = take(text + sizeof PREFIX - 1, hash, LBM_PKI_HASH);
    OPENSSL_cleanse(&token, sizeof token);
    if (err == LBM_OK)
        memcpy(authority, hash, sizeof hash);
    return err;
}

enum lbm_err
lbm_token_parse(const char *text, struct lbm_token *out)
{
    struct lbm_token token;
    const char *secret = text + sizeof PREFIX - 1 + HASH_LETTERS;
    if (strlen(text) != LBM_TOKEN_TEXT || strncmp(text, PREFIX, sizeof PREFIX - 1) != 0 || *secret != '-' ||
        take(text + sizeof PREFIX - 1, token.authority, LBM_PKI_HASH) != LBM_OK ||
        take(secret + 1, token.secret, LBM_TOKEN_SECRET) != LBM_OK)
        return LBM_E_SYNTAX;
    *out = token;
    return LBM_OK;
}
