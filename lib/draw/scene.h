/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a drawing of a mapping shows, wherever it comes from: a plan, or what daemons report.
 *
 * Owns: struct lbm_scene, its making from a plan, and its rendering as SVG or PNG. */
#ifndef LBM_DRAW_SCENE_H
#define LBM_DRAW_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "map/map.h"

/* All arrays are borrowed by those who draw. Points are in one plane of any scale, y upwards. */
struct lbm_scene {
    const char *title;
    uint32_t n;           /* vertices */
    const double *x;      /* [2n] */
    const uint32_t *part; /* [n] host of each */
    size_t n_edges;
    const uint32_t *edge; /* [2 n_edges], each edge once */
    uint32_t n_hosts;
    const double *site;   /* [2 n_hosts] in the unit box; NULL: a host is where its vertices are */
    const double *weight; /* [n_hosts] power weights; NULL: no regions are drawn */
    size_t n_links;
    const uint32_t *link; /* [2 n_links], each link once; drawn between sites */
    const uint64_t *load; /* [n_hosts] work units */
    const double *target; /* [n_hosts] T_p */
    char *const *name;    /* [n_hosts], or NULL: ids */
    double imbalance;
    uint64_t hop_bytes, cut;
};

enum lbm_picture { LBM_PICTURE_SVG, LBM_PICTURE_PNG };

/* Append the picture's bytes to out; the same scene gives the same bytes.
 * Errors: LBM_E_NOMEM; LBM_E_IO with cairo's words. */
enum lbm_err lbm_scene_draw(const struct lbm_scene *scene, enum lbm_picture picture, struct lbm_buf *out,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* A scene that owns its arrays but title, part and name. */
struct lbm_plan_scene {
    struct lbm_scene scene;
    double *x, *site, *target;
    uint32_t *edge, *link;
    uint64_t *load;
};

/* Make the scene of a plan. position: [2n] the guest's own, where the drawing puts the vertices; NULL:
 * where the plan put them in Omega, three dimensions seen from an oblique angle.
 * Hosts without capacity are gone: there are no links to them, and nothing is due to them.
 * In: all is borrowed as long as *out lives.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_plan_scene_make(const char *title, const struct lbm_graph *g, const struct lbm_hosts *h,
                                 const struct lbm_plan *plan, const struct lbm_quality *quality,
                                 const double *position, struct lbm_plan_scene *out) LBM_MUST_CHECK;
void lbm_plan_scene_free(struct lbm_plan_scene *made);

#endif
