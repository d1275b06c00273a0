/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/pins.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "file/file.h"

struct pins {
    const char *path;
    uint64_t line;
    uint32_t n;
    const struct lbm_hosts *h;
    const uint32_t *ids; /* [h->n], or NULL: 0, 1, ... */
    uint32_t *pin;       /* [n] being made */
    uint64_t *given;     /* [n] line that pinned it, 0: none */
    struct lbm_diag *diag;
};

/* A decimal number < bound. Errors: LBM_E_SYNTAX not a number, LBM_E_RANGE. */
static enum lbm_err
parse_id(const char *word, uint32_t bound, uint32_t *id)
{
    if (word[strspn(word, "0123456789")] != '\0')
        return LBM_E_SYNTAX;
    uint64_t value = strlen(word) <= 10 ? strtoull(word, NULL, 10) : UINT64_MAX;
    if (value >= bound)
        return LBM_E_RANGE;
    *id = (uint32_t)value;
    return LBM_OK;
}

static uint32_t
id_of(const struct pins *pins, uint32_t p)
{
    return pins->ids != NULL ? pins->ids[p] : p;
}

/* Out: *host, its id. Errors: LBM_E_SYNTAX, LBM_E_RANGE: there is none. */
static enum lbm_err
parse_host(const struct pins *pins, const char *word, uint32_t *host)
{
    for (uint32_t p = 0; pins->h->name != NULL && p < pins->h->n; p++)
        if (strcmp(pins->h->name[p], word) == 0) {
            *host = id_of(pins, p);
            return LBM_OK;
        }
    enum lbm_err err = parse_id(word, LBM_HOSTS_MAX, host);
    for (uint32_t p = 0; err == LBM_OK && p < pins->h->n; p++)
        if (id_of(pins, p) == *host)
            return LBM_OK;
    return err == LBM_OK ? LBM_E_RANGE : err;
}

static enum lbm_err
refuse(const struct pins *pins, enum lbm_err err, const char *what, const char *word, uint32_t last)
{
    return lbm_diag_set(pins->diag, err, pins->path, pins->line, "'%.80s' is not a %s; ids are 0 to %u", word,
                        what, last);
}

static enum lbm_err
refuse_host(const struct pins *pins, enum lbm_err err, const char *word)
{
    if (pins->ids == NULL)
        return refuse(pins, err, "host", word, pins->h->n - 1);
    return lbm_diag_set(pins->diag, err, pins->path, pins->line,
                        "'%.80s' is not a host that takes part; lbctl hosts lists them", word);
}

/* One line, terminated; it is cut into words. */
static enum lbm_err
parse_line(struct pins *pins, char *line)
{
    static const char space[] = " \t\r,";
    char *rest;
    line[strcspn(line, "#")] = '\0';
    char *vertex = strtok_r(line, space, &rest);
    if (vertex == NULL)
        return LBM_OK;
    char *host = strtok_r(NULL, space, &rest);
    if (host == NULL || strtok_r(NULL, space, &rest) != NULL)
        return lbm_diag_set(pins->diag, LBM_E_SYNTAX, pins->path, pins->line,
                            "a line has two words: vertex host");
    uint32_t v, p;
    enum lbm_err err = parse_id(vertex, pins->n, &v);
    if (err != LBM_OK)
        return refuse(pins, err, "vertex of the graph", vertex, pins->n - 1);
    err = parse_host(pins, host, &p);
    if (err != LBM_OK)
        return refuse_host(pins, err, host);
    if (pins->given[v] != 0)
        return lbm_diag_set(pins->diag, LBM_E_SYNTAX, pins->path, pins->line,
                            "vertex %u is pinned already in line %llu", v,
                            (unsigned long long)pins->given[v]);
    pins->given[v] = pins->line;
    pins->pin[v] = p;
    return LBM_OK;
}

/* Text without null bytes, which lbm_file_read has seen to. */
static enum lbm_err
parse_text(struct pins *pins, char *text, size_t len)
{
    char *end = text + len;
    for (char *line = text; line < end;) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *stop = newline != NULL ? newline : end;
        pins->line++;
        *stop = '\0';
        enum lbm_err err = parse_line(pins, line);
        if (err != LBM_OK)
            return err;
        line = stop + 1;
    }
    return LBM_OK;
}

static uint32_t *
copy_pins(const struct lbm_graph *g)
{
    uint32_t *pin = g->pin != NULL ? lbm_copy(g->pin, g->n, sizeof *pin) : lbm_alloc(g->n, sizeof *pin);
    for (uint32_t v = 0; pin != NULL && g->pin == NULL && v < g->n; v++)
        pin[v] = LBM_NONE;
    return pin;
}

enum lbm_err
lbm_pins_read(const char *path, const struct lbm_hosts *h, const uint32_t *ids, struct lbm_graph *g,
              struct lbm_diag *diag)
{
    char *text;
    size_t len;
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    struct pins pins = {.path = path, .n = g->n, .h = h, .ids = ids, .diag = diag};
    pins.pin = copy_pins(g);
    pins.given = lbm_alloc(g->n, sizeof *pins.given);
    if (pins.pin != NULL && pins.given != NULL)
        err = parse_text(&pins, text, len);
    else
        err = lbm_diag_set(diag, LBM_E_NOMEM, path, 0, "no memory for the pins of %u vertices", g->n);
    free(text);
    free(pins.given);
    if (err != LBM_OK) {
        free(pins.pin);
        return err;
    }
    free(g->pin);
    g->pin = pins.pin;
    return LBM_OK;
}
