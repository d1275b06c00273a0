/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/backup_format.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

const char *const lbm_backup_files[LBM_BACKUP_FILES] = {"guest.graph", "owners", "pins", "payloads"};
const char lbm_backup_magic[16] = "lbmap payloads 1";

enum lbm_err
lbm_backup_io_error(struct lbm_diag *diag, const char *path)
{
    return lbm_diag_set(diag, errno == ENOENT ? LBM_E_NOTFOUND : LBM_E_IO, path, 0, "%s", strerror(errno));
}

/* ---- names ----------------------------------------------------------------------------------------------
 */

static int
is_plain(unsigned char c, size_t at)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || (c == '.' && at != 0);
}

/* A job's name as that of a folder: other bytes than letters, digits, '-', '_' and '.' as %XX. */
void
lbm_backup_folder_of(const char *dir, const char *job, char path[PATH_MAX])
{
    size_t at = (size_t)snprintf(path, PATH_MAX, "%s/", dir);
    for (size_t i = 0; job[i] != '\0' && at + 4 < PATH_MAX; i++) {
        unsigned char c = (unsigned char)job[i];
        at += (size_t)snprintf(path + at, PATH_MAX - at, is_plain(c, i) ? "%c" : "%%%02X", c);
    }
}

void
lbm_backup_path_of(const char *folder, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 64, folder, name);
}

/* ---- numbers --------------------------------------------------------------------------------------------
 */

void
lbm_backup_put_u32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

uint32_t
lbm_backup_get_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* ---- reports --------------------------------------------------------------------------------------------
 */

void
lbm_backup_tell_job(const struct lbm_cli *client, const char *job, uint32_t vertices, uint64_t bytes,
                    const char *what, json_t *rows)
{
    if (rows != NULL)
        json_array_append_new(rows, json_pack("{s:s, s:I, s:I}", "job", job, "vertices", (json_int_t)vertices,
                                              "payload_bytes", (json_int_t)bytes));
    else if (!lbm_cli_is_quiet(client))
        printf("job %s: %" PRIu32 " vertices, %" PRIu64 " bytes of payloads: %s\n", job, vertices, bytes,
               what);
}

void
lbm_backup_print_rows(json_t *rows)
{
    if (rows == NULL)
        return;
    json_dumpf(rows, stdout, LBM_JSON_FLAGS);
    printf("\n");
    json_decref(rows);
}
