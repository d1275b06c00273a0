/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawings: colours of hosts can be told apart, and every scene that daemons or files may lead to is drawn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/palette.h"
#include "draw/scene.h"

enum { HOSTS_MAX = 1500, VERTICES_MAX = 400 };

/* With LeakSanitizer: fontconfig keeps its patterns until the process ends. */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
    return "leak:libfontconfig";
}

/* Sites of a grid of `columns` columns in the unit box. */
static void
fill_grid(uint32_t n, uint32_t columns, double *site)
{
    for (uint32_t p = 0; p < n; p++) {
        site[2 * p] = (p % columns + 0.5) / columns;
        site[2 * p + 1] = (p / columns + 0.5) / columns;
    }
}

static double
difference(struct lbm_colour a, struct lbm_colour b)
{
    double r = a.r - b.r, g = a.g - b.g, c = a.b - b.b;
    return r * r + g * g + c * c;
}

static void
few_hosts_have_colours_of_their_own(void **state)
{
    (void)state;
    struct lbm_host_colours colour[30];
    double site[2 * 30];
    for (uint32_t n = 1; n <= 30; n++) {
        fill_grid(n, 6, site);
        lbm_palette(n, site, colour);
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t q = 0; q < p; q++) {
                assert_true(difference(colour[p].pastel, colour[q].pastel) > 1e-4);
                assert_true(difference(colour[p].strong, colour[q].strong) > 1e-4);
            }
    }
}

static void
neighbours_among_many_hosts_differ_clearly(void **state)
{
    (void)state;
    enum { COLUMNS = 16, N = COLUMNS * COLUMNS };
    struct lbm_host_colours colour[N];
    double site[2 * N];
    fill_grid(N, COLUMNS, site);
    lbm_palette(N, site, colour);
    for (uint32_t p = 0; p < N; p++) {
        if (p % COLUMNS != 0)
            assert_true(difference(colour[p].pastel, colour[p - 1].pastel) > 0.01);
        if (p >= COLUMNS)
            assert_true(difference(colour[p].pastel, colour[p - COLUMNS].pastel) > 0.01);
    }
}

static void
colours_are_colours_wherever_the_hosts_are(void **state)
{
    (void)state;
    static double same[2 * HOSTS_MAX];
    static struct lbm_host_colours colour[HOSTS_MAX];
    const uint32_t sizes[] = {1, 2, 1024, 1025, HOSTS_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        lbm_palette(sizes[i], same, colour);
        for (uint32_t p = 0; p < sizes[i]; p++) {
            const double parts[] = {colour[p].pastel.r, colour[p].pastel.g, colour[p].pastel.b,
                                    colour[p].strong.r, colour[p].strong.g, colour[p].strong.b};
            for (size_t k = 0; k < 6; k++)
                assert_true(parts[k] >= 0.0 && parts[k] <= 1.0);
        }
    }
}

/* A scene of n vertices in a row over n_hosts hosts on a grid, with room of its own. */
static struct lbm_scene
make_scene(uint32_t n, uint32_t n_hosts)
{
    static double x[2 * VERTICES_MAX], site[2 * HOSTS_MAX], weight[HOSTS_MAX], target[HOSTS_MAX];
    static uint32_t part[VERTICES_MAX], edge[2 * VERTICES_MAX], link[2 * HOSTS_MAX];
    static uint64_t load[HOSTS_MAX];
    assert_true(n <= VERTICES_MAX && n_hosts >= 1 && n_hosts <= HOSTS_MAX);
    uint32_t columns = 1;
    while (columns * columns < n_hosts)
        columns++;
    fill_grid(n_hosts, columns, site);
    for (uint32_t v = 0; v < n; v++) {
        x[2 * v] = (v + 0.5) / n;
        x[2 * v + 1] = (v % 7) / 7.0;
        part[v] = v % n_hosts;
        edge[2 * v] = v;
        edge[2 * v + 1] = v + 1;
    }
    for (uint32_t p = 0; p < n_hosts; p++) {
        load[p] = p;
        target[p] = n_hosts / 2.0;
        link[2 * p] = p;
        link[2 * p + 1] = p + 1;
    }
    return (struct lbm_scene){.title = "a scene",
                              .n = n,
                              .x = x,
                              .part = part,
                              .n_edges = n > 0 ? n - 1 : 0,
                              .edge = edge,
                              .n_hosts = n_hosts,
                              .site = site,
                              .weight = weight,
                              .n_links = n_hosts - 1,
                              .link = link,
                              .load = load,
                              .target = target};
}

/* Draw; the text ends where the caller frees it. */
static struct lbm_buf
draw(const struct lbm_scene *scene, enum lbm_picture picture)
{
    struct lbm_buf out = {0};
    struct lbm_diag diag = {0};
    enum lbm_err err = lbm_scene_draw(scene, picture, &out, &diag);
    if (err != LBM_OK)
        fail_msg("not drawn: %s: %s", lbm_err_name(err), diag.text);
    assert_true(out.len > 100);
    return out;
}

static void
draw_and_forget(const struct lbm_scene *scene)
{
    struct lbm_buf out = draw(scene, LBM_PICTURE_SVG);
    assert_non_null(strstr(out.at, "</svg>"));
    lbm_buf_free(&out);
}

static void
scenes_of_every_size_are_drawn(void **state)
{
    (void)state;
    const struct {
        uint32_t n, n_hosts;
    } sizes[] = {{0, 1}, {1, 1}, {2, 1}, {1, 2}, {10, 30}, {VERTICES_MAX, 37}, {100, 401}, {20, HOSTS_MAX}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct lbm_scene scene = make_scene(sizes[i].n, sizes[i].n_hosts);
        draw_and_forget(&scene);
        scene.weight = NULL; /* three dimensions: no regions */
        draw_and_forget(&scene);
        scene.site = NULL; /* the guest's own positions */
        scene.link = NULL;
        draw_and_forget(&scene);
    }
}

static void
vertices_in_one_point_or_line_are_drawn(void **state)
{
    (void)state;
    static double x[2 * VERTICES_MAX];
    struct lbm_scene scene = make_scene(VERTICES_MAX, 4);
    scene.site = NULL;
    scene.link = NULL;
    scene.weight = NULL;
    scene.x = x;
    draw_and_forget(&scene);
    for (uint32_t v = 0; v < VERTICES_MAX; v++)
        x[2 * v] = v;
    draw_and_forget(&scene);
}

static void
crowded_vertices_are_shown_in_an_inset(void **state)
{
    (void)state;
    static double x[2 * VERTICES_MAX];
    struct lbm_scene scene = make_scene(VERTICES_MAX, 4);
    scene.site = NULL;
    scene.link = NULL;
    scene.weight = NULL;
    scene.x = x;
    for (uint32_t v = 0; v < VERTICES_MAX; v++) {
        double scale = v % 8 == 0 ? 100.0 : 1.0;
        x[2 * v] = scale * (v % 20);
        x[2 * v + 1] = scale * (v / 20);
    }
    struct lbm_buf crowded = draw(&scene, LBM_PICTURE_SVG);
    for (uint32_t v = 0; v < VERTICES_MAX; v++) {
        x[2 * v] = v % 20;
        x[2 * v + 1] = v / 20;
    }
    struct lbm_buf even = draw(&scene, LBM_PICTURE_SVG);
    assert_true(crowded.len > even.len + even.len / 4);
    lbm_buf_free(&crowded);
    lbm_buf_free(&even);
}

static void
names_and_titles_may_be_any_bytes(void **state)
{
    (void)state;
    static char texts[][16] = {
        "plain",       "",          "\xff\xfe",        "caf\xc3\xa9", "cut\xe2\x82", "\xed\xa0\x80",
        "\x1b[31mred", "a<b&c\">d", "\xf4\x90\x80\x80"};
    struct lbm_scene scene = make_scene(9, 9);
    char title[2000];
    memset(title, 'W', sizeof title);
    memcpy(title, "\xc3\x28\n", 3);
    title[sizeof title - 1] = '\0';
    char *names[9];
    for (size_t p = 0; p < 9; p++)
        names[p] = texts[p];
    scene.name = names;
    scene.title = title;
    draw_and_forget(&scene);
}

static void
the_same_scene_gives_the_same_picture(void **state)
{
    (void)state;
    struct lbm_scene scene = make_scene(50, 5);
    for (int picture = LBM_PICTURE_SVG; picture <= LBM_PICTURE_PNG; picture++) {
        struct lbm_buf first = draw(&scene, (enum lbm_picture)picture);
        struct lbm_buf second = draw(&scene, (enum lbm_picture)picture);
        assert_int_equal(first.len, second.len);
        /* cairo numbers the surfaces of a process, and the SVG names its clip paths and glyphs by them. */
        if (picture == LBM_PICTURE_PNG)
            assert_memory_equal(first.at, second.at, first.len);
        lbm_buf_free(&first);
        lbm_buf_free(&second);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_hosts_have_colours_of_their_own),
        cmocka_unit_test(neighbours_among_many_hosts_differ_clearly),
        cmocka_unit_test(colours_are_colours_wherever_the_hosts_are),
        cmocka_unit_test(scenes_of_every_size_are_drawn),
        cmocka_unit_test(vertices_in_one_point_or_line_are_drawn),
        cmocka_unit_test(crowded_vertices_are_shown_in_an_inset),
        cmocka_unit_test(names_and_titles_may_be_any_bytes),
        cmocka_unit_test(the_same_scene_gives_the_same_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
