/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What vertices cost, as the program that works on them measures or knows it. The daemon smooths what is
 * measured and compares tokens: nothing is remembered here. */
#include "config.h"

#include <math.h>

#include "api/call.h"
#include "lbmap.h"

enum { LOADS_AT_ONCE = 2048 };

static enum lbm_err
send_loads(struct lbmap *map, uint32_t *vertex, uint64_t *token, double *load, size_t n, int known)
{
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__LoadRequest body;
    lbm__load_request__init(&body);
    body.n_vertex = body.n_token = body.n_load = n;
    body.vertex = vertex;
    body.token = token;
    body.load = load;
    body.known = known != 0;
    request.what_case = LBM__REQUEST__WHAT_LOAD;
    request.load = &body;
    return lbm_api_call(map, &request, NULL, NULL);
}

static enum lbmap_error
tell_loads(struct lbmap *map, const struct lbmap_load *loads, size_t n, int known)
{
    enum lbm_err err = LBM_OK;
    if (map->service == NULL)
        return (enum lbmap_error)lbm_api_fail(map, LBM_E_STATE, "no job is served");
    for (size_t i = 0; i < n; i++)
        if (!isfinite(loads[i].load) || loads[i].load < 0)
            return (enum lbmap_error)lbm_api_fail(
                map, LBM_E_RANGE, "vertex %u: a load is not negative, and finite", loads[i].vertex);
    for (size_t at = 0, many; err == LBM_OK && at < n; at += many) {
        uint32_t vertex[LOADS_AT_ONCE];
        uint64_t token[LOADS_AT_ONCE];
        double load[LOADS_AT_ONCE];
        many = n - at < LOADS_AT_ONCE ? n - at : LOADS_AT_ONCE;
        for (size_t i = 0; i < many; i++) {
            vertex[i] = loads[at + i].vertex;
            token[i] = loads[at + i].token;
            load[i] = loads[at + i].load;
        }
        err = send_loads(map, vertex, token, load, many, known);
    }
    return (enum lbmap_error)err;
}

enum lbmap_error
lbmap_report_load(struct lbmap *map, const struct lbmap_load *loads, size_t n)
{
    return tell_loads(map, loads, n, 0);
}

enum lbmap_error
lbmap_set_load(struct lbmap *map, const struct lbmap_load *loads, size_t n)
{
    return tell_loads(map, loads, n, 1);
}
