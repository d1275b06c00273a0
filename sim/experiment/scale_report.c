/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "sim/experiment/scale.h"

static const char *const phases[] = {
#define PHASE_TEXT(id, text) text,
    SCALE_PHASE_LIST(PHASE_TEXT)
#undef PHASE_TEXT
};

static void
print_json(const struct scale_options *o, const struct scale_result *r)
{
    printf("{\"hosts\": \"%s\", \"guest\": \"%s\", \"n_hosts\": %" PRIu32 ", \"vertices\": %" PRIu32
           ", \"seed\": %" PRIu64 ", \"settled\": %s, \"why\": \"%s\", \"active\": %" PRIu32
           ", \"joined\": %" PRIu32 ", \"left\": %" PRIu32 ", \"lost\": %" PRIu32
           ", \"imbalance\": %.4f, \"dilation\": %.4f, \"hop_bytes\": %.0f, \"moved\": %" PRIu64
           ", \"plans\": %" PRIu64 ", \"sweeps\": %" PRIu64 ", \"memory_mib\": %ld, \"hash\": \"%016" PRIx64
           "\", \"phases\": [",
           o->hosts, o->guest, r->n_hosts, r->vertices, o->seed, r->settled ? "true" : "false", r->why,
           r->n_active, r->joined, r->left, r->lost, r->imbalance, r->dilation, r->hop_bytes, r->moved,
           r->plans, r->sweeps, r->memory_kib / 1024, r->hash);
    for (int i = 0; i < SCALE_PHASE_COUNT; i++) {
        const struct scale_cost *c = &r->cost[i];
        printf("%s\n {\"phase\": \"%s\", \"virtual_s\": %.1f, \"wall_s\": %.1f, \"hosts\": %" PRIu32
               ", \"entries\": %" PRIu64,
               i != 0 ? "," : "", phases[i], c->virtual_s, c->wall_s, c->hosts, c->entries);
        const struct {
            const char *name;
            struct scale_mean mean;
        } rows[] = {{"messages", c->messages},
                    {"bytes", c->bytes},
                    {"steps", c->steps},
                    {"transactions", c->transactions},
                    {"node_ms", c->node_ms}};
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            printf(", \"%s\": %.1f, \"%s_most\": %.1f", rows[k].name, rows[k].mean.mean, rows[k].name,
                   rows[k].mean.most);
        printf("}");
    }
    printf("]}\n");
}

static void
print_table(const struct scale_result *r)
{
    double wall_s = 0;
    printf("%-15s %9s %7s %7s %19s %19s %15s %17s\n", "", "virtual s", "wall s", "entries", "messages a host",
           "KiB a host", "steps a host", "node ms a host");
    for (int i = 0; i < SCALE_PHASE_COUNT; i++) {
        const struct scale_cost *c = &r->cost[i];
        printf("%-15s %9.1f %7.1f %7" PRIu64 " %9.0f %9.0f %9.0f %9.0f %15.0f %8.0f %8.0f\n", phases[i],
               c->virtual_s, c->wall_s, c->entries, c->messages.mean, c->messages.most, c->bytes.mean / 1024,
               c->bytes.most / 1024, c->steps.mean, c->node_ms.mean, c->node_ms.most);
        wall_s += c->wall_s;
    }
    printf("%" PRIu32 " hosts, %" PRIu32 " vertices: %" PRIu32 " joined, %" PRIu32 " left, %" PRIu32
           " lost; %" PRIu32 " active at the end, imbalance %.2f %%, %.4f hops an edge\n"
           "J %.0f, %.2f handoffs a vertex, %" PRIu64 " plans, %" PRIu64
           " sweeps\n%.0f s, %ld MiB, hash %016" PRIx64 "\n",
           r->n_hosts, r->vertices, r->joined, r->left, r->lost, r->n_active, 100 * r->imbalance, r->dilation,
           r->hop_bytes, (double)r->moved / r->vertices, r->plans, r->sweeps, wall_s, r->memory_kib / 1024,
           r->hash);
}

void
scale_print(const struct scale_options *o, const struct scale_result *r)
{
    if (o->json)
        print_json(o, r);
    else if (!o->quiet)
        print_table(r);
    if (!r->settled && !o->json)
        printf("not settled: %s\n", r->why);
}
