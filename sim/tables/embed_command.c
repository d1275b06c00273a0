/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim embed: HEI97 Figs 6, 7 and 8 for any guest: how its vertices spread, frame by frame. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "graph/generate.h"
#include "sim/tables/command.h"
#include "sim/tables/embed_draw.h"
#include "sim/tables/save.h"
#include "space/space.h"

enum { VERTICES_DRAWN_MAX = 100000 };

/* Sweeps of the frames as in the figures, ended by the last. */
static const uint32_t centre_frames[] = {0, 50, 100, 150, 200, 250, 300, 350, 400};
static const uint32_t random_frames[] = {0, 25, 50, 75, 250, 500, 750, 1000};

struct embedding {
    const char *graph, *hosts, *start, *order, *dir;
    uint64_t seed;
    int help;
    struct lattice l; /* side 0: the guest is no square lattice */
    struct lbm_hosts h;
    uint32_t n_pinned;
    struct lbm_rng rng;
};

/* ---- arguments ----------------------------------------------------------------------------------------- */

static enum lbm_err
one_of(const char *option, const char *value, const char *const *words, struct lbm_diag *diag)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (strcmp(value, words[i]) == 0)
            return LBM_OK;
    return lbm_diag_set(diag, LBM_E_SYNTAX, option, 0, "%.60s is not known; --help says what is", value);
}

static enum lbm_err
set_seed(struct embedding *e, const char *value, struct lbm_diag *diag)
{
    char *end;
    e->seed = strtoull(value, &end, 10);
    if (*value >= '0' && *value <= '9' && *end == '\0')
        return LBM_OK;
    return lbm_diag_set(diag, LBM_E_SYNTAX, "--seed", 0, "%.60s is not a number", value);
}

static enum lbm_err
set_option(struct embedding *e, const char *name, const char *value, struct lbm_diag *diag)
{
    static const char *const starts[] = {"centre", "random", NULL};
    static const char *const orders[] = {"jacobi", "block", "permutation", "replacement", NULL};
    const struct {
        const char *name;
        const char **to;
        const char *const *words;
    } options[] = {{"--hosts", &e->hosts, NULL},
                   {"--start", &e->start, starts},
                   {"--order", &e->order, orders},
                   {"--frames", &e->dir, NULL}};
    if (value == NULL)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "lbsim embed", 0, "%.60s is no option, or needs a value",
                            name);
    if (strcmp(name, "--seed") == 0)
        return set_seed(e, value, diag);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(name, options[i].name) == 0) {
            *options[i].to = value;
            return options[i].words == NULL ? LBM_OK : one_of(name, value, options[i].words, diag);
        }
    return lbm_diag_set(diag, LBM_E_SYNTAX, "lbsim embed", 0, "%.60s is no option; --help lists them", name);
}

static enum lbm_err
read_arguments(int argc, char **argv, struct embedding *e, struct lbm_diag *diag)
{
    for (int i = 0; i < argc; i++) {
        enum lbm_err err = LBM_OK;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            e->help = 1;
        else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            err = set_option(e, argv[i], i + 1 < argc ? argv[i + 1] : NULL, diag);
            i++;
        } else if (e->graph != NULL)
            err = lbm_diag_set(diag, LBM_E_SYNTAX, "lbsim embed", 0, "%.60s: one graph is enough", argv[i]);
        else
            e->graph = argv[i];
        if (err != LBM_OK)
            return err;
    }
    if (!e->help && (e->graph == NULL || e->hosts == NULL || e->dir == NULL))
        return lbm_diag_set(diag, LBM_E_SYNTAX, "lbsim embed", 0, "a GRAPH, --hosts and --frames are needed");
    return LBM_OK;
}

static void
print_help(void)
{
    printf("usage: lbsim embed GRAPH --hosts SPEC --frames DIR [OPTION...]\n"
           "Let the vertices of a guest diffuse and draw how they spread (HEI97 Figs 6, 7), one SVG file a "
           "frame;\n"
           "of a lattice:NxN also the spectrum of its error (Fig. 8).\n"
           "GRAPH: a file, or what lbctl gen makes (lattice:32x32, tri:2000, ...).\n\n"
           "  --hosts SPEC    the hosts whose regions are drawn, in the plane: mesh:4x4, ring:8, file:PATH, "
           "...\n"
           "  --frames DIR    where the files go; made if it is missing\n"
           "  --start HOW     centre (default) or random\n"
           "  --order HOW     jacobi: all at once, as in the figures (default); or block, permutation, "
           "replacement\n"
           "  --seed S        of the random start and orders; default 1\n");
}

/* ---- the guest ----------------------------------------------------------------------------------------- */

static enum lbm_err
read_guest(struct embedding *e, struct lbm_diag *diag)
{
    struct lbm_graph *g = &e->l.graph;
    uint32_t columns, rows;
    int is_spec = strchr(e->graph, ':') != NULL && strchr(e->graph, '/') == NULL;
    enum lbm_err err = is_spec ? lbm_graph_generate(e->graph, e->seed, g, diag)
                               : lbm_file_graph(e->graph, LBM_FORMAT_COUNT, g, diag);
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
    e->l.next = lbm_alloc(2 * (size_t)g->n, sizeof *e->l.next);
    if (e->l.pinned == NULL || e->l.x == NULL || e->l.next == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    err = lbm_pin_outer_face(g, e->l.pinned, e->l.x, &e->n_pinned);
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, e->graph, 0, "%s", lbm_err_text(err));
    if (strcmp(e->start, "random") == 0)
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
    struct lbm_diffusion how = {.m = 2, .pinned = e->l.pinned};
    enum lbm_err err = LBM_OK;
    how.order = strcmp(e->order, "permutation") == 0   ? LBM_ORDER_PERMUTATION
                : strcmp(e->order, "replacement") == 0 ? LBM_ORDER_REPLACEMENT
                                                       : LBM_ORDER_BLOCK;
    if (strcmp(e->order, "jacobi") == 0)
        lattice_jacobi(&e->l, 1);
    else
        err = lbm_diffuse(&e->l.graph, &how, 1, e->l.x, &e->rng, NULL, NULL);
    if (e->n_pinned == 0)
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
save_frame(const struct embedding *e, uint32_t sweeps, struct lbm_diag *diag)
{
    char caption[128], name[40];
    struct lbm_buf out = {0};
    int len =
        snprintf(caption, sizeof caption, "%u sweeps; fullest region %.2f of the mean", sweeps, imbalance(e));
    if (e->l.side != 0)
        snprintf(caption + len, sizeof caption - (size_t)len, "; largest error %.3g cells",
                 lattice_error(&e->l));
    snprintf(name, sizeof name, "frame-%04u", sweeps);
    enum lbm_err err = draw_embedding(&e->l.graph, &e->h, e->l.x, caption, &out);
    if (err == LBM_OK)
        err = save_svg(e->dir, name, &out, diag);
    else
        err = lbm_diag_set(diag, err, name, 0, "%s", lbm_err_text(err));
    out.len = 0;
    if (err == LBM_OK && e->l.side != 0) {
        snprintf(caption, sizeof caption, "amplitudes of the error after %u sweeps", sweeps);
        snprintf(name, sizeof name, "spectrum-%04u", sweeps);
        draw_spectrum(&e->l, caption, &out);
        err = save_svg(e->dir, name, &out, diag);
    }
    lbm_buf_free(&out);
    return err;
}

static enum lbm_err
run(struct embedding *e, struct lbm_diag *diag)
{
    int random = strcmp(e->start, "random") == 0;
    const uint32_t *frames = random ? random_frames : centre_frames;
    size_t n =
        random ? sizeof random_frames / sizeof *random_frames : sizeof centre_frames / sizeof *centre_frames;
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

enum lbm_err
embed_command(int argc, char **argv, int *status, struct lbm_diag *diag)
{
    struct embedding e = {.start = "centre", .order = "jacobi", .seed = 1};
    enum lbm_err err = read_arguments(argc, argv, &e, diag);
    *status = EXIT_SUCCESS;
    if (err != LBM_OK)
        return err;
    if (e.help) {
        print_help();
        return LBM_OK;
    }
    lbm_rng_seed(&e.rng, e.seed);
    err = read_hosts(&e, diag);
    if (err == LBM_OK)
        err = read_guest(&e, diag);
    if (err == LBM_OK)
        err = run(&e, diag);
    lattice_close(&e.l);
    lbm_hosts_free(&e.h);
    return err;
}
