/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/graph_file.h"

#include <stdio.h>

#include "file/file.h"
#include "graph/write.h"

const struct lbm_choice lbm_graph_formats[] = {
#define GRAPH_CHOICE(id, name, suffixes, text) {name, text " (" suffixes ")"},
    LBM_GRAPH_FORMAT_LIST(GRAPH_CHOICE)
#undef GRAPH_CHOICE
        {NULL, NULL},
};

enum lbm_err
lbm_graph_file_format(const char *path, const struct lbm_option_value *given, const char *option,
                      enum lbm_graph_format *format, struct lbm_diag *diag)
{
    *format = given->given ? (enum lbm_graph_format)given->integer : LBM_FORMAT_COUNT;
    return given->given ? LBM_OK : lbm_file_graph_format(path, option, format, diag);
}

/* The losses in words. */
static void
list_losses(unsigned losses, char *text, size_t size)
{
    size_t len = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < LBM_LOSS_COUNT && len < size; i++)
        if ((losses & 1u << i) != 0)
            len += (size_t)snprintf(text + len, size - len, "%sno %s", len > 0 ? ", " : "", lbm_loss_text(i));
}

enum lbm_err
lbm_graph_file_holds(const char *path, enum lbm_graph_format format, const struct lbm_graph *g, int lossy,
                     struct lbm_diag *diag)
{
    char list[128];
    unsigned losses = lbm_graph_losses(format, g);
    const char *name = lbm_graph_format_name(format);
    if (!lbm_graph_is_written(format))
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, path, 0,
                            "%s is read only: no graph is written as a mesh", name);
    list_losses(losses, list, sizeof list);
    if (losses != 0 && !lossy)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, path, 0,
                            "%s holds %s: write graphml, or give --lossy to leave them out", name, list);
    return LBM_OK;
}

void
lbm_graph_file_remark(const struct lbm_cli *client, const char *path, enum lbm_graph_format format,
                      const struct lbm_graph *g)
{
    char list[128];
    unsigned losses = lbm_graph_losses(format, g);
    list_losses(losses, list, sizeof list);
    if (losses != 0)
        lbm_cli_remark(client, "%s: %s holds %s; they were left out", path, lbm_graph_format_name(format),
                       list);
}

enum lbm_err
lbm_graph_file_write(const char *path, enum lbm_graph_format format, const struct lbm_graph *g,
                     struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    enum lbm_err err = lbm_graph_write(format, g, &text);
    if (err == LBM_E_LIMIT)
        err = lbm_diag_set(diag, err, path, 0, "%u vertices are too many for a dense matrix", g->n);
    else if (err != LBM_OK)
        err = lbm_diag_set(diag, err, path, 0, "no memory for the text of %u vertices", g->n);
    else
        err = lbm_file_write(path, text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}
