/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of formats, and what all readers have in common. */
#include "graph/read.h"

#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "graph/readers.h"

enum { BINARY_PROBE = 4096 }; /* bytes looked at: one page; what is binary shows it at once */

static const struct {
    const char *name;
    const char *suffixes; /* separated by blanks */
} formats[] = {
#define LBM_FORMAT_ROW(id, name, suffixes, text) {name, suffixes},
    LBM_GRAPH_FORMAT_LIST(LBM_FORMAT_ROW)
#undef LBM_FORMAT_ROW
};

static lbm_reader *const readers[LBM_FORMAT_COUNT] = {
    [LBM_FORMAT_METIS] = lbm_read_metis,
    [LBM_FORMAT_SCOTCH] = lbm_read_scotch,
    [LBM_FORMAT_MATRIX_MARKET] = lbm_read_matrix_market,
    [LBM_FORMAT_GRAPHML] = lbm_read_graphml,
    [LBM_FORMAT_EDGES] = lbm_read_edges,
    [LBM_FORMAT_MESH] = lbm_read_mesh,
    [LBM_FORMAT_GMSH] = lbm_read_gmsh,
    [LBM_FORMAT_GML] = lbm_read_gml,
    [LBM_FORMAT_PAJEK] = lbm_read_pajek,
    [LBM_FORMAT_DIMACS] = lbm_read_dimacs,
    [LBM_FORMAT_CSV] = lbm_read_csv,
};

const char *
lbm_graph_format_name(enum lbm_graph_format format)
{
    LBM_ASSERT((unsigned)format < LBM_FORMAT_COUNT);
    return formats[format].name;
}

/* Nonzero if the suffix of len bytes, in any case, is one of the list. */
static int
listed(const char *suffixes, const char *suffix, size_t len)
{
    for (const char *word = suffixes; *word != '\0'; word += strspn(word, " ")) {
        size_t word_len = strcspn(word, " ");
        if (word_len == len && strncasecmp(word, suffix, len) == 0)
            return 1;
        word += word_len;
    }
    return 0;
}

enum lbm_graph_format
lbm_graph_format_by_path(const char *path)
{
    size_t len = strlen(path);
    static const char *const packed[] = {".gz", ".bz2", ".xz", ".zst"};
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        size_t packed_len = strlen(packed[i]);
        if (len >= packed_len && strcasecmp(path + len - packed_len, packed[i]) == 0) {
            len -= packed_len;
            break;
        }
    }
    size_t suffix = len;
    while (suffix > 0 && path[suffix - 1] != '.' && path[suffix - 1] != '/')
        suffix--;
    if (suffix == 0 || path[suffix - 1] != '.')
        return LBM_FORMAT_COUNT;
    for (int f = 0; f < LBM_FORMAT_COUNT; f++)
        if (listed(formats[f].suffixes, path + suffix - 1, len - suffix + 1))
            return (enum lbm_graph_format)f;
    return LBM_FORMAT_COUNT;
}

/* Offset of the first byte that no text has, or len. */
static size_t
binary_at(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 && strchr("\t\n\v\f\r", text[i] != '\0' ? text[i] : 1) == NULL)
            return i;
    return len;
}

enum lbm_err
lbm_graph_parse(enum lbm_graph_format format, const char *name, const char *text, size_t len,
                struct lbm_graph *out, struct lbm_diag *diag)
{
    return lbm_graph_read(format, name, text, len, NULL, out, diag);
}

enum lbm_err
lbm_graph_read(enum lbm_graph_format format, const char *name, const char *text, size_t len,
               struct lbm_reading *reading, struct lbm_graph *out, struct lbm_diag *diag)
{
    LBM_ASSERT((unsigned)format < LBM_FORMAT_COUNT);
    if (len == 0)
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0,
                            "the file is empty, a graph in format %s was expected", formats[format].name);
    size_t probe = len < BINARY_PROBE ? len : BINARY_PROBE;
    size_t binary = binary_at(text, probe);
    if (binary < probe)
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0,
                            "not a text: byte %zu is 0x%02x, a graph in format %s was expected", binary,
                            (unsigned char)text[binary], formats[format].name);
    struct lbm_scan scan;
    lbm_scan_begin(&scan, name, text, len, diag);
    scan.reading = reading;
    return readers[format](&scan, out);
}

enum lbm_err
lbm_graph_parse_part(const char *name, const char *text, size_t len, struct lbm_graph_part *part,
                     struct lbm_graph *out, struct lbm_diag *diag)
{
    struct lbm_scan scan;
    lbm_scan_begin(&scan, name, text, len, diag);
    return lbm_read_metis_part(&scan, part, out);
}
