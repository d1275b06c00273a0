/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *
lbm_err_name(enum lbm_err err)
{
    static const char *const names[] = {
#define LBM_ERR_NAME(name, number, text) [number] = #name,
        LBM_ERR_LIST(LBM_ERR_NAME)
#undef LBM_ERR_NAME
    };
    return (unsigned)err < LBM_ERR_COUNT ? names[err] : "E_UNKNOWN";
}

const char *
lbm_err_text(enum lbm_err err)
{
    static const char *const texts[] = {
#define LBM_ERR_TEXT(name, number, text) [number] = text,
        LBM_ERR_LIST(LBM_ERR_TEXT)
#undef LBM_ERR_TEXT
    };
    return (unsigned)err < LBM_ERR_COUNT ? texts[err] : "unknown error";
}

enum lbm_err
lbm_diag_set(struct lbm_diag *diag, enum lbm_err code, const char *where, uint64_t line, const char *fmt, ...)
{
    if (diag == NULL)
        return code;
    va_list args;
    va_start(args, fmt);
    diag->code = code;
    diag->line = line;
    snprintf(diag->where, sizeof diag->where, "%s", where != NULL ? where : "");
    vsnprintf(diag->text, sizeof diag->text, fmt, args);
    va_end(args);
    return code;
}

void
lbm_diag_render(const struct lbm_diag *diag, char *out, unsigned out_size)
{
    const char *text = diag->text[0] != '\0' ? diag->text : lbm_err_text(diag->code);
    if (diag->where[0] == '\0')
        snprintf(out, out_size, "%s", text);
    else if (diag->line == 0)
        snprintf(out, out_size, "%s: %s", diag->where, text);
    else
        snprintf(out, out_size, "%s:%" PRIu64 ": %s", diag->where, diag->line, text);
}
