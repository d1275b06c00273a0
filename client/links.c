/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/links.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/limits.h"

/* A whole number up to max, and where it ends; NULL: there is none. */
static const char *
read_number(const char *at, unsigned long max, unsigned long *value)
{
    char *end;
    if (!isdigit((unsigned char)*at))
        return NULL;
    *value = strtoul(at, &end, 10);
    return *value <= max ? end : NULL;
}

/* HOST[:COST], and where it ends; NULL: it is not that. */
static const char *
read_link(const char *at, unsigned long *host, unsigned long *cost)
{
    *cost = 1;
    at = read_number(at, LBM_HOSTS_MAX - 1, host);
    if (at != NULL && *at == ':')
        at = read_number(at + 1, LBM_LINK_COST_MAX, cost);
    return at != NULL && *cost != 0 ? at : NULL;
}

enum lbm_err
lbm_links_parse(const char *text, const char *option, uint32_t self,
                struct lbm_link links[LBM_LINKS_TEXT_MAX], size_t *n, struct lbm_diag *diag)
{
    size_t found = 0;
    for (const char *at = text;; at++) {
        unsigned long host, cost;
        at = found < LBM_LINKS_TEXT_MAX ? read_link(at, &host, &cost) : NULL;
        for (size_t i = 0; at != NULL && i < found; i++)
            if (links[i].q == host)
                at = NULL;
        if (at == NULL || host == self || (*at != ',' && *at != '\0'))
            return lbm_diag_set(diag, LBM_E_SYNTAX, option, 0,
                                "%s: give other hosts, each once, as HOST[:COST],... (at most %d)", text,
                                LBM_LINKS_TEXT_MAX);
        links[found++] = (struct lbm_link){self, (uint32_t)host, (uint32_t)cost};
        if (*at == '\0')
            break;
    }
    *n = found;
    return LBM_OK;
}
