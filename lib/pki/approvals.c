/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file `approvals`: a line "KEY STATE UNTIL NAME FROM" for each machine that asks to be let in. It is
 * changed under the lock of tokens. What strangers write there is bounded: LBM_APPROVALS_MAX lines, FROM_MAX
 * from an address, and one write while somebody waits for LBM_APPROVAL_S / 2. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "pki/pki.h"

enum { FROM_MAX = 8 }; /* machines behind one address that wait at once */

static const char *const state_names[] = {
#define STATE_NAME(id, name) name,
    LBM_APPROVAL_LIST(STATE_NAME)
#undef STATE_NAME
};

const char *
lbm_approval_name(enum lbm_approval_state state)
{
    return state_names[state];
}

static void
print_key(const uint8_t key[LBM_PKI_HASH], char text[2 * LBM_PKI_HASH + 1])
{
    for (int i = 0; i < LBM_PKI_HASH; i++)
        snprintf(text + 2 * i, 3, "%02x", key[i]);
}

static enum lbm_err
read_row(const char *line, struct lbm_approval *row)
{
    char key[2 * LBM_PKI_HASH + 1], state[16], end;
    _Static_assert(LBM_NAME_MAX == 63 && LBM_ADDRESS_MAX >= 63, "what sscanf below reads");
    if (sscanf(line, "%64[0-9a-f] %15[a-z] %" SCNd64 " %63s %63s%c", key, state, &row->until_s, row->name,
               row->from, &end) != 5 ||
        strlen(key) != 2 * LBM_PKI_HASH || !lbm_pki_name_valid(row->name))
        return LBM_E_SYNTAX;
    for (int i = 0; i < LBM_PKI_HASH; i++) {
        unsigned byte;
        if (sscanf(key + 2 * i, "%2x", &byte) != 1)
            return LBM_E_SYNTAX;
        row->key[i] = (uint8_t)byte;
    }
    memcpy(row->fingerprint, key, LBM_APPROVAL_DIGITS);
    row->fingerprint[LBM_APPROVAL_DIGITS] = '\0';
    for (int i = 0; i < LBM_APPROVAL_COUNT; i++)
        if (strcmp(state, state_names[i]) == 0) {
            row->state = (enum lbm_approval_state)i;
            return LBM_OK;
        }
    return LBM_E_SYNTAX;
}

enum lbm_err
lbm_approvals_read(const char *dir, int64_t now_s, struct lbm_approvals *out, struct lbm_diag *diag)
{
    char *text, *rest, path[PATH_MAX];
    unsigned number = 0;
    enum lbm_err err = lbm_identity_read_text(dir, LBM_IDENTITY_APPROVALS, &text, diag);
    if (err != LBM_OK)
        return err;
    out->n = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && err == LBM_OK;
         line = strtok_r(NULL, "\n", &rest)) {
        struct lbm_approval row = {0};
        number++;
        if (read_row(line, &row) != LBM_OK || out->n == LBM_APPROVALS_MAX)
            err = lbm_diag_set(diag, LBM_E_SYNTAX, lbm_identity_path(dir, LBM_IDENTITY_APPROVALS, path),
                               number, "is not the line of a machine that waits; remove it");
        else if (row.until_s > now_s)
            out->row[out->n++] = row;
    }
    free(text);
    return err;
}

static enum lbm_err
write_rows(const char *dir, const struct lbm_approvals *rows, struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    for (size_t i = 0; i < rows->n; i++) {
        char key[2 * LBM_PKI_HASH + 1];
        print_key(rows->row[i].key, key);
        lbm_buf_printf(&text, "%s %s %" PRId64 " %s %s\n", key, state_names[rows->row[i].state],
                       rows->row[i].until_s, rows->row[i].name, rows->row[i].from);
    }
    enum lbm_err err = text.failed ? LBM_E_NOMEM
                                   : lbm_identity_write(dir, LBM_IDENTITY_APPROVALS,
                                                        text.len != 0 ? text.at : "", text.len, diag);
    lbm_buf_free(&text);
    return err;
}

/* A list that nobody else changes until unlock. */
static enum lbm_err
lock_rows(const char *dir, int64_t now_s, struct lbm_approvals **rows, int *fd, struct lbm_diag *diag)
{
    *fd = -1;
    *rows = lbm_alloc(1, sizeof **rows);
    enum lbm_err err = *rows == NULL ? LBM_E_NOMEM : lbm_identity_lock(dir, fd, diag);
    return err == LBM_OK ? lbm_approvals_read(dir, now_s, *rows, diag) : err;
}

static void
unlock(struct lbm_approvals *rows, int fd)
{
    if (fd >= 0)
        close(fd);
    free(rows);
}

static size_t
place_of(const struct lbm_approvals *rows, const uint8_t key[LBM_PKI_HASH])
{
    size_t at = 0;
    while (at < rows->n && memcmp(rows->row[at].key, key, LBM_PKI_HASH) != 0)
        at++;
    return at;
}

static enum lbm_err
add(struct lbm_approvals *rows, const struct lbm_approval *row, struct lbm_diag *diag)
{
    size_t same = 0;
    for (size_t i = 0; i < rows->n; i++)
        same += strcmp(rows->row[i].from, row->from) == 0;
    if (rows->n == LBM_APPROVALS_MAX || same == FROM_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, NULL, 0,
                            "too many machines wait for approval; lbctl approve lists them");
    rows->row[rows->n++] = *row;
    return LBM_OK;
}

enum lbm_err
lbm_approvals_ask(const char *dir, const uint8_t key[LBM_PKI_HASH], const char *name, const char *from,
                  int64_t now_s, struct lbm_approval *out, int *is_new, struct lbm_diag *diag)
{
    struct lbm_approvals *rows;
    struct lbm_approval row = {.state = LBM_APPROVAL_WAITS, .until_s = now_s + LBM_APPROVAL_S};
    char text[2 * LBM_PKI_HASH + 1];
    int fd;
    enum lbm_err err = lock_rows(dir, now_s, &rows, &fd, diag);
    size_t at = err == LBM_OK ? place_of(rows, key) : 0;
    *is_new = err == LBM_OK && at == rows->n;
    memcpy(row.key, key, LBM_PKI_HASH);
    print_key(key, text);
    memcpy(row.fingerprint, text, LBM_APPROVAL_DIGITS);
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.from, sizeof row.from, "%s", from);
    int writes = *is_new;
    if (*is_new)
        err = add(rows, &row, diag);
    else if (err == LBM_OK && strcmp(rows->row[at].name, name) != 0)
        err = lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "this key has asked by another name");
    else if (err == LBM_OK && rows->row[at].state == LBM_APPROVAL_WAITS &&
             rows->row[at].until_s < now_s + LBM_APPROVAL_S / 2) {
        rows->row[at].until_s = row.until_s;
        writes = 1;
    }
    if (err == LBM_OK && writes)
        err = write_rows(dir, rows, diag);
    if (err == LBM_OK)
        *out = rows->row[at];
    unlock(rows, fd);
    return err;
}

enum lbm_err
lbm_approvals_decide(const char *dir, const char *fingerprint, int approve, int64_t now_s,
                     struct lbm_approval *out, struct lbm_diag *diag)
{
    struct lbm_approvals *rows;
    int fd;
    size_t len = strlen(fingerprint), found = 0, at = 0;
    enum lbm_err err = lock_rows(dir, now_s, &rows, &fd, diag);
    for (size_t i = 0; err == LBM_OK && i < rows->n; i++)
        if (strncmp(rows->row[i].fingerprint, fingerprint, len) == 0) {
            at = i;
            found++;
        }
    if (err == LBM_OK && (len < LBM_APPROVAL_DIGITS_MIN || len > LBM_APPROVAL_DIGITS))
        err = lbm_diag_set(diag, LBM_E_RANGE, fingerprint, 0, "give %d to %d digits of the fingerprint",
                           LBM_APPROVAL_DIGITS_MIN, LBM_APPROVAL_DIGITS);
    else if (err == LBM_OK && found != 1)
        err =
            lbm_diag_set(diag, LBM_E_NOTFOUND, fingerprint, 0,
                         found == 0 ? "no machine with that fingerprint waits; lbctl approve lists them"
                                    : "several machines have a fingerprint that begins so; give more digits");
    if (err == LBM_OK) {
        rows->row[at].state = approve ? LBM_APPROVAL_APPROVED : LBM_APPROVAL_DENIED;
        rows->row[at].until_s = now_s + LBM_APPROVAL_S;
        *out = rows->row[at];
        err = write_rows(dir, rows, diag);
    }
    unlock(rows, fd);
    return err;
}

enum lbm_err
lbm_approvals_use(const char *dir, const uint8_t key[LBM_PKI_HASH], int64_t now_s, struct lbm_diag *diag)
{
    struct lbm_approvals *rows;
    int fd;
    enum lbm_err err = lock_rows(dir, now_s, &rows, &fd, diag);
    size_t at = err == LBM_OK ? place_of(rows, key) : 0;
    if (err == LBM_OK && (at == rows->n || rows->row[at].state != LBM_APPROVAL_APPROVED))
        err = lbm_diag_set(diag, LBM_E_DENIED, NULL, 0, "the approval is used, or its time is over");
    if (err == LBM_OK) {
        rows->row[at] = rows->row[--rows->n];
        err = write_rows(dir, rows, diag);
    }
    unlock(rows, fd);
    return err;
}
