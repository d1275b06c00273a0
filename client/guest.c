/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/guest.h"

#include <string.h>

#include "file/file.h"

/* One number of --scale, or "auto". */
static enum lbm_err
read_scale(const char *word, struct lbm_scale *scale, struct lbm_diag *diag)
{
    static const struct lbm_option factor = {
        .name = "scale", .type = LBM_OPTION_NUMBER, .value = "X", .min = 1e-300, .max = 1e300};
    struct lbm_option_value value = {0};
    if (strcmp(word, "auto") == 0) {
        scale->how = LBM_SCALE_AUTO;
        return LBM_OK;
    }
    enum lbm_err err = lbm_option_convert(&factor, word, "--scale", &value, diag);
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, "--scale", 0,
                            "\"%.40s\" is neither auto nor a positive number; X or X,Y is wanted", word);
    *scale = (struct lbm_scale){LBM_SCALE_BY, value.number};
    return LBM_OK;
}

static enum lbm_err
read_scales(const char *text, struct lbm_reading *reading, struct lbm_diag *diag)
{
    char word[LBM_OPTION_WORD_MAX];
    const char *rest = text;
    int words = 0;
    while (lbm_option_next_word(&rest, word)) {
        enum lbm_err err =
            words < 2 ? read_scale(word, &reading->work_scale, diag)
                      : lbm_diag_set(diag, LBM_E_SYNTAX, "--scale", 0,
                                     "\"%.40s\": at most two factors, of edges and of vertices", text);
        if (err != LBM_OK)
            return err;
        if (words++ == 0)
            reading->edge_scale = reading->work_scale;
    }
    return LBM_OK;
}

void
lbm_guest_remark(const struct lbm_cli *client, const char *path, const struct lbm_buf *remarks)
{
    for (size_t at = 0; at < remarks->len;) {
        size_t len = strcspn(remarks->at + at, "\n");
        lbm_cli_remark(client, "%s: %.*s", strcmp(path, "-") == 0 ? "standard input" : path, (int)len,
                       remarks->at + at);
        at += len + 1;
    }
}

enum lbm_err
lbm_guest_read(const struct lbm_cli *client, size_t first, const char *path, struct lbm_buf *remarks,
               struct lbm_graph *out, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = client->value + first;
    struct lbm_reading reading = {
        .sum = value[LBM_GUEST_SUM].given,
        .unweighted = value[LBM_GUEST_UNWEIGHTED].given,
        .common = value[LBM_GUEST_COMMON].given ? (uint32_t)value[LBM_GUEST_COMMON].integer : 0,
        .hint = "--scale auto makes such integers of real, large and zero weights",
        .copies_hint = "--sum joins copies and directions and leaves self-loops out"};
    enum lbm_graph_format format =
        value[LBM_GUEST_FROM].given ? (enum lbm_graph_format)value[LBM_GUEST_FROM].integer : LBM_FORMAT_COUNT;
    enum lbm_err err = LBM_OK;
    if (value[LBM_GUEST_SCALE].given)
        err = read_scales(value[LBM_GUEST_SCALE].text, &reading, diag);
    if (err == LBM_OK)
        err = lbm_file_graph(path, format, &reading, out, diag);
    if (err == LBM_OK)
        lbm_buf_put(remarks, reading.remarks.at, reading.remarks.len);
    lbm_buf_free(&reading.remarks);
    return err;
}

enum lbm_err
lbm_guest_refuse(const struct lbm_cli *client, size_t first, const char *why, struct lbm_diag *diag)
{
    for (size_t i = first; i < first + LBM_GUEST_OPTIONS; i++)
        if (client->value[i].given)
            return lbm_diag_set(diag, LBM_E_UNSUPPORTED, client->command->options[i].name, 0, "%s", why);
    return LBM_OK;
}
