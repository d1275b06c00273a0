/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs and mappings from files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "file/file.h"
#include "graph/scan.h"

enum lbm_err
lbm_file_graph_format(const char *path, const char *option, enum lbm_graph_format *format,
                      struct lbm_diag *diag)
{
    char list[LBM_DIAG_TEXT_MAX] = "";
    size_t len = 0;
    enum lbm_graph_format found = strcmp(path, "-") == 0 ? LBM_FORMAT_METIS : lbm_graph_format_by_path(path);
    if (found != LBM_FORMAT_COUNT) {
        *format = found;
        return LBM_OK;
    }
    for (int f = 0; f < LBM_FORMAT_COUNT && len < sizeof list; f++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", f > 0 ? ", " : "",
                                lbm_graph_format_name((enum lbm_graph_format)f));
    return lbm_diag_set(diag, LBM_E_UNSUPPORTED, path, 0,
                        "the suffix of its name is that of no format: give %s with one of %s", option, list);
}

enum lbm_err
lbm_file_graph(const char *path, enum lbm_graph_format format, struct lbm_reading *reading,
               struct lbm_graph *out, struct lbm_diag *diag)
{
    char *text;
    size_t len;
    enum lbm_err err = LBM_OK;
    if (format == LBM_FORMAT_COUNT)
        err = lbm_file_graph_format(path, "--from", &format, diag);
    if (err == LBM_OK)
        err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    err = lbm_graph_read(format, path, text, len, reading, out, diag);
    free(text);
    return err;
}

enum lbm_err
lbm_file_graph_part(const char *path, struct lbm_graph_part *part, struct lbm_graph *out,
                    struct lbm_diag *diag)
{
    char *text;
    size_t len;
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    err = lbm_graph_parse_part(path, text, len, part, out, diag);
    free(text);
    return err;
}

/* ---- mappings ------------------------------------------------------------------------------------- */

static const char comment_marks[] = "#%";

/* The second column of a mapping: the name of the vertex, or its number. It shows that the mapping is of this
 * guest. */
static enum lbm_err
read_name(struct lbm_scan *s, const struct lbm_graph *g, uint32_t v)
{
    char number[16], token[32];
    const char *name = lbm_graph_name(g, v);
    const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));
    end = end != NULL ? end : s->end;
    while (end > s->at && lbm_scan_is_blank(end[-1]))
        end--;
    snprintf(number, sizeof number, "%" PRIu32, v);
    name = name != NULL ? name : number;
    size_t len = strlen(name);
    if ((size_t)(end - s->at) == len && memcmp(s->at, name, len) == 0) {
        s->at = end;
        return LBM_OK;
    }
    lbm_scan_token(s, token, sizeof token);
    return lbm_scan_refuse(s, LBM_E_SYNTAX,
                           "\"%s\" is not the name of vertex %" PRIu32 ": is the mapping of another graph?",
                           token, v);
}

/* One host a line, in the order of the vertices, perhaps with the name of the vertex behind it. */
static enum lbm_err
read_part(struct lbm_scan *s, const struct lbm_graph *g, const struct lbm_field *host, uint32_t *part)
{
    uint32_t n = g->n;
    for (uint32_t v = 0; v < n; v++) {
        if (lbm_scan_skip_lines(s, comment_marks, 1))
            return lbm_scan_refuse(
                s, LBM_E_SYNTAX,
                "the mapping ends after %" PRIu32 " of %" PRIu32 " vertices: is it of another graph?", v, n);
        enum lbm_err err = lbm_scan_u32(s, host, &part[v]);
        if (err == LBM_OK && !lbm_scan_line_done(s))
            err = read_name(s, g, v);
        if (err != LBM_OK)
            return err;
        lbm_scan_next_line(s);
    }
    return lbm_scan_expect_text_end(s, comment_marks, "the last vertex");
}

/* Pairs "vertex host" in any order. Vertices count from 0 or from 1, whichever leaves none out.
 * In/out: part [n + 1], all LBM_NONE. */
static enum lbm_err
read_pairs(struct lbm_scan *s, uint32_t n, const struct lbm_field *host, uint32_t *part)
{
    const struct lbm_field vertex = {"vertex", 0, n, ""};
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = 0;
        if (lbm_scan_skip_lines(s, comment_marks, 1))
            return lbm_scan_refuse(s, LBM_E_SYNTAX,
                                   "the mapping ends after %" PRIu32 " of %" PRIu32 " vertices", k, n);
        enum lbm_err err = lbm_scan_u32(s, &vertex, &v);
        if (err == LBM_OK && part[v] != LBM_NONE)
            return lbm_scan_refuse(s, LBM_E_SYNTAX, "vertex %" PRIu32 " is mapped twice", v);
        if (err == LBM_OK)
            err = lbm_scan_u32(s, host, &part[v]);
        if (err == LBM_OK)
            err = lbm_scan_expect_line_end(s, "a vertex and its host");
        if (err != LBM_OK)
            return err;
        lbm_scan_next_line(s);
    }
    uint32_t missing = 0;
    while (part[missing] != LBM_NONE) /* n of the n + 1 numbers are there */
        missing++;
    if (missing != 0 && missing != n)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "vertex %" PRIu32 " is not mapped", missing);
    if (missing == 0)
        memmove(part, part + 1, n * sizeof *part);
    return lbm_scan_expect_text_end(s, comment_marks, "the last vertex");
}

/* Nonzero if the text is a Scotch mapping: a line with nothing but the count n, then a line with two numbers
 * (or none, if n is 0). In out: the scanner stands at the first line; for a Scotch mapping, then behind it.
 */
static int
is_scotch(struct lbm_scan *s, uint32_t n)
{
    const struct lbm_field any = {"number", 0, UINT32_MAX, ""};
    struct lbm_scan probe = *s;
    uint32_t count, number;
    probe.diag = NULL;
    if (lbm_scan_skip_lines(&probe, comment_marks, 1) || lbm_scan_u32(&probe, &any, &count) != LBM_OK ||
        count != n || !lbm_scan_line_done(&probe))
        return 0;
    lbm_scan_next_line(&probe);
    struct lbm_scan second = probe;
    int ended = lbm_scan_skip_lines(&second, comment_marks, 1);
    if (n == 0 ? !ended
               : ended || lbm_scan_u32(&second, &any, &number) != LBM_OK || lbm_scan_line_done(&second))
        return 0;
    probe.diag = s->diag;
    *s = probe;
    return 1;
}

enum lbm_err
lbm_file_map(const char *path, const struct lbm_graph *g, uint32_t n_hosts, uint32_t **part,
             struct lbm_diag *diag)
{
    uint32_t n = g->n;
    char *text;
    size_t len;
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    uint32_t *hosts = lbm_alloc((size_t)n + 1, sizeof *hosts);
    if (hosts == NULL) {
        free(text);
        return lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory for %" PRIu32 " vertices", n);
    }
    memset(hosts, 0xff, ((size_t)n + 1) * sizeof *hosts); /* LBM_NONE */
    const struct lbm_field host = {"host", 0, n_hosts > 0 ? n_hosts - 1 : 0, "hosts are numbered from 0"};
    struct lbm_scan scan;
    lbm_scan_begin(&scan, path, text, len, diag);
    err = is_scotch(&scan, n) ? read_pairs(&scan, n, &host, hosts) : read_part(&scan, g, &host, hosts);
    free(text);
    if (err == LBM_OK)
        *part = hosts;
    else
        free(hosts);
    return err;
}
