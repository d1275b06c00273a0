/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plan one guest and print what came of it (seconds are of the processor): bench/plan GRAPH HOSTS [SEED
 * [METHOD|EFFORT]]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "file/file.h"
#include "map/map.h"

static double
seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int
fail(const struct lbm_diag *diag)
{
    char text[1024];
    lbm_diag_render(diag, text, sizeof text);
    fprintf(stderr, "bench/plan: %s\n", text);
    return 1;
}

/* A method or an effort by its name. Value: whether there is one. */
static int
choose(const char *name, struct lbm_plan_options *options)
{
    static const char *const methods[] = {
#define METHOD_NAME(id, text_name, text) text_name,
        LBM_METHOD_LIST(METHOD_NAME)};
    static const char *const efforts[] = {
#define EFFORT_NAME(id, text_name, text) text_name,
        LBM_EFFORT_LIST(EFFORT_NAME)};
    int known = 0;
    for (int i = 0; i < LBM_METHOD_COUNT; i++)
        if (strcmp(name, methods[i]) == 0) {
            options->method = (enum lbm_method)i;
            known = 1;
        }
    for (int i = 0; i < LBM_EFFORT_COUNT; i++)
        if (strcmp(name, efforts[i]) == 0) {
            options->effort = (enum lbm_effort)i;
            known = 1;
        }
    return known;
}

int
main(int argc, char **argv)
{
    struct lbm_graph g;
    struct lbm_hosts h;
    struct lbm_plan plan;
    struct lbm_quality quality;
    struct lbm_diag diag = {0};
    struct lbm_plan_options options;
    lbm_plan_defaults(&options);
    if (argc < 3 || argc > 5) {
        fprintf(stderr, "usage: bench/plan GRAPH HOSTS [SEED [METHOD|EFFORT]]\n");
        return 2;
    }
    if (argc > 3)
        options.seed = strtoull(argv[3], NULL, 10);
    if (argc > 4 && !choose(argv[4], &options)) {
        fprintf(stderr, "bench/plan: neither a method nor an effort: %s\n", argv[4]);
        return 2;
    }
    if (lbm_file_hosts(argv[2], &h, &diag) != LBM_OK ||
        lbm_file_graph(argv[1], LBM_FORMAT_COUNT, NULL, &g, &diag) != LBM_OK)
        return fail(&diag);
    double start = seconds();
    if (lbm_plan_make(&g, &h, &options, &plan, &diag) != LBM_OK)
        return fail(&diag);
    double taken = seconds() - start;
    if (lbm_map_evaluate(&g, &h, plan.part, &quality, &diag) != LBM_OK)
        return fail(&diag);
    printf("hop_bytes %llu imbalance %.4f cut %llu dilation_max %u seconds %.3f\n",
           (unsigned long long)quality.hop_bytes, quality.imbalance, (unsigned long long)quality.cut,
           quality.dilation_max, taken);
    lbm_plan_free(&plan);
    lbm_graph_free(&g);
    lbm_hosts_free(&h);
    return 0;
}
