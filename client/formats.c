/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/formats.h"

#include <stdio.h>

#include "base/check.h"

static lbm_map_writer *const writers[] = {
#define LBM_MAP_WRITER_OF(id, name, text) lbm_map_write_##name,
    LBM_MAP_FORMAT_LIST(LBM_MAP_WRITER_OF)
#undef LBM_MAP_WRITER_OF
};

const struct lbm_choice lbm_map_formats[] = {
#define LBM_CHOICE(id, name, text) {#name, text},
    LBM_MAP_FORMAT_LIST(LBM_CHOICE){NULL, NULL},
};

const struct lbm_choice lbm_draw_spaces[] = {
    LBM_DRAW_LIST(LBM_CHOICE){NULL, NULL},
#undef LBM_CHOICE
};

enum lbm_err
lbm_mapping_write(enum lbm_map_format format, const struct lbm_mapping *mapping, struct lbm_buf *out,
                  struct lbm_diag *diag)
{
    LBM_ASSERT(format < LBM_MAP_FORMAT_COUNT);
    enum lbm_err err = writers[format](mapping, out, diag);
    if (err == LBM_OK && out->failed)
        err = LBM_E_NOMEM;
    return err != LBM_E_NOMEM ? err
                              : lbm_diag_set(diag, err, "", 0, "no memory to write the mapping as %s",
                                             lbm_map_formats[format].name);
}

int
lbm_map_format_needs_names(enum lbm_map_format format)
{
    return format == LBM_MAP_FORMAT_RANKFILE || format == LBM_MAP_FORMAT_SEQ ||
           format == LBM_MAP_FORMAT_HYDRA || format == LBM_MAP_FORMAT_SLURM || format == LBM_MAP_FORMAT_CHARM;
}

const char *
lbm_host_label(const struct lbm_hosts *h, uint32_t p, char id[LBM_HOST_ID_BYTES])
{
    if (h->name != NULL)
        return h->name[p];
    snprintf(id, LBM_HOST_ID_BYTES, "%u", p);
    return id;
}
