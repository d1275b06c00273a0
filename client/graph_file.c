/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/graph_file.h"

#include "file/file.h"
#include "graph/write.h"

const struct lbm_choice lbm_graph_formats[] = {
#define GRAPH_CHOICE(id, name, suffixes, text) {name, text " (" suffixes ")"},
    LBM_GRAPH_FORMAT_LIST(GRAPH_CHOICE)
#undef GRAPH_CHOICE
        {NULL, NULL},
};

enum lbm_graph_format
lbm_graph_file_format(const char *path, enum lbm_graph_format format)
{
    if (format == LBM_FORMAT_COUNT)
        format = lbm_graph_format_by_path(path);
    return format != LBM_FORMAT_COUNT ? format : LBM_FORMAT_METIS;
}

enum lbm_err
lbm_graph_file_write(const char *path, enum lbm_graph_format format, const struct lbm_graph *g,
                     struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    enum lbm_err err = lbm_graph_write(lbm_graph_file_format(path, format), g, &text);
    if (err != LBM_OK)
        err = lbm_diag_set(diag, err, path, 0, "no memory for the text of %u vertices", g->n);
    else
        err = lbm_file_write(path, text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}
