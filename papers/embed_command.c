/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbpapers embed: HEI97 Figs 6, 7 and 8 for any guest: how its vertices spread, frame by frame. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "graph/generate.h"
#include "papers/command.h"
#include "papers/embed_draw.h"
#include "papers/save.h"
#include "space/space.h"

enum { VERTICES_DRAWN_MAX = 100000 };

/* Sweeps of the frames as in the figures, ended by the last. */
static const uint32_t centre_frames[] = {0, 50, 100, 150, 200, 250, 300, 350, 400};
static const uint32_t random_frames[] = {0, 25, 50, 75, 250, 500, 750, 1000};

enum {
    EMBED_HOSTS,
    EMBED_FRAMES,
    EMBED_START,
    EMBED_ORDER,
    EMBED_RULE,
    EMBED_SHARE,
    EMBED_SEED,
    EMBED_OPTIONS
};

enum { START_CENTRE, START_RANDOM };

static const struct lbm_choice starts[] = {
    [START_CENTRE] = {"centre", "all in the middle"},
    [START_RANDOM] = {"random", "anywhere"},
    {NULL, NULL},
};

static const struct lbm_choice orders[] = {
#define ORDER_CHOICE(id, name, text) [LBM_ORDER_##id] = {name, text},
    LBM_ORDER_LIST(ORDER_CHOICE)
#undef ORDER_CHOICE
        {NULL, NULL},
};

static const struct lbm_choice rules[] = {
#define RULE_CHOICE(id, name, text) [LBM_RULE_##id] = {name, text},
    LBM_RULE_LIST(RULE_CHOICE)
#undef RULE_CHOICE
        {NULL, NULL},
};

static const struct lbm_option options[] = {
    [EMBED_HOSTS] = LBM_TEXT_OPTION("hosts", "SPEC",
                                    "the hosts whose regions are drawn, in the plane, as lbctl plan has them",
                                    .required = 1),
    [EMBED_FRAMES] =
        LBM_TEXT_OPTION("frames", "DIR", "where the files go; made if it is missing", .required = 1),
    [EMBED_START] = LBM_CHOICE_OPTION("start", "START", starts,
                                      "where vertices begin that are not pinned:", .fallback = "centre"),
    [EMBED_ORDER] = LBM_CHOICE_OPTION("order", "ORDER", orders, "in which they move:", .fallback = "jacobi"),
    [EMBED_RULE] = LBM_CHOICE_OPTION("rule", "RULE", rules, "where to:", .fallback = "mean"),
    [EMBED_SHARE] = LBM_NUMBER_OPTION("share", "X", 0.001, 10, "of Omega, what circles cover together",
                                      .fallback = "0.75"),
    [EMBED_SEED] = PAPERS_SEED_OPTION,
};

static const struct lbm_operand operands[] = {
    {.name = "GRAPH", .text = "a file, or what lbctl gen makes (lattice:32x32, tri:2000, ...)"},
};

struct embedding {
    const char *graph, *hosts, *dir;
    int is_random, tell; /* tell: names of files are printed */
    enum lbm_order order;
    enum lbm_diffusion_rule rule;
    double share;
    double *radius; /* [n] of circles, else NULL */
    uint64_t seed;
    struct lattice l; /* side 0: the guest is no square lattice */
    struct lbm_hosts h;
    uint32_t n_pinned;
    struct lbm_rng rng;
};

/* ---- the guest ----------------------------------------------------------------------------------------- */

static enum lbm_err
read_guest(struct embedding *e, struct lbm_diag *diag)
{
    struct lbm_graph *g = &e->l.graph;
    uint32_t columns, rows;
    int is_spec = strchr(e->graph, ':') != NULL && strchr(e->graph, '/') == NULL;
    enum lbm_err err = is_spec ? lbm_graph_generate(e->graph, e->seed, g, diag)
                               : lbm_file_graph(e->graph, LBM_FORMAT_COUNT, NULL, g, diag);
    if (err != LBM_OK)
        return err;
    if (g->n > VERTICES_DRAWN_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, e->graph, 0, "%u vertices; at most %d can be drawn", g->n,
                            VERTICES_DRAWN_MAX);
    if (sscanf(e->graph, "lattice:%ux%u", &columns, &rows) == 2 && columns == rows &&
        columns * rows == g->n && columns > 2)
        e->l.side = columns;
    e->l.pinned = lbm_alloc(g->n, sizeof *e->l.pinned);
    e->l.x = lbm_alloc(2 * (size_t)g->n, sizeof *e->l.x);
    if (e->l.pinned == NULL || e->l.x == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    err = lbm_pin_outer_face(g, e->l.pinned, e->l.x, &e->n_pinned);
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, e->graph, 0, "%s", lbm_err_text(err));
    if (e->rule == LBM_RULE_ANGLES) { /* "does not require constraints on the extremal vertices" */
        memset(e->l.pinned, 0, g->n);
        e->n_pinned = 0;
        e->l.side = 0; /* it may turn, so that errors and spectra mean nothing */
    }
    if (e->rule == LBM_RULE_CIRCLES) {
        e->radius = lbm_alloc(g->n, sizeof *e->radius);
        if (e->radius == NULL)
            return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
        lbm_circle_radii(g, 2, e->share, e->radius);
    }
    if (e->is_random)
        lbm_start_random(g->n, 2, e->l.pinned, e->l.x, &e->rng);
    else
        lbm_start_centre(g->n, 2, e->l.pinned, e->l.x, &e->rng);
    return LBM_OK;
}

static enum lbm_err
read_hosts(struct embedding *e, struct lbm_diag *diag)
{
    enum lbm_err err = lbm_file_hosts(e->hosts, &e->h, diag);
    if (err == LBM_OK && e->h.m != 2)
        err = lbm_diag_set(diag, LBM_E_UNSUPPORTED, e->hosts, 0,
                           "these hosts have sites in space, not in the plane");
    return err;
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */

/* A guest without pins would shrink to a point: it is centred and scaled after each sweep. */
static void
renormalize(struct embedding *e)
{
    struct lbm_moments moments = {0};
    struct lbm_affine map;
    lbm_moments_take(&moments, &e->l.graph, 2, e->l.x);
    if (lbm_moments_whiten(&moments, 2, &map) != LBM_OK)
        return;
    for (uint32_t v = 0; v < e->l.graph.n; v++)
        lbm_affine_apply(&map, &e->l.x[2 * (size_t)v], &e->l.x[2 * (size_t)v]);
}

static enum lbm_err
sweep(struct embedding *e)
{
    struct lbm_diffusion how = {.m = 2,
                                .order = e->order,
                                .pinned = e->l.pinned,
                                .rule = e->rule,
                                .radius = e->radius,
                                .length = 1.0 / sqrt(e->l.graph.n)};
    enum lbm_err err = lbm_diffuse(&e->l.graph, &how, 1, e->l.x, &e->rng, NULL, NULL);
    if (e->n_pinned == 0 && e->rule != LBM_RULE_ANGLES) /* edges of equal length keep the scale */
        renormalize(e);
    return err;
}

/* ---- frames -------------------------------------------------------------------------------------------- */

/* Most vertices of a region over the mean. */
static double
imbalance(const struct embedding *e)
{
    double *equal = lbm_alloc(e->h.n, sizeof *equal);
    uint32_t *load = lbm_alloc(e->h.n, sizeof *load), most = 0;
    struct lbm_regions regions = {.n = e->h.n, .m = 2, .site = e->h.site, .weight = equal};
    for (uint32_t v = 0; v < e->l.graph.n && equal != NULL && load != NULL; v++) {
        uint32_t p = lbm_regions_find(&regions, &e->l.x[2 * (size_t)v], NULL);
        most = ++load[p] > most ? load[p] : most;
    }
    free(equal);
    free(load);
    return (double)most * e->h.n / e->l.graph.n;
}

static enum lbm_err
draw_frame(const struct embedding *e, uint32_t sweeps, struct lbm_diag *diag)
{
    char caption[128], name[40];
    struct lbm_buf out = {0};
    int len =
        snprintf(caption, sizeof caption, "%u sweeps; fullest region %.2f of the mean", sweeps, imbalance(e));
    if (e->l.side != 0)
        snprintf(caption + len, sizeof caption - (size_t)len, "; largest error %.3g cells",
                 lattice_error(&e->l));
    snprintf(name, sizeof name, "frame-%04u", sweeps);
    enum lbm_err err = draw_embedding(&e->l.graph, &e->h, e->l.x, e->radius, caption, &out);
    if (err == LBM_OK)
        err = save_svg(e->dir, name, &out, e->tell, diag);
    else
        err = lbm_diag_set(diag, err, name, 0, "%s", lbm_err_text(err));
    out.len = 0;
    if (err == LBM_OK && e->l.side != 0) {
        snprintf(caption, sizeof caption, "amplitudes of the error after %u sweeps", sweeps);
        snprintf(name, sizeof name, "spectrum-%04u", sweeps);
        draw_spectrum(&e->l, caption, &out);
        err = save_svg(e->dir, name, &out, e->tell, diag);
    }
    lbm_buf_free(&out);
    return err;
}

/* Averages of angles drift, and know no bounds of Omega: a frame is centred and scaled, the iteration is not.
 */
static enum lbm_err
save_frame(struct embedding *e, uint32_t sweeps, struct lbm_diag *diag)
{
    size_t n = 2 * (size_t)e->l.graph.n;
    if (e->rule != LBM_RULE_ANGLES)
        return draw_frame(e, sweeps, diag);
    double *x = lbm_copy(e->l.x, n, sizeof *x);
    if (x == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    renormalize(e);
    enum lbm_err err = draw_frame(e, sweeps, diag);
    memcpy(e->l.x, x, n * sizeof *x);
    free(x);
    return err;
}

static enum lbm_err
run(struct embedding *e, struct lbm_diag *diag)
{
    const uint32_t *frames = e->is_random ? random_frames : centre_frames;
    size_t n = e->is_random ? sizeof random_frames / sizeof *random_frames
                            : sizeof centre_frames / sizeof *centre_frames;
    enum lbm_err err = save_make_dir(e->dir, diag);
    uint32_t done = 0;
    for (size_t i = 0; i < n && err == LBM_OK; i++) {
        for (; done < frames[i] && err == LBM_OK; done++)
            if ((err = sweep(e)) != LBM_OK)
                err = lbm_diag_set(diag, err, NULL, 0, "%s", lbm_err_text(err));
        if (err == LBM_OK)
            err = save_frame(e, done, diag);
    }
    return err;
}

static enum lbm_status
run_embed(const struct lbm_cli *cli)
{
    struct embedding e = {.graph = cli->operand[0],
                          .hosts = cli->value[EMBED_HOSTS].text,
                          .dir = cli->value[EMBED_FRAMES].text,
                          .is_random = cli->value[EMBED_START].integer == START_RANDOM,
                          .order = (enum lbm_order)cli->value[EMBED_ORDER].integer,
                          .rule = (enum lbm_diffusion_rule)cli->value[EMBED_RULE].integer,
                          .share = cli->value[EMBED_SHARE].number,
                          .tell = !lbm_cli_is_quiet(cli),
                          .seed = cli->value[EMBED_SEED].integer};
    struct lbm_diag diag;
    lbm_rng_seed(&e.rng, e.seed);
    enum lbm_err err = read_hosts(&e, &diag);
    if (err == LBM_OK)
        err = read_guest(&e, &diag);
    if (err == LBM_OK)
        err = run(&e, &diag);
    lattice_close(&e.l);
    free(e.radius);
    lbm_hosts_free(&e.h);
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_refuse(cli, &diag);
}

const struct lbm_command command_embed = {
    .name = "embed",
    .text = "a guest that diffuses, frame by frame",
    .help = "Lets the vertices of a guest diffuse and draws how they spread (HEI97 Figs 6, 7), one SVG "
            "file a frame; of a lattice:NxN also the spectrum of its error (Fig. 8).",
    .options = options,
    .n_options = EMBED_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof *operands,
    .run = run_embed,
};
