/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph/scan.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "graph/reading.h"

enum { REAL_TEXT_MAX = 64 }; /* longest number worth reading: 17 digits and an exponent need 24 */

const struct lbm_field lbm_field_work = {
    "vertex weight", 1, LBM_WEIGHT_MAX,
    "scale and round real numbers, give 1 to a vertex that costs nothing"};
const struct lbm_field lbm_field_weight = {"edge weight", 1, LBM_WEIGHT_MAX,
                                           "scale and round real numbers, leave out an edge without traffic"};

void
lbm_scan_begin(struct lbm_scan *s, const char *name, const char *text, size_t len, struct lbm_diag *diag)
{
    *s = (struct lbm_scan){
        .at = text, .end = text + len, .name = name, .line = 1, .diag = diag, .work = &lbm_field_work};
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        s->at += 3;
}

enum lbm_err
lbm_scan_refuse(const struct lbm_scan *s, enum lbm_err err, const char *fmt, ...)
{
    char text[LBM_DIAG_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return lbm_diag_set(s->diag, err, s->name, s->line, "%s", text);
}

int
lbm_scan_next_line(struct lbm_scan *s)
{
    const char *newline = s->at < s->end ? memchr(s->at, '\n', (size_t)(s->end - s->at)) : NULL;
    if (newline == NULL) {
        s->at = s->end;
        return 0;
    }
    s->at = newline + 1;
    s->line++;
    return s->at < s->end;
}

int
lbm_scan_text_done(struct lbm_scan *s)
{
    while (lbm_scan_line_done(s))
        if (!lbm_scan_next_line(s))
            return 1;
    return 0;
}

int
lbm_scan_skip_lines(struct lbm_scan *s, const char *marks, int empty)
{
    while (s->at < s->end) {
        const char *start = s->at;
        int done = lbm_scan_line_done(s);
        if (done ? !empty : *s->at == '\0' || strchr(marks, *s->at) == NULL) {
            s->at = start;
            return 0;
        }
        lbm_scan_next_line(s);
    }
    return 1;
}

enum lbm_err
lbm_scan_expect_line_end(struct lbm_scan *s, const char *after)
{
    if (lbm_scan_line_done(s))
        return LBM_OK;
    char token[32];
    lbm_scan_token(s, token, sizeof token);
    return lbm_scan_refuse(s, LBM_E_SYNTAX, "\"%s\" follows %s: the line should end there", token, after);
}

enum lbm_err
lbm_scan_expect_text_end(struct lbm_scan *s, const char *marks, const char *after)
{
    if (lbm_scan_skip_lines(s, marks, 1))
        return LBM_OK;
    char token[32];
    lbm_scan_line_done(s);
    lbm_scan_token(s, token, sizeof token);
    return lbm_scan_refuse(s, LBM_E_SYNTAX, "\"%s\" follows %s: the file should end there", token, after);
}

void
lbm_scan_token(const struct lbm_scan *s, char *out, size_t out_size)
{
    size_t len = 0;
    const char *p = s->at;
    for (; p < s->end && *p != '\n' && !lbm_scan_is_blank(*p) && len + 4 < out_size; p++)
        out[len++] = *p >= 0x20 && *p < 0x7f ? *p : '?';
    int cut = p < s->end && *p != '\n' && !lbm_scan_is_blank(*p);
    snprintf(out + len, out_size - len, "%s", cut ? "..." : "");
}

/* Nonzero if the whole text is a decimal number. A program may have set a locale: then strtod wants its
 * decimal point instead of the dot. value: may be NULL. */
static int
real_value(const char *text, double *value)
{
    char local[REAL_TEXT_MAX + 8], *rest;
    const char *dot = strchr(text, '.'), *point = localeconv()->decimal_point;
    if (*text == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0')
        return 0;
    if (dot != NULL && strcmp(point, ".") != 0) {
        if (snprintf(local, sizeof local, "%.*s%s%s", (int)(dot - text), text, point, dot + 1) >=
            (int)sizeof local)
            return 0;
        text = local;
    }
    double number = strtod(text, &rest);
    if (value != NULL)
        *value = number;
    return *rest == '\0';
}

enum lbm_err
lbm_scan_bad_field(const struct lbm_scan *s, const struct lbm_field *field)
{
    char token[32], range[64];
    lbm_scan_token(s, token, sizeof token);
    if (token[0] == '\0')
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the line ends before the %s", field->what);
    if (field->min == field->max)
        snprintf(range, sizeof range, "%" PRIu64, field->min);
    else
        snprintf(range, sizeof range, "an integer from %" PRIu64 " to %" PRIu64, field->min, field->max);
    const char *number = token + (token[0] == '-');
    int numeric = number[strspn(number, "0123456789.")] == '\0' || real_value(number, NULL);
    const char *hint = field->hint;
    if (s->reading != NULL && s->reading->hint != NULL && numeric &&
        (field == &lbm_field_work || field == &lbm_field_weight))
        hint = s->reading->hint;
    return lbm_scan_refuse(s, numeric ? LBM_E_RANGE : LBM_E_SYNTAX, "%s must be %s, not \"%s\"%s%s",
                           field->what, range, token, hint[0] != '\0' ? ": " : "", hint);
}

enum lbm_err
lbm_scan_real(struct lbm_scan *s, const char *what, double *value)
{
    char text[REAL_TEXT_MAX], token[32];
    if (lbm_scan_line_done(s))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the line ends before the %s", what);
    size_t len = 0;
    while (s->at + len < s->end && len < sizeof text && strchr("0123456789+-.eE", s->at[len]) != NULL &&
           s->at[len] != '\0')
        len++;
    int ended = s->at + len == s->end || s->at[len] == '\n' || lbm_scan_is_blank(s->at[len]);
    lbm_scan_token(s, token, sizeof token);
    if (!ended || len == 0 || len == sizeof text)
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "%s must be a finite decimal number, not \"%s\"", what,
                               token);
    memcpy(text, s->at, len);
    text[len] = '\0';
    double number;
    if (!real_value(text, &number))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "%s must be a finite decimal number, not \"%s\"", what,
                               token);
    if (!isfinite(number))
        return lbm_scan_refuse(s, LBM_E_RANGE, "%s \"%s\" is too large", what, token);
    s->at += len;
    *value = number;
    return LBM_OK;
}

enum lbm_err
lbm_scan_odd_weight(struct lbm_scan *s, const struct lbm_field *field, double *value)
{
    const struct lbm_reading *r = s->reading;
    struct lbm_scan before = *s, probe = *s;
    double number = 0;
    probe.diag = NULL;
    enum lbm_err err = lbm_scan_real(&probe, field->what, &number);
    if (err == LBM_E_SYNTAX)
        return lbm_scan_bad_field(&before, field);
    const struct lbm_scale none = {0};
    const struct lbm_scale *scale = r == NULL                    ? &none
                                    : field == &lbm_field_weight ? &r->edge_scale
                                                                 : &r->work_scale;
    int read = field != &lbm_field_weight || r == NULL || !r->unweighted;
    if (read && err == LBM_OK && scale->how != LBM_SCALE_NONE && number < 0)
        return lbm_scan_refuse(s, LBM_E_RANGE, "%s must not be negative", field->what);
    if (read && scale->how == LBM_SCALE_NONE &&
        (err != LBM_OK || floor(number) != number || number < (double)field->min ||
         number > (double)field->max))
        return lbm_scan_bad_field(&before, field);
    if (err != LBM_OK)
        return lbm_scan_real(s, field->what, &number); /* tells that it is not finite */
    s->at = probe.at;
    *value = read ? number : 1;
    return LBM_OK;
}

int
lbm_scan_word(struct lbm_scan *s, const char *word)
{
    size_t len = strlen(word);
    if (lbm_scan_line_done(s) || (size_t)(s->end - s->at) < len || strncasecmp(s->at, word, len) != 0)
        return 0;
    const char *after = s->at + len;
    if (after < s->end && *after != '\n' && !lbm_scan_is_blank(*after))
        return 0;
    s->at = after;
    return 1;
}
