/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a mapping is written: a table of formats, one writer each. */
#ifndef LBM_CLIENT_FORMATS_H
#define LBM_CLIENT_FORMATS_H

#include "base/mem.h"
#include "cli/options.h"
#include "client/report.h"

#define LBM_MAP_FORMAT_LIST(X)                                                                               \
    X(PART, part, "one host id a line, in the order of vertices (METIS)")                                    \
    X(SCOTCH, scotch, "Scotch mapping (.map)")                                                               \
    X(RANKFILE, rankfile, "Open MPI 4 and 5: --map-by rankfile:FILE=...; vertices are ranks")                \
    X(SEQ, seq, "Open MPI hostfile for --map-by seq; vertices are ranks")                                    \
    X(HYDRA, hydra, "MPICH: mpiexec -f FILE; vertices are ranks")                                            \
    X(SLURM, slurm, "Slurm: SLURM_HOSTFILE with srun --distribution=arbitrary; vertices are tasks")          \
    X(CHARM, charm, "Charm++: charmrun ++nodelist FILE; vertices are processors")                            \
    X(JSON, json, "JSON: figures, names and loads of hosts, the host of each vertex")                        \
    X(GRAPHML, graphml, "GraphML: the guest with the host and the coordinates of each vertex")               \
    X(SVG, svg, "drawing for documents")                                                                     \
    X(PNG, png, "drawing for screens")

enum lbm_map_format {
#define LBM_MAP_FORMAT_ENUM(id, name, text) LBM_MAP_FORMAT_##id,
    LBM_MAP_FORMAT_LIST(LBM_MAP_FORMAT_ENUM)
#undef LBM_MAP_FORMAT_ENUM
        LBM_MAP_FORMAT_COUNT
};

/* Where a drawing puts the vertices. */
#define LBM_DRAW_LIST(X)                                                                                     \
    X(OMEGA, omega, "where the embedding put them, with the regions of the hosts")                           \
    X(INPUT, input, "where the graph's own positions put them")

enum lbm_draw_space {
#define LBM_DRAW_ENUM(id, name, text) LBM_DRAW_##id,
    LBM_DRAW_LIST(LBM_DRAW_ENUM)
#undef LBM_DRAW_ENUM
        LBM_DRAW_COUNT
};

/* For options: both end with a row that has no name. */
extern const struct lbm_choice lbm_map_formats[], lbm_draw_spaces[];

/* What launchers may use of every host; 0: as the hosts say, or not known. */
struct lbm_launch {
    uint32_t slots, cores;
    int shared; /* ranks of a host that has more of them than cores may use all of these */
};

/* All that any format needs; borrowed. */
struct lbm_mapping {
    const char *title; /* of a drawing */
    const struct lbm_graph *g;
    const struct lbm_hosts *h;
    const struct lbm_plan *plan;
    const struct lbm_report *report;
    size_t n_figures;   /* of the report that are known: LBM_REPORT_..._FIELDS */
    const uint32_t *id; /* [vertices] their ids; NULL: 0, 1, ... */
    struct lbm_launch launch;
    int names_column;          /* part: the name of the vertex stands behind the host */
    enum lbm_draw_space space; /* INPUT needs g->position */
};

/* Room for the name of any host: LBM_HOSTS_MAX has four digits. */
enum { LBM_HOST_ID_BYTES = 12 };

/* Append the text of the mapping to out. Errors: LBM_E_NOMEM; launchers' formats LBM_E_RANGE, more ranks than
 * slots or cores; drawings LBM_E_UNSUPPORTED, LBM_E_LIMIT. */
enum lbm_err lbm_mapping_write(enum lbm_map_format format, const struct lbm_mapping *mapping,
                               struct lbm_buf *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Refuse hosts whose names a launcher's format cannot hold: it would read another name, or none.
 * Errors: LBM_E_SYNTAX naming the host. */
enum lbm_err lbm_launch_check_names(enum lbm_map_format format, const struct lbm_hosts *h,
                                    struct lbm_diag *diag) LBM_MUST_CHECK;

/* What a launcher is told of host p: the machine of which it is a part, or the host, or its id written into
 * `id`.
 */
const char *lbm_launch_label(const struct lbm_hosts *h, uint32_t p, char id[LBM_HOST_ID_BYTES]);

/* Nonzero if the format names hosts as other programs know them, so that ids are seldom good enough. */
int lbm_map_format_needs_names(enum lbm_map_format format);

/* The writer of a format: format_text.c, format_launch.c, format_data.c, format_drawing.c. */
typedef enum lbm_err lbm_map_writer(const struct lbm_mapping *mapping, struct lbm_buf *out,
                                    struct lbm_diag *diag);
#define LBM_MAP_WRITER(id, name, text) extern lbm_map_writer lbm_map_write_##name;
LBM_MAP_FORMAT_LIST(LBM_MAP_WRITER)
#undef LBM_MAP_WRITER

/* Id of a vertex, from its place in g. */
static inline uint32_t
lbm_mapping_id(const struct lbm_mapping *mapping, uint32_t v)
{
    return mapping->id != NULL ? mapping->id[v] : v;
}

/* Name of a host, or its id written into `id`. */
const char *lbm_host_label(const struct lbm_hosts *h, uint32_t p, char id[LBM_HOST_ID_BYTES]);

#endif
