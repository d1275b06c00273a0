/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's topology.conf, line by line; slurm_tree.c makes hosts of it. Only topology/tree is read. */
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

/* ---- lines --------------------------------------------------------------------------------------- */

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

static struct slurm_text
read_word(struct lbm_scan *scan)
{
    struct slurm_text word = {scan->at, 0};
    do
        scan->at++;
    while (scan->at < scan->end && *scan->at != '\n' && *scan->at != '\\' && !lbm_scan_is_blank(*scan->at));
    word.len = (size_t)(scan->at - word.at);
    return word;
}

static enum lbm_err
take_setting(struct slurm_topology *t, struct slurm_node *node, struct slurm_text word)
{
    struct slurm_text ignored;
    const struct {
        const char *key;
        struct slurm_text *value;
    } keys[] = {
        {"SwitchName=", &node->name},
        {"Nodes=", &node->nodes},
        {"Switches=", &node->switches},
        {"LinkSpeed=", &ignored},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t len = strlen(keys[i].key);
        if (word.len > len && strncasecmp(word.at, keys[i].key, len) == 0) {
            *keys[i].value = (struct slurm_text){word.at + len, word.len - len};
            return LBM_OK;
        }
    }
    return lbm_slurm_refuse(
        t, t->scan.line, LBM_E_SYNTAX,
        "not understood; a line is SwitchName=NAME Nodes=LIST or SwitchName=NAME Switches=LIST", word);
}

static enum lbm_err
read_line(struct slurm_topology *t)
{
    struct slurm_node node = {.line = t->scan.line, .parent = LBM_NONE, .group = LBM_NONE};
    if (line_over(&t->scan))
        return LBM_OK;
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && !line_over(&t->scan))
        err = take_setting(t, &node, read_word(&t->scan));
    if (err != LBM_OK)
        return err;
    if (node.name.len == 0)
        return lbm_slurm_refuse(t, node.line, LBM_E_SYNTAX, "no SwitchName on this line, only", node.nodes);
    if ((node.nodes.len == 0) == (node.switches.len == 0))
        return lbm_slurm_refuse(t, node.line, LBM_E_SYNTAX, "a switch has either Nodes or Switches; not so",
                                node.name);
    if (t->nodes.n == LBM_HOSTS_MAX)
        return lbm_slurm_refuse(t, node.line, LBM_E_LIMIT, "more switches than hosts are possible",
                                node.name);
    return lbm_vec_push(&t->nodes, node);
}

enum lbm_err
lbm_hosts_read_slurm(const char *name, const char *text, size_t len, struct lbm_hosts *out,
                     struct lbm_diag *diag)
{
    struct slurm_topology t = {0};
    enum lbm_err err = LBM_OK;
    lbm_scan_begin(&t.scan, name, text, len, diag);
    for (int more = len != 0; err == LBM_OK && more; more = lbm_scan_next_line(&t.scan))
        err = read_line(&t);
    if (err == LBM_OK && t.nodes.n == 0)
        err = lbm_scan_refuse(&t.scan, LBM_E_SYNTAX, "no line with SwitchName=");
    if (err == LBM_OK)
        err = lbm_slurm_hosts(&t, out);
    lbm_vec_free(&t.nodes);
    return err;
}
