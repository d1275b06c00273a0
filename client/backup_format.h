/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of a job in a backup (docs/formats.md): names, checksums, reports. */
#ifndef LBM_CLIENT_BACKUP_FORMAT_H
#define LBM_CLIENT_BACKUP_FORMAT_H

#include <jansson.h>
#include <limits.h>

#include "client/daemon.h"

enum { LBM_BACKUP_FORMAT = 1, LBM_BACKUP_HEAD = 12 /* bytes before each payload */ };

/* Files of a job's folder. job.json is written last: a folder without it is no backup. */
enum lbm_backup_file {
    LBM_BACKUP_GUEST,
    LBM_BACKUP_OWNERS,
    LBM_BACKUP_PINS,
    LBM_BACKUP_PAYLOADS,
    LBM_BACKUP_FILES
};
extern const char *const lbm_backup_files[LBM_BACKUP_FILES];
extern const char lbm_backup_magic[16]; /* what the file of payloads begins with */

/* A job's name as that of a folder in dir: other bytes than letters, digits, '-', '_' and '.' as %XX. */
void lbm_backup_folder_of(const char *dir, const char *job, char path[PATH_MAX]);
void lbm_backup_path_of(const char *folder, const char *name, char path[PATH_MAX]);

/* The error of the last system call: LBM_E_NOTFOUND or LBM_E_IO. */
enum lbm_err lbm_backup_io_error(struct lbm_diag *diag, const char *path);

/* Four bytes, the low ones first. */
void lbm_backup_put_u32(unsigned char *at, uint32_t value);
uint32_t lbm_backup_get_u32(const unsigned char *at);

/* What has been done with a job: a row, or, if rows is NULL, a line. */
void lbm_backup_tell_job(const struct lbm_cli *client, const char *job, uint32_t vertices, uint64_t bytes,
                         const char *what, json_t *rows);
/* Print the rows, if there are any, and let go of them. */
void lbm_backup_print_rows(json_t *rows);

#endif
