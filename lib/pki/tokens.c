/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file `tokens`: a line "HASH UNTIL USES" for each token that may still be used. Programs that change it
 * hold a lock on the file next to it, so that no use is counted twice. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "pki/pki.h"

static void
name_row(struct lbm_token_row *row)
{
    for (int i = 0; i < LBM_TOKEN_NAME / 2; i++)
        snprintf(row->name + 2 * i, 3, "%02x", row->hash[i]);
}

static enum lbm_err
hash_secret(const uint8_t secret[LBM_TOKEN_SECRET], uint8_t hash[LBM_PKI_HASH])
{
    unsigned n;
    return EVP_Digest(secret, LBM_TOKEN_SECRET, hash, &n, EVP_sha256(), NULL) == 1 ? LBM_OK : LBM_E_NOMEM;
}

static enum lbm_err
read_row(char *line, struct lbm_token_row *row)
{
    char hash[2 * LBM_PKI_HASH + 1], end;
    if (sscanf(line, "%64[0-9a-f] %" SCNd64 " %" SCNu32 "%c", hash, &row->until_s, &row->uses, &end) != 3 ||
        strlen(hash) != 2 * LBM_PKI_HASH)
        return LBM_E_SYNTAX;
    for (int i = 0; i < LBM_PKI_HASH; i++) {
        unsigned byte;
        if (sscanf(hash + 2 * i, "%2x", &byte) != 1)
            return LBM_E_SYNTAX;
        row->hash[i] = (uint8_t)byte;
    }
    name_row(row);
    return LBM_OK;
}

enum lbm_err
lbm_tokens_read(const char *dir, int64_t now_s, struct lbm_tokens *out, struct lbm_diag *diag)
{
    char *text, *rest, path[PATH_MAX];
    unsigned number = 0;
    enum lbm_err err = lbm_identity_read_text(dir, LBM_IDENTITY_TOKENS, &text, diag);
    if (err != LBM_OK)
        return err;
    out->n = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && err == LBM_OK;
         line = strtok_r(NULL, "\n", &rest)) {
        struct lbm_token_row row = {0};
        number++;
        if (read_row(line, &row) != LBM_OK || out->n == LBM_TOKENS_MAX)
            err = lbm_diag_set(diag, LBM_E_SYNTAX, lbm_identity_path(dir, LBM_IDENTITY_TOKENS, path), number,
                               "is not the line of a token; remove it");
        else if (row.until_s > now_s && row.uses != 0)
            out->row[out->n++] = row;
    }
    free(text);
    return err;
}

static enum lbm_err
write_rows(const char *dir, const struct lbm_tokens *tokens, struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    for (size_t i = 0; i < tokens->n; i++) {
        for (int k = 0; k < LBM_PKI_HASH; k++)
            lbm_buf_printf(&text, "%02x", tokens->row[i].hash[k]);
        lbm_buf_printf(&text, " %" PRId64 " %" PRIu32 "\n", tokens->row[i].until_s, tokens->row[i].uses);
    }
    enum lbm_err err = text.failed ? LBM_E_NOMEM
                                   : lbm_identity_write(dir, LBM_IDENTITY_TOKENS,
                                                        text.len != 0 ? text.at : "", text.len, diag);
    lbm_buf_free(&text);
    return err;
}

enum lbm_err
lbm_tokens_add(const char *dir, const struct lbm_token *token, int64_t now_s, int64_t until_s, uint32_t uses,
               struct lbm_diag *diag)
{
    struct lbm_tokens *tokens = lbm_alloc(1, sizeof *tokens);
    struct lbm_token_row row = {.until_s = until_s, .uses = uses};
    int fd = -1;
    enum lbm_err err = tokens == NULL ? LBM_E_NOMEM : lbm_identity_lock(dir, &fd, diag);
    if (err == LBM_OK)
        err = lbm_tokens_read(dir, now_s, tokens, diag);
    if (err == LBM_OK)
        err = hash_secret(token->secret, row.hash);
    if (err == LBM_OK && tokens->n == LBM_TOKENS_MAX)
        err = lbm_diag_set(diag, LBM_E_LIMIT, dir, 0, "there are %d tokens already; revoke some",
                           LBM_TOKENS_MAX);
    if (err == LBM_OK) {
        tokens->row[tokens->n++] = row;
        err = write_rows(dir, tokens, diag);
    }
    if (fd >= 0)
        close(fd);
    free(tokens);
    return err;
}

enum lbm_err
lbm_tokens_revoke(const char *dir, const char *name, int64_t now_s, struct lbm_diag *diag)
{
    struct lbm_tokens *tokens = lbm_alloc(1, sizeof *tokens);
    int fd = -1;
    enum lbm_err err = tokens == NULL ? LBM_E_NOMEM : lbm_identity_lock(dir, &fd, diag);
    if (err == LBM_OK)
        err = lbm_tokens_read(dir, now_s, tokens, diag);
    size_t at = 0;
    while (err == LBM_OK && at < tokens->n && strcmp(tokens->row[at].name, name) != 0)
        at++;
    if (err == LBM_OK && at == tokens->n)
        err = lbm_diag_set(diag, LBM_E_NOTFOUND, name, 0,
                           "is no token that can be used; lbctl token list names them");
    if (err == LBM_OK) {
        tokens->row[at] = tokens->row[--tokens->n];
        err = write_rows(dir, tokens, diag);
    }
    if (fd >= 0)
        close(fd);
    free(tokens);
    return err;
}

/* Place of a token among those that may be used. How long comparing hashes takes tells nothing of the secret.
 * Errors: LBM_E_DENIED. */
static enum lbm_err
place_of(const struct lbm_tokens *tokens, const uint8_t secret[LBM_TOKEN_SECRET], size_t *at,
         struct lbm_diag *diag)
{
    uint8_t hash[LBM_PKI_HASH];
    if (hash_secret(secret, hash) != LBM_OK)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < tokens->n; i++)
        if (memcmp(tokens->row[i].hash, hash, sizeof hash) == 0) {
            *at = i;
            return LBM_OK;
        }
    return lbm_diag_set(
        diag, LBM_E_DENIED, NULL, 0,
        "the token is unknown, used up, revoked, or its time is over; make another with lbctl "
        "token create");
}

enum lbm_err
lbm_tokens_find(const char *dir, const uint8_t secret[LBM_TOKEN_SECRET], int64_t now_s, struct lbm_diag *diag)
{
    struct lbm_tokens *tokens = lbm_alloc(1, sizeof *tokens);
    size_t at;
    enum lbm_err err = tokens == NULL ? LBM_E_NOMEM : lbm_tokens_read(dir, now_s, tokens, diag);
    if (err == LBM_OK)
        err = place_of(tokens, secret, &at, diag);
    free(tokens);
    return err;
}

enum lbm_err
lbm_tokens_use(const char *dir, const uint8_t secret[LBM_TOKEN_SECRET], int64_t now_s,
               char name[LBM_TOKEN_NAME + 1], struct lbm_diag *diag)
{
    struct lbm_tokens *tokens = lbm_alloc(1, sizeof *tokens);
    int fd = -1;
    size_t at = 0;
    enum lbm_err err = tokens == NULL ? LBM_E_NOMEM : lbm_identity_lock(dir, &fd, diag);
    if (err == LBM_OK)
        err = lbm_tokens_read(dir, now_s, tokens, diag);
    if (err == LBM_OK)
        err = place_of(tokens, secret, &at, diag);
    if (err == LBM_OK) {
        memcpy(name, tokens->row[at].name, LBM_TOKEN_NAME + 1);
        tokens->row[at].uses--;
        err = write_rows(dir, tokens, diag);
    }
    if (fd >= 0)
        close(fd);
    free(tokens);
    return err;
}
