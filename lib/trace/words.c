/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/words.h"

enum lbm_err
lbm_trace_word(struct lbm_scan *s, const char *what, char *out, size_t size)
{
    size_t len = 0;
    if (lbm_scan_line_done(s))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "the line ends before the %s", what);
    while (s->at + len < s->end && s->at[len] != '\n' && !lbm_scan_is_blank(s->at[len])) {
        if (s->at[len] <= ' ' || s->at[len] >= 0x7f)
            return lbm_scan_refuse(s, LBM_E_SYNTAX, "the %s has a character that is not printable ASCII",
                                   what);
        if (len + 1 == size)
            return lbm_scan_refuse(s, LBM_E_RANGE, "the %s is longer than %zu bytes", what, size - 1);
        out[len] = s->at[len];
        len++;
    }
    out[len] = '\0';
    s->at += len;
    return LBM_OK;
}

enum lbm_err
lbm_trace_pair(struct lbm_scan *s, const struct lbm_field *first, const struct lbm_field *second, uint32_t *a,
               uint32_t *b)
{
    struct lbm_scan part = *s;
    char token[32];
    (void)lbm_scan_line_done(s);
    const char *colon = s->at;
    while (colon < s->end && *colon >= '0' && *colon <= '9')
        colon++;
    if (colon == s->at || colon == s->end || *colon != ':') {
        lbm_scan_token(s, token, sizeof token);
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "\"%s\" is not %s:%s", token, first->what, second->what);
    }
    part.at = s->at;
    part.end = colon;
    enum lbm_err err = lbm_scan_u32(&part, first, a);
    s->at = colon + 1;
    if (err == LBM_OK && s->at < s->end && lbm_scan_is_blank(*s->at))
        err = lbm_scan_refuse(s, LBM_E_SYNTAX, "the %s is missing after \":\"", second->what);
    return err == LBM_OK ? lbm_scan_u32(s, second, b) : err;
}
