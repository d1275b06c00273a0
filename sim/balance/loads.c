/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/balance/loads.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "file/file.h"

static const double LOAD_MAX = 1e15; /* whole units stay exact */

static enum lbm_err
load_uniform(const char *text, uint32_t n, int integer, uint64_t seed, double *load, struct lbm_diag *diag)
{
    char *end;
    double mean = strtod(text, &end);
    struct lbm_rng rng;
    if (end == text || *end != '\0' || !(mean >= 0.0) || mean > (integer ? INT32_MAX : LOAD_MAX))
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--loads", 0, "%.40s is not a mean load", text);
    lbm_rng_stream(&rng, seed, 0);
    for (uint32_t p = 0; p < n; p++)
        if (integer)
            load[p] = mean < 0.5 ? 0.0 : lbm_rng_below(&rng, (uint32_t)(2.0 * mean));
        else
            load[p] = 2.0 * mean * lbm_rng_unit(&rng);
    return LBM_OK;
}

static enum lbm_err
load_point(const char *text, uint32_t n, int integer, uint64_t seed, double *load, struct lbm_diag *diag)
{
    (void)integer;
    (void)seed;
    char *end;
    double all = strtod(text, &end);
    unsigned long host = 0;
    if (end != text && *end == ',') {
        const char *digits = end + 1;
        host = strtoul(digits, &end, 10);
        end = end == digits ? (char *)(uintptr_t)text : end;
    }
    if (end == text || *end != '\0' || !(all >= 0.0) || all > LOAD_MAX)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--loads", 0, "%.40s is not LOAD or LOAD,HOST", text);
    if (host >= n)
        return lbm_diag_set(diag, LBM_E_RANGE, "--loads", 0, "there is no host %lu, there are %" PRIu32, host,
                            n);
    for (uint32_t p = 0; p < n; p++)
        load[p] = p == host ? all : 0.0;
    return LBM_OK;
}

/* Numbers with any of the marks between them. */
static enum lbm_err
read_numbers(const char *where, const char *text, const char *marks, uint32_t n, double *load,
             struct lbm_diag *diag)
{
    uint32_t k = 0;
    for (text += strspn(text, marks); *text != '\0'; text += strspn(text, marks)) {
        char *end;
        double value = strtod(text, &end);
        if (end == text || (*end != '\0' && strchr(marks, *end) == NULL) || !(value >= 0.0) ||
            value > LOAD_MAX)
            return lbm_diag_set(diag, LBM_E_SYNTAX, where, 0, "load %" PRIu32 ", %.20s, is not a number >= 0",
                                k + 1, text);
        if (k == n)
            return lbm_diag_set(diag, LBM_E_RANGE, where, 0, "more loads than the %" PRIu32 " hosts", n);
        load[k++] = value;
        text = end;
    }
    if (k < n)
        return lbm_diag_set(diag, LBM_E_RANGE, where, 0, "%" PRIu32 " loads for %" PRIu32 " hosts", k, n);
    return LBM_OK;
}

static enum lbm_err
load_list(const char *text, uint32_t n, int integer, uint64_t seed, double *load, struct lbm_diag *diag)
{
    (void)integer;
    (void)seed;
    return read_numbers("--loads", text, ", ", n, load, diag);
}

static enum lbm_err
load_file(const char *path, uint32_t n, int integer, uint64_t seed, double *load, struct lbm_diag *diag)
{
    (void)integer;
    (void)seed;
    char *text;
    size_t len;
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    err = read_numbers(path, text, " \t\r\n", n, load, diag);
    free(text);
    return err;
}

static const struct {
    const char *prefix;
    enum lbm_err (*make)(const char *text, uint32_t n, int integer, uint64_t seed, double *load,
                         struct lbm_diag *diag);
} kinds[] = {
    {"uniform:", load_uniform},
    {"point:", load_point},
    {"list:", load_list},
    {"file:", load_file},
};

enum lbm_err
loads_make(const char *spec, uint32_t n, int integer, uint64_t seed, double *load, struct lbm_diag *diag)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(spec, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            return kinds[i].make(spec + strlen(kinds[i].prefix), n, integer, seed, load, diag);
    return lbm_diag_set(diag, LBM_E_SYNTAX, "--loads", 0,
                        "%.40s is none of uniform:MEAN, point:LOAD[,HOST], list:A,B,.., file:PATH", spec);
}
