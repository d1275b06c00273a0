/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "host/hostlist.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 9 }; /* of a number in brackets */

struct expansion {
    lbm_hostlist_each *each;
    void *arg;
    uint32_t n; /* names so far */
    const char *problem;
    size_t len; /* of the name so far */
    char name[LBM_NAME_MAX + 1];
};

static enum lbm_err
fail(struct expansion *x, enum lbm_err err, const char *problem)
{
    x->problem = problem;
    return err;
}

/* One end of a range. Out: value, its number of digits.  Returns what follows, or NULL if none is there. */
static const char *
read_end(const char *at, const char *end, uint32_t *value, int *digits)
{
    *value = 0;
    for (*digits = 0; at < end && *at >= '0' && *at <= '9' && *digits < DIGITS_MAX; at++, ++*digits)
        *value = *value * 10 + (uint32_t)(*at - '0');
    return *digits > 0 ? at : NULL;
}

static enum lbm_err expand_name(struct expansion *x, const char *at, const char *end);

/* Each number of one range, and with each what follows the bracket. */
static enum lbm_err
expand_range(struct expansion *x, uint32_t lo, uint32_t hi, int digits, const char *rest, const char *end)
{
    enum lbm_err err = LBM_OK;
    size_t len = x->len, room = sizeof x->name - len;
    for (uint32_t i = lo; err == LBM_OK && i <= hi; i++) {
        int wrote = snprintf(x->name + len, room, "%0*" PRIu32, digits, i);
        if (wrote < 0 || (size_t)wrote >= room)
            return fail(x, LBM_E_LIMIT, "a name is too long");
        x->len = len + (size_t)wrote;
        err = expand_name(x, rest, end);
    }
    x->len = len;
    return err;
}

static enum lbm_err
expand_bracket(struct expansion *x, const char *at, const char *end)
{
    const char *close = memchr(at, ']', (size_t)(end - at));
    if (close == NULL)
        return fail(x, LBM_E_SYNTAX, "a bracket is not closed");
    enum lbm_err err = LBM_OK;
    for (int more = 1; err == LBM_OK && more; at++) {
        uint32_t lo, hi;
        int digits, digits_hi;
        at = read_end(at, close, &lo, &digits);
        hi = lo;
        if (at != NULL && *at == '-')
            at = read_end(at + 1, close, &hi, &digits_hi);
        if (at == NULL || (*at != ',' && at != close) || hi < lo)
            return fail(x, LBM_E_SYNTAX, "brackets hold ranges of numbers: [1-4,7]");
        more = *at == ',';
        err = expand_range(x, lo, hi, digits, close + 1, end);
    }
    return err;
}

/* The rest of one name; x->name holds what comes before. */
static enum lbm_err
expand_name(struct expansion *x, const char *at, const char *end)
{
    size_t before = x->len;
    enum lbm_err err;
    while (at < end && *at != '[' && x->len < LBM_NAME_MAX)
        x->name[x->len++] = *at++;
    x->name[x->len] = '\0';
    if (at < end && *at == '[')
        err = expand_bracket(x, at + 1, end);
    else if (at < end)
        err = fail(x, LBM_E_LIMIT, "a name is too long");
    else if (x->len == 0)
        err = fail(x, LBM_E_SYNTAX, "a name is missing");
    else if (x->n++ == LBM_HOSTLIST_MAX)
        err = fail(x, LBM_E_LIMIT, "the list has too many names");
    else
        err = x->each(x->arg, x->name);
    x->len = before;
    return err;
}

enum lbm_err
lbm_hostlist_expand(const char *list, size_t len, lbm_hostlist_each *each, void *arg, const char **problem)
{
    struct expansion x = {.each = each, .arg = arg};
    const char *end = list + len, *start = list;
    enum lbm_err err = LBM_OK;
    int depth = 0;
    for (const char *at = list; err == LBM_OK && at <= end; at++) {
        if (at == end || (*at == ',' && depth == 0)) {
            err = expand_name(&x, start, at);
            start = at + 1;
        } else {
            depth += (*at == '[') - (*at == ']');
        }
    }
    *problem = x.problem;
    return err;
}
