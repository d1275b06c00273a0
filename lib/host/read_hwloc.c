/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The XML of hwloc (lstopo --of xml), versions 1 and 2: parts of a machine as hosts of a hierarchy.
 *
 * Only objects that hold processing units count; memory, devices and what is not known are left out. The
 * distance of two hosts is the cost of the smallest object that holds both (types below). */
#include <expat.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/scan.h"
#include "host/internal.h"

enum { CHUNK_BYTES = 1 << 20, OBJECTS_MAX = 1 << 20, DEPTH_MAX = 64 };

enum { OUTERMOST_COST = 100 };

/* Objects that hold processing units. Costs are those of two hosts that share nothing smaller; an object
 * inside another never costs more than that. */
static const struct type {
    const char *name;
    uint32_t cost;
    const char *leaf; /* how @leaf calls it, or NULL: no host */
} types[] = {
    {"PU", 1, "pu"},          {"Core", 1, "core"},
    {"L1Cache", 2, NULL},     {"L1iCache", 2, NULL},
    {"L2Cache", 2, NULL},     {"L2iCache", 2, NULL},
    {"L3Cache", 3, "l3"},     {"L3iCache", 3, NULL},
    {"L4Cache", 3, NULL},     {"L5Cache", 3, NULL},
    {"Cache", 3, NULL}, /* version 1 */
    {"Die", 5, "die"},        {"Group", 5, NULL},
    {"NUMANode", 5, NULL},    {"Package", 8, "package"},
    {"Socket", 8, "package"}, /* version 1 */
    {"Machine", 20, NULL},    {"System", OUTERMOST_COST, NULL},
};

static const struct type *
find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

struct object {
    const struct type *type;
    uint32_t parent; /* or LBM_NONE */
    uint32_t cost;
    uint32_t leaves; /* hosts in it, itself if it is one */
    uint32_t cores, pus;
    int is_host;
};

struct reader {
    XML_Parser xml;
    struct lbm_scan scan;
    const char *leaf;
    LBM_VEC(struct object) objects; /* parents first, in the order of the file */
    LBM_VEC(char *) machines;       /* names of machines, "" if not told */
    uint32_t stack[DEPTH_MAX];      /* open objects */
    unsigned depth, skipped;        /* depth inside an element that does not count */
    int has_topology;
    enum lbm_err err;
};

static const char *
attribute(const char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return "";
}

/* ---- the document -------------------------------------------------------------------------------------- */

static enum lbm_err
open_object(struct reader *r, const char **attributes, int *counts)
{
    const struct type *type = find_type(attribute(attributes, "type"));
    *counts = type != NULL;
    if (type == NULL)
        return LBM_OK;
    if (r->depth == DEPTH_MAX || r->objects.n == OBJECTS_MAX)
        return lbm_scan_refuse(&r->scan, LBM_E_LIMIT, "more than %d objects, or %d within each other",
                               OBJECTS_MAX, DEPTH_MAX);
    struct object object = {.type = type, .cost = type->cost, .parent = LBM_NONE};
    if (r->depth > 0) {
        object.parent = r->stack[r->depth - 1];
        uint32_t around = r->objects.at[object.parent].cost;
        object.cost = object.cost < around ? object.cost : around;
    }
    if (strcmp(type->name, "Machine") == 0) {
        char *name = lbm_copy("", 1, 1);
        if (name == NULL || lbm_vec_push(&r->machines, name) != LBM_OK) {
            free(name);
            return LBM_E_NOMEM;
        }
    }
    r->stack[r->depth++] = (uint32_t)r->objects.n;
    return lbm_vec_push(&r->objects, object);
}

/* <info name="HostName" value="..."/> of a machine. */
static enum lbm_err
take_info(struct reader *r, const char **attributes)
{
    const char *value = attribute(attributes, "value");
    if (r->depth == 0 || strcmp(attribute(attributes, "name"), "HostName") != 0 || r->machines.n == 0 ||
        strcmp(r->objects.at[r->stack[r->depth - 1]].type->name, "Machine") != 0)
        return LBM_OK;
    if (!lbm_is_host_name(value))
        return lbm_scan_refuse(&r->scan, LBM_E_SYNTAX, "HostName is no name of a host");
    char *copy = lbm_copy(value, strlen(value) + 1, 1);
    if (copy == NULL)
        return LBM_E_NOMEM;
    free(r->machines.at[r->machines.n - 1]);
    r->machines.at[r->machines.n - 1] = copy;
    return LBM_OK;
}

static void
stop_on_error(struct reader *r, enum lbm_err err)
{
    r->err = err;
    if (err != LBM_OK)
        XML_StopParser(r->xml, XML_FALSE);
}

static void
on_start(void *arg, const char *name, const char **attributes)
{
    struct reader *r = arg;
    int counts = 0;
    if (r->err != LBM_OK || r->skipped > 0) {
        r->skipped++;
        return;
    }
    r->scan.line = XML_GetCurrentLineNumber(r->xml);
    if (!r->has_topology) {
        r->has_topology = strcmp(name, "topology") == 0;
        if (!r->has_topology)
            stop_on_error(r, lbm_scan_refuse(&r->scan, LBM_E_SYNTAX,
                                             "not hwloc's XML: the outermost element must be topology"));
        return;
    }
    if (strcmp(name, "object") == 0)
        stop_on_error(r, open_object(r, attributes, &counts));
    else if (strcmp(name, "info") == 0)
        stop_on_error(r, take_info(r, attributes));
    r->skipped = !counts;
}

static void
on_end(void *arg, const char *name)
{
    struct reader *r = arg;
    (void)name;
    if (r->err != LBM_OK || r->skipped > 0)
        r->skipped -= r->skipped > 0;
    else if (r->depth > 0)
        r->depth--;
}

/* Entities can make a small file large; hwloc writes none. */
static void
on_entity(void *arg, const char *name, int parameter, const char *text, int len, const char *base,
          const char *system, const char *public, const char *notation)
{
    (void)name, (void)parameter, (void)text, (void)len, (void)base, (void)system, (void)public,
        (void)notation;
    struct reader *r = arg;
    r->scan.line = XML_GetCurrentLineNumber(r->xml);
    stop_on_error(r, lbm_scan_refuse(&r->scan, LBM_E_UNSUPPORTED, "entity declarations are not supported"));
}

static enum lbm_err
parse_document(struct reader *r)
{
    XML_SetUserData(r->xml, r);
    XML_SetElementHandler(r->xml, on_start, on_end);
    XML_SetEntityDeclHandler(r->xml, on_entity);
    const char *at = r->scan.at;
    for (int last = 0; !last;) {
        size_t left = (size_t)(r->scan.end - at), len = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        last = len == left;
        enum XML_Status status = XML_Parse(r->xml, at, (int)len, last);
        if (r->err != LBM_OK)
            return r->err;
        if (status != XML_STATUS_OK) {
            enum XML_Error error = XML_GetErrorCode(r->xml);
            r->scan.line = XML_GetCurrentLineNumber(r->xml);
            return lbm_scan_refuse(&r->scan, error == XML_ERROR_NO_MEMORY ? LBM_E_NOMEM : LBM_E_SYNTAX,
                                   "not well-formed XML: %s", XML_ErrorString(error));
        }
        at += len;
    }
    return LBM_OK;
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* Which objects are hosts: those of the leaf's type; cores where nothing is asked for, or processing units
 * if there are none. Counts what every object holds. */
static enum lbm_err
count(struct reader *r)
{
    struct object *at = r->objects.at;
    int has_cores = 0, known = r->leaf == NULL;
    for (size_t i = 0; i < r->objects.n; i++)
        has_cores |= strcmp(at[i].type->name, "Core") == 0;
    for (size_t i = 0; r->leaf != NULL && i < sizeof types / sizeof *types; i++)
        known |= types[i].leaf != NULL && strcmp(types[i].leaf, r->leaf) == 0;
    if (!known)
        return lbm_diag_set(r->scan.diag, LBM_E_SYNTAX, "@leaf", 0,
                            "\"%s\" is none of pu, core, l3, die and package", r->leaf);
    const char *leaf = r->leaf != NULL ? r->leaf : has_cores ? "core" : "pu";
    for (size_t i = r->objects.n; i-- > 0;) {
        at[i].is_host = at[i].leaves == 0 && at[i].type->leaf != NULL && strcmp(at[i].type->leaf, leaf) == 0;
        at[i].leaves += (uint32_t)at[i].is_host;
        at[i].cores += strcmp(at[i].type->name, "Core") == 0;
        at[i].pus += strcmp(at[i].type->name, "PU") == 0;
        if (at[i].parent == LBM_NONE && i != 0)
            return lbm_scan_refuse(&r->scan, LBM_E_SYNTAX, "there are two outermost objects; keep one");
        if (i == 0)
            continue;
        struct object *parent = &at[at[i].parent];
        parent->leaves += at[i].leaves;
        parent->cores += at[i].cores;
        parent->pus += at[i].pus;
    }
    r->scan.line = 0;
    if (r->objects.n == 0 || at[0].leaves == 0)
        return lbm_scan_refuse(&r->scan, LBM_E_RANGE, "no object of the type \"%s\" is in this machine",
                               leaf);
    if (at[0].leaves > LBM_HOSTS_MAX)
        return lbm_scan_refuse(&r->scan, LBM_E_LIMIT, "%" PRIu32 " hosts; at most %d are possible",
                               at[0].leaves, LBM_HOSTS_MAX);
    return LBM_OK;
}

/* Objects with hosts as groups, level by level; a host is a group of one.
 * Out: groups, host_depth [hosts], object [hosts] of each; *n_groups. */
static void
make_groups(struct reader *r, struct lbm_group *groups, uint32_t *n_groups, uint32_t *host_depth,
            uint32_t *object, uint32_t *queue)
{
    struct object *at = r->objects.at;
    uint32_t n = 1;
    queue[0] = 0;
    for (uint32_t next = 0; next < n; next++) {
        uint32_t i = queue[next], first = groups[next].first_host;
        groups[next].n_hosts = at[i].leaves;
        groups[next].depth = OUTERMOST_COST - at[i].cost;
        groups[next].first_child = n;
        if (at[i].is_host) {
            object[first] = i;
            host_depth[first] = OUTERMOST_COST;
            continue;
        }
        for (uint32_t k = i + 1; k < r->objects.n && at[k].parent >= i; k++) {
            if (at[k].parent != i || at[k].leaves == 0)
                continue;
            groups[next].n_children++;
            groups[n].first_host = first;
            first += at[k].leaves;
            queue[n++] = k;
        }
    }
    *n_groups = n;
}

/* ---- hosts --------------------------------------------------------------------------------------------- */

/* What was passed so far in the present machine. */
struct passed {
    uint32_t machine; /* LBM_NONE: none yet */
    uint32_t cores, pus, hosts;
};

/* core3, or node1.core3 if there are several machines; its cores, and the number of the first. */
static enum lbm_err
describe_host(struct reader *r, const struct object *o, const struct passed *passed, uint32_t p,
              struct lbm_hosts *h)
{
    const char *machine = passed->machine != LBM_NONE ? r->machines.at[passed->machine] : "";
    int several = r->machines.n > 1 && *machine != '\0';
    char name[2 * LBM_NAME_MAX];
    snprintf(name, sizeof name, "%s%s%s%" PRIu32, several ? machine : "", several ? "." : "", o->type->leaf,
             several ? passed->hosts : p);
    if (!lbm_is_host_name(name))
        return lbm_scan_refuse(&r->scan, LBM_E_SYNTAX, "the name \"%s\" is longer than %d characters", name,
                               LBM_NAME_MAX);
    h->name[p] = lbm_copy(name, strlen(name) + 1, 1);
    h->machine[p] = lbm_copy(machine, strlen(machine) + 1, 1);
    h->slots[p] = o->cores != 0 ? o->cores : o->pus != 0 ? o->pus : 1;
    h->core[p] = o->cores != 0 || o->pus == 0 ? passed->cores : passed->pus;
    h->capacity[p] = h->slots[p];
    return h->name[p] != NULL && h->machine[p] != NULL ? LBM_OK : LBM_E_NOMEM;
}

/* In: object [hosts] of each, in the order of the file. */
static enum lbm_err
describe(struct reader *r, const uint32_t *object, struct lbm_hosts *h)
{
    struct passed passed = {.machine = LBM_NONE};
    h->name = lbm_alloc(h->n, sizeof *h->name);
    h->machine = lbm_alloc(h->n, sizeof *h->machine);
    h->slots = lbm_alloc(h->n, sizeof *h->slots);
    h->core = lbm_alloc(h->n, sizeof *h->core);
    int complete = h->name != NULL && h->machine != NULL && h->slots != NULL && h->core != NULL;
    enum lbm_err err = complete ? LBM_OK : LBM_E_NOMEM;
    for (uint32_t i = 0, p = 0; err == LBM_OK && p < h->n; i++) {
        const struct object *o = &r->objects.at[i];
        if (strcmp(o->type->name, "Machine") == 0)
            passed = (struct passed){.machine = passed.machine == LBM_NONE ? 0 : passed.machine + 1};
        if (object[p] == i) {
            err = describe_host(r, o, &passed, p++, h);
            passed.hosts++;
        }
        passed.cores += strcmp(o->type->name, "Core") == 0;
        passed.pus += strcmp(o->type->name, "PU") == 0;
    }
    return err;
}

static enum lbm_err
make_hosts(struct reader *r, struct lbm_hosts *h)
{
    uint32_t n = r->objects.at[0].leaves, n_groups = 0;
    size_t n_objects = r->objects.n;
    struct lbm_group *groups = lbm_alloc(n_objects, sizeof *groups);
    uint32_t *host_depth = lbm_alloc(n, sizeof *host_depth), *object = lbm_alloc(n, sizeof *object);
    uint32_t *queue = lbm_alloc(n_objects, sizeof *queue);
    enum lbm_err err = groups && host_depth && object && queue ? LBM_OK : LBM_E_NOMEM;
    if (err == LBM_OK) {
        make_groups(r, groups, &n_groups, host_depth, object, queue);
        err = lbm_hosts_from_groups(r->scan.name, groups, n_groups, host_depth, h, r->scan.diag);
    }
    if (err == LBM_OK)
        err = describe(r, object, h);
    free(groups);
    free(host_depth);
    free(object);
    free(queue);
    return err;
}

enum lbm_err
lbm_hosts_read_hwloc(const char *name, const char *text, size_t len, const struct lbm_hosts_reading *how,
                     struct lbm_hosts *out, struct lbm_diag *diag)
{
    struct reader r = {.leaf = how->leaf, .xml = XML_ParserCreate(NULL)};
    struct lbm_hosts h = {0};
    lbm_scan_begin(&r.scan, name, text, len, diag);
    enum lbm_err err = r.xml != NULL ? parse_document(&r) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = count(&r);
    if (err == LBM_OK)
        err = make_hosts(&r, &h);
    XML_ParserFree(r.xml);
    for (size_t i = 0; i < r.machines.n; i++)
        free(r.machines.at[i]);
    lbm_vec_free(&r.machines);
    lbm_vec_free(&r.objects);
    if (err == LBM_OK)
        *out = h;
    else
        lbm_hosts_free(&h);
    return err;
}
