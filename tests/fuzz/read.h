/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every reader of graphs promises about any bytes: they are refused with a reason, or the graph passes
 * the validator and comes back the same when it is written and read again. */
#ifndef TESTS_FUZZ_READ_H
#define TESTS_FUZZ_READ_H

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

/* Edge lists and Matrix Market have no place for the weights of vertices. */
static int
keeps_work(enum lbm_graph_format format)
{
    return format != LBM_FORMAT_EDGES && format != LBM_FORMAT_MATRIX_MARKET;
}

static void
read_back(enum lbm_graph_format format, const struct lbm_graph *g)
{
    struct lbm_buf text = {0};
    struct lbm_graph again;
    enum lbm_err err = lbm_graph_write(format, g, &text);
    LBM_ASSERT(err == LBM_OK);
    err = lbm_graph_parse(format, "written", text.at, text.len, &again, NULL);
    LBM_ASSERT(err == LBM_OK && again.n == g->n);
    LBM_ASSERT(memcmp(g->offset, again.offset, ((size_t)g->n + 1) * sizeof *g->offset) == 0);
    LBM_ASSERT(memcmp(g->target, again.target, lbm_graph_directions(g) * sizeof *g->target) == 0);
    LBM_ASSERT(same_array(g->weight, again.weight, lbm_graph_directions(g)));
    LBM_ASSERT(!keeps_work(format) || same_array(g->work, again.work, g->n));
    lbm_graph_free(&again);
    lbm_buf_free(&text);
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
    } else {
        err = lbm_graph_check(&g, &diag);
        LBM_ASSERT(err == LBM_OK);
        read_back(format, &g);
        lbm_graph_free(&g);
    }
    free(text);
    return err == LBM_OK;
}

#endif
