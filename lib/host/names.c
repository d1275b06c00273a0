/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of hosts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/scan.h"
#include "host/internal.h"

int
lbm_is_host_name(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] <= ' ' || name[i] == '\x7f')
            return 0;
    return len >= 1 && len <= LBM_NAME_MAX;
}

struct named {
    const char *name;
    uint32_t host;
};

static int
by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->host > y->host) - (x->host < y->host);
}

static enum lbm_err
check_twice(const struct lbm_scan *scan, char *const *name, uint32_t n)
{
    struct named *sorted = lbm_alloc(n, sizeof *sorted);
    if (sorted == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < n; p++)
        sorted[p] = (struct named){name[p], p};
    qsort(sorted, n, sizeof *sorted, by_name);
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 1; err == LBM_OK && i < n; i++)
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0)
            err = lbm_scan_refuse(scan, LBM_E_SYNTAX,
                                  "hosts %" PRIu32 " and %" PRIu32 " are both called \"%s\"",
                                  sorted[i - 1].host, sorted[i].host, sorted[i].name);
    free(sorted);
    return err;
}

/* The next word. Out: *name owned by the caller. */
static enum lbm_err
take_word(struct lbm_scan *scan, char **name)
{
    const char *begin = scan->at;
    while (scan->at < scan->end && *scan->at != '\n' && !lbm_scan_is_blank(*scan->at))
        scan->at++;
    size_t len = (size_t)(scan->at - begin);
    char *copy = lbm_alloc(len + 1, 1);
    if (copy == NULL)
        return LBM_E_NOMEM;
    memcpy(copy, begin, len);
    *name = copy;
    if (strlen(copy) == len && lbm_is_host_name(copy))
        return LBM_OK;
    return lbm_scan_refuse(scan, LBM_E_SYNTAX, "no name of a host: 1 .. %d characters, no blanks",
                           LBM_NAME_MAX);
}

static enum lbm_err
take_names(struct lbm_scan *scan, char **name, uint32_t n)
{
    uint32_t p = 0;
    enum lbm_err err = LBM_OK;
    int more = !lbm_scan_text_done(scan);
    for (; err == LBM_OK && more; more = !lbm_scan_text_done(scan)) {
        if (*scan->at == '#') {
            while (scan->at < scan->end && *scan->at != '\n')
                scan->at++;
            continue;
        }
        if (p == n)
            return lbm_scan_refuse(scan, LBM_E_SYNTAX, "more than %" PRIu32 " names; give one a host", n);
        err = take_word(scan, &name[p++]);
    }
    if (err == LBM_OK && p < n)
        err = lbm_scan_refuse(scan, LBM_E_SYNTAX, "%" PRIu32 " names for %" PRIu32 " hosts; give one a host",
                              p, n);
    return err;
}

enum lbm_err
lbm_hosts_parse_names(struct lbm_hosts *h, const char *where, const char *text, size_t len,
                      struct lbm_diag *diag)
{
    struct lbm_scan scan;
    char **name = lbm_alloc(h->n, sizeof *name);
    lbm_scan_begin(&scan, where, text, len, diag);
    enum lbm_err err = name != NULL ? take_names(&scan, name, h->n) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = check_twice(&scan, name, h->n);
    if (err == LBM_E_NOMEM)
        err = lbm_diag_set(diag, err, where, 0, "no memory for %" PRIu32 " names", h->n);
    char **old = err == LBM_OK ? h->name : name;
    if (err == LBM_OK)
        h->name = name;
    for (uint32_t p = 0; old != NULL && p < h->n; p++)
        free(old[p]);
    free(old);
    return err;
}
