/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings for launchers of parallel programs. A vertex is a rank; what they read names the host of each.
 *
 * No host is given more ranks than it has slots, no rank a core that is not there, where these are known.
 * None of the formats can quote a name, so all of them take the same ones: lbm_launch_check_names. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/formats.h"

static const char local[] = "localhost"; /* a machine that does not say its name */

const char *
lbm_launch_label(const struct lbm_hosts *h, uint32_t p, char id[LBM_HOST_ID_BYTES])
{
    if (h->machine != NULL)
        return h->machine[p][0] != '\0' ? h->machine[p] : local;
    return lbm_host_label(h, p, id);
}

enum lbm_err
lbm_launch_check_names(enum lbm_map_format format, const struct lbm_hosts *h, struct lbm_diag *diag)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    char id[LBM_HOST_ID_BYTES];
    for (uint32_t p = 0; p < h->n; p++) {
        const char *name = lbm_launch_label(h, p, id);
        if (name[strspn(name, allowed)] != '\0' || name[0] == '-')
            return lbm_diag_set(diag, LBM_E_SYNTAX, "", 0,
                                "host %" PRIu32
                                " is called \"%s\", which a file of the format %s cannot hold: "
                                "letters, digits, . _ and - are possible; give other names with --names FILE",
                                p, name, lbm_map_formats[format].name);
    }
    return LBM_OK;
}

/* ---- slots and cores ----------------------------------------------------------------------------------- */

/* The ranks that host p takes; 0: not known. */
static uint32_t
slots_of(const struct lbm_mapping *mapping, uint32_t p)
{
    if (mapping->launch.slots != 0)
        return mapping->launch.slots;
    return mapping->h->slots != NULL ? mapping->h->slots[p] : 0;
}

/* Count the ranks of each host. Out: *ranks [hosts], owned by the caller.
 * Errors: LBM_E_RANGE, one has more than its slots; LBM_E_NOMEM. */
static enum lbm_err
count_ranks(const struct lbm_mapping *mapping, uint32_t **ranks, struct lbm_diag *diag)
{
    char id[LBM_HOST_ID_BYTES];
    uint32_t *count = lbm_alloc(mapping->h->n, sizeof *count);
    if (count == NULL)
        return LBM_E_NOMEM;
    for (uint32_t v = 0; v < mapping->g->n; v++)
        count[mapping->plan->part[v]]++;
    for (uint32_t p = 0; p < mapping->h->n; p++) {
        uint32_t slots = slots_of(mapping, p);
        if (slots == 0 || count[p] <= slots)
            continue;
        enum lbm_err err = lbm_diag_set(diag, LBM_E_RANGE, "", 0,
                                        "host %s has %" PRIu32 " slots and the mapping gives it %" PRIu32
                                        " ranks; ask for less imbalance, or start with fewer ranks",
                                        lbm_host_label(mapping->h, p, id), slots, count[p]);
        free(count);
        return err;
    }
    *ranks = count;
    return LBM_OK;
}

/* Cores of the rank that is the k-th of `ranks` of host p: its slot's equal share of the host's cores, or all
 * of them, if there are more ranks and they may share. */
struct cores {
    uint32_t first, n;
};

static struct cores
cores_of(const struct lbm_mapping *mapping, uint32_t p, uint32_t k, uint32_t ranks)
{
    const struct lbm_hosts *h = mapping->h;
    uint32_t slots = slots_of(mapping, p), cores = mapping->launch.cores, own = 0;
    if (h->core != NULL)
        own = h->core[p];
    if (cores == 0 && h->core != NULL)
        cores = h->slots[p];
    if (mapping->launch.shared && cores != 0 && ranks > cores)
        return (struct cores){own, cores};
    uint32_t n = slots != 0 && cores > slots ? cores / slots : 1;
    return (struct cores){own + k * n, n};
}

/* Refuse ranks for which there is no core. Errors: LBM_E_RANGE. */
static enum lbm_err
check_cores(const struct lbm_mapping *mapping, const uint32_t *ranks, struct lbm_diag *diag)
{
    char id[LBM_HOST_ID_BYTES];
    uint32_t cores = mapping->launch.cores;
    for (uint32_t p = 0; cores != 0 && !mapping->launch.shared && p < mapping->h->n; p++)
        if (ranks[p] > cores)
            return lbm_diag_set(diag, LBM_E_RANGE, "", 0,
                                "host %s has %" PRIu32 " cores and the mapping gives it %" PRIu32
                                " ranks; ask for less imbalance, or start with fewer ranks",
                                lbm_host_label(mapping->h, p, id), cores, ranks[p]);
    return LBM_OK;
}

/* Rank v on its host, bound to its cores: rank 7=h3 slot=1. */
enum lbm_err
lbm_map_write_rankfile(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    char id[LBM_HOST_ID_BYTES];
    uint32_t *ranks, *next = lbm_alloc(mapping->h->n, sizeof *next);
    if (next == NULL)
        return LBM_E_NOMEM;
    enum lbm_err err = count_ranks(mapping, &ranks, diag);
    if (err != LBM_OK) {
        free(next);
        return err;
    }
    err = check_cores(mapping, ranks, diag);
    for (uint32_t v = 0; err == LBM_OK && v < mapping->g->n; v++) {
        uint32_t p = mapping->plan->part[v];
        struct cores cores = cores_of(mapping, p, next[p]++, ranks[p]);
        lbm_buf_printf(out, "rank %u=%s slot=%u", v, lbm_launch_label(mapping->h, p, id), cores.first);
        if (cores.n > 1)
            lbm_buf_printf(out, "-%u", cores.first + cores.n - 1);
        lbm_buf_put(out, "\n", 1);
    }
    free(ranks);
    free(next);
    return err;
}

/* ---- names alone --------------------------------------------------------------------------------------- */

static enum lbm_err
check_slots(const struct lbm_mapping *mapping, struct lbm_diag *diag)
{
    uint32_t *ranks;
    enum lbm_err err = count_ranks(mapping, &ranks, diag);
    if (err == LBM_OK)
        free(ranks);
    return err;
}

/* The host of each rank, one a line, with a format around the name. */
static enum lbm_err
write_lines(const struct lbm_mapping *mapping, const char *before, struct lbm_buf *out, struct lbm_diag *diag)
{
    char id[LBM_HOST_ID_BYTES];
    enum lbm_err err = check_slots(mapping, diag);
    for (uint32_t v = 0; err == LBM_OK && v < mapping->g->n; v++)
        lbm_buf_printf(out, "%s%s\n", before, lbm_launch_label(mapping->h, mapping->plan->part[v], id));
    return err;
}

enum lbm_err
lbm_map_write_seq(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    return write_lines(mapping, "", out, diag);
}

enum lbm_err
lbm_map_write_slurm(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    return write_lines(mapping, "", out, diag);
}

enum lbm_err
lbm_map_write_charm(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    lbm_buf_printf(out, "group main\n");
    return write_lines(mapping, "  host ", out, diag);
}

/* Hydra fills the lines of a host file in order, so a run of ranks on one host is a line host:count, and
 * a host may come again. */
enum lbm_err
lbm_map_write_hydra(const struct lbm_mapping *mapping, struct lbm_buf *out, struct lbm_diag *diag)
{
    char id[LBM_HOST_ID_BYTES], id_end[LBM_HOST_ID_BYTES];
    const uint32_t *part = mapping->plan->part;
    const struct lbm_hosts *h = mapping->h;
    enum lbm_err err = check_slots(mapping, diag);
    for (uint32_t v = 0, end; err == LBM_OK && v < mapping->g->n; v = end) {
        const char *name = lbm_launch_label(h, part[v], id);
        for (end = v + 1; end < mapping->g->n && strcmp(lbm_launch_label(h, part[end], id_end), name) == 0;
             end++)
            ;
        lbm_buf_printf(out, "%s:%u\n", name, end - v);
    }
    return err;
}
