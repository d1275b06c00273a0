/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl graph-from: a guest graph from what other programs write. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/graph_file.h"
#include "client/guest.h"
#include "file/file.h"
#include "graph/write.h"
#include "import/vt.h"

enum { FROM_OUTPUT, FROM_FORMAT, FROM_NAMES, FROM_COMMON, FROM_UNWEIGHTED, FROM_OPTIONS };

static const struct lbm_option options[] = {
    [FROM_OUTPUT] =
        LBM_TEXT_OPTION("output", "GRAPH",
                        "where the graph goes, \"-\" for standard output; compressed if it ends in .gz, "
                        ".bz2, .xz, .zst",
                        .letter = 'o', .required = 1),
    [FROM_FORMAT] = LBM_CHOICE_OPTION("format", "FORMAT", lbm_graph_formats,
                                      "how GRAPH is written [by the suffix; metis to standard output]"),
    [FROM_NAMES] = LBM_TEXT_OPTION("names", "FILE",
                                   "where names of vertices go, one a line in their order, if GRAPH cannot "
                                   "hold them [GRAPH.names]"),
    [FROM_COMMON] = LBM_INTEGER_OPTION("common", "N", 1, LBM_COMMON_MAX,
                                       "of a mesh: elements that share N nodes are neighbours [mesh: 1; "
                                       "gmsh: their dimension]"),
    [FROM_UNWEIGHTED] = LBM_FLAG_OPTION("unweighted", "every edge weighs 1, whatever the file says"),
};

/* What FORMAT may be, and the reader of it; LBM_FORMAT_COUNT: not one of a graph. */
static const struct lbm_choice formats[] = {
    {"matrix", "a communication matrix: a row a line, as text or CSV, with names or without"},
    {"vt", "load data of DARMA/vt: JSON, one FILE a rank"},
    {"mesh", "METIS mesh: its dual graph"},
    {"gmsh", "Gmsh mesh, ASCII 2 and 4.1: its dual graph"},
    {"mtx", "Matrix Market coordinate matrix"},
    {"edges", "edge list: u v [weight] a line, numbers or names"},
    {NULL, NULL},
};
static const enum lbm_graph_format reader_of[] = {LBM_FORMAT_CSV,           LBM_FORMAT_COUNT,
                                                  LBM_FORMAT_MESH,          LBM_FORMAT_GMSH,
                                                  LBM_FORMAT_MATRIX_MARKET, LBM_FORMAT_EDGES};

enum { FROM_KIND, FROM_FILES };

static const struct lbm_operand operands[] = {
    [FROM_KIND] = {.name = "FORMAT", .choices = formats, .text = "what FILE is"},
    [FROM_FILES] = {.name = "FILE",
                    .text = "also compressed; \"-\" is standard input; several of vt",
                    .most = LBM_HOSTS_MAX},
};

/* What is read, and what there is to say about it. */
struct input {
    struct lbm_graph g;
    struct lbm_buf remarks;
};

static enum lbm_err
read_graph(const struct lbm_cli *client, enum lbm_graph_format format, struct input *in,
           struct lbm_diag *diag)
{
    const struct lbm_option_value *common = &client->value[FROM_COMMON];
    struct lbm_reading reading = {.edge_scale.how = LBM_SCALE_AUTO,
                                  .work_scale.how = LBM_SCALE_AUTO,
                                  .sum = 1,
                                  .unweighted = client->value[FROM_UNWEIGHTED].given,
                                  .common = common->given ? (uint32_t)common->integer : 0};
    if (common->given && format != LBM_FORMAT_MESH && format != LBM_FORMAT_GMSH)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--common", 0, "only meshes have elements: mesh, gmsh");
    if (client->n_operands > FROM_FILES + 1)
        return lbm_diag_set(diag, LBM_E_SYNTAX, client->operand[FROM_FILES + 1], 0,
                            "one FILE is a graph; only vt writes one a rank");
    enum lbm_err err = lbm_file_graph(client->operand[FROM_FILES], format, &reading, &in->g, diag);
    in->remarks = reading.remarks;
    return err;
}

static enum lbm_err
read_vt(const struct lbm_cli *client, struct input *in, struct lbm_diag *diag)
{
    struct lbm_vt_data data = {0};
    struct lbm_vt_scale scale;
    if (client->value[FROM_COMMON].given || client->value[FROM_UNWEIGHTED].given)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "vt", 0,
                            "load data have neither elements nor edges without bytes: leave out --common and "
                            "--unweighted");
    enum lbm_err err =
        lbm_vt_read_files(client->operand + FROM_FILES, client->n_operands - FROM_FILES, &data, diag);
    if (err == LBM_OK)
        err = lbm_vt_guest(&data, &in->g, &scale, diag);
    if (err == LBM_OK) {
        lbm_buf_printf(&in->remarks,
                       "%" PRIu32 " tasks of %" PRIu32 " phases; a unit of load is %g s, of an edge %g bytes "
                       "a phase\n",
                       in->g.n, scale.n_phases, scale.load_s, scale.edge_bytes);
        if (data.n_other + scale.n_unknown != 0)
            lbm_buf_printf(&in->remarks,
                           "left out: %" PRIu64 " entries that are not of objects, %" PRIu64
                           " communications with tasks that no phase has\n",
                           data.n_other, scale.n_unknown);
    }
    lbm_vt_free(&data);
    return err;
}

static enum lbm_err
read_input(const struct lbm_cli *client, struct input *in, struct lbm_diag *diag)
{
    static const struct lbm_option option = {
        .type = LBM_OPTION_CHOICE, .value = "FORMAT", .choices = formats};
    struct lbm_option_value kind;
    enum lbm_err err = lbm_option_convert(&option, client->operand[FROM_KIND], "FORMAT", &kind, diag);
    if (err != LBM_OK)
        return err;
    enum lbm_graph_format format = reader_of[kind.integer];
    return format == LBM_FORMAT_COUNT ? read_vt(client, in, diag) : read_graph(client, format, in, diag);
}

/* Where the names go. Errors: LBM_E_RANGE, the path is too long; LBM_E_SYNTAX, there is no place for them. */
static enum lbm_err
names_path(const struct lbm_cli *client, char path[4096], struct lbm_diag *diag)
{
    const char *out = client->value[FROM_OUTPUT].text, *told = client->value[FROM_NAMES].text;
    if (told == NULL && strcmp(out, "-") == 0)
        return lbm_diag_set(
            diag, LBM_E_SYNTAX, "--names", 0,
            "vertices have names, which the format of GRAPH cannot hold: give a FILE for them");
    int len = told != NULL ? snprintf(path, 4096, "%s", told) : snprintf(path, 4096, "%s.names", out);
    return len < 4096 ? LBM_OK : lbm_diag_set(diag, LBM_E_RANGE, out, 0, "the path is too long");
}

static enum lbm_err
write_names(const struct lbm_graph *g, const char *path, struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    for (uint32_t v = 0; v < g->n; v++)
        lbm_buf_printf(&text, "%s\n", lbm_graph_name(g, v));
    enum lbm_err err = text.failed ? lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory for the names")
                                   : lbm_file_write(path, text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}

/* Write names apart, if the format cannot hold them, and then the graph. */
static enum lbm_status
write_output(const struct lbm_cli *client, enum lbm_graph_format to, struct input *in, struct lbm_diag *diag)
{
    const char *out = client->value[FROM_OUTPUT].text;
    struct lbm_graph nameless = in->g; /* borrows */
    char path[4096] = "";
    int apart = (lbm_graph_losses(to, &in->g) & 1u << LBM_LOSS_NAME) != 0;
    if (apart)
        nameless.name = NULL;
    enum lbm_err err = lbm_graph_file_holds(out, to, &nameless, 1, diag);
    if (err == LBM_OK && apart)
        err = names_path(client, path, diag);
    if (err != LBM_OK)
        return lbm_cli_refuse(client, diag);
    if (apart)
        err = write_names(&in->g, path, diag);
    if (err == LBM_OK)
        err = lbm_graph_file_write(out, to, &nameless, diag);
    if (err != LBM_OK)
        return lbm_cli_fail(client, diag);
    lbm_guest_remark(client, client->operand[FROM_FILES], &in->remarks);
    lbm_graph_file_remark(client, out, to, &nameless);
    if (apart)
        lbm_cli_remark(client, "%s: the names of the vertices, one a line in their order", path);
    return LBM_STATUS_DONE;
}

static enum lbm_status
run_graph_from(const struct lbm_cli *client)
{
    struct input in = {0};
    struct lbm_diag diag;
    enum lbm_graph_format to = LBM_FORMAT_METIS;
    enum lbm_err err = lbm_graph_file_format(client->value[FROM_OUTPUT].text, &client->value[FROM_FORMAT],
                                             "--format", &to, &diag);
    if (err == LBM_OK)
        err = read_input(client, &in, &diag);
    enum lbm_status status =
        err == LBM_OK ? write_output(client, to, &in, &diag) : lbm_cli_refuse(client, &diag);
    lbm_buf_free(&in.remarks);
    lbm_graph_free(&in.g);
    return status;
}

const struct lbm_command lbm_command_graph_from = {
    .name = "graph-from",
    .text = "make a guest graph of what other programs write",
    .help = "Reads what another program measured or made, and writes the guest graph that it means. What "
            "goes from u to v and from v to u is added up (a symmetric matrix says it once), values on the "
            "diagonal are left out, real and large weights are scaled to integers, and every such change is "
            "told.",
    .options = options,
    .n_options = FROM_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof operands[0],
    .run = run_graph_from,
};
