/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One writer a format; each writes what its reader takes, see docs/formats.md. */
#include "graph/write.h"

#include <inttypes.h>

#include "base/check.h"
#include "graph/writers.h"

/* A number after a separator. */
static void
put(struct lbm_buf *out, const char *separator, uint64_t number)
{
    lbm_buf_put(out, separator, 1);
    lbm_buf_u64(out, number);
}

/* Neighbours of v, each with its weight before or after it if there are weights. */
static void
put_row(const struct lbm_graph *g, uint32_t v, const char *separator, uint32_t base, int weight_first,
        struct lbm_buf *out)
{
    for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++) {
        if (g->weight != NULL && weight_first)
            put(out, separator, g->weight[k]);
        put(out, separator, (uint64_t)g->target[k] + base);
        if (g->weight != NULL && !weight_first)
            put(out, separator, g->weight[k]);
    }
}

static void
write_rows(const struct lbm_graph *g, uint32_t first, uint32_t end, struct lbm_buf *out)
{
    static const char *const fmt[2][2] = {{"", " 001"}, {" 010", " 011"}};
    lbm_buf_printf(out, "%" PRIu32 " %" PRIu64 "%s\n", g->n, lbm_graph_directions(g) / 2,
                   fmt[g->work != NULL][g->weight != NULL]);
    for (uint32_t v = first; v < end; v++) {
        if (g->work != NULL)
            lbm_buf_u64(out, g->work[v]);
        put_row(g, v, " ", 1, 0, out);
        lbm_buf_put(out, "\n", 1);
    }
}

static void
write_metis(const struct lbm_graph *g, struct lbm_buf *out)
{
    write_rows(g, 0, g->n, out);
}

enum lbm_err
lbm_graph_write_part(const struct lbm_graph *g, const struct lbm_graph_part *part, struct lbm_buf *out)
{
    uint32_t end = part->first + part->rows;
    LBM_ASSERT(end <= g->n && part->first <= end);
    lbm_buf_printf(out, "%%lbmap-part %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
                   part->number, part->parts, part->first, part->rows,
                   g->offset[end] - g->offset[part->first]);
    write_rows(g, part->first, end, out);
    return out->failed ? LBM_E_NOMEM : LBM_OK;
}

static void
write_scotch(const struct lbm_graph *g, struct lbm_buf *out)
{
    lbm_buf_printf(out, "0\n%" PRIu32 "\t%" PRIu64 "\n0\t0%d%d\n", g->n, lbm_graph_directions(g),
                   g->weight != NULL, g->work != NULL);
    for (uint32_t v = 0; v < g->n; v++) {
        if (g->work != NULL) {
            lbm_buf_u64(out, g->work[v]);
            lbm_buf_put(out, "\t", 1);
        }
        lbm_buf_u64(out, g->offset[v + 1] - g->offset[v]);
        put_row(g, v, "\t", 0, 1, out);
        lbm_buf_put(out, "\n", 1);
    }
}

/* The lower triangle. A vertex without edges is an entry on the diagonal, which readers drop: without it
 * the size alone would vouch for the vertex. */
static void
write_matrix_market(const struct lbm_graph *g, struct lbm_buf *out)
{
    uint64_t isolated = 0;
    for (uint32_t v = 0; v < g->n; v++)
        isolated += g->offset[v] == g->offset[v + 1];
    lbm_buf_printf(out, "%%%%MatrixMarket matrix coordinate %s symmetric\n",
                   g->weight != NULL ? "integer" : "pattern");
    lbm_buf_printf(out, "%" PRIu32 " %" PRIu32 " %" PRIu64 "\n", g->n, g->n,
                   lbm_graph_directions(g) / 2 + isolated);
    for (uint32_t v = 0; v < g->n; v++) {
        uint64_t begin = g->offset[v], end = g->offset[v + 1];
        if (begin == end)
            lbm_buf_printf(out, "%" PRIu32 " %" PRIu32 "%s\n", v + 1, v + 1, g->weight != NULL ? " 1" : "");
        for (uint64_t k = begin; k < end && g->target[k] < v; k++) {
            lbm_buf_u64(out, (uint64_t)v + 1);
            put(out, " ", (uint64_t)g->target[k] + 1);
            if (g->weight != NULL)
                put(out, " ", g->weight[k]);
            lbm_buf_put(out, "\n", 1);
        }
    }
}

static void
write_edges(const struct lbm_graph *g, struct lbm_buf *out)
{
    lbm_buf_printf(out, "# %" PRIu32 " vertices, %" PRIu64 " edges\n", g->n, lbm_graph_directions(g) / 2);
    for (uint32_t v = 0; v < g->n; v++) {
        if (g->offset[v] == g->offset[v + 1])
            lbm_buf_printf(out, "%" PRIu32 "\n", v);
        for (uint64_t k = g->offset[v]; k < g->offset[v + 1]; k++) {
            if (g->target[k] < v)
                continue;
            lbm_buf_u64(out, v);
            put(out, "\t", g->target[k]);
            if (g->weight != NULL)
                put(out, "\t", g->weight[k]);
            lbm_buf_put(out, "\n", 1);
        }
    }
}

enum lbm_err
lbm_graph_write(enum lbm_graph_format format, const struct lbm_graph *g, struct lbm_buf *out)
{
    static void (*const writers[LBM_FORMAT_COUNT])(const struct lbm_graph *, struct lbm_buf *) = {
        [LBM_FORMAT_METIS] = write_metis,
        [LBM_FORMAT_SCOTCH] = write_scotch,
        [LBM_FORMAT_MATRIX_MARKET] = write_matrix_market,
        [LBM_FORMAT_GRAPHML] = lbm_write_graphml,
        [LBM_FORMAT_EDGES] = write_edges,
    };
    LBM_ASSERT((unsigned)format < LBM_FORMAT_COUNT);
    writers[format](g, out);
    return out->failed ? LBM_E_NOMEM : LBM_OK;
}
