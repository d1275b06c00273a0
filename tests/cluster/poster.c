/* SPDX-License-Identifier: GPL-3.0-or-later */
/* poster JOB SOCKET NOTE: publish a note, say on standard output who comes and goes, and send every message
 * back. poster JOB SOCKET NOTE HOST COUNT BYTES: and send that many messages to the program of a host, one
 * after the other, print the median of the times until they were back, and end. NOTE "finish": say that the
 * job is done, and end. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cluster/serving.h"

enum { WAIT_MS = 20, END_S = 300, BYTES_MAX = 1 << 20, LOST_US = 1000000 };

struct poster {
    struct lbmap *map;
    uint32_t to;   /* LBMAP_NOWHERE: whoever posts gets it back */
    uint8_t *last; /* a message, copied out of the callback */
    size_t len;    /* 0: none */
    uint32_t from;
    int is_up; /* the one that messages go to */
};

static void
acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    (void)context, (void)vertex, (void)token, (void)payload;
}

static void
release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    (void)context, (void)vertex, (void)token, (void)payload;
}

static void
revoked(void *context, uint32_t vertex, uint64_t token)
{
    (void)context, (void)vertex, (void)token;
}

static void
peer_up(void *context, const struct lbmap_peer *peer)
{
    struct poster *poster = context;
    printf("up %" PRIu32 " %s %s \"%.*s\"%s\n", peer->host, peer->name, peer->address, (int)peer->note_len,
           (const char *)peer->note, peer->finished ? " finished" : "");
    fflush(stdout);
    poster->is_up |= peer->host == poster->to;
}

static void
peer_down(void *context, uint32_t host)
{
    (void)context;
    printf("down %" PRIu32 "\n", host);
    fflush(stdout);
}

static void
message(void *context, uint32_t host, const void *bytes, size_t n)
{
    struct poster *poster = context;
    memcpy(poster->last, bytes, n);
    poster->len = n;
    poster->from = host;
}

static int
by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Send and wait until it is back. Value: microseconds, or -1. */
static int64_t
send_one(struct poster *poster, size_t bytes, uint8_t with)
{
    int64_t begin_us = serving_now_us();
    memset(poster->last, with, bytes);
    poster->len = 0;
    if (lbmap_post(poster->map, poster->to, poster->last, bytes) != LBMAP_OK)
        return -1;
    while (poster->len == 0 && serving_now_us() - begin_us < LOST_US)
        if (lbmap_dispatch(poster->map, WAIT_MS) != LBMAP_OK)
            return -1;
    int is_same = poster->len == bytes && poster->from == poster->to && poster->last[bytes - 1] == with;
    return is_same ? serving_now_us() - begin_us : -1;
}

static int
measure(struct poster *poster, size_t count, size_t bytes)
{
    int64_t *time_us = calloc(count + 1, sizeof *time_us), end_us = serving_now_us() + 60 * INT64_C(1000000);
    size_t n = 0, lost = 0;
    while (!poster->is_up && serving_now_us() < end_us && lbmap_dispatch(poster->map, WAIT_MS) == LBMAP_OK)
        continue;
    for (size_t i = 0; time_us != NULL && i < count && poster->is_up; i++) {
        int64_t us = send_one(poster, bytes, (uint8_t)i);
        if (us >= 0)
            time_us[n++] = us;
        else
            lost++;
    }
    if (n != 0) {
        qsort(time_us, n, sizeof *time_us, by_time);
        printf("median %" PRId64 " us, %zu of %zu bytes back, %zu lost\n", time_us[n / 2], n, bytes, lost);
    }
    free(time_us);
    return n != 0 && lost == 0 ? 0 : 1;
}

static int
work(struct poster *poster, int argc, char **argv)
{
    if (strcmp(argv[3], "finish") == 0)
        return lbmap_finish(poster->map) != LBMAP_OK;
    if (argc == 7)
        return measure(poster, strtoul(argv[5], NULL, 10), strtoul(argv[6], NULL, 10));
    while (!serving_stopped && lbmap_dispatch(poster->map, WAIT_MS) == LBMAP_OK)
        if (poster->len != 0) {
            (void)lbmap_post(poster->map, poster->from, poster->last, poster->len);
            poster->len = 0;
        }
    return 0;
}

int
main(int argc, char **argv)
{
    enum lbmap_error error = LBMAP_OK;
    if (argc != 4 && argc != 7) {
        fprintf(stderr, "usage: poster JOB SOCKET NOTE [HOST COUNT BYTES]\n");
        return 2;
    }
    serving_until_stopped();
    struct poster poster = {.to = argc == 7 ? (uint32_t)strtoul(argv[4], NULL, 10) : LBMAP_NOWHERE,
                            .last = malloc(BYTES_MAX)};
    poster.map = serving_open(argv[1], argv[2], serving_now_us() + END_S * INT64_C(1000000), &error);
    const struct lbmap_callbacks callbacks = {.size = sizeof callbacks,
                                              .context = &poster,
                                              .acquire = acquire,
                                              .release = release,
                                              .revoked = revoked,
                                              .peer_up = peer_up,
                                              .peer_down = peer_down,
                                              .message = message};
    int status = 1;
    if (poster.map != NULL && poster.last != NULL &&
        (error = lbmap_serve(poster.map, &callbacks)) == LBMAP_OK &&
        (error = lbmap_publish(poster.map, argv[3], strlen(argv[3]))) == LBMAP_OK)
        status = work(&poster, argc, argv);
    if (error != LBMAP_OK)
        fprintf(stderr, "poster: %s\n",
                poster.map != NULL ? lbmap_message(poster.map) : lbmap_strerror(error));
    lbmap_close(poster.map);
    free(poster.last);
    return status;
}
