/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* lbmap.h: a program asks the daemon of its host where the vertices of a job are.
 *
 * One handle is one connection to the local lbmapd; it serves one job. Calls block until the daemon has
 * answered or the timeout is over. A handle may be used by one thread at a time; different handles are
 * independent. The library keeps no global state, prints nothing and reads no environment.
 *
 *     struct lbmap *map;
 *     struct lbmap_vertex *mine;
 *     size_t n;
 *     if (lbmap_open(NULL, &map) == LBMAP_OK) {
 *         if (lbmap_attach(map, "airfoil") == LBMAP_OK && lbmap_owned(map, &mine, &n) == LBMAP_OK) {
 *             ... vertices mine[0 .. n-1] belong to this host ...
 *             free(mine);
 *         }
 *         lbmap_close(map);
 *     }
 *
 * Vertices are 32-bit ids from 0, as in the graph that was submitted. Hosts are 32-bit ids as in the
 * daemons' configuration. A token is a number that grows whenever a vertex changes hands: whoever stores
 * results of a vertex can reject a writer with a lower token than it has seen, since that one is no longer
 * the owner. Ownership may change right after a call returned. */
#ifndef LBMAP_H
#define LBMAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors are values; LBMAP_OK is 0. Texts: lbmap_strerror, and lbmap_message for the particular case. */
enum lbmap_error {
    LBMAP_OK,
    LBMAP_E_NOMEM,       /* out of memory */
    LBMAP_E_RANGE,       /* an argument is out of range: an unknown vertex, a path that is too long */
    LBMAP_E_SYNTAX,      /* the daemon sent something that is no answer */
    LBMAP_E_LIMIT,       /* a limit of the daemon is exceeded */
    LBMAP_E_IO,          /* the connection failed */
    LBMAP_E_EXISTS,      /* already exists */
    LBMAP_E_NOTFOUND,    /* no such job */
    LBMAP_E_STATE,       /* not possible now: no job is attached, or the connection is lost */
    LBMAP_E_CORRUPT,     /* stored data is damaged */
    LBMAP_E_VERSION,     /* the daemon speaks another version */
    LBMAP_E_DENIED,      /* permission denied */
    LBMAP_E_UNSUPPORTED, /* not supported */
    LBMAP_E_UNREACHABLE, /* no daemon listens on the socket, or a host that is asked does not answer */
    LBMAP_E_TIMEOUT,     /* no answer within the timeout */
    LBMAP_E_BUSY         /* try again later */
};

struct lbmap; /* opaque */

/* A vertex that this host owns, and the token of this ownership. */
struct lbmap_vertex {
    uint32_t id;
    uint64_t token;
};

#define LBMAP_NOWHERE UINT32_MAX /* lbmap_locate: no host that answered owns the vertex at the moment */

/* Version of the library, "0.1.0". */
const char *lbmap_version(void);

/* What an error means in general. Never NULL. */
const char *lbmap_strerror(enum lbmap_error error);

/* Connect to the daemon of this host.
 * In:      socket_path of the daemon's control socket; NULL: the place where lbmap was configured to have it.
 * Out:     *map owned by the caller: lbmap_close.
 * Errors:  LBMAP_E_UNREACHABLE, LBMAP_E_DENIED, LBMAP_E_RANGE (path too long), LBMAP_E_TIMEOUT,
 *          LBMAP_E_SYNTAX, LBMAP_E_NOMEM; *map is untouched. */
enum lbmap_error lbmap_open(const char *socket_path, struct lbmap **map);

/* Close the connection and free the handle. NULL is allowed. */
void lbmap_close(struct lbmap *map);

/* What went wrong in the last call on this handle that failed, for people; "" if none has. Valid until the
 * next call. */
const char *lbmap_message(const struct lbmap *map);

/* How long a call may take, milliseconds, 1 or more; 30,000 at first. After LBMAP_E_TIMEOUT, and after any
 * other failure of the connection, all calls fail with LBMAP_E_STATE: close the handle and open another. */
enum lbmap_error lbmap_set_timeout(struct lbmap *map, unsigned timeout_ms);

/* Choose the job that the following calls are about; another one may be attached later.
 * Errors:  LBMAP_E_NOTFOUND no job of that name, LBMAP_E_RANGE no possible name; the job attached before
 *          stays. */
enum lbmap_error lbmap_attach(struct lbmap *map, const char *job);

/* Id of the host whose daemon this is. */
uint32_t lbmap_host(const struct lbmap *map);

/* Number of vertices of the attached job, 0 if none is: their ids are 0 .. vertices - 1. */
uint32_t lbmap_vertices(const struct lbmap *map);

/* The vertices that this host owns now, by id; no other host is asked. A vertex that is being handed over
 * belongs to neither host for a moment.
 * Out:     *vertices [*n], owned by the caller (free), not NULL even if *n is 0.
 * Errors:  LBMAP_E_STATE no job is attached, LBMAP_E_NOTFOUND it is gone by now; outputs untouched. */
enum lbmap_error lbmap_owned(struct lbmap *map, struct lbmap_vertex **vertices, size_t *n);

/* Where vertices are: host[i] is the owner of vertex[i], or LBMAP_NOWHERE.
 * In:      vertex [n] ids, in any order, repetitions allowed.
 * Out:     host [n]; token [n], or NULL if tokens are not wanted; 0 for LBMAP_NOWHERE.
 * Errors:  LBMAP_E_STATE no job is attached, LBMAP_E_RANGE a vertex is not of this job, LBMAP_E_NOTFOUND the
 *          job is gone by now; outputs untouched. */
enum lbmap_error lbmap_locate(struct lbmap *map, const uint32_t *vertex, size_t n, uint32_t *host,
                              uint64_t *token);

#ifdef __cplusplus
}
#endif

#endif
