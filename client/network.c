/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl network: how far hosts are from the asked one, as measured, as predicted, and in the host graph. */
#include <stdio.h>
#include <stdlib.h>

#include "client/daemon.h"
#include "client/table.h"

static const struct lbm_column network_columns[] = {
    {"host", "id", LBM_COLUMN_COUNT, 0},
    {"name", "name", LBM_COLUMN_TEXT, 0},
    {"measured_ms", "measured ms", LBM_COLUMN_RATIO, 0},
    {"predicted_ms", "predicted ms", LBM_COLUMN_RATIO, 0},
    {"error", "error", LBM_COLUMN_PERCENT, 1},
    {"distance", "in H", LBM_COLUMN_COUNT, 0},
    {"links_text", "its links: costs", LBM_COLUMN_TEXT, 2},
    {"place_text", "coordinates, height ms", LBM_COLUMN_TEXT, 3},
};

/* Texts for people, which JSON does not show. */
static const char *const network_texts[] = {"links_text", "place_text", NULL};

static json_t *
milliseconds(double us)
{
    return us > 0 ? json_real(us / 1000) : json_null();
}

static json_t *
entry_object(const Lbm__NetworkEntry *h)
{
    json_t *links = json_array(), *place = json_array();
    char links_text[96] = "", place_text[96] = "";
    size_t len = 0;
    for (size_t k = 0; k < h->n_link_host; k++) {
        json_array_append_new(
            links, json_pack("{s:i, s:i}", "host", (int)h->link_host[k], "cost", (int)h->link_cost[k]));
        if (len < sizeof links_text - 24)
            len += (size_t)snprintf(links_text + len, sizeof links_text - len, "%s%u:%u", k != 0 ? " " : "",
                                    h->link_host[k], h->link_cost[k]);
    }
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

static enum lbm_status
run_network(const struct lbm_cli *client)
{
    static const struct lbm_listing listing = {
        network_columns, sizeof network_columns / sizeof *network_columns, network_texts, take_network};
    struct lbm_daemon daemon;
    enum lbm_status status = lbm_daemon_open(&daemon, client, NULL, 2000, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_NETWORK;
    request.network = &empty;
    status = lbm_daemon_list(&daemon, &request, &listing);
    lbm_daemon_close(&daemon);
    return status;
}

const struct lbm_command lbm_command_network = {
    .name = "network",
    .text = "show round-trip times to the other hosts, and what the host graph makes of them",
    .help = "One line a host that takes part: the round-trip time between the asked daemon's host and that "
            "one, the lower quartile of the last minute, as measured by pings and as the two hosts' network "
            "coordinates foretell it; by how much coordinates were wrong for that host of late; how far the "
            "host graph has it from the asked one; and its links with their costs. In clusters of more than "
            "64 hosts only neighbours and backups are measured, unless links follow from it. --json has all.",
    .run = run_network,
};
