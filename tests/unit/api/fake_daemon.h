/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A daemon that is a thread of the test, with a real lease page: it notes what an application asks for, and
 * pushes what the test wants. */
#ifndef LBM_TESTS_UNIT_API_FAKE_DAEMON_H
#define LBM_TESTS_UNIT_API_FAKE_DAEMON_H

#include <pthread.h>

#include "base/mem.h"
#include "daemon/lease_page.h"
#include "wire/wire.h"

enum { DAEMON_HOST = 3, DAEMON_VERTICES = 1000, DAEMON_LISTED = 16 };

struct listed {
    uint32_t vertex;
    uint64_t token;
    char payload[16]; /* "-": none was sent */
};

struct daemon {
    char directory[64], path[96], page_path[112];
    int listening, connection;
    pthread_t thread;
    struct lbm_lease_file *page;
    uint64_t life;

    pthread_mutex_t lock; /* of what follows */
    uint64_t attach_id;
    unsigned n_attach;
    uint32_t wants_edges;
    struct listed attached[DAEMON_LISTED], released[DAEMON_LISTED], kept[DAEMON_LISTED];
    size_t n_attached, n_released, n_kept;
    unsigned n_changes;
    double load;   /* all that was reported */
    char note[32]; /* published last, */
    uint32_t finished;
    size_t n_published, n_posted;
    struct lbm_buf posted;  /* all that was posted, one after the other, */
    struct lbm_buf payload; /* and the payloads of the last checkpoint or release */
    uint64_t released_term; /* of the last ones, */
    uint64_t kept_term;     /* and of the last checkpoint or change */
    size_t n_returned;      /* of released, all */
    enum lbm_err refusal;   /* of attach */
    unsigned late_answers;  /* checkpoints are not answered, but with the next one */
    uint64_t unanswered[DAEMON_LISTED];
    size_t n_unanswered;
    struct lbm_buf blob;     /* the last large payload, as far as it has come, */
    uint8_t blob_digest[32]; /* and its digest */
    size_t n_pieces;         /* that were brought, of all */
    int damages_blob;        /* a byte of it is another one when it is read */
    enum lbm_err blob_error; /* no piece is taken, or given, for that reason */
    unsigned n_blobs;        /* payloads in checkpoints and releases that describe one */
};

int64_t daemon_now_us(void);

/* It listens in a directory of its own, and its lease lasts for a minute in term 1. Undone by daemon_free,
 * which ends it if it has not died. */
void daemon_make(struct daemon *daemon);
void daemon_free(struct daemon *daemon);

/* Begin (again) to listen, with a page of a new life. End the connection; the daemon goes on. End as if it
 * crashed: the page keeps what it says, and loses its lock. */
void daemon_begin(struct daemon *daemon);
void daemon_cut(struct daemon *daemon);
void daemon_die(struct daemon *daemon);

/* Answer the checkpoints that are not answered yet. */
void daemon_answer_late(struct daemon *daemon);

void daemon_respond(int fd, uint64_t id, int last, Lbm__Response *response);
void daemon_push_acquire(struct daemon *daemon, uint64_t term, uint32_t vertex, uint64_t token,
                         const char *payload);
void daemon_push_given(struct daemon *daemon, uint64_t term, uint32_t vertex, uint64_t token,
                       const void *payload, size_t n);
/* The payload is the large one that was brought last. */
void daemon_push_acquire_large(struct daemon *daemon, uint64_t term, uint32_t vertex, uint64_t token);
/* n vertices from the first one on, with token 1 and without payloads. */
void daemon_push_acquires(struct daemon *daemon, uint64_t term, uint32_t first, uint32_t n);
void daemon_push_release(struct daemon *daemon, uint32_t vertex, uint64_t token);
/* The vertex has one edge, of weight 3; LBM_NONE: none. */
void daemon_push_neighbours(struct daemon *daemon, uint32_t vertex, uint64_t token, uint32_t other);
/* The same, and where its other end is. */
void daemon_push_neighbour_at(struct daemon *daemon, uint32_t vertex, uint64_t token, uint32_t other,
                              uint32_t host);

/* A program at that host is there, or not; it has posted. */
void daemon_push_place(struct daemon *daemon, uint32_t host, uint32_t present, uint32_t finished);
void daemon_push_posted(struct daemon *daemon, uint32_t host, const char *text);
void daemon_push_bytes(struct daemon *daemon, uint32_t host, const void *bytes, size_t n);

#endif
