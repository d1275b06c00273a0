/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/contacts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/address.h"
#include "pki/pki.h"

/* "ID ADDRESS". Errors: LBM_E_SYNTAX, and those of lbm_address_check_list. */
static enum lbm_err
read_line(const char *line, const char *path, unsigned number, struct lbm_node_contact *out,
          struct lbm_diag *diag)
{
    char *end;
    unsigned long id = strtoul(line, &end, 10);
    if (end == line || *end != ' ' || id >= LBM_HOSTS_MAX || strlen(end + 1) > LBM_ADDRESS_MAX)
        return lbm_diag_set(diag, LBM_E_SYNTAX, path, number,
                            "is not \"ID ADDRESS\", as in 3 ws3.example:7411");
    enum lbm_err err = lbm_address_check_list(end + 1, path, number, diag);
    if (err != LBM_OK)
        return err;
    out->host = (uint32_t)id;
    snprintf(out->address, sizeof out->address, "%s", end + 1);
    return LBM_OK;
}

enum lbm_err
lbm_contacts_read(const char *dir, uint32_t self, struct lbm_node_contact *contacts, size_t *n,
                  struct lbm_diag *diag)
{
    char *text, *rest, path[PATH_MAX];
    unsigned number = 0;
    enum lbm_err err = lbm_identity_read_text(dir, LBM_IDENTITY_CONTACTS, &text, diag);
    if (err != LBM_OK)
        return err;
    *n = 0;
    lbm_identity_path(dir, LBM_IDENTITY_CONTACTS, path);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && err == LBM_OK && *n < LBM_CONTACTS_MAX;
         line = strtok_r(NULL, "\n", &rest)) {
        err = read_line(line, path, ++number, &contacts[*n], diag);
        *n += err == LBM_OK && contacts[*n].host != self;
    }
    free(text);
    return err;
}

enum lbm_err
lbm_contacts_write(const char *dir, const struct lbm_node_contact *contacts, size_t n, struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    for (size_t i = 0; i < n; i++)
        lbm_buf_printf(&text, "%" PRIu32 " %s\n", contacts[i].host, contacts[i].address);
    enum lbm_err err = text.failed ? LBM_E_NOMEM
                                   : lbm_identity_write(dir, LBM_IDENTITY_CONTACTS,
                                                        text.len != 0 ? text.at : "", text.len, diag);
    lbm_buf_free(&text);
    return err;
}
