/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One scanner for all text formats: numbers at memory speed, and for every refusal the line it is on.
 *
 * Owns: the position in a text that need not be terminated.  Never: looks beyond its end, allocates. */
#ifndef LBM_GRAPH_SCAN_H
#define LBM_GRAPH_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lbm_field;
struct lbm_reading;

struct lbm_scan {
    const char *at; /* next byte */
    const char *end;
    const char *name; /* of the text, for messages */
    uint64_t line;    /* of `at`, from 1 */
    struct lbm_diag *diag;
    const struct lbm_field *work; /* what a vertex weight may be: a host graph's may be 0 */
    struct lbm_reading *reading;  /* how the text is read (reading.h); NULL: no options, no remarks */
};

/* A number that a format asks for: what it is called, its bounds, and what to do if it is outside them. */
struct lbm_field {
    const char *what;
    uint64_t min;
    uint64_t max; /* < 10^18 */
    const char *hint;
};

/* Weights mean the same in all formats. */
extern const struct lbm_field lbm_field_work;
extern const struct lbm_field lbm_field_weight;

/* Begin at the start of a text; a byte order mark is skipped. Vertex weights are those of guests until the
 * caller sets s->work. */
void lbm_scan_begin(struct lbm_scan *s, const char *name, const char *text, size_t len,
                    struct lbm_diag *diag);

/* Refuse the input at the present line. Returns err. */
enum lbm_err lbm_scan_refuse(const struct lbm_scan *s, enum lbm_err err, const char *fmt, ...)
    LBM_PRINTF(3, 4);

static inline int
lbm_scan_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Skip blanks; nonzero if nothing else is left on this line. */
static inline int
lbm_scan_line_done(struct lbm_scan *s)
{
    while (s->at < s->end && lbm_scan_is_blank(*s->at))
        s->at++;
    return s->at == s->end || *s->at == '\n';
}

/* Skip blanks and line ends; nonzero if the text is at its end. */
int lbm_scan_text_done(struct lbm_scan *s);

/* Go to the next line; 0 if there is none. */
int lbm_scan_next_line(struct lbm_scan *s);

/* Skip whole lines that begin with one of `marks`, and empty ones if `empty`; nonzero at the end of text. */
int lbm_scan_skip_lines(struct lbm_scan *s, const char *marks, int empty);

/* The rest of this line must be blank. */
enum lbm_err lbm_scan_expect_line_end(struct lbm_scan *s, const char *after) LBM_MUST_CHECK;

/* The rest of the text must be blank or comment lines. */
enum lbm_err lbm_scan_expect_text_end(struct lbm_scan *s, const char *marks,
                                      const char *after) LBM_MUST_CHECK;

/* Copy the token at the present position for a message: printable, shortened to fit out. */
void lbm_scan_token(const struct lbm_scan *s, char *out, size_t out_size);

enum lbm_err lbm_scan_bad_field(const struct lbm_scan *s, const struct lbm_field *field);

/* Read an unsigned decimal integer within the field's bounds, on this line.
 * Errors: LBM_E_SYNTAX (none there), LBM_E_RANGE; *value untouched. */
static inline enum lbm_err
lbm_scan_u64(struct lbm_scan *s, const struct lbm_field *field, uint64_t *value)
{
    while (s->at < s->end && lbm_scan_is_blank(*s->at))
        s->at++;
    const char *p = s->at, *stop = s->end - p > 18 ? p + 18 : s->end; /* 18 digits fit 64 bits */
    uint64_t number = 0;
    for (; p < stop && (unsigned char)(*p - '0') <= 9; p++)
        number = number * 10 + (unsigned char)(*p - '0');
    if (p == s->at || number < field->min || number > field->max ||
        (p < s->end && *p != '\n' && !lbm_scan_is_blank(*p)))
        return lbm_scan_bad_field(s, field);
    s->at = p;
    *value = number;
    return LBM_OK;
}

static inline enum lbm_err
lbm_scan_u32(struct lbm_scan *s, const struct lbm_field *field, uint32_t *value)
{
    uint64_t number = 0;
    enum lbm_err err = lbm_scan_u64(s, field, &number);
    if (err == LBM_OK)
        *value = (uint32_t)number;
    return err;
}

/* A weight that is no plain integer within the field's bounds: what the reading makes of it. */
enum lbm_err lbm_scan_odd_weight(struct lbm_scan *s, const struct lbm_field *field,
                                 double *value) LBM_MUST_CHECK;

/* Read a weight: an integer within the field's bounds, also written as a real ("3.0"); with a scale in the
 * reading any finite real that is not negative. An edge weight may be any finite real if the reading is
 * unweighted; what it is means nothing then.
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE; *value untouched. */
static inline enum lbm_err
lbm_scan_weight(struct lbm_scan *s, const struct lbm_field *field, double *value)
{
    while (s->at < s->end && lbm_scan_is_blank(*s->at))
        s->at++;
    const char *p = s->at, *stop = s->end - p > 18 ? p + 18 : s->end;
    uint64_t number = 0;
    for (; p < stop && (unsigned char)(*p - '0') <= 9; p++)
        number = number * 10 + (unsigned char)(*p - '0');
    if (p == s->at || number < field->min || number > field->max ||
        (p < s->end && *p != '\n' && !lbm_scan_is_blank(*p)))
        return lbm_scan_odd_weight(s, field, value);
    s->at = p;
    *value = (double)number;
    return LBM_OK;
}

/* Read a finite decimal real, whatever the locale. Errors: LBM_E_SYNTAX (none there), LBM_E_RANGE (NaN,
 * infinite). */
enum lbm_err lbm_scan_real(struct lbm_scan *s, const char *what, double *value) LBM_MUST_CHECK;

/* Nonzero if the word is next on this line, in any case; then it is skipped. */
int lbm_scan_word(struct lbm_scan *s, const char *word);

#endif
