/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checkpoint: what bench/checkpoint.sh measures in a program of its own.
 *
 *     checkpoint copy BYTES        copy over loopback TCP: seconds
 *     checkpoint hash BYTES        SHA-256 of as many: seconds
 *     checkpoint rate JOB SOCKET PAYLOADS BYTES TIMES
 *                                  blocking checkpoints of all payloads: seconds, a line each
 *     checkpoint work JOB SOCKET PAYLOADS BYTES SECONDS none|start|wait EVERY
 *
 * `work` computes all the time, dispatches about every millisecond, and makes a checkpoint every EVERY
 * seconds. It writes rounds of work a second and in a second of its own processor time, how many checkpoints
 * were kept, the mean and the longest time until one was, and the longest time between two rounds in
 * milliseconds. */
#include "config.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lbmap.h"

enum { CHUNK = 256 * 1024, FLOATS = 4096, PASSES = 150, WAIT_S = 60 };

struct program {
    struct lbmap *map;
    struct lbmap_state *states;
    size_t n, want;
};

static double
now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
fail(const char *what)
{
    fprintf(stderr, "checkpoint: %s\n", what);
    return 1;
}

/* ---- what there is to compare with --------------------------------------------------------------------- */

/* Read all that comes, then say so by a byte. */
static void
sink(int listening)
{
    static char room[CHUNK];
    int fd = accept(listening, NULL, NULL);
    while (read(fd, room, sizeof room) > 0)
        continue;
    (void)!write(fd, "", 1);
    _exit(0);
}

static int
copy(size_t bytes)
{
    static char chunk[CHUNK];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&address, len) != 0 || listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr *)&address, &len) != 0)
        return fail("no loopback");
    if (fork() == 0)
        sink(listening);
    if (connect(fd, (struct sockaddr *)&address, len) != 0)
        return fail("no connection");
    double begin = now_s();
    for (size_t sent = 0; sent < bytes;) {
        ssize_t n = write(fd, chunk, bytes - sent < sizeof chunk ? bytes - sent : sizeof chunk);
        if (n <= 0)
            return fail("the connection broke");
        sent += (size_t)n;
    }
    shutdown(fd, SHUT_WR);
    (void)!read(fd, chunk, 1);
    printf("%.6f\n", now_s() - begin);
    wait(NULL);
    return 0;
}

static int
hash(size_t bytes)
{
    uint8_t *all = calloc(bytes, 1), digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx sha;
    if (all == NULL)
        return fail("no memory");
    memset(all, 7, bytes);
    double begin = now_s();
    sha256_init(&sha);
    sha256_update(&sha, bytes, all);
    sha256_digest(&sha, sizeof digest, digest);
    printf("%.6f\n", now_s() - begin);
    free(all);
    return 0;
}

/* ---- a program that serves a job ----------------------------------------------------------------------- */

static void
on_acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    struct program *program = context;
    (void)payload;
    if (program->n == program->want)
        return;
    program->states[program->n].vertex = vertex;
    program->states[program->n++].token = token;
}

static void
on_release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    (void)context, (void)vertex, (void)token, (void)payload;
}

static void
on_revoked(void *context, uint32_t vertex, uint64_t token)
{
    (void)context, (void)token;
    fprintf(stderr, "checkpoint: vertex %" PRIu32 " is revoked\n", vertex);
}

/* Serve until as many vertices are here as are wanted. */
static int
begin(struct program *program, char **args)
{
    const struct lbmap_callbacks callbacks = {.size = sizeof callbacks,
                                              .context = program,
                                              .acquire = on_acquire,
                                              .release = on_release,
                                              .revoked = on_revoked};
    size_t bytes = strtoull(args[3], NULL, 10);
    double end = now_s() + WAIT_S;
    program->want = strtoull(args[2], NULL, 10);
    program->states = calloc(program->want, sizeof *program->states);
    if (lbmap_open(args[1], &program->map) != LBMAP_OK || lbmap_attach(program->map, args[0]) != LBMAP_OK)
        return fail("there is no such job");
    while (lbmap_serve(program->map, &callbacks) == LBMAP_E_BUSY && now_s() < end)
        usleep(10000); /* the program before may be served for a moment yet */
    while (program->n < program->want && now_s() < end)
        if (lbmap_dispatch(program->map, 20) != LBMAP_OK)
            return fail(lbmap_message(program->map));
    if (program->n < program->want)
        return fail("too few vertices are here");
    for (size_t i = 0; i < program->n; i++) {
        uint8_t *all = malloc(bytes);
        if (all == NULL)
            return fail("no memory");
        for (size_t k = 0; k < bytes; k++)
            all[k] = (uint8_t)((k * 2654435761u) >> 13);
        program->states[i].payload = (struct lbmap_payload){all, bytes};
    }
    return 0;
}

/* Nothing that the daemon has already. */
static void
change_all(struct program *program)
{
    static uint64_t count;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    for (size_t i = 0; i < program->n; i++) {
        const uint64_t mark[3] = {++count, (uint64_t)now.tv_sec, (uint64_t)now.tv_nsec};
        memcpy((void *)(uintptr_t)program->states[i].payload.bytes, mark, sizeof mark);
    }
}

static int
rate(char **args)
{
    struct program program = {0};
    if (begin(&program, args) != 0)
        return 1;
    for (int i = 0; i < atoi(args[4]); i++) {
        change_all(&program);
        double begin_s = now_s();
        if (lbmap_checkpoint(program.map, program.states, program.n) != LBMAP_OK)
            return fail(lbmap_message(program.map));
        printf("%.6f\n", now_s() - begin_s);
        fflush(stdout);
        if (lbmap_dispatch(program.map, 500) != LBMAP_OK)
            return fail(lbmap_message(program.map));
    }
    lbmap_close(program.map);
    return 0;
}

/* About a millisecond of arithmetic on what fits the cache. */
static void
compute(void)
{
    static double x[FLOATS];
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < FLOATS; i++)
            x[i] = x[i] * 0.999 + 1e-3;
    __asm__ volatile("" : : "r"(x) : "memory");
}

struct tally {
    uint64_t rounds, kept;
    double begun_s, sum_s, most_s, pause_s;
};

static int
finish_one(struct program *program, struct tally *t)
{
    int done = 0;
    if (lbmap_checkpoint_done(program->map, &done) != LBMAP_OK)
        return fail(lbmap_message(program->map));
    if (!done || t->begun_s == 0)
        return 0;
    double took = now_s() - t->begun_s;
    t->kept++;
    t->sum_s += took;
    t->most_s = took > t->most_s ? took : t->most_s;
    t->begun_s = 0;
    return 0;
}

static int
start_one(struct program *program, struct tally *t, int waits)
{
    change_all(program);
    t->begun_s = now_s();
    enum lbmap_error error = waits ? lbmap_checkpoint(program->map, program->states, program->n)
                                   : lbmap_checkpoint_start(program->map, program->states, program->n);
    return error == LBMAP_OK ? 0 : fail(lbmap_message(program->map));
}

static int
work(char **args)
{
    struct program program = {0};
    struct tally t = {0};
    int checkpoints = strcmp(args[5], "none") != 0, waits = strcmp(args[5], "wait") == 0;
    double every = atof(args[6]);
    if (begin(&program, args) != 0)
        return 1;
    clock_t used = clock();
    double first = now_s(), end = first + atof(args[4]), next = first + every / 2, last = first;
    while (last < end) {
        compute();
        t.rounds++;
        if (lbmap_dispatch(program.map, 0) != LBMAP_OK)
            return fail(lbmap_message(program.map));
        if (checkpoints && t.begun_s == 0 && last >= next) {
            next += every;
            if (start_one(&program, &t, waits) != 0)
                return 1;
        }
        if (t.begun_s != 0 && finish_one(&program, &t) != 0)
            return 1;
        double now = now_s();
        t.pause_s = now - last > t.pause_s ? now - last : t.pause_s;
        last = now;
    }
    double used_s = (double)(clock() - used) / CLOCKS_PER_SEC;
    printf("%.3f %.3f %" PRIu64 " %.4f %.4f %.2f\n", (double)t.rounds / (last - first),
           (double)t.rounds / used_s, t.kept, t.kept != 0 ? t.sum_s / (double)t.kept : 0, t.most_s,
           1000 * t.pause_s);
    lbmap_close(program.map);
    return 0;
}

int
main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    if (strcmp(what, "copy") == 0)
        return copy(strtoull(argv[2], NULL, 10));
    if (strcmp(what, "hash") == 0)
        return hash(strtoull(argv[2], NULL, 10));
    if (strcmp(what, "rate") == 0 && argc == 7)
        return rate(argv + 2);
    if (strcmp(what, "work") == 0 && argc == 9)
        return work(argv + 2);
    fprintf(stderr, "usage: checkpoint copy|hash|rate|work ...\n");
    return 2;
}
