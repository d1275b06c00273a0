/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file with an alpha for each link. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "file/file.h"
#include "host/colouring.h"
#include "sim/balance/loads.h"

struct reader {
    const char *path;
    unsigned line;
    const struct lbm_colouring *c;
    double *alpha; /* [n_links] < 0: not read yet */
    struct lbm_diag *diag;
};

static uint32_t
find_link(const struct lbm_colouring *c, unsigned long p, unsigned long q)
{
    for (uint32_t i = 0; i < c->n_links; i++)
        if ((c->link[i].p == p && c->link[i].q == q) || (c->link[i].p == q && c->link[i].q == p))
            return i;
    return LBM_NONE;
}

/* text is one line, terminated. */
static enum lbm_err
read_line(struct reader *r, char *text)
{
    char *end;
    unsigned long host[2];
    text[strcspn(text, "#")] = '\0';
    text += strspn(text, " \t\r");
    if (*text == '\0')
        return LBM_OK;
    for (int k = 0; k < 2; k++) {
        host[k] = strtoul(text, &end, 10);
        if (end == text || *text == '-' || (*end != ' ' && *end != '\t'))
            return lbm_diag_set(r->diag, LBM_E_SYNTAX, r->path, r->line,
                                "'%.40s' does not begin with a host, a host and the alpha of their link",
                                text);
        text = end + strspn(end, " \t");
    }
    double alpha = strtod(text, &end);
    if (end == text || end[strspn(end, " \t\r")] != '\0' || !(alpha >= 0.0) || !isfinite(alpha))
        return lbm_diag_set(r->diag, LBM_E_SYNTAX, r->path, r->line, "'%.40s' is not an alpha, a number >= 0",
                            text);
    uint32_t i = find_link(r->c, host[0], host[1]);
    if (i == LBM_NONE)
        return lbm_diag_set(r->diag, LBM_E_RANGE, r->path, r->line, "hosts %lu and %lu are not linked",
                            host[0], host[1]);
    if (r->alpha[i] >= 0.0)
        return lbm_diag_set(r->diag, LBM_E_EXISTS, r->path, r->line,
                            "the link of hosts %lu and %lu has its alpha already", host[0], host[1]);
    r->alpha[i] = alpha;
    return LBM_OK;
}

enum lbm_err
links_read(const char *path, const struct lbm_colouring *c, double *alpha, struct lbm_diag *diag)
{
    struct reader r = {.path = path, .c = c, .alpha = alpha, .diag = diag};
    char *text, *line;
    size_t len;
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    for (uint32_t i = 0; i < c->n_links; i++)
        alpha[i] = -1.0;
    for (line = text; err == LBM_OK && line != NULL;) {
        char *next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        r.line++;
        err = read_line(&r, line);
        line = next;
    }
    free(text);
    for (uint32_t i = 0; err == LBM_OK && i < c->n_links; i++)
        if (alpha[i] < 0.0)
            err = lbm_diag_set(diag, LBM_E_RANGE, path, 0,
                               "has no alpha for the link of hosts %" PRIu32 " and %" PRIu32, c->link[i].p,
                               c->link[i].q);
    return err;
}
