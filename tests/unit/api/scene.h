/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that serves a job of the daemon in fake_daemon.h, and writes down what its callbacks are called
 * with. */
#ifndef LBM_TESTS_UNIT_API_SCENE_H
#define LBM_TESTS_UNIT_API_SCENE_H

#include "base/mem.h"
#include "lbmap.h"
#include "tests/unit/api/fake_daemon.h"

enum { TIMEOUT_MS = 10000 }; /* until callbacks are called, and of calls */

struct scene {
    struct daemon daemon;
    struct lbmap *map;
    struct lbm_buf told;           /* what the callbacks were called with */
    struct lbmap_payload returned; /* that release gives */
    int answers;                   /* so often deliver sends a message back */
};

/* Callbacks whose context is the scene. */
void scene_on_acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload);
void scene_on_release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload);
void scene_on_revoked(void *context, uint32_t vertex, uint64_t token);

/* Dispatch until the callbacks were told this, and nothing else. */
void scene_expect_told(struct scene *scene, const char *what);

/* A daemon, and an application that has attached to its job; freed by scene_tear_down. */
struct scene *scene_make(void);
int scene_tear_down(void **state);

#endif
