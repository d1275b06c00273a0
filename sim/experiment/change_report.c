/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "sim/experiment/change.h"

static void
print_json(const struct change_options *o, const struct change_result *r)
{
    printf("{\"hosts\": \"%s\", \"guest\": \"%s\", \"n_hosts\": %" PRIu32 ", \"vertices\": %" PRIu32
           ", \"factor\": %g, \"seed\": %" PRIu64 ", \"settled\": %s, \"why\": \"%s\", \"messages\": %.1f, "
           "\"bytes\": %.1f, \"touched\": %.1f, \"touched_most\": %" PRIu32
           ", \"rest_messages\": %.2f, \"memory_mib\": %ld, \"hash\": \"%016" PRIx64 "\", \"changes\": [",
           o->hosts, o->guest, r->n_hosts, r->vertices, o->factor, o->seed, r->settled ? "true" : "false",
           r->why, r->messages, r->bytes, r->touched, r->touched_most, r->rest_messages, r->memory_kib / 1024,
           r->hash);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct change_cost *c = &r->cost[i];
        printf("%s\n {\"host\": %" PRIu32
               ", \"settled_s\": %.2f, \"imbalance_before\": %.4f, \"imbalance\": %.4f"
               ", \"touched\": %" PRIu32 ", \"far\": %" PRIu32 ", \"movers\": %" PRIu32
               ", \"moved\": %" PRIu32 ", \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"kinds\": {",
               i != 0 ? "," : "", c->host, c->settled_s, c->before, c->after, c->touched, c->far, c->movers,
               c->moved, c->messages, c->bytes);
        for (unsigned k = 0, some = 0; k < CLUSTER_KINDS; k++)
            if (c->kind[k].name != NULL)
                printf("%s\"%s\": %" PRIu64, some++ != 0 ? ", " : "", c->kind[k].name, c->kind[k].messages);
        printf("}}");
    }
    printf("]}\n");
}

static void
print_table(const struct change_options *o, const struct change_result *r)
{
    printf("%" PRIu32 " hosts, %" PRIu32
           " vertices; the load of a host times %g\n%8s %9s %9s %9s %8s %8s %8s %8s %9s "
           "%9s\n",
           r->n_hosts, r->vertices, o->factor, "host", "before %", "after %", "settled s", "touched", "links",
           "movers", "moved", "messages", "KiB");
    for (uint32_t i = 0; i < r->n; i++) {
        const struct change_cost *c = &r->cost[i];
        printf("%8" PRIu32 " %9.2f %9.2f %9.2f %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %9" PRIu64
               " %9.1f\n",
               c->host, 100 * c->before, 100 * c->after, c->settled_s, c->touched, c->far, c->movers,
               c->moved, c->messages, (double)c->bytes / 1024);
    }
    for (unsigned k = 0; k < CLUSTER_KINDS; k++) {
        uint64_t messages = 0, bytes = 0;
        const char *name = NULL;
        for (uint32_t i = 0; i < r->n; i++) {
            name = r->cost[i].kind[k].name != NULL ? r->cost[i].kind[k].name : name;
            messages += r->cost[i].kind[k].messages;
            bytes += r->cost[i].kind[k].bytes;
        }
        if (name != NULL)
            printf("  %-14s %9" PRIu64 " messages %9.1f KiB\n", name, messages, (double)bytes / 1024);
    }
    printf("a change: %.0f messages, %.1f KiB, %.1f hosts; at rest a host sends %.1f messages a second; "
           "%ld MiB, hash %016" PRIx64 "\n",
           r->messages, r->bytes / 1024, r->touched, r->rest_messages, r->memory_kib / 1024, r->hash);
}

void
change_print(const struct change_options *o, const struct change_result *r)
{
    if (o->json)
        print_json(o, r);
    else if (!o->quiet)
        print_table(o, r);
    if (!r->settled && !o->json)
        printf("not settled: %s\n", r->why);
}
