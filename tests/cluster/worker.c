/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker: an application for tests of real clusters. It serves a job and counts steps of every vertex in the
 * vertex's payload; what it does is in a history that a test can judge:
 *
 *     TIME acquire VERTEX TOKEN STEPS
 *     TIME release VERTEX TOKEN STEPS LAST
 *     TIME revoke VERTEX TOKEN STEPS LAST
 *     TIME checkpoint VERTEX TOKEN STEPS
 *     TIME away
 *
 * TIME is CLOCK_BOOTTIME in microseconds, LAST the end of the last step (0: none was made), away: that the
 * daemon was seen to be gone, or to stand still until the lease was over. Between acquire and LAST nobody
 * else may make a step of the vertex; steps that were checkpointed never get lost.
 *
 *     worker JOB SOCKET HISTORY [SECONDS [STEP_MS [CHECKPOINT_MS]]]
 *
 * If the environment has LOADS, that file has the load of each vertex, a line each; it is read every second
 * and reported for what is held.
 *
 * If it has PAYLOAD, payloads have that many bytes, at least the 8 of the count.
 *
 * It ends after that many seconds, or on SIGTERM, and checkpoints before: what that did not keep, it calls
 * revoked. A step of all its vertices takes STEP_MS, and they are kept every CHECKPOINT_MS. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lbmap.h"
#include "tests/cluster/serving.h"

enum { CHECKPOINT_MS = 500, TIMEOUT_MS = 5000, STEP_MS = 5, STEP_MAX_US = 2000000 };

struct work {
    uint64_t token; /* 0: not held */
    uint64_t steps;
    int64_t last_us;
    int checkpointed; /* nonzero: since the last step */
};

struct worker {
    FILE *history;
    uint32_t n;        /* vertices of the job */
    struct work *work; /* [n] */
    size_t len;        /* of a payload */
    char *payload;     /* [n * len] steps, then bytes that tell the vertex */
    int step_ms, checkpoint_ms;
    int away; /* nonzero: the daemon is, and it is written down */
};

/* What is known of the vertex, as bytes that stay. */
static struct lbmap_payload
payload_of(struct worker *worker, uint32_t v)
{
    char *bytes = &worker->payload[v * worker->len];
    memcpy(bytes, &worker->work[v].steps, sizeof worker->work[v].steps);
    memset(bytes + sizeof worker->work[v].steps, (int)(v & 127), worker->len - sizeof worker->work[v].steps);
    return (struct lbmap_payload){bytes, worker->len};
}

static void
acquire(void *context, uint32_t v, uint64_t token, const struct lbmap_payload *payload)
{
    struct worker *worker = context;
    uint64_t steps = 0;
    const char *bytes = payload->bytes;
    if (payload->len == worker->len)
        memcpy(&steps, bytes, sizeof steps);
    int is_own = payload->len <= sizeof steps || payload->len == worker->len;
    for (size_t i = sizeof steps; is_own && i < payload->len; i++)
        is_own = bytes[i] == (char)(v & 127);
    if (!is_own)
        fprintf(stderr, "worker: vertex %u comes with a payload that is not its own\n", v);
    worker->work[v] = (struct work){token, steps, 0, 1};
    fprintf(worker->history, "%" PRId64 " acquire %u %" PRIu64 " %" PRIu64 "\n", serving_now_us(), v, token,
            steps);
}

static void
tell_end(struct worker *worker, const char *how, uint32_t v)
{
    struct work *work = &worker->work[v];
    fprintf(worker->history, "%" PRId64 " %s %u %" PRIu64 " %" PRIu64 " %" PRId64 "\n", serving_now_us(), how,
            v, work->token, work->steps, work->last_us);
    work->token = 0;
}

static void
release(void *context, uint32_t v, uint64_t token, struct lbmap_payload *payload)
{
    struct worker *worker = context;
    (void)token;
    tell_end(worker, "release", v);
    *payload = payload_of(worker, v);
}

static void
revoked(void *context, uint32_t v, uint64_t token)
{
    (void)token;
    tell_end(context, "revoke", v);
}

/* One step of all that is held, which takes step_ms. A process that is frozen within a step ends it late;
 * such a step counts up to the longest one that is allowed, for what it writes later its token is refused. */
static void
make_step(struct worker *worker, struct lbmap *map)
{
    const struct timespec length = {worker->step_ms / 1000, worker->step_ms % 1000 * 1000000};
    if (lbmap_lease_valid(map) != LBMAP_WORK)
        return;
    int64_t latest_us = serving_now_us() + STEP_MAX_US;
    nanosleep(&length, NULL);
    int64_t end_us = serving_now_us() < latest_us ? serving_now_us() : latest_us;
    for (uint32_t v = 0; v < worker->n; v++) {
        struct work *work = &worker->work[v];
        if (work->token == 0)
            continue;
        work->steps++;
        work->last_us = end_us;
        work->checkpointed = 0;
    }
}

/* What has changed. If some of it is lost by now, the next one tells. */
static void
checkpoint(struct worker *worker, struct lbmap *map)
{
    struct lbmap_state *states = calloc(worker->n + 1, sizeof *states);
    size_t n = 0;
    for (uint32_t v = 0; states != NULL && v < worker->n; v++)
        if (worker->work[v].token != 0 && !worker->work[v].checkpointed)
            states[n++] = (struct lbmap_state){v, worker->work[v].token, payload_of(worker, v)};
    if (n != 0 && lbmap_checkpoint(map, states, n) == LBMAP_OK)
        for (size_t i = 0; i < n; i++) {
            struct work *work = &worker->work[states[i].vertex];
            work->checkpointed = 1;
            fprintf(worker->history, "%" PRId64 " checkpoint %u %" PRIu64 " %" PRIu64 "\n", serving_now_us(),
                    states[i].vertex, work->token, work->steps);
        }
    free(states);
}

/* What the file says of the vertices that are held. */
static void
report(const struct worker *worker, struct lbmap *map)
{
    const char *path = getenv("LOADS");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    struct lbmap_load *loads = calloc(worker->n + 1, sizeof *loads);
    size_t n = 0;
    double load;
    for (uint32_t v = 0; file != NULL && loads != NULL && v < worker->n && fscanf(file, "%lf", &load) == 1;
         v++)
        if (worker->work[v].token != 0)
            loads[n++] = (struct lbmap_load){v, worker->work[v].token, load};
    if (n != 0 && lbmap_report_load(map, loads, n) != LBMAP_OK)
        fprintf(stderr, "worker: report_load: %s\n", lbmap_message(map));
    if (file != NULL)
        fclose(file);
    free(loads);
}

static void
look_for_daemon(struct worker *worker, struct lbmap *map)
{
    int is_away = lbmap_fd(map) < 0 || lbmap_lease_valid(map) == LBMAP_LOST;
    if (is_away && !worker->away)
        fprintf(worker->history, "%" PRId64 " away\n", serving_now_us());
    worker->away = is_away;
}

static int
run(struct worker *worker, struct lbmap *map, int64_t end_us)
{
    const struct lbmap_callbacks callbacks = {.size = sizeof(struct lbmap_callbacks),
                                              .context = worker,
                                              .acquire = acquire,
                                              .release = release,
                                              .revoked = revoked};
    int64_t period_us = (int64_t)worker->checkpoint_ms * 1000, checkpoint_us = serving_now_us() + period_us;
    int64_t report_us = 0;
    enum lbmap_error error = lbmap_serve(map, &callbacks);
    while (error == LBMAP_OK && !serving_stopped && serving_now_us() < end_us) {
        error = lbmap_dispatch(map, 1);
        look_for_daemon(worker, map);
        make_step(worker, map);
        if (serving_now_us() >= checkpoint_us) {
            checkpoint(worker, map);
            checkpoint_us = serving_now_us() + period_us;
        }
        if (serving_now_us() >= report_us) {
            report(worker, map);
            report_us = serving_now_us() + 1000000;
        }
        fflush(worker->history);
    }
    if (error != LBMAP_OK) {
        fprintf(stderr, "worker: %s\n", lbmap_message(map));
        return 1;
    }
    checkpoint(worker, map);
    for (uint32_t v = 0; v < worker->n; v++)
        if (worker->work[v].token != 0)
            tell_end(worker, worker->work[v].checkpointed ? "release" : "revoke", v);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc < 4 || argc > 7) {
        fprintf(stderr, "usage: worker JOB SOCKET HISTORY [SECONDS [STEP_MS [CHECKPOINT_MS]]]\n");
        return 2;
    }
    serving_until_stopped();
    int64_t end_us = argc > 4 ? serving_now_us() + (int64_t)(atof(argv[4]) * 1e6) : INT64_MAX;
    struct worker worker = {.history = fopen(argv[3], "ae"),
                            .step_ms = argc > 5 ? atoi(argv[5]) : STEP_MS,
                            .checkpoint_ms = argc > 6 ? atoi(argv[6]) : CHECKPOINT_MS};
    if (worker.history == NULL) {
        perror(argv[3]);
        return 1;
    }
    enum lbmap_error error;
    struct lbmap *map = serving_open(argv[1], argv[2], end_us, &error);
    int status = 1;
    if (map == NULL)
        fprintf(stderr, "worker: %s at %s: %s\n", argv[1], argv[2], lbmap_strerror(error));
    if (map != NULL) {
        worker.n = lbmap_vertices(map);
        worker.work = calloc(worker.n, sizeof *worker.work);
        worker.len = getenv("PAYLOAD") != NULL ? (size_t)atol(getenv("PAYLOAD")) : sizeof(uint64_t);
        worker.payload = worker.len >= sizeof(uint64_t) ? calloc(worker.n, worker.len) : NULL;
        (void)lbmap_set_timeout(map, TIMEOUT_MS);
        if (worker.work != NULL && worker.payload != NULL)
            status = run(&worker, map, end_us);
    }
    fclose(worker.history);
    lbmap_close(map);
    free(worker.work);
    free(worker.payload);
    return status;
}
