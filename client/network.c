/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl network: how far hosts are from the asked one, as measured, as predicted, and in the host graph; and
 * which links Omega does not show. */
#include <stdio.h>
#include <stdlib.h>

#include "client/daemon.h"
#include "client/omega_links.h"
#include "client/table.h"
#include "file/file.h"

enum { NETWORK_HOSTS, NETWORK_OPTIONS };

static const struct lbm_option options[] = {
    [NETWORK_HOSTS] = LBM_TEXT_OPTION("hosts", "SPEC", "these hosts and links instead of a cluster's",
                                      .choices = lbm_host_forms),
};

static const struct lbm_column network_columns[] = {
    {"host", "id", LBM_COLUMN_COUNT, 0},
    {"name", "name", LBM_COLUMN_TEXT, 0},
    {"measured_ms", "measured ms", LBM_COLUMN_RATIO, 0},
    {"predicted_ms", "predicted ms", LBM_COLUMN_RATIO, 0},
    {"error", "error", LBM_COLUMN_PERCENT, 1},
    {"distance", "in H", LBM_COLUMN_COUNT, 0},
    {"links_text", "its links: costs", LBM_COLUMN_TEXT, 2},
    {"hidden_text", "not in Omega", LBM_COLUMN_TEXT, 1},
    {"place_text", "coordinates, height ms", LBM_COLUMN_TEXT, 3},
};

/* Of hosts that no daemon measures. */
static const struct lbm_column graph_columns[] = {
    {"host", "id", LBM_COLUMN_COUNT, 0},
    {"name", "name", LBM_COLUMN_TEXT, 0},
    {"links_text", "its links: costs", LBM_COLUMN_TEXT, 1},
    {"hidden_text", "not in Omega", LBM_COLUMN_TEXT, 0},
};

/* Texts for people, which JSON does not show. */
static const char *const texts[] = {"links_text", "hidden_text", "place_text"};

enum { LINKS_TEXT_MAX = 96, LINK_TEXT_MAX = 24 };

/* Append a link to the list of a row and, as long as there is room, to its text. */
static void
append_link(json_t *links, char text[LINKS_TEXT_MAX], size_t *len, uint32_t host, uint32_t cost)
{
    json_array_append_new(links, json_pack("{s:i, s:i}", "host", (int)host, "cost", (int)cost));
    if (*len < LINKS_TEXT_MAX - LINK_TEXT_MAX)
        *len +=
            (size_t)snprintf(text + *len, LINKS_TEXT_MAX - *len, "%s%u:%u", *len != 0 ? " " : "", host, cost);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static json_t *
milliseconds(double us)
{
    return us > 0 ? json_real(us / 1000) : json_null();
}

static json_t *
entry_object(const Lbm__NetworkEntry *h)
{
    json_t *links = json_array(), *place = json_array();
    char links_text[LINKS_TEXT_MAX] = "", place_text[96] = "";
    size_t len = 0;
    for (size_t k = 0; k < h->n_link_host; k++)
        append_link(links, links_text, &len, h->link_host[k], h->link_cost[k]);
    for (size_t k = 0; k < h->n_coordinate; k++)
        json_array_append_new(place, json_real(h->coordinate[k] / 1000));
    if (h->n_coordinate == 3)
        snprintf(place_text, sizeof place_text, "%.2f %.2f %.2f, %.2f", h->coordinate[0] / 1000,
                 h->coordinate[1] / 1000, h->coordinate[2] / 1000, h->height / 1000);
    return json_pack("{s:i, s:s, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:s}", "host", (int)h->host,
                     "name", h->name, "measured_ms", milliseconds(h->measured_us), "predicted_ms",
                     milliseconds(h->predicted_us), "measurements", (int)h->measurements, "distance",
                     h->distance != 0 ? json_integer(h->distance) : json_null(), "links", links,
                     "coordinates_ms", place, "height_ms", milliseconds(h->height), "error",
                     h->n_coordinate != 0 ? json_real(h->error) : json_null(), "links_text", links_text,
                     "place_text", place_text);
}

static enum lbm_err
take_network(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    json_t *rows = arg;
    (void)handle;
    for (size_t i = 0; chunk->network != NULL && i < chunk->network->n_hosts; i++)
        if (json_array_append_new(rows, entry_object(chunk->network->hosts[i])) != 0)
            return LBM_E_NOMEM;
    return LBM_OK;
}

/* Sites of the hosts, which the list of hosts has. */
static enum lbm_err
take_sites(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    struct lbm_host_sites *sites = arg;
    enum lbm_err err = LBM_OK;
    (void)handle;
    for (size_t i = 0; chunk->hosts != NULL && i < chunk->hosts->n_hosts && err == LBM_OK; i++) {
        const Lbm__HostEntry *host = chunk->hosts->hosts[i];
        if ((host->n_site != 2 && host->n_site != 3) || (sites->m != 0 && sites->m != host->n_site))
            continue;
        sites->m = (unsigned)host->n_site;
        err = lbm_vec_push(&sites->id, host->host);
        for (size_t k = 0; k < host->n_site && err == LBM_OK; k++)
            err = lbm_vec_push(&sites->site, host->site[k]);
    }
    return err;
}

static enum lbm_status
ask_daemon(const struct lbm_cli *client, json_t *rows, struct lbm_host_sites *sites)
{
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, 2000, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_NETWORK;
    request.network = &empty;
    status = lbm_daemon_ask(&daemon, &request, take_network, rows);
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    if (status == LBM_STATUS_DONE)
        status = lbm_daemon_ask(&daemon, &request, take_sites, sites);
    lbm_daemon_close(&daemon);
    return status;
}

/* ---- a host graph without daemons ---------------------------------------------------------------- */

static json_t *
host_object(const struct lbm_hosts *h, uint32_t p)
{
    json_t *links = json_array();
    char links_text[LINKS_TEXT_MAX] = "";
    size_t len = 0;
    for (uint32_t k = h->offset[p]; k < h->offset[p + 1]; k++)
        append_link(links, links_text, &len, h->target[k], h->cost[k]);
    return json_pack("{s:i, s:s, s:o, s:s}", "host", (int)p, "name", h->name != NULL ? h->name[p] : "",
                     "links", links, "links_text", links_text);
}

static enum lbm_err
rows_of_hosts(const struct lbm_hosts *h, json_t *rows, struct lbm_host_sites *sites)
{
    enum lbm_err err = LBM_OK;
    sites->m = h->m;
    for (uint32_t p = 0; p < h->n && err == LBM_OK; p++) {
        err = json_array_append_new(rows, host_object(h, p)) != 0 ? LBM_E_NOMEM : lbm_vec_push(&sites->id, p);
        for (unsigned k = 0; k < h->m && err == LBM_OK; k++)
            err = lbm_vec_push(&sites->site, h->site[(size_t)p * h->m + k]);
    }
    return err;
}

static enum lbm_status
read_hosts(const struct lbm_cli *client, json_t *rows, struct lbm_host_sites *sites)
{
    struct lbm_hosts h = {0};
    struct lbm_diag diag;
    enum lbm_err err = lbm_file_hosts(client->value[NETWORK_HOSTS].text, &h, &diag);
    if (err == LBM_OK && (err = rows_of_hosts(&h, rows, sites)) != LBM_OK)
        lbm_diag_set(&diag, err, "", 0, "no memory for the list");
    lbm_hosts_free(&h);
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_refuse(client, &diag);
}

/* ---- the command --------------------------------------------------------------------------------- */

static enum lbm_err
print(const struct lbm_cli *client, json_t *rows, const struct lbm_host_sites *sites)
{
    int json = client->global[LBM_GLOBAL_JSON].given, is_spec = client->value[NETWORK_HOSTS].given;
    struct lbm_omega_links count = {0};
    enum lbm_err err = lbm_omega_links_mark(rows, sites, &count);
    if (err != LBM_OK)
        return err;
    for (size_t i = 0; json && i < json_array_size(rows); i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            json_object_del(json_array_get(rows, i), texts[k]);
    err = is_spec ? lbm_table_print(stdout, graph_columns, sizeof graph_columns / sizeof *graph_columns, rows,
                                    json)
                  : lbm_table_print(stdout, network_columns, sizeof network_columns / sizeof *network_columns,
                                    rows, json);
    if (err == LBM_OK && !json && count.hidden != 0)
        printf("\nOmega does not show %u of %u links (%.0f %%): the regions of their hosts do not touch\n",
               count.hidden, count.links, 100.0 * count.hidden / count.links);
    else if (err == LBM_OK && !json && count.links != 0)
        printf("\nOmega shows all %u links\n", count.links);
    return err;
}

static enum lbm_status
run_network(const struct lbm_cli *client)
{
    json_t *rows = json_array();
    struct lbm_host_sites sites = {0};
    enum lbm_status status = client->value[NETWORK_HOSTS].given ? read_hosts(client, rows, &sites)
                                                                : ask_daemon(client, rows, &sites);
    if (status == LBM_STATUS_DONE && print(client, rows, &sites) != LBM_OK)
        status = LBM_STATUS_FAILED;
    json_decref(rows);
    lbm_host_sites_free(&sites);
    return status;
}

const struct lbm_command lbm_command_network = {
    .name = "network",
    .text = "show round-trip times to the other hosts, and what the host graph makes of them",
    .help = "One line a host that takes part: the round-trip time between the asked daemon's host and that "
            "one, the lower quartile of the last minute, as measured by pings and as the two hosts' network "
            "coordinates foretell it; by how much coordinates were wrong for that host of late; how far the "
            "host graph has it from the asked one; its links with their costs; and those of them that Omega "
            "does not show, since the regions of the two hosts do not touch: there diffusion takes a "
            "neighbour for a stranger. In clusters of more than 64 hosts only neighbours and backups are "
            "measured, unless links follow from it. --json has all. With --hosts no daemon is asked: the "
            "links of a host graph, and what Omega shows of them.",
    .options = options,
    .n_options = NETWORK_OPTIONS,
    .run = run_network,
};
