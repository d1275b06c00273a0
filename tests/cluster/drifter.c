/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drifter: an application whose loads change as its test wants. It holds what it is given, and tells every
 * second what each vertex costs. Files are shared, so that the test changes loads and sees owners at once:
 *
 *     drifter JOB SOCKET HOST LOADS OWNERS
 *
 * LOADS has a float for each vertex, and one more: noise, a part of each report at most. OWNERS has a byte
 * for each vertex: HOST is written there when the vertex is acquired. It ends on SIGTERM. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lbmap.h"
#include "tests/cluster/serving.h"

enum { REPORT_US = 1000000, DISPATCH_MS = 50, OPEN_US = 30000000 };

struct drifter {
    uint32_t n;
    uint8_t host;
    uint64_t *token; /* [n], 0: not held */
    struct lbmap_load *report;
    const volatile float *load; /* [n + 1] */
    volatile uint8_t *owner;    /* [n] */
    uint64_t random;
};

static void
acquire(void *context, uint32_t v, uint64_t token, const struct lbmap_payload *payload)
{
    struct drifter *drifter = context;
    (void)payload;
    drifter->token[v] = token;
    drifter->owner[v] = drifter->host;
}

static void
release(void *context, uint32_t v, uint64_t token, struct lbmap_payload *payload)
{
    struct drifter *drifter = context;
    (void)token;
    drifter->token[v] = 0;
    *payload = (struct lbmap_payload){NULL, 0};
}

static void
revoked(void *context, uint32_t v, uint64_t token)
{
    (void)token;
    ((struct drifter *)context)->token[v] = 0;
}

/* In [-1, 1): xorshift. */
static double
draw(struct drifter *drifter)
{
    drifter->random ^= drifter->random << 13;
    drifter->random ^= drifter->random >> 7;
    drifter->random ^= drifter->random << 17;
    return (double)(drifter->random >> 11) / 4503599627370496.0 - 1;
}

static enum lbmap_error
report(struct drifter *drifter, struct lbmap *map)
{
    size_t n = 0;
    double noise = (double)drifter->load[drifter->n];
    for (uint32_t v = 0; v < drifter->n; v++)
        if (drifter->token[v] != 0)
            drifter->report[n++] = (struct lbmap_load){
                v, drifter->token[v], (double)drifter->load[v] * (1 + noise * draw(drifter))};
    return n != 0 ? lbmap_report_load(map, drifter->report, n) : LBMAP_OK;
}

static int
run(struct drifter *drifter, struct lbmap *map)
{
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = drifter,
                                              .acquire = acquire,
                                              .release = release,
                                              .revoked = revoked};
    int64_t report_us = serving_now_us() + drifter->host * (REPORT_US / 16) % REPORT_US; /* not all at once */
    enum lbmap_error error = lbmap_serve(map, &callbacks);
    while (error == LBMAP_OK && !serving_stopped) {
        error = lbmap_dispatch(map, DISPATCH_MS);
        if (error == LBMAP_OK && serving_now_us() >= report_us) {
            error = report(drifter, map);
            report_us += REPORT_US;
        }
    }
    if (error != LBMAP_OK && !serving_stopped)
        fprintf(stderr, "drifter: %s\n", lbmap_message(map));
    return error != LBMAP_OK && !serving_stopped;
}

int
main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: drifter JOB SOCKET HOST LOADS OWNERS\n");
        return 2;
    }
    serving_until_stopped();
    enum lbmap_error error;
    struct lbmap *map = serving_open(argv[1], argv[2], serving_now_us() + OPEN_US, &error);
    if (map == NULL) {
        fprintf(stderr, "drifter: %s at %s: %s\n", argv[1], argv[2], lbmap_strerror(error));
        return 1;
    }
    struct drifter drifter = {.n = lbmap_vertices(map), .host = (uint8_t)atoi(argv[3])};
    drifter.random = 0x9e3779b97f4a7c15 + drifter.host;
    drifter.token = calloc(drifter.n, sizeof *drifter.token);
    drifter.report = calloc(drifter.n, sizeof *drifter.report);
    size_t load_bytes = 0, owner_bytes = 0;
    drifter.load = serving_share(argv[4], 0, &load_bytes);
    drifter.owner = serving_share(argv[5], 1, &owner_bytes);
    int is_ready = drifter.token != NULL && drifter.report != NULL &&
                   load_bytes >= (drifter.n + 1) * sizeof(float) && owner_bytes >= drifter.n;
    (void)lbmap_set_timeout(map, 10000);
    int status = is_ready ? run(&drifter, map) : 1;
    lbmap_close(map);
    free(drifter.token);
    free(drifter.report);
    return status;
}
