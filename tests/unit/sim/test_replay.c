/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces run again: the same seed gives the same run, vertices begin where they were, loads and hosts change
 * as the trace says, and what the recorded cluster did is measured like the rest. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/experiment/replay.h"

enum { SIDE = 16, N = SIDE * SIDE };

static const struct replay_options usual = {.file = "t", .start = LBM_START_COUNT, .rest_s = 60};

/* A trace that is being written, then run. */
struct scene {
    struct lbm_buf text;
    struct lbm_trace trace;
    struct replay_place place;
    struct replay_result result[3];
    int n; /* results */
};

/* A lattice of SIDE x SIDE on mesh:2x2, each host with its quarter. Steps follow. */
static void
put_head(struct lbm_buf *text)
{
    static const char *const links[] = {"1:1 2:1", "0:1 3:1", "0:1 3:1", "1:1 2:1"};
    lbm_buf_printf(text, "lbmap-trace 1\njob j 0.03 none 5\nguest %d %d\n", N, 2 * SIDE * (SIDE - 1));
    for (int p = 0; p < 4; p++)
        lbm_buf_printf(text, "host %d h%d 1 at 0.%d 0.%d to %s\n", 10 + p, p, 25 + 50 * (p % 2),
                       25 + 50 * (p / 2), links[p]);
    for (int v = 0; v < N; v++) {
        int x = v % SIDE, y = v / SIDE;
        lbm_buf_printf(text, "vertex %d 100 %d", v, 10 + x / (SIDE / 2) + 2 * (y / (SIDE / 2)));
        if (x + 1 < SIDE)
            lbm_buf_printf(text, " %d:1", v + 1);
        if (y + 1 < SIDE)
            lbm_buf_printf(text, " %d:1", v + SIDE);
        lbm_buf_printf(text, "\n");
    }
    lbm_buf_printf(text, "begin\n");
}

/* The trace is complete. The links above name hosts from 0; here they are 10 to 13. */
static void
read_trace(struct scene *s)
{
    struct lbm_diag diag;
    assert_false(s->text.failed);
    if (lbm_trace_read("t", s->text.at, s->text.len, &s->trace, &diag) != LBM_OK)
        fail_msg("line %u: %s", (unsigned)diag.line, diag.text);
    for (size_t i = 0; i < s->trace.hosts.n; i++)
        for (size_t k = 0; k < s->trace.hosts.at[i].links.n; k++)
            if (s->trace.hosts.at[i].links.at[k].host < 10)
                s->trace.hosts.at[i].links.at[k].host += 10;
    if (replay_place_make(&s->trace, "t", &s->place, &diag) != LBM_OK)
        fail_msg("%s", diag.text);
}

static void
put_corner(struct lbm_buf *text, const char *at, int work)
{
    lbm_buf_printf(text, "at %s\n", at);
    for (int v = 0; v < N; v++)
        if (v % SIDE < SIDE / 2 && v / SIDE < SIDE / 2)
            lbm_buf_printf(text, "load %d:%d\n", v, work);
}

static const struct replay_result *
run(struct scene *s, const struct replay_options *options, uint32_t policy)
{
    struct replay_result *result = &s->result[s->n++];
    assert_int_equal(replay_run(&s->trace, &s->place, options, policy, result), LBM_OK);
    if (getenv("SHOW") != NULL)
        for (size_t i = 0; i < result->phases.n; i++)
            print_message("%s %.1f: %.3f -> %.3f, J %.0f, moved %u, %u messages, settled %.1f\n",
                          result->policy, result->phases.at[i].at_s, result->phases.at[i].before,
                          result->phases.at[i].after, result->phases.at[i].hop_bytes,
                          result->phases.at[i].moved_vertices, (unsigned)result->phases.at[i].messages,
                          result->phases.at[i].settled_s);
    if (!result->settled)
        fail_msg("%s: %s", result->policy, result->why);
    return result;
}

static int
set_up(void **state)
{
    struct scene *s = lbm_alloc(1, sizeof *s);
    assert_non_null(s);
    put_head(&s->text);
    *state = s;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *s = *state;
    for (int i = 0; i < s->n; i++)
        replay_result_free(&s->result[i]);
    replay_place_free(&s->place);
    lbm_trace_free(&s->trace);
    lbm_buf_free(&s->text);
    free(s);
    return 0;
}

static void
loads_are_followed_the_same_way_each_time(void **state)
{
    struct scene *s = *state;
    put_corner(&s->text, "5", 200);
    put_corner(&s->text, "15", 100);
    lbm_buf_printf(&s->text, "end 30\n");
    read_trace(s);
    for (int i = 0; i < 2; i++)
        run(s, &usual, LBM_JOB_POLICY_NONE);
    struct replay_options other = usual;
    other.has_seed = 1;
    other.seed = 6;
    run(s, &other, LBM_JOB_POLICY_NONE);
    assert_true(s->result[0].hash == s->result[1].hash);
    assert_true(s->result[0].hash != s->result[2].hash);
    assert_int_equal(s->result[0].phases.n, 4); /* the start, before the first change, and two changes */
    const struct replay_phase *phase = s->result[0].phases.at;
    assert_true(phase[0].before == 0 && phase[0].moved == 0); /* a quarter each, where they were */
    assert_true(phase[0].hop_bytes == 2 * SIDE);              /* the two seams */
    assert_true(fabs(phase[2].before - 0.6) < 1e-9);          /* 2 / 1.25 - 1 */
    assert_true(phase[2].over > 0 && phase[2].moved >= phase[2].over);
    assert_true(phase[2].after <= 0.05 && phase[3].after <= 0.05);
    assert_true(phase[2].settled_s > 0 && phase[3].settled_s > 0);
    assert_true(phase[2].messages > phase[1].messages / 5 && phase[2].bytes > 0);
    assert_int_equal(s->result[0].n_changes, 2);
    assert_int_equal(s->result[0].n_settled, 2);
}

/* A budget of a vertex a second or less: the same change takes longer. */
static void
gates_hold_back(void **state)
{
    struct scene *s = *state;
    put_corner(&s->text, "5", 200);
    lbm_buf_printf(&s->text, "end 10\n");
    read_trace(s);
    struct replay_options gated = usual;
    gated.gates = LBM_GATE_BYTES;
    gated.bytes_per_s = 50;
    run(s, &usual, LBM_JOB_POLICY_NONE);
    run(s, &gated, LBM_JOB_POLICY_NONE);
    assert_true(s->result[1].phases.at[2].settled_s > s->result[0].phases.at[2].settled_s);
    assert_true(s->result[1].mean > s->result[0].mean);
}

/* All on one host: the policy levels, and so does none; from coordinator it is the same. */
static void
an_uneven_beginning_is_levelled(void **state)
{
    struct scene *s = *state;
    lbm_buf_printf(&s->text, "end 1\n");
    read_trace(s);
    for (uint32_t v = 0; v < N; v++)
        s->trace.owner[v] = 13;
    for (uint32_t policy = LBM_JOB_POLICY_NONE; policy <= LBM_JOB_POLICY_FIRST + LBM_POLICY_GDE;
         policy += LBM_POLICY_GDE + 1) {
        const struct replay_result *result = run(s, &usual, policy);
        assert_true(fabs(result->phases.at[0].before - 3) < 1e-9);
        assert_true(result->phases.at[0].after <= 0.05);
        assert_true(result->phases.at[0].moved_vertices >= N * 3 / 4 - 10);
    }
}

/* A capacity, a drain that is called off, a leave, a loss, a host that joins for the first time, one that is
 * back. */
static void
hosts_come_and_go(void **state)
{
    struct scene *s = *state;
    lbm_buf_printf(&s->text, "at 5\nhost 12 h2 0.5 at 0.25 0.75 to 10:1 13:1\n"
                             "at 15\njoin 20 new 1 at 0.5 0.5 to 10:1 13:1\n"
                             "at 30\ndrain 11\nat 30.1\nback 11\n"
                             "at 40\nleft 11\n"
                             "at 60\nlost 13\n"
                             "at 90\njoin 13 h3 2 at 0.75 0.75 to 1:1 2:1\n"
                             "at 110\njoin 11 h1 1 at 0.75 0.25 to 0:1 3:1\n"
                             "end 150\n");
    read_trace(s);
    assert_int_equal(s->place.h.n, 5);
    assert_int_equal(s->place.n_first, 4);
    assert_true(s->place.stays);
    assert_int_equal(s->place.id[0], 10);
    const struct replay_result *result = run(s, &usual, LBM_JOB_POLICY_NONE);
    assert_true(result->end <= 0.08);
    assert_int_equal(result->n_changes, 7); /* the drain and its end are one */
    for (size_t i = 2; i < result->phases.n; i++)
        if (i != 4)
            assert_true(result->phases.at[i].moved > 0);
}

/* Nobody stays all the time: then no host orders the control log. */
static void
every_host_may_leave(void **state)
{
    struct scene *s = *state;
    lbm_buf_printf(&s->text, "at 5\nleft 10\nat 25\njoin 10 h0 1 at 0.25 0.25 to 1:1 2:1\n"
                             "at 45\nleft 11\nleft 12\nat 65\nleft 13\nend 85\n");
    read_trace(s);
    assert_false(s->place.stays);
    const struct replay_result *result = run(s, &usual, LBM_JOB_POLICY_NONE);
    for (size_t i = 0; i < result->phases.n;
         i++) /* nobody waits for what a host cannot give before its lease is over */
        assert_in_range((int)result->phases.at[i].settled_s, 0,
                        6);                /* two leave at once, one after the other */
    assert_true(fabs(result->end) < 1e-9); /* one host alone */
    assert_true(result->hop_bytes_end <= 0);
}

static void
the_recorded_is_measured_too(void **state)
{
    struct scene *s = *state;
    put_corner(&s->text, "4", 200);
    lbm_buf_printf(&s->text, "at 6\nown 11 7 23 39\nat 8\nown 10 7\nend 14\n");
    read_trace(s);
    struct replay_result *result = &s->result[s->n++];
    assert_int_equal(replay_recorded(&s->trace, &s->place, &usual, result), LBM_OK);
    assert_int_equal(result->phases.n, 3);
    const struct replay_phase *phase = &result->phases.at[2];
    assert_true(fabs(phase->before - 0.6) < 1e-9);
    assert_int_equal(phase->moved_vertices, 4);
    assert_int_equal(phase->moved, 800);
    assert_true(fabs(phase->settled_s - 4) < 1e-9);
    /* 64 x 200 less 400 of 32,000, four hosts. */
    assert_true(fabs(result->end - (4 * 12400 / 32000.0 - 1)) < 1e-9);
    double whole_s = 4 * 0 + 2 * 0.6 + 2 * (4 * 12200 / 32000.0 - 1) + 6 * result->end;
    assert_true(fabs(result->mean - whole_s / 14) < 1e-9);
}

/* A front: 32 vertices of a corner become four each; then they are one again, and an edge crosses the
 * lattice. Those that are gone weigh nothing and cost nothing. */
static void
vertices_come_and_go(void **state)
{
    struct scene *s = *state;
    enum { SPLIT = 32 };
    memcpy(strchr(s->text.at, '1'), "2", 1); /* the version */
    lbm_buf_printf(&s->text, "at 5\n");
    for (int i = 0; i < 3 * SPLIT; i++)
        lbm_buf_printf(&s->text, "add 10 %d\n", N + i);
    for (int i = 0; i < SPLIT; i++) {
        int v = i % (SIDE / 2) + SIDE * (i / (SIDE / 2)), child = N + 3 * i;
        lbm_buf_printf(&s->text, "edge %d %d:2 %d:2\nedge %d %d:2\n", child + 1, v, child, v, child);
        lbm_buf_printf(&s->text, "edge %d %d:2\n", child + 1, child + 2);
        lbm_buf_printf(&s->text, "load %d:100 %d:100 %d:100\n", child, child + 1, child + 2);
    }
    lbm_buf_printf(&s->text, "at 20\n");
    for (int i = 0; i < 3 * SPLIT; i++)
        lbm_buf_printf(&s->text, "remove %d\n", N + i);
    lbm_buf_printf(&s->text, "edge 0 %d:1000\nend 35\n", N - 1);
    read_trace(s);
    assert_int_equal(s->trace.n, N + 3 * SPLIT);
    const struct replay_result *result = run(s, &usual, LBM_JOB_POLICY_NONE);
    assert_int_equal(result->phases.n, 4);
    const struct replay_phase *phase = result->phases.at;
    assert_true(fabs(phase[2].before - (4 * 160 / 352.0 - 1)) < 1e-9);
    assert_true(phase[2].moved > 0 && phase[2].after <= 0.05 && phase[2].settled_s > 0);
    assert_true(phase[3].after <= 0.05 && phase[3].settled_s > 0);
    assert_true(phase[2].hop_bytes < 300);
    struct replay_result *recorded = &s->result[s->n++];
    assert_int_equal(replay_recorded(&s->trace, &s->place, &usual, recorded), LBM_OK);
    assert_true(fabs(recorded->phases.at[2].after - (4 * 160 / 352.0 - 1)) < 1e-9);
    assert_int_equal(recorded->phases.at[2].moved, 0);
    assert_true(recorded->phases.at[2].hop_bytes == 2 * SIDE);
    assert_true(recorded->end <= 0 && recorded->hop_bytes_end == 2 * SIDE + 2 * 1000);
}

static void
hosts_in_parts_are_refused(void **state)
{
    static const char text[] =
        "lbmap-trace 1\njob j 0 none 1\nguest 1 0\nhost 3 a 1\nhost 4 b 1\nvertex 0 1 3\nbegin\n";
    struct lbm_trace trace;
    struct replay_place place;
    struct lbm_diag diag;
    (void)state;
    assert_int_equal(lbm_trace_read("t", text, strlen(text), &trace, &diag), LBM_OK);
    assert_int_not_equal(replay_place_make(&trace, "t", &place, &diag), LBM_OK);
    assert_string_equal(diag.where, "t");
    assert_non_null(strstr(diag.text, "hosts"));
    lbm_trace_free(&trace);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loads_are_followed_the_same_way_each_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gates_hold_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_uneven_beginning_is_levelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hosts_come_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_host_may_leave, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_recorded_is_measured_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vertices_come_and_go, set_up, tear_down),
        cmocka_unit_test(hosts_in_parts_are_refused),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
