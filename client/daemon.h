/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Talking to a daemon: a connection, questions, and what an operator is told when there is no answer.
 *
 * Owns: the mapping of failures to exit statuses; guests and mappings on the control socket.
 * The connection itself is the application library's (lib/api/call.h). */
#ifndef LBM_CLIENT_DAEMON_H
#define LBM_CLIENT_DAEMON_H

#include "api/call.h"
#include "api/payloads.h"
#include "client/command.h"
#include "client/report.h"
#include "client/table.h"
#include "graph/graph.h"
#include "host/host.h"
#include "map/map.h"

enum { LBM_DAEMON_TIMEOUT_MS = 10000 };

#define LBM_JOB_OPERAND                                                                                      \
    {                                                                                                        \
        .name = "JOB", .text = "name of the job", .longest = LBM_NAME_MAX                                    \
    }

struct lbm_daemon {
    const struct lbm_cli *client;
    const char *socket;
    struct lbmap handle;
};

/* Connect to the daemon at path (NULL: the --socket of the command line).
 * Returns LBM_STATUS_DONE, or the status after its message was printed (unless quiet is set). */
enum lbm_status lbm_daemon_open(struct lbm_daemon *daemon, const struct lbm_cli *client, const char *path,
                                unsigned timeout_ms, int quiet);
void lbm_daemon_close(struct lbm_daemon *daemon);

/* Ask; parts of the answer go to take (may be NULL). Prints why it failed.
 * Status: DONE, FAILED (the daemon refused), UNREACHABLE (it went away), TIMED_OUT. */
enum lbm_status lbm_daemon_ask(struct lbm_daemon *daemon, Lbm__Request *request, lbm_api_chunk take,
                               void *arg);

/* Bring a large payload; and read one of a job that a host has (lib/api/payloads.h). Prints why it failed.
 * Status: as lbm_daemon_ask. */
enum lbm_status lbm_daemon_put(struct lbm_daemon *daemon, const struct lbmap_payload *payload,
                               uint8_t words[LBM_API_BLOB_WORDS]);
enum lbm_status lbm_daemon_get(struct lbm_daemon *daemon, const char *job, uint32_t host,
                               const uint8_t words[LBM_API_BLOB_WORDS], struct lbmap_payload *payload);

/* Ask for a change of the control log. The request gets an identity: while the daemon is away and time is
 * left it is asked again, as the same request, which the log takes once. Status: as lbm_daemon_ask. */
enum lbm_status lbm_daemon_change(struct lbm_daemon *daemon, Lbm__Request *request);

/* An answer as a table, a row for each entry. */
struct lbm_listing {
    const struct lbm_column *columns;
    size_t n; /* columns */
    const char *const
        *texts;         /* fields for people, which --json leaves out, with a NULL at the end; or NULL */
    lbm_api_chunk take; /* its argument is a JSON array of rows */
};

/* Ask, and print the answer. Status: as lbm_daemon_ask. */
enum lbm_status lbm_daemon_list(struct lbm_daemon *daemon, Lbm__Request *request,
                                const struct lbm_listing *listing);

/* Ask for one job by name, or with an empty name for all. */
enum lbm_status lbm_daemon_jobs(struct lbm_daemon *daemon, const char *job, lbm_api_chunk take, void *arg);

/* The members as a host graph. ids [h->n] host ids in order; owned by the caller.
 * Only ACTIVE members count; status FAILED with a message if they are not connected. */
enum lbm_status lbm_daemon_hosts(struct lbm_daemon *daemon, struct lbm_hosts *h, uint32_t **ids);

/* Ask for a mapping: a large one in pieces, each when the one before has been read, and in the end for what
 * has changed meanwhile. The request is changed. Status: as lbm_daemon_ask. */
enum lbm_status lbm_daemon_map(struct lbm_daemon *daemon, Lbm__MapRequest *map, lbm_api_chunk take,
                               void *arg);

/* A job's mapping gathered from all hosts. */
struct lbm_job_map {
    struct lbm_graph g;
    struct lbm_plan plan; /* part: number of the host in lbm_daemon_hosts, LBM_NONE: nobody answered for it */
    uint64_t *epoch;      /* [n] */
    uint32_t *id;         /* [n] of the vertices; NULL: 0 .. n - 1, none has been removed */
    uint64_t present;     /* that many vertices there are, as last heard */
    uint32_t n_lost;      /* vertices with part LBM_NONE */
    uint32_t n_missing;   /* hosts that did not answer */
    uint32_t missing[16]; /* their ids, the first of them */
};

/* A job as its hosts hold it now, with its figures. */
struct lbm_picture {
    struct lbm_hosts h;
    uint32_t *ids; /* [h.n] */
    struct lbm_job_map map;
    struct lbm_report report;
};

/* Errors are printed; also that hosts did not answer, or that vertices are on their way: status FAILED.
 * Free it in any case. */
enum lbm_status lbm_daemon_picture(struct lbm_daemon *daemon, const char *job, struct lbm_picture *picture);
void lbm_picture_free(struct lbm_picture *picture);

#endif
