/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specs of hosts, and the files that they name. */
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "graph/scan.h"

static enum lbm_err
read_hosts(const char *path, const struct lbm_hosts_reading *how, struct lbm_hosts *out,
           struct lbm_diag *diag)
{
    char *text;
    size_t len;
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    err = lbm_hosts_parse(path, text, len, how, out, diag);
    free(text);
    return err;
}

/* What is read of a file about hosts that there are. */
typedef enum lbm_err host_parser(struct lbm_hosts *h, const char *name, const char *text, size_t len,
                                 struct lbm_diag *diag);

static enum lbm_err
read_for_hosts(const char *path, host_parser *parse, struct lbm_hosts *h, struct lbm_diag *diag)
{
    char *text;
    size_t len;
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    err = parse(h, path, text, len, diag);
    free(text);
    return err;
}

/* ---- specs of hosts: BASE@cap=FILE@nodes=LIST ... ------------------------------------------------------ */

enum modifier { MOD_CAP, MOD_NAMES, MOD_NODES, MOD_TOPOLOGY, MOD_ISLAND, MOD_LEAF, MODIFIERS };

static const char *const modifier_marks[MODIFIERS] = {
    "@cap=", "@names=", "@nodes=", "@topology=", "@island=", "@leaf="};

/* A spec in pieces: its base and the values of modifiers, NULL if not given. */
struct host_spec {
    char *text; /* owned; the pieces point into it */
    const char *base;
    const char *value[MODIFIERS];
};

/* The first modifier in text. Out: which. Returns where, or NULL. */
static char *
find_modifier(char *text, enum modifier *which)
{
    char *first = NULL;
    for (int m = 0; m < MODIFIERS; m++) {
        char *at = strstr(text, modifier_marks[m]);
        if (at != NULL && (first == NULL || at < first)) {
            first = at;
            *which = (enum modifier)m;
        }
    }
    return first;
}

/* In: spec->text. Errors: LBM_E_SYNTAX, a modifier twice or without a value. */
static enum lbm_err
split_spec(struct host_spec *spec, struct lbm_diag *diag)
{
    enum modifier which = MODIFIERS;
    char *at = find_modifier(spec->text, &which);
    spec->base = spec->text;
    while (at != NULL) {
        const char *mark = modifier_marks[which];
        char *value = at + strlen(mark);
        enum modifier next = MODIFIERS;
        char *end = find_modifier(value, &next);
        *at = '\0';
        if (spec->value[which] != NULL)
            return lbm_diag_set(diag, LBM_E_SYNTAX, mark, 0, "given twice; keep one");
        spec->value[which] = value;
        if (*value == '\0' || value == end)
            return lbm_diag_set(diag, LBM_E_SYNTAX, mark, 0,
                                which == MOD_CAP || which == MOD_NAMES ? "the name of a file is empty"
                                                                       : "a value is missing");
        at = end;
        which = next;
    }
    return LBM_OK;
}

static enum lbm_err
read_island(const char *text, uint32_t *cost, struct lbm_diag *diag)
{
    const struct lbm_field field = {"island cost", 1, LBM_LINK_COST_MAX, "it is a distance, as a link costs"};
    struct lbm_scan scan;
    lbm_scan_begin(&scan, "@island", text, strlen(text), diag);
    enum lbm_err err = lbm_scan_u32(&scan, &field, cost);
    return err == LBM_OK ? lbm_scan_expect_text_end(&scan, "", "the island cost") : err;
}

static enum lbm_err
make_base(const char *spec, const struct host_spec *pieces, struct lbm_hosts *hosts, struct lbm_diag *diag)
{
    static const char file_mark[] = "file:";
    struct lbm_hosts_reading how = {.nodes = pieces->value[MOD_NODES],
                                    .topology = pieces->value[MOD_TOPOLOGY],
                                    .leaf = pieces->value[MOD_LEAF]};
    enum lbm_err err = LBM_OK;
    if (pieces->value[MOD_ISLAND] != NULL)
        err = read_island(pieces->value[MOD_ISLAND], &how.island_cost, diag);
    if (err != LBM_OK)
        return err;
    if (strcmp(pieces->base, "live") == 0)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, spec, 0,
                            "the hosts of a running cluster are not in a file");
    if (strncmp(pieces->base, file_mark, sizeof file_mark - 1) == 0)
        return read_hosts(pieces->base + sizeof file_mark - 1, &how, hosts, diag);
    if (how.nodes != NULL || how.topology != NULL || how.island_cost != 0 || how.leaf != NULL)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, spec, 0,
                            "@nodes, @topology, @island and @leaf are for file:PATH");
    return lbm_hosts_generate(pieces->base, hosts, diag);
}

static enum lbm_err
read_attributes(const struct host_spec *pieces, struct lbm_hosts *hosts, struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    if (pieces->value[MOD_CAP] != NULL)
        err = read_for_hosts(pieces->value[MOD_CAP], lbm_hosts_parse_capacities, hosts, diag);
    if (err == LBM_OK && pieces->value[MOD_NAMES] != NULL)
        err = read_for_hosts(pieces->value[MOD_NAMES], lbm_hosts_parse_names, hosts, diag);
    return err;
}

enum lbm_err
lbm_file_hosts(const char *spec, struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct host_spec pieces = {.text = strdup(spec)};
    struct lbm_hosts hosts = {0};
    enum lbm_err err = pieces.text != NULL ? split_spec(&pieces, diag) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = make_base(spec, &pieces, &hosts, diag);
    if (err == LBM_E_NOMEM)
        err = lbm_diag_set(diag, err, spec, 0, "no memory for the hosts");
    if (err == LBM_OK)
        err = read_attributes(&pieces, &hosts, diag);
    free(pieces.text);
    if (err == LBM_OK)
        *out = hosts;
    else
        lbm_hosts_free(&hosts);
    return err;
}

enum lbm_err
lbm_file_host_names(const char *path, struct lbm_hosts *hosts, struct lbm_diag *diag)
{
    return read_for_hosts(path, lbm_hosts_parse_names, hosts, diag);
}
