/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/numbers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum lbm_err
sim_read_real(const char *name, const char *text, double least, double most, double *out,
              struct lbm_diag *diag)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !isfinite(value))
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "%.60s is not a number", text);
    if (value < least || value > most)
        return lbm_diag_set(diag, LBM_E_RANGE, name, 0, "%.60s is not in %g .. %g", text, least, most);
    *out = value;
    return LBM_OK;
}
