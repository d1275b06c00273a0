/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What others leave of the processors, against files like the kernel's. */
#define _GNU_SOURCE /* processors a process may run on */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/spare.h"

static char root[] = "/tmp/lbmap-spare.XXXXXX";

static void
put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* All processors alike: ticks of each since the machine began. */
static void
put_stat(uint64_t busy, uint64_t idle)
{
    char path[256];
    snprintf(path, sizeof path, "%s/stat", root);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "cpu  1 2 3 4\n");
    for (int i = 0; i < CPU_SETSIZE; i++)
        fprintf(file, "cpu%d %llu 0 0 %llu 0 0 0 0 0 0\n", i, (unsigned long long)busy,
                (unsigned long long)idle);
    fprintf(file, "intr 5 5\nctxt 7\n");
    fclose(file);
}

/* An application of two threads there are, in seconds. */
static void
put_application(double ran, double waited)
{
    char text[128];
    double ticks = ran * (double)sysconf(_SC_CLK_TCK);
    snprintf(text, sizeof text, "77 (an) app) R 1 77 77 0 -1 64 9 0 0 0 %.0f %.0f 5 5 20 0 2 0\n", ticks / 2,
             ticks / 2);
    put("77/stat", text);
    snprintf(text, sizeof text, "%.0f %.0f 9\n", ran * 0.1e9, waited * 0.5e9); /* more have ended */
    put("77/task/77/schedstat", text);
    put("77/task/78/schedstat", text);
}

static int
make_files(void **state)
{
    static const char *const folders[] = {"", "/77", "/77/task", "/77/task/77", "/77/task/78"};
    char path[256];
    (void)state;
    assert_non_null(mkdtemp(root));
    for (size_t i = 1; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    return 0;
}

static int
remove_files(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static double
processors(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return CPU_COUNT(&set);
}

/* One second in which all processors were busy for that part of it, and the application ran and waited so
 * long, in parts of all processors. */
static double
look(struct lbm_spare *spare, double busy, double ran, double waited)
{
    static double seconds = 100, busy_ticks = 5000, ran_s = 10, waited_s = 10;
    const pid_t pid[] = {77, 77, 78};
    double ticks = (double)sysconf(_SC_CLK_TCK);
    seconds += 1;
    busy_ticks += busy * ticks;
    ran_s += ran * processors();
    waited_s += waited * processors();
    put_stat((uint64_t)busy_ticks, (uint64_t)(seconds * ticks - busy_ticks));
    put_application(ran_s, waited_s);
    return lbm_spare_look(spare, pid, sizeof pid / sizeof *pid);
}

static void
what_others_use_is_not_there(void **state)
{
    struct lbm_spare *spare = NULL;
    struct lbm_diag diag;
    (void)state;
    put_stat(1000, 9000);
    assert_int_equal(lbm_spare_new(root, &spare, &diag), LBM_OK);
    assert_true(look(spare, 0.5, 0, 0) == 0); /* the first time */
    assert_float_equal(look(spare, 0, 0, 0), 1, 0.03);
    assert_float_equal(look(spare, 0.25, 0, 0), 0.75, 0.03);
    assert_float_equal(look(spare, 0.75, 0.75, 0), 1, 0.03); /* it is ours */
    assert_float_equal(look(spare, 1, 0.7, 0.1), 0.7, 0.03);
    assert_float_equal(look(spare, 1, 0, 0), 0.5, 0.03);      /* a half is due, whoever else wants to run */
    assert_float_equal(look(spare, 1, 0.2, 0.6), 0.25, 0.03); /* no: that was what there was to get */
    assert_float_equal(look(spare, 1, 0.01, 0.9), 0.05, 0.03);
    put_application(0, 0); /* another process of that number */
    const pid_t pid = 77;
    put_stat(100000, 100000);
    assert_true(lbm_spare_look(spare, &pid, 1) >= 0.5);
    lbm_spare_free(spare);
}

/* Its time is not in the sum any more. */
static void
a_processor_that_goes_costs_one_look(void **state)
{
    struct lbm_spare *spare = NULL;
    struct lbm_diag diag;
    const uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
    (void)state;
    put_stat(100000, 900000);
    assert_int_equal(lbm_spare_new(root, &spare, &diag), LBM_OK);
    assert_true(lbm_spare_look(spare, NULL, 0) == 0);
    put_stat(100000, 900000 + second);
    assert_float_equal(lbm_spare_look(spare, NULL, 0), 1, 0.03);
    put_stat(50000, 450000);
    assert_true(lbm_spare_look(spare, NULL, 0) == 0);
    put_stat(50000, 450000 + second);
    assert_true(lbm_spare_look(spare, NULL, 0) == 0); /* the first time again */
    put_stat(50000 + second / 4, 450000 + second + second * 3 / 4);
    assert_float_equal(lbm_spare_look(spare, NULL, 0), 0.75, 0.03);
    lbm_spare_free(spare);
}

static void
no_files_no_measurement(void **state)
{
    struct lbm_spare *spare = NULL;
    struct lbm_diag diag;
    (void)state;
    put("stat", "cpu 1 2 3 4\nintr 5\n");
    assert_int_equal(lbm_spare_new(root, &spare, &diag), LBM_E_IO);
    assert_non_null(strstr(diag.text, "host.measure"));
    assert_int_equal(lbm_spare_new("/nowhere", &spare, &diag), LBM_E_IO);
}

static void
this_machine_tells(void **state)
{
    struct lbm_spare *spare = NULL;
    struct lbm_diag diag;
    (void)state;
    if (lbm_spare_new("/proc", &spare, &diag) != LBM_OK)
        skip();
    assert_true(lbm_spare_look(spare, NULL, 0) == 0);
    usleep(300000);
    double left = lbm_spare_look(spare, NULL, 0);
    assert_true(left >= 0.05 && left <= 1);
    lbm_spare_free(spare);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_use_is_not_there),
        cmocka_unit_test(a_processor_that_goes_costs_one_look),
        cmocka_unit_test(no_files_no_measurement),
        cmocka_unit_test(this_machine_tells),
    };
    return cmocka_run_group_tests_name("spare", tests, make_files, remove_files);
}
