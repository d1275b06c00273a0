/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_packed.c: records of other hosts as a backup keeps them in memory, in a third of the bytes. Only
 * files of lib/node include this. */
#ifndef LBM_NODE_RECORDS_RECORD_PACKED_H
#define LBM_NODE_RECORDS_RECORD_PACKED_H

#include "base/mem.h"
#include "node/core/persist.h"

/* What is looked at without unpacking all of it. */
struct kept_head {
    uint32_t vertex;
    enum lbm_stage stage;
    uint64_t epoch;
};

/* A copy of the row, to be freed with free(); NULL if memory is short. scratch is used again and again. */
uint8_t *lbm_records_pack(const struct lbm_row *row, struct lbm_buf *scratch);
/* Returns the fixed part of a packed record. In: kept, from lbm_records_pack. */
struct kept_head lbm_records_packed_head(const uint8_t *kept);
/* Returns nonzero if the payload of a packed record of that job is a blob. Out: *name. It takes no memory:
 * what a sweep of blobs does not see named, it drops. */
int lbm_records_packed_blob(const uint8_t *kept, uint64_t job, struct lbm_blob_name *name);
/* The row again, of that job. Errors: LBM_E_NOMEM; row owns its content. */
enum lbm_err lbm_records_unpack(const uint8_t *kept, uint64_t job, struct lbm_row *row) LBM_MUST_CHECK;

#endif
