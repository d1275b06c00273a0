/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings as pictures. */
#include "client/formats.h"
#include "draw/scene.h"

static enum lbm_err
write_picture(const struct lbm_mapping *mapping, enum lbm_picture picture, struct lbm_buf *out,
              struct lbm_diag *diag)
{
    struct lbm_plan_scene made;
    const double *position = mapping->space == LBM_DRAW_INPUT ? mapping->g->position : NULL;
    enum lbm_err err = lbm_plan_scene_make(mapping->title, mapping->g, mapping->h, mapping->plan,
                                           &mapping->report->quality, position, &made);
    if (err != LBM_OK)
        return err;
    err = lbm_scene_draw(&made.scene, picture, out, diag);
    lbm_plan_scene_free(&made);
    return err;
}

enum lbm_err
lbm_map_write_svg(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    return write_picture(mapping, LBM_PICTURE_SVG, out, diag);
}

enum lbm_err
lbm_map_write_png(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    return write_picture(mapping, LBM_PICTURE_PNG, out, diag);
}
