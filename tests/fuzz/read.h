/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every reader of graphs promises about any bytes: they are refused with a reason, or the graph passes
 * the validator and comes back the same when it is written and read again. */
#ifndef LBM_TESTS_FUZZ_READ_H
#define LBM_TESTS_FUZZ_READ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "graph/write.h"
#include "harnesses.h"

static int
same_array(const uint32_t *a, const uint32_t *b, uint64_t n)
{
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, n * sizeof *a) == 0);
}

static int
same_names(const struct lbm_graph *a, const struct lbm_graph *b)
{
    if (a->name == NULL || b->name == NULL)
        return a->name == NULL && b->name == NULL;
    for (uint32_t v = 0; v < a->n; v++)
        if (strcmp(lbm_graph_name(a, v), lbm_graph_name(b, v)) != 0)
            return 0;
    return 1;
}

static void
assert_same_rows(const struct lbm_graph *a, const struct lbm_graph *b)
{
    uint64_t directions = lbm_graph_directions(a);
    LBM_ASSERT(a->n == b->n && memcmp(a->offset, b->offset, ((size_t)a->n + 1) * sizeof *a->offset) == 0);
    LBM_ASSERT(memcmp(a->target, b->target, directions * sizeof *a->target) == 0);
    LBM_ASSERT(same_array(a->weight, b->weight, directions));
}

static void
read_back(enum lbm_graph_format format, const struct lbm_graph *g)
{
    struct lbm_buf text = {0};
    struct lbm_graph again;
    unsigned losses = lbm_graph_losses(format, g);
    if (!lbm_graph_is_written(format))
        return;
    enum lbm_err err = lbm_graph_write(format, g, &text);
    if (err == LBM_E_LIMIT) {
        lbm_buf_free(&text);
        return;
    }
    LBM_ASSERT(err == LBM_OK);
    err = lbm_graph_parse(format, "written", text.at, text.len, &again, NULL);
    LBM_ASSERT(err == LBM_OK);
    if ((losses & 1u << LBM_LOSS_WEIGHT) == 0)
        assert_same_rows(g, &again);
    LBM_ASSERT((losses & 1u << LBM_LOSS_WORK) != 0 || same_array(g->work, again.work, g->n));
    LBM_ASSERT((losses & 1u << LBM_LOSS_NAME) != 0 || same_names(g, &again));
    lbm_graph_free(&again);
    lbm_buf_free(&text);
}

/* A reading that collects gives the same graph, if one that does not gives any; and it may give more. */
static void
read_collected(enum lbm_graph_format format, const char *text, size_t size, const struct lbm_graph *g)
{
    struct lbm_graph got;
    struct lbm_reading scaled = {.edge_scale.how = LBM_SCALE_AUTO, .work_scale.how = LBM_SCALE_AUTO};
    enum lbm_err err = lbm_graph_read(format, "input", text, size, &scaled, &got, NULL);
    LBM_ASSERT(err == LBM_OK || g == NULL);
    if (g != NULL) {
        assert_same_rows(g, &got);
        LBM_ASSERT(same_array(g->work, got.work, g->n) && same_names(g, &got));
    }
    if (err == LBM_OK)
        lbm_graph_free(&got);
    lbm_buf_free(&scaled.remarks);
    struct lbm_reading summed = {.sum = 1, .unweighted = 1};
    if (lbm_graph_read(format, "input", text, size, &summed, &got, NULL) == LBM_OK) {
        err = lbm_graph_check(&got, NULL);
        LBM_ASSERT(err == LBM_OK);
        lbm_graph_free(&got);
    } else {
        LBM_ASSERT(g == NULL);
    }
    lbm_buf_free(&summed.remarks);
}

static int
fuzz_read(enum lbm_graph_format format, const uint8_t *data, size_t size)
{
    struct lbm_graph g;
    struct lbm_diag diag = {0};
    char *text = malloc(size > 0 ? size : 1); /* its own block: a byte too far is noticed */
    LBM_ASSERT(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    enum lbm_err err = lbm_graph_parse(format, "input", text, size, &g, &diag);
    if (err != LBM_OK) {
        LBM_ASSERT(diag.code == err && diag.text[0] != '\0' && strcmp(diag.where, "input") == 0);
        read_collected(format, text, size, NULL);
    } else {
        err = lbm_graph_check(&g, &diag);
        LBM_ASSERT(err == LBM_OK);
        read_back(format, &g);
        read_collected(format, text, size, &g);
        lbm_graph_free(&g);
    }
    free(text);
    return err == LBM_OK;
}

#endif
