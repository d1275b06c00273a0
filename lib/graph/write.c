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

/* ---- what each format holds --------------------------------------------------------------------------- */

#define BIT(loss) (1u << LBM_LOSS_##loss)

static const struct {
    void (*write)(const struct lbm_graph *g, struct lbm_buf *out);
    unsigned holds;                                /* bits of enum lbm_loss */
    int (*holds_names)(const struct lbm_graph *g); /* NULL: it holds all, if any */
} writers[LBM_FORMAT_COUNT] = {
    [LBM_FORMAT_METIS] = {write_metis, BIT(WORK) | BIT(WEIGHT), NULL},
    [LBM_FORMAT_SCOTCH] = {write_scotch, BIT(WORK) | BIT(WEIGHT), NULL},
    [LBM_FORMAT_MATRIX_MARKET] = {write_matrix_market, BIT(WEIGHT), NULL},
    [LBM_FORMAT_GRAPHML] = {lbm_write_graphml, BIT(WORK) | BIT(WEIGHT) | BIT(POSITION) | BIT(PIN) | BIT(NAME),
                            NULL},
    [LBM_FORMAT_EDGES] = {lbm_write_edges, BIT(WEIGHT) | BIT(NAME), lbm_write_quoted_names},
    [LBM_FORMAT_GML] = {lbm_write_gml, BIT(WORK) | BIT(WEIGHT) | BIT(POSITION) | BIT(NAME), NULL},
    [LBM_FORMAT_PAJEK] = {lbm_write_pajek, BIT(WEIGHT) | BIT(POSITION) | BIT(NAME), lbm_write_quoted_names},
    [LBM_FORMAT_DIMACS] = {lbm_write_dimacs, BIT(WORK) | BIT(WEIGHT), NULL},
    [LBM_FORMAT_CSV] = {lbm_write_csv, BIT(WEIGHT) | BIT(NAME), lbm_write_quoted_names},
};

const char *
lbm_loss_text(enum lbm_loss loss)
{
    static const char *const texts[] = {
#define LOSS_TEXT(id, text) text,
        LBM_LOSS_LIST(LOSS_TEXT)
#undef LOSS_TEXT
    };
    LBM_ASSERT((unsigned)loss < LBM_LOSS_COUNT);
    return texts[loss];
}

unsigned
lbm_graph_losses(enum lbm_graph_format format, const struct lbm_graph *g)
{
    LBM_ASSERT((unsigned)format < LBM_FORMAT_COUNT);
    unsigned has = (g->work != NULL ? BIT(WORK) : 0) | (g->weight != NULL ? BIT(WEIGHT) : 0) |
                   (g->position != NULL ? BIT(POSITION) : 0) | (g->pin != NULL ? BIT(PIN) : 0) |
                   (g->name != NULL ? BIT(NAME) : 0);
    unsigned lost = has & ~writers[format].holds;
    if (g->name != NULL && writers[format].holds_names != NULL && !writers[format].holds_names(g))
        lost |= BIT(NAME);
    return lost;
}

int
lbm_graph_is_written(enum lbm_graph_format format)
{
    LBM_ASSERT((unsigned)format < LBM_FORMAT_COUNT);
    return writers[format].write != NULL;
}

enum lbm_err
lbm_graph_write(enum lbm_graph_format format, const struct lbm_graph *g, struct lbm_buf *out)
{
    LBM_ASSERT(lbm_graph_is_written(format));
    if (format == LBM_FORMAT_CSV && !lbm_write_csv_fits(g))
        return LBM_E_LIMIT;
    writers[format].write(g, out);
    return out->failed ? LBM_E_NOMEM : LBM_OK;
}
