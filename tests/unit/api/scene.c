/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/unit/api/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void
scene_on_acquire(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "acquire %u %d \"%.*s\"; ", vertex, (int)token, (int)payload->len,
                   (const char *)payload->bytes);
}

void
scene_on_release(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "release %u %d; ", vertex, (int)token);
    *payload = scene->returned;
}

void
scene_on_revoked(void *context, uint32_t vertex, uint64_t token)
{
    struct scene *scene = context;
    lbm_buf_printf(&scene->told, "revoked %u %d; ", vertex, (int)token);
}

void
scene_expect_told(struct scene *scene, const char *what)
{
    int64_t end_us = daemon_now_us() + TIMEOUT_MS * 1000;
    while ((scene->told.at == NULL || strlen(scene->told.at) < strlen(what)) && daemon_now_us() < end_us)
        assert_int_equal(lbmap_dispatch(scene->map, 20), LBMAP_OK);
    assert_string_equal(scene->told.at != NULL ? scene->told.at : "", what);
    lbm_buf_free(&scene->told);
}

struct scene *
scene_make(void)
{
    struct scene *scene = lbm_alloc(1, sizeof *scene);
    daemon_make(&scene->daemon);
    assert_int_equal(lbmap_open(scene->daemon.path, &scene->map), LBMAP_OK);
    assert_int_equal(lbmap_attach(scene->map, "job"), LBMAP_OK);
    return scene;
}

int
scene_tear_down(void **state)
{
    struct scene *scene = *state;
    lbmap_close(scene->map);
    daemon_free(&scene->daemon);
    lbm_buf_free(&scene->told);
    free(scene);
    return 0;
}
