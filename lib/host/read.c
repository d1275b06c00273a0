/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Host graphs from files: the format by content; METIS and GraphML by the readers of guest graphs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "graph/read.h"
#include "graph/readers.h"
#include "graph/scan.h"
#include "host/network.h"
#include "host/selection.h"

/* ---- graphs: the weight of an edge is its cost, that of a vertex its capacity, positions are sites -- */

static const struct lbm_field field_capacity = {"capacity", 0, LBM_WEIGHT_MAX, "0 makes a switch"};

/* lbm_hosts_build knows hosts by number alone; say which file they are of. */
static enum lbm_err
build_all(const char *name, const struct lbm_network *net, struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct lbm_diag reason = {0};
    enum lbm_err err =
        lbm_hosts_build(net->n, net->links, net->n_links, net->capacity, net->m, net->site, out, &reason);
    if (err == LBM_OK || err == LBM_E_NOMEM)
        return err;
    return lbm_diag_set(diag, err, name, 0, "%s", reason.text);
}

/* In: label [g->n] for messages, or NULL. Out: capacity [g->n], 0 for a switch. */
static enum lbm_err
build(const char *name, const struct lbm_graph *g, const char *const *label, double *capacity,
      struct lbm_hosts *out, struct lbm_diag *diag)
{
    size_t n_links = 0, n_switches = 0;
    struct lbm_link *links = lbm_alloc(lbm_graph_directions(g) / 2, sizeof *links);
    if (links == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < g->n; p++) {
        capacity[p] = lbm_graph_work(g, p);
        n_switches += capacity[p] == 0.0;
        for (uint64_t i = g->offset[p]; i < g->offset[p + 1]; i++)
            if (p < g->target[i])
                links[n_links++] = (struct lbm_link){p, g->target[i], lbm_graph_weight(g, i)};
    }
    struct lbm_network net = {g->n, links, n_links, capacity, 2, g->position, label};
    enum lbm_err err =
        n_switches != 0 ? lbm_hosts_from_network(name, &net, out, diag) : build_all(name, &net, out, diag);
    free(links);
    return err;
}

/* In, out: as build. */
static enum lbm_err
hosts_of_graph(const char *name, const struct lbm_graph *g, const char *const *label, double *capacity,
               struct lbm_hosts *out, struct lbm_diag *diag)
{
    uint32_t n_hosts = 0;
    for (uint32_t p = 0; p < g->n; p++)
        n_hosts += lbm_graph_work(g, p) != 0;
    if (n_hosts > LBM_HOSTS_MAX || lbm_graph_directions(g) / 2 > LBM_LINKS_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, name, 0,
                            "%" PRIu32 " hosts and %" PRIu64 " links; at most %d and %d are possible",
                            n_hosts, lbm_graph_directions(g) / 2, LBM_HOSTS_MAX, LBM_LINKS_MAX);
    if (g->n == 0)
        return lbm_diag_set(diag, LBM_E_RANGE, name, 0, "no hosts; there must be at least one");
    return build(name, g, label, capacity, out, diag);
}

static enum lbm_err
read_metis(const char *name, const char *text, size_t len, const struct lbm_hosts_reading *how,
           struct lbm_hosts *out, struct lbm_diag *diag)
{
    (void)how;
    struct lbm_graph g = {0};
    struct lbm_scan scan;
    lbm_scan_begin(&scan, name, text, len, diag);
    scan.work = &field_capacity;
    enum lbm_err err = lbm_read_metis(&scan, &g);
    double *capacity = lbm_alloc(g.n, sizeof *capacity);
    if (capacity == NULL && err == LBM_OK)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        err = hosts_of_graph(name, &g, NULL, capacity, out, diag);
    free(capacity);
    lbm_graph_free(&g);
    return err;
}

/* In: label, capacity [n], which is 0 for switches. */
static enum lbm_err
name_hosts(const char *where, const char *const *label, const double *capacity, uint32_t n,
           struct lbm_hosts *h, struct lbm_diag *diag)
{
    h->name = lbm_alloc(h->n, sizeof *h->name);
    if (h->name == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0, p = 0; v < n; v++) {
        if (capacity[v] == 0.0)
            continue;
        if (!lbm_is_host_name(label[v]))
            return lbm_diag_set(diag, LBM_E_SYNTAX, where, 0,
                                "the id of host %" PRIu32
                                " is no name of a host: 1 .. %d characters, no blanks",
                                p, LBM_NAME_MAX);
        h->name[p] = lbm_copy(label[v], strlen(label[v]) + 1, 1);
        if (h->name[p++] == NULL)
            return LBM_E_NOMEM;
    }
    return LBM_OK;
}

/* Make switches of the hosts that are not wanted. In/out: g->work, if anything is left out. */
static enum lbm_err
select_hosts(const char *name, const char *list, const char *const *label, struct lbm_graph *g,
             struct lbm_diag *diag)
{
    struct lbm_selection wanted;
    enum lbm_err err = lbm_selection_make(list, &wanted, diag);
    if (err == LBM_OK && !wanted.all && g->work == NULL)
        err = lbm_diag_set(diag, LBM_E_RANGE, name, 0, "no hosts; there must be at least one");
    for (uint32_t v = 0; err == LBM_OK && !wanted.all && v < g->n; v++)
        if (g->work[v] != 0 && !lbm_selection_has(&wanted, label[v]))
            g->work[v] = 0;
    if (err == LBM_OK)
        err = lbm_selection_complete(&wanted, name, diag);
    lbm_selection_free(&wanted);
    return err;
}

/* In: names, as many terminated strings as there are vertices; list of those wanted, or NULL. */
static enum lbm_err
hosts_of_named(const char *name, struct lbm_graph *g, const char *names, const char *list,
               struct lbm_hosts *h, struct lbm_diag *diag)
{
    const char **label = lbm_alloc(g->n, sizeof *label);
    double *capacity = lbm_alloc(g->n, sizeof *capacity);
    enum lbm_err err = label != NULL && capacity != NULL ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t v = 0; err == LBM_OK && v < g->n; v++) {
        label[v] = names;
        names += strlen(names) + 1;
    }
    if (err == LBM_OK)
        err = select_hosts(name, list, label, g, diag);
    if (err == LBM_OK)
        err = hosts_of_graph(name, g, label, capacity, h, diag);
    if (err == LBM_OK)
        err = name_hosts(name, label, capacity, g->n, h, diag);
    free(label);
    free(capacity);
    return err;
}

static enum lbm_err
read_graphml(const char *name, const char *text, size_t len, const struct lbm_hosts_reading *how,
             struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct lbm_graph g = {0};
    struct lbm_buf names = {0};
    struct lbm_scan scan;
    struct lbm_hosts h = {0};
    lbm_scan_begin(&scan, name, text, len, diag);
    scan.work = &field_capacity;
    enum lbm_err err = lbm_read_graphml_named(&scan, &g, &names);
    if (err == LBM_OK)
        err = hosts_of_named(name, &g, names.at, how->nodes, &h, diag);
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    lbm_graph_free(&g);
    lbm_buf_free(&names);
    return err;
}

/* ---- which format -------------------------------------------------------------------------------- */

/* The rest of the first line that is neither blank nor a comment. */
static struct lbm_scan
first_line(const char *name, const char *text, size_t len)
{
    struct lbm_scan scan;
    lbm_scan_begin(&scan, name, text, len, NULL);
    lbm_scan_skip_lines(&scan, "#%", 1);
    lbm_scan_line_done(&scan);
    return scan;
}

static int
starts_with(const struct lbm_scan *scan, const char *word)
{
    return (size_t)(scan->end - scan->at) >= strlen(word) && strncasecmp(scan->at, word, strlen(word)) == 0;
}

/* The first word is a number. */
static int
looks_metis(const struct lbm_scan *first)
{
    const char *at = first->at;
    while (at < first->end && *at >= '0' && *at <= '9')
        at++;
    return at > first->at && (at == first->end || *at == '\n' || lbm_scan_is_blank(*at));
}

/* XML whose outermost element is called topology; that of GraphML comes sooner than this. */
static int
looks_hwloc(const struct lbm_scan *first)
{
    static const char element[] = "<topology";
    enum { PROBE = 4096, LEN = sizeof element - 1 };
    const char *end = first->end - first->at > PROBE ? first->at + PROBE : first->end;
    if (!starts_with(first, "<"))
        return 0;
    for (const char *at = first->at; end - at >= LEN; at++)
        if (memcmp(at, element, LEN) == 0)
            return 1;
        else if (end - at >= 8 && memcmp(at, "<graphml", 8) == 0)
            return 0;
    return 0;
}

static int
looks_graphml(const struct lbm_scan *first)
{
    return starts_with(first, "<");
}

static int
looks_slurm(const struct lbm_scan *first)
{
    return starts_with(first, "SwitchName") || starts_with(first, "BlockName") ||
           starts_with(first, "BlockSizes") || starts_with(first, "RingName");
}

/* A document, or a list right away. */
static int
looks_yaml(const struct lbm_scan *first)
{
    return starts_with(first, "---") || starts_with(first, "- ");
}

/* Scotch targets begin with the name of a kind of architecture, of which some are not read. */
static int
looks_scotch(const struct lbm_scan *first)
{
    static const char *const kinds[] = {"hcub",    "mesh2D",  "mesh3D", "meshXD", "torus2D",
                                        "torus3D", "torusXD", "cmplt",  "cmpltw", "tleaf",
                                        "deco",    "vcmplt",  "vhcub",  "ltleaf", "sub"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct lbm_scan probe = *first;
        if (lbm_scan_word(&probe, kinds[i]))
            return 1;
    }
    return 0;
}

/* Lines that begin with a name. */
static int
looks_hostfile(const struct lbm_scan *first)
{
    return first->at < first->end &&
           ((*first->at >= 'a' && *first->at <= 'z') || (*first->at >= 'A' && *first->at <= 'Z') ||
            (*first->at >= '0' && *first->at <= '9'));
}

/* In order: the first that recognises the text reads it. */
static const struct format {
    const char *title;
    int (*looks)(const struct lbm_scan *first);
    lbm_hosts_reader *read;
    int has_names, has_islands, has_topologies, has_leaves;
} formats[] = {
    {"a METIS graph", looks_metis, read_metis, 0, 0, 0, 0},
    {"a machine of hwloc", looks_hwloc, lbm_hosts_read_hwloc, 0, 0, 0, 1},
    {"a GraphML graph", looks_graphml, read_graphml, 1, 0, 0, 0},
    {"a topology.conf of Slurm", looks_slurm, lbm_hosts_read_slurm, 1, 1, 0, 0},
    {"a topology.yaml of Slurm", looks_yaml, lbm_hosts_read_slurm_yaml, 1, 1, 1, 0},
    {"a Scotch target", looks_scotch, lbm_hosts_read_scotch, 0, 0, 0, 0},
    {"a hostfile", looks_hostfile, lbm_hosts_read_hostfile, 1, 0, 0, 0},
};

/* Refuse what is asked of a format that does not have it. */
static enum lbm_err
check_reading(const char *name, const struct format *format, const struct lbm_hosts_reading *how,
              struct lbm_diag *diag)
{
    const struct {
        const char *option;
        int asked, has;
    } options[] = {
        {"@nodes", how->nodes != NULL, format->has_names},
        {"@island", how->island_cost != 0, format->has_islands},
        {"@topology", how->topology != NULL, format->has_topologies},
        {"@leaf", how->leaf != NULL, format->has_leaves},
    };
    const char *option = NULL;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].asked && !options[i].has)
            option = options[i].option;
    if (option == NULL)
        return LBM_OK;
    return lbm_diag_set(diag, LBM_E_UNSUPPORTED, name, 0, "this is %s, for which %s means nothing",
                        format->title, option);
}

enum lbm_err
lbm_hosts_parse(const char *name, const char *text, size_t len, const struct lbm_hosts_reading *how,
                struct lbm_hosts *out, struct lbm_diag *diag)
{
    static const struct lbm_hosts_reading all = {0};
    struct lbm_scan first = first_line(name, text, len);
    how = how != NULL ? how : &all;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!formats[i].looks(&first))
            continue;
        enum lbm_err err = check_reading(name, &formats[i], how, diag);
        return err == LBM_OK ? formats[i].read(name, text, len, how, out, diag) : err;
    }
    return lbm_diag_set(diag, LBM_E_SYNTAX, name, first.line,
                        "no host graph; METIS, GraphML, Scotch targets, Slurm's topologies, hwloc's XML and "
                        "hostfiles are read");
}
