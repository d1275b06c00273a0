/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/node/load_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

double
loads_true(const struct loads *loads, uint32_t vertex)
{
    if (vertex % 10 == 0 && loads->tenth > 0)
        return loads->tenth;
    if (loads->owner != NULL && loads->owner[vertex] == loads->host)
        return loads->next_to * USUAL;
    return vertex / SIDE < SIDE / 2 && vertex % SIDE < SIDE / 2 ? loads->corner : USUAL;
}

double
loads_reported(void *arg, uint32_t vertex, int64_t now_us)
{
    struct loads *loads = arg;
    (void)now_us;
    return loads_true(loads, vertex) * (1 + loads->noise * (2 * lbm_rng_unit(&loads->rng) - 1));
}

void
scene_of_applications(struct scene *scene, struct loads *loads, const struct cluster_options *options)
{
    scene_of_applications_on(scene, "mesh:4x4", loads, options);
}

void
scene_of_applications_on(struct scene *scene, const char *hosts, struct loads *loads,
                         const struct cluster_options *options)
{
    scene_new(scene, hosts, "lattice:48x48", options);
    assert_int_equal(cluster_submit(scene->cluster, 0, "job", &scene->g, LBM_START_PLAN), LBM_OK);
    scene_expect_settled(scene, 60);
    lbm_rng_seed(&loads->rng, 1);
    cluster_report_loads(scene->cluster, loads_reported, loads);
    for (uint32_t p = 0; p < scene->h.n; p++)
        cluster_run_application(scene->cluster, p, "job", CLIENT_MODEL_OBEDIENT);
    cluster_run(scene->cluster, 20000000, NULL, NULL);
    scene_expect_settled(scene, 60);
}

double
loads_imbalance(struct scene *scene, const struct loads *loads, uint32_t *part)
{
    double *load = calloc(scene->h.n, sizeof *load), most = 0, all = 0;
    scene_owners(scene, part);
    for (uint32_t v = 0; v < scene->g.n; v++) {
        load[part[v]] += loads_true(loads, v);
        all += loads_true(loads, v);
    }
    for (uint32_t p = 0; p < scene->h.n; p++)
        most = fmax(most, load[p]);
    free(load);
    return most * scene->h.n / all - 1;
}
