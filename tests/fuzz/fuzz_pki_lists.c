/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small text files of an identity, whose lines others cause: the first byte says which, t(okens),
 * a(pprovals) or c(ontacts), the rest is the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "daemon/contacts.h"
#include "harnesses.h"
#include "pki/pki.h"

static char folder[] = "/dev/shm/lbmap-lists-XXXXXX"; /* thousands of files a second */

static void
remove_folder(void)
{
    static const char *const files[] = {LBM_IDENTITY_TOKENS, LBM_IDENTITY_APPROVALS, LBM_IDENTITY_CONTACTS};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(lbm_identity_path(folder, files[i], path));
    rmdir(folder);
}

static void
put(const char *file, const uint8_t *data, size_t size)
{
    static int is_made;
    char path[PATH_MAX];
    if (!is_made) {
        LBM_ASSERT(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
        is_made = 1;
    }
    FILE *to = fopen(lbm_identity_path(folder, file, path), "w");
    LBM_ASSERT(to != NULL);
    LBM_ASSERT(fwrite(data, 1, size, to) == size);
    LBM_ASSERT(fclose(to) == 0);
}

static int
take_tokens(void)
{
    static struct lbm_tokens tokens;
    struct lbm_diag diag = {0};
    enum lbm_err err = lbm_tokens_read(folder, 1000, &tokens, &diag);
    for (size_t i = 0; err == LBM_OK && i < tokens.n; i++)
        LBM_ASSERT(tokens.row[i].until_s > 1000 && tokens.row[i].uses != 0 &&
                   strlen(tokens.row[i].name) == LBM_TOKEN_NAME);
    LBM_ASSERT(err != LBM_OK || tokens.n <= LBM_TOKENS_MAX);
    return err == LBM_OK;
}

static int
take_approvals(void)
{
    static struct lbm_approvals rows;
    struct lbm_diag diag = {0};
    enum lbm_err err = lbm_approvals_read(folder, 1000, &rows, &diag);
    for (size_t i = 0; err == LBM_OK && i < rows.n; i++)
        LBM_ASSERT(rows.row[i].until_s > 1000 && rows.row[i].state < LBM_APPROVAL_COUNT &&
                   lbm_pki_name_valid(rows.row[i].name) &&
                   strlen(rows.row[i].fingerprint) == LBM_APPROVAL_DIGITS);
    LBM_ASSERT(err != LBM_OK || rows.n <= LBM_APPROVALS_MAX);
    return err == LBM_OK;
}

static int
take_contacts(void)
{
    static struct lbm_node_contact contacts[LBM_CONTACTS_MAX];
    struct lbm_diag diag = {0};
    size_t n = 0;
    enum lbm_err err = lbm_contacts_read(folder, 3, contacts, &n, &diag);
    for (size_t i = 0; err == LBM_OK && i < n; i++)
        LBM_ASSERT(contacts[i].host != 3 && contacts[i].host < LBM_HOSTS_MAX &&
                   strlen(contacts[i].address) <= LBM_ADDRESS_MAX);
    LBM_ASSERT(err != LBM_OK || n <= LBM_CONTACTS_MAX);
    return err == LBM_OK;
}

int
fuzz_pki_lists(const uint8_t *data, size_t size)
{
    static const struct {
        uint8_t letter;
        const char *file;
        int (*take)(void);
    } lists[] = {{'t', LBM_IDENTITY_TOKENS, take_tokens},
                 {'a', LBM_IDENTITY_APPROVALS, take_approvals},
                 {'c', LBM_IDENTITY_CONTACTS, take_contacts}};
    for (size_t i = 0; size != 0 && i < sizeof lists / sizeof *lists; i++)
        if (data[0] == lists[i].letter) {
            put(lists[i].file, data + 1, size - 1);
            return lists[i].take();
        }
    return 0;
}
