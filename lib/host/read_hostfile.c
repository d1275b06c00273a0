/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hostfiles of launchers: Open MPI's and PRRTE's (NAME slots=N max_slots=N), MPICH's (NAME:N), or names
 * alone. They tell no network: all hosts are at distance 1. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/scan.h"
#include "host/hostlist.h"
#include "host/internal.h"
#include "host/selection.h"

struct machine {
    char *name;
    uint32_t place; /* in the order of the file, then its number */
    uint32_t lines; /* that name it */
    uint32_t slots; /* 0: no line says */
};

struct hostfile {
    struct lbm_scan scan;
    LBM_VEC(struct machine) machines;
    struct lbm_selection wanted;
    uint32_t slots; /* of the present line, 0: not said */
};

/* ---- lines --------------------------------------------------------------------------------------------- */

/* A number from 1 on that ends at `end`. */
static enum lbm_err
read_count(struct hostfile *f, const char *at, const char *end, uint32_t *count)
{
    uint64_t number = 0;
    const char *digit = at;
    for (; digit < end && *digit >= '0' && *digit <= '9' && number <= LBM_WEIGHT_MAX; digit++)
        number = 10 * number + (uint64_t)(*digit - '0');
    if (digit == at || digit != end || number == 0 || number > LBM_WEIGHT_MAX)
        return lbm_scan_refuse(&f->scan, LBM_E_SYNTAX, "slots are a number from 1 on, not \"%.*s\"",
                               (int)(end - at < LBM_NAME_MAX ? end - at : LBM_NAME_MAX), at);
    *count = (uint32_t)number;
    return LBM_OK;
}

/* What may stand behind the name, and whether it is the number of slots; the others do not matter here. */
static const struct {
    const char *key;
    int is_slots;
} keys[] = {
    {"slots=", 1},     {"cpu=", 1},       {"count=", 1},    {"max_slots=", 0},
    {"max-slots=", 0}, {"slots_max=", 0}, {"username=", 0}, {"user_name=", 0},
    {"user=", 0},      {"port=", 0},      {"binding=", 0},  {"ifname=", 0},
};

static enum lbm_err
take_word(struct hostfile *f, const char *at, const char *end)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t len = strlen(keys[i].key);
        if ((size_t)(end - at) <= len || memcmp(at, keys[i].key, len) != 0)
            continue;
        return keys[i].is_slots ? read_count(f, at + len, end, &f->slots) : LBM_OK;
    }
    return lbm_scan_refuse(
        &f->scan, LBM_E_SYNTAX,
        "\"%.*s\" is not understood; a line of a hostfile is NAME slots=N or NAME:N. (Other "
        "files of hosts: METIS, GraphML, Scotch targets, Slurm's topologies, hwloc's XML)",
        (int)(end - at < LBM_NAME_MAX ? end - at : LBM_NAME_MAX), at);
}

static const char *
word_end(const struct lbm_scan *scan)
{
    const char *at = scan->at;
    while (at < scan->end && *at != '\n' && *at != '#' && !lbm_scan_is_blank(*at))
        at++;
    return at;
}

static enum lbm_err
add_machine(void *arg, const char *name)
{
    struct hostfile *f = arg;
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (name[strspn(name, allowed)] != '\0')
        return lbm_scan_refuse(
            &f->scan, LBM_E_SYNTAX,
            "\"%s\" is no name of a host: letters, digits and . _ - (this is read as a hostfile)", name);
    if (!lbm_selection_has(&f->wanted, name))
        return LBM_OK;
    if (f->machines.n == LBM_HOSTLIST_MAX)
        return lbm_scan_refuse(&f->scan, LBM_E_LIMIT, "more than %d lines", LBM_HOSTLIST_MAX);
    struct machine machine = {lbm_copy(name, strlen(name) + 1, 1), (uint32_t)f->machines.n, 1, f->slots};
    enum lbm_err err = machine.name != NULL ? lbm_vec_push(&f->machines, machine) : LBM_E_NOMEM;
    if (err != LBM_OK)
        free(machine.name);
    return err;
}

/* The name without a user before it, and without the slots of NAME:N. */
static enum lbm_err
read_line(struct hostfile *f)
{
    struct lbm_scan *scan = &f->scan;
    f->slots = 0;
    if (lbm_scan_line_done(scan) || *scan->at == '#')
        return LBM_OK;
    const char *at = scan->at, *end = word_end(scan), *colon = memchr(at, ':', (size_t)(end - at));
    const char *user = memchr(at, '@', (size_t)(end - at)), *problem = NULL;
    enum lbm_err err = LBM_OK;
    at = user != NULL ? user + 1 : at;
    if (colon != NULL && colon > at)
        err = read_count(f, colon + 1, end, &f->slots);
    scan->at = end;
    const char *name_end = colon != NULL && colon > at ? colon : end;
    while (err == LBM_OK && !lbm_scan_line_done(scan) && *scan->at != '#') {
        const char *next = word_end(scan);
        err = take_word(f, scan->at, next);
        scan->at = next;
    }
    if (err == LBM_OK)
        err = lbm_hostlist_expand(at, (size_t)(name_end - at), add_machine, f, &problem);
    return problem != NULL ? lbm_scan_refuse(scan, err, "%s", problem) : err;
}

/* ---- hosts --------------------------------------------------------------------------------------------- */

static int
by_name(const void *a, const void *b)
{
    const struct machine *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static int
by_place(const void *a, const void *b)
{
    const struct machine *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Lines of one name together: slots add up, where a line without any is one slot. A name on one line without
 * slots has as many as its machine has cores, which nobody knows here. */
static enum lbm_err
unite(struct hostfile *f)
{
    size_t kept = 0, said = 0;
    qsort(f->machines.at, f->machines.n, sizeof *f->machines.at, by_name);
    for (size_t i = 0; i < f->machines.n; i++) {
        struct machine *m = &f->machines.at[i], *last = kept > 0 ? &f->machines.at[kept - 1] : NULL;
        if (last == NULL || strcmp(last->name, m->name) != 0) {
            f->machines.at[kept++] = *m;
            continue;
        }
        uint64_t slots = (uint64_t)(last->slots != 0 ? last->slots : 1) + (m->slots != 0 ? m->slots : 1);
        last->slots = slots < LBM_WEIGHT_MAX ? (uint32_t)slots : LBM_WEIGHT_MAX;
        last->lines++;
        free(m->name);
    }
    f->machines.n = kept;
    qsort(f->machines.at, f->machines.n, sizeof *f->machines.at, by_place);
    for (size_t i = 0; i < kept; i++)
        said += f->machines.at[i].slots != 0;
    f->scan.line = 0;
    for (size_t i = 0; said != 0 && i < kept; i++)
        if (f->machines.at[i].slots == 0)
            return lbm_scan_refuse(&f->scan, LBM_E_SYNTAX,
                                   "host %s has no slots, but others have; give all of them slots=N, or none",
                                   f->machines.at[i].name);
    return LBM_OK;
}

static enum lbm_err
make_hosts(struct hostfile *f, struct lbm_hosts *h)
{
    uint32_t n = (uint32_t)f->machines.n, cost = 1;
    if (n == 0)
        return lbm_scan_refuse(&f->scan, LBM_E_RANGE, "no hosts; there must be at least one");
    if (n > LBM_HOSTS_MAX)
        return lbm_scan_refuse(&f->scan, LBM_E_LIMIT,
                               "%" PRIu32 " hosts, at most %d are possible; choose those of a job with "
                               "@nodes=LIST behind the name of the file",
                               n, LBM_HOSTS_MAX);
    enum lbm_err err = lbm_hosts_hierarchy(f->scan.name, &n, &cost, 1, h, f->scan.diag);
    if (err != LBM_OK)
        return err;
    h->name = lbm_alloc(n, sizeof *h->name);
    h->slots = f->machines.at[0].slots != 0 ? lbm_alloc(n, sizeof *h->slots) : NULL;
    if (h->name == NULL || (h->slots == NULL && f->machines.at[0].slots != 0))
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < n; p++) {
        h->name[p] = f->machines.at[p].name;
        f->machines.at[p].name = NULL;
        if (h->slots != NULL)
            h->capacity[p] = h->slots[p] = f->machines.at[p].slots;
    }
    return LBM_OK;
}

enum lbm_err
lbm_hosts_read_hostfile(const char *name, const char *text, size_t len, const struct lbm_hosts_reading *how,
                        struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct hostfile f = {.slots = 0};
    struct lbm_hosts h = {0};
    lbm_scan_begin(&f.scan, name, text, len, diag);
    enum lbm_err err = lbm_selection_make(how->nodes, &f.wanted, diag);
    for (int more = len != 0; err == LBM_OK && more; more = lbm_scan_next_line(&f.scan))
        err = read_line(&f);
    if (err == LBM_OK)
        err = lbm_selection_complete(&f.wanted, name, diag);
    if (err == LBM_OK && f.machines.n != 0)
        err = unite(&f);
    if (err == LBM_OK)
        err = make_hosts(&f, &h);
    for (size_t i = 0; i < f.machines.n; i++)
        free(f.machines.at[i].name);
    lbm_vec_free(&f.machines);
    lbm_selection_free(&f.wanted);
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}
