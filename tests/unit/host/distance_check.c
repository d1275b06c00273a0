/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/host/distance_check.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static enum lbm_err
parse(const char *text, const struct lbm_hosts_reading *how, struct lbm_hosts *h, struct lbm_diag *diag)
{
    /* Not terminated, so that reading beyond its end is found. */
    char *copy = lbm_copy(text, strlen(text), 1);
    assert_non_null(copy);
    enum lbm_err err = lbm_hosts_parse("net", copy, strlen(text), how, h, diag);
    free(copy);
    return err;
}

struct lbm_hosts
judge_read(const char *text, const struct lbm_hosts_reading *how)
{
    struct lbm_hosts h;
    struct lbm_diag diag = {0};
    if (parse(text, how, &h, &diag) != LBM_OK)
        fail_msg("%s:%" PRIu64 ": %s\n%s", diag.where, diag.line, diag.text, text);
    return h;
}

struct lbm_hosts
judge_hosts(const char *text)
{
    return judge_read(text, NULL);
}

/* Refused with this error, at this line, saying this; the result untouched. */
void
judge_refused_with(const char *text, const struct lbm_hosts_reading *how, enum lbm_err expected,
                   uint64_t line, const char *says)
{
    struct lbm_hosts h = {.n = 77};
    struct lbm_diag diag = {0};
    enum lbm_err err = parse(text, how, &h, &diag);
    if (err != expected || diag.line != line || strstr(diag.text, says) == NULL)
        fail_msg("\"%s\": %s, %s:%" PRIu64 ": \"%s\"", text, lbm_err_name(err), diag.where, diag.line,
                 diag.text);
    assert_int_equal(h.n, 77);
}

void
judge_refused(const char *text, enum lbm_err expected, uint64_t line, const char *says)
{
    judge_refused_with(text, NULL, expected, line, says);
}

/* Links connect all hosts and cost at least the distance. */
void
judge_links(const struct lbm_hosts *h, const char *what)
{
    if (h->n > 1 && lbm_hosts_diameter_hops(h) >= h->n)
        fail_msg("%s: links do not connect all", what);
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            if (h->cost[e] < lbm_dist(h, p, h->target[e]))
                fail_msg("%s: link %" PRIu32 "-%" PRIu32 " is cheaper than the way", what, p, h->target[e]);
}

/* The distances of the lower triangle, row by row: d10, d20 d21, ... */
void
judge_distances(const struct lbm_hosts *h, const char *what, const uint32_t *lower)
{
    for (uint32_t p = 0, k = 0; p < h->n; p++) {
        assert_int_equal(lbm_dist(h, p, p), 0);
        for (uint32_t q = 0; q < p; q++, k++)
            if (lbm_dist(h, p, q) != lower[k] || lbm_dist(h, q, p) != lower[k])
                fail_msg("%s: from %" PRIu32 " to %" PRIu32 " it is %" PRIu32 ", not %" PRIu32, what, p, q,
                         lbm_dist(h, p, q), lower[k]);
    }
    judge_links(h, what);
}

/* names: words in the order of the hosts, or NULL: none. */
static void
names_are(const struct lbm_hosts *h, const char *what, const char *names)
{
    if (names == NULL) {
        assert_null(h->name);
        return;
    }
    for (uint32_t p = 0; p < h->n; p++, names += strcspn(names, " "), names += *names == ' ') {
        size_t len = strcspn(names, " ");
        if (h->name == NULL || strlen(h->name[p]) != len || memcmp(h->name[p], names, len) != 0)
            fail_msg("%s: host %" PRIu32 " is called %s, not %.*s", what, p,
                     h->name != NULL ? h->name[p] : "nothing", (int)len, names);
    }
    assert_int_equal(*names, '\0');
}

void
judge_examples(const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct example *x = &examples[i];
        struct lbm_hosts h = judge_read(x->text, &x->how);
        if (h.n != x->n)
            fail_msg("%s: %" PRIu32 " hosts, not %" PRIu32, x->what, h.n, x->n);
        judge_distances(&h, x->what, x->lower);
        names_are(&h, x->what, x->names);
        lbm_hosts_free(&h);
    }
}
