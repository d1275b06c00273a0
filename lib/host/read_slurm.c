/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's topology.conf, line by line: switches (topology/tree), blocks
 * (topology/block) or rings (topology/ring). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/slurm.h"

enum lbm_err
lbm_slurm_refuse(struct slurm_topology *t, uint64_t line, enum lbm_err err, const char *problem,
                 struct slurm_text about)
{
    t->scan.line = line;
    int shown = about.len < LBM_NAME_MAX ? (int)about.len : LBM_NAME_MAX;
    return lbm_scan_refuse(&t->scan, err, "%s: \"%.*s\"", problem, shown, about.at);
}

/* ---- words --------------------------------------------------------------------------------------------- */

/* Blanks and continued line ends; nonzero if the (logical) line is over, at its end or at a comment. */
static int
line_over(struct lbm_scan *scan)
{
    while (!lbm_scan_line_done(scan) && *scan->at == '\\') {
        const char *backslash = scan->at++;
        if (!lbm_scan_line_done(scan)) {
            scan->at = backslash; /* it continues nothing: a word that nobody understands */
            return 0;
        }
        if (!lbm_scan_next_line(scan))
            return 1;
    }
    return scan->at == scan->end || *scan->at == '\n' || *scan->at == '#';
}

/* Up to a blank, a line end, a backslash or the stop. */
static struct slurm_text
read_word(struct lbm_scan *scan, char stop)
{
    struct slurm_text word = {scan->at, 0};
    while (scan->at < scan->end && *scan->at != '\n' && *scan->at != '\\' && *scan->at != stop &&
           !lbm_scan_is_blank(*scan->at))
        scan->at++;
    word.len = (size_t)(scan->at - word.at);
    return word;
}

/* KEY = VALUE, with or without blanks; a value may be in quotes. Out: value.len 0 if there is none. */
static void
read_setting(struct lbm_scan *scan, struct slurm_text *key, struct slurm_text *value)
{
    *key = read_word(scan, '=');
    *value = (struct slurm_text){scan->at, 0};
    if (line_over(scan) || *scan->at != '=') {
        if (key->len == 0 && scan->at < scan->end) /* a backslash that continues nothing */
            key->len = 1, scan->at++;
        return;
    }
    scan->at++;
    if (line_over(scan))
        return;
    if (*scan->at != '"') {
        *value = read_word(scan, '\0');
        return;
    }
    const char *begin = ++scan->at;
    while (scan->at < scan->end && *scan->at != '"' && *scan->at != '\n')
        scan->at++;
    if (scan->at < scan->end && *scan->at == '"') /* else it does not end: no value */
        *value = (struct slurm_text){begin, (size_t)(scan->at++ - begin)};
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* What one line says. */
struct line {
    uint64_t number;
    struct slurm_text switch_name, block_name, ring_name, sizes, nodes, switches;
};

static enum lbm_err
take_setting(struct slurm_topology *t, struct line *line)
{
    struct slurm_text ignored, key, value;
    const struct {
        const char *key;
        struct slurm_text *value;
    } keys[] = {
        {"SwitchName", &line->switch_name},
        {"BlockName", &line->block_name},
        {"RingName", &line->ring_name},
        {"BlockSizes", &line->sizes},
        {"Nodes", &line->nodes},
        {"Switches", &line->switches},
        {"LinkSpeed", &ignored},
    };
    read_setting(&t->scan, &key, &value);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (value.len != 0 && key.len == strlen(keys[i].key) &&
            strncasecmp(key.at, keys[i].key, key.len) == 0) {
            *keys[i].value = value;
            return LBM_OK;
        }
    struct slurm_text word = {key.at, (size_t)(t->scan.at - key.at)};
    return lbm_slurm_refuse(
        t, t->scan.line, LBM_E_SYNTAX,
        "not understood; a line is SwitchName=NAME Nodes=LIST, SwitchName=NAME "
        "Switches=LIST, BlockName=NAME Nodes=LIST, BlockSizes=LIST or RingName=NAME Nodes=LIST",
        word);
}

/* Numbers with commas between. */
static enum lbm_err
take_sizes(struct slurm_topology *t, const struct line *line)
{
    const char *at = line->sizes.at, *end = at + line->sizes.len;
    t->n_block_sizes = 0;
    t->sizes_line = line->number;
    while (t->n_block_sizes < SLURM_BLOCK_SIZES_MAX) {
        uint64_t size = 0;
        const char *digit = at;
        for (; at < end && *at >= '0' && *at <= '9' && size < UINT32_MAX; at++)
            size = 10 * size + (uint64_t)(*at - '0');
        if (at == digit || size == 0 || (at < end && *at != ','))
            break;
        t->block_size[t->n_block_sizes++] = size;
        if (at++ == end)
            return LBM_OK;
    }
    return lbm_slurm_refuse(t, line->number, LBM_E_SYNTAX,
                            "block sizes are up to 16 numbers from 1 on, as in 4,16", line->sizes);
}

/* What a line is about. Out: *kind, *name. */
static enum lbm_err
find_kind(struct slurm_topology *t, const struct line *line, enum slurm_kind *kind, struct slurm_text *name)
{
    const struct slurm_text *names[] = {&line->switch_name, &line->block_name, &line->ring_name};
    static const enum slurm_kind kinds[] = {SLURM_TREE, SLURM_BLOCK, SLURM_TORUS};
    int n = 0;
    for (int k = 0; k < 3; k++)
        if (names[k]->len != 0) {
            *kind = kinds[k];
            *name = *names[k];
            n++;
        }
    if (n == 0)
        return lbm_slurm_refuse(t, line->number, LBM_E_SYNTAX, "no SwitchName on this line, only",
                                line->nodes.len != 0 ? line->nodes : line->switches);
    if (n > 1)
        return lbm_slurm_refuse(t, line->number, LBM_E_SYNTAX, "this line has two names, one is", *name);
    if (t->entries.n != 0 && *kind != t->kind)
        return lbm_slurm_refuse(t, line->number, LBM_E_SYNTAX,
                                "a file has either switches, blocks or rings; this is not as the others",
                                *name);
    return LBM_OK;
}

static enum lbm_err
add_line(struct slurm_topology *t, const struct line *line)
{
    struct slurm_entry entry = {.nodes = line->nodes,
                                .switches = line->switches,
                                .line = line->number,
                                .torus = (uint32_t)t->entries.n};
    enum slurm_kind kind = SLURM_TREE;
    enum lbm_err err = find_kind(t, line, &kind, &entry.name);
    if (err != LBM_OK)
        return err;
    t->kind = kind;
    if (t->kind == SLURM_TREE && (line->nodes.len == 0) == (line->switches.len == 0))
        return lbm_slurm_refuse(t, line->number, LBM_E_SYNTAX,
                                "a switch has either Nodes or Switches; not so", entry.name);
    if (t->kind != SLURM_TREE && line->switches.len != 0)
        return lbm_slurm_refuse(t, line->number, LBM_E_SYNTAX, "a block or ring has Nodes, no Switches",
                                entry.name);
    if (t->entries.n == LBM_NETWORK_MAX)
        return lbm_slurm_refuse(t, line->number, LBM_E_LIMIT, "too many switches or blocks, the last",
                                entry.name);
    return lbm_vec_push(&t->entries, entry);
}

static enum lbm_err
read_line(struct slurm_topology *t)
{
    struct line line = {.number = t->scan.line};
    if (line_over(&t->scan))
        return LBM_OK;
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && !line_over(&t->scan))
        err = take_setting(t, &line);
    if (err == LBM_OK && line.sizes.len != 0)
        err = take_sizes(t, &line);
    int is_named = line.switch_name.len != 0 || line.block_name.len != 0 || line.ring_name.len != 0;
    if (err != LBM_OK || (line.sizes.len != 0 && !is_named))
        return err;
    return add_line(t, &line);
}

enum lbm_err
lbm_hosts_read_slurm(const char *name, const char *text, size_t len, const struct lbm_hosts_reading *how,
                     struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct slurm_topology t = {.how = how};
    enum lbm_err err = LBM_OK;
    lbm_scan_begin(&t.scan, name, text, len, diag);
    for (int more = len != 0; err == LBM_OK && more; more = lbm_scan_next_line(&t.scan))
        err = read_line(&t);
    if (err == LBM_OK && t.entries.n == 0)
        err = lbm_scan_refuse(&t.scan, LBM_E_SYNTAX, "no line with SwitchName=, BlockName= or RingName=");
    if (err == LBM_OK)
        err = lbm_slurm_hosts(&t, out);
    lbm_slurm_free(&t);
    return err;
}
