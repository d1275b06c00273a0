/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of the structs that bindings_sizes.f90 knows too, in its order. */
#include <lbmap_steps.h>

extern const size_t bindings_sizes[];
const size_t bindings_sizes[] = {
    sizeof(struct lbmap_vertex),      sizeof(struct lbmap_payload),   sizeof(struct lbmap_edge),
    sizeof(struct lbmap_state),       sizeof(struct lbmap_load),      sizeof(struct lbmap_vertex_change),
    sizeof(struct lbmap_edge_change), sizeof(struct lbmap_neighbour), sizeof(struct lbmap_step),
    sizeof(struct lbmap_peer),        sizeof(struct lbmap_callbacks),
};
