/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What supervisors and people see of the daemon: notifications, the pid file, the log. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/log.h"
#include "daemon/supervisor.h"

static char directory[] = "/tmp/lbmap-supervisor-XXXXXX";

static int
make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int
remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

/* ---- notifications ------------------------------------------------------------------------------------- */

static void
systemd_is_told_of_each_turn(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char said[256];
    (void)state;
#ifndef HAVE_SYSTEMD
    print_message("built without libsystemd\n");
    skip();
#endif
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", directory);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);

    lbm_supervisor_ready("host 5");
    memset(said, 0, sizeof said);
    assert_true(recv(fd, said, sizeof said - 1, MSG_DONTWAIT) > 0);
    assert_non_null(strstr(said, "READY=1"));
    assert_non_null(strstr(said, "STATUS=host 5"));
    lbm_supervisor_alive();
    memset(said, 0, sizeof said);
    assert_true(recv(fd, said, sizeof said - 1, MSG_DONTWAIT) > 0);
    assert_non_null(strstr(said, "WATCHDOG=1"));
    lbm_supervisor_stopping();
    memset(said, 0, sizeof said);
    assert_true(recv(fd, said, sizeof said - 1, MSG_DONTWAIT) > 0);
    assert_non_null(strstr(said, "STOPPING=1"));

    unsetenv("NOTIFY_SOCKET");
    close(fd);
    unlink(address.sun_path);
    lbm_supervisor_ready("nobody listens");
}

static void
the_watchdog_is_fed_twice_a_period(void **state)
{
    (void)state;
    assert_int_equal(lbm_supervisor_alive_period_us(), 0);
#ifndef HAVE_SYSTEMD
    print_message("built without libsystemd\n");
    skip();
#endif
    setenv("WATCHDOG_USEC", "30000000", 1);
    assert_int_equal(lbm_supervisor_alive_period_us(), 15000000);
    setenv("WATCHDOG_PID", "1", 1); /* meant for another process */
    assert_int_equal(lbm_supervisor_alive_period_us(), 0);
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

/* ---- the pid file -------------------------------------------------------------------------------------- */

static void
the_pid_file_holds_the_pid(void **state)
{
    char path[64], text[32] = "", expected[32];
    (void)state;
    snprintf(path, sizeof path, "%s/pid", directory);
    for (int i = 0; i < 2; i++) /* an old one is overwritten */
        assert_int_equal(lbm_pid_file_write(path, NULL), LBM_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    unlink(path);
    snprintf(expected, sizeof expected, "%ld\n", (long)getpid());
    assert_string_equal(text, expected);
}

static void
a_pid_file_that_is_another_file_is_kept(void **state)
{
    char path[64], text[32] = "";
    struct lbm_diag diag;
    (void)state;
    snprintf(path, sizeof path, "%s/pid", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("precious\n", file);
    fclose(file);
    assert_int_equal(lbm_pid_file_write(path, &diag), LBM_E_EXISTS);
    assert_non_null(strstr(diag.text, "holds something else"));
    file = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "precious\n");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(lbm_pid_file_write(path, &diag), LBM_E_DENIED);
    unlink(path);
}

static void
a_pid_file_is_not_written_through_a_link(void **state)
{
    char path[64], target[64];
    struct lbm_diag diag = {0};
    struct stat st;
    (void)state;
    snprintf(path, sizeof path, "%s/pid", directory);
    snprintf(target, sizeof target, "%s/target", directory);
    assert_int_equal(symlink(target, path), 0);
    enum lbm_err err = lbm_pid_file_write(path, &diag);
    int written = stat(target, &st) == 0;
    unlink(path);
    assert_int_equal(err, LBM_E_DENIED);
    assert_string_equal(diag.where, path);
    assert_false(written);
    assert_int_equal(lbm_pid_file_write("/nowhere/at/all/pid", &diag), LBM_E_NOTFOUND);
}

/* ---- the log ------------------------------------------------------------------------------------------- */

/* What is written to standard error while `speak` runs. */
static void
listen_to(void (*speak)(void), int as_journal, char *heard, size_t size)
{
    char path[64], stream[64];
    struct stat st;
    snprintf(path, sizeof path, "%s/log", directory);
    int kept = dup(STDERR_FILENO);
    FILE *file = fopen(path, "w+");
    assert_true(kept >= 0 && file != NULL);
    assert_int_equal(fstat(fileno(file), &st), 0);
    snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)st.st_dev,
             (uintmax_t)st.st_ino + (as_journal ? 0 : 1));
    setenv("JOURNAL_STREAM", stream, 1);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    lbm_log_open(LBM_NOTE_INFO);
    speak();
    dup2(kept, STDERR_FILENO);
    unsetenv("JOURNAL_STREAM");
    close(kept);
    rewind(file);
    heard[fread(heard, 1, size - 1, file)] = '\0';
    fclose(file);
    unlink(path);
}

static void
speak_at_all_levels(void)
{
    lbm_log(LBM_NOTE_ERROR, "broken %d", 7);
    lbm_log(LBM_NOTE_WARNING, "odd");
    lbm_log(LBM_NOTE_INFO, "new");
    lbm_log(LBM_NOTE_DEBUG, "chatter");
    lbm_log_set_level(LBM_NOTE_DEBUG);
    lbm_log(LBM_NOTE_DEBUG, "detail");
}

static void
the_journal_gets_priorities(void **state)
{
    char heard[1024];
    (void)state;
    listen_to(speak_at_all_levels, 1, heard, sizeof heard);
    assert_string_equal(heard, "<3>broken 7\n<4>odd\n<6>new\n<7>detail\n");
}

static void
others_get_times(void **state)
{
    char heard[1024];
    int year;
    (void)state;
    listen_to(speak_at_all_levels, 0, heard, sizeof heard);
    assert_non_null(strstr(heard, "Z error: broken 7\n"));
    assert_null(strstr(heard, "chatter"));
    assert_int_equal(sscanf(heard, "%d-", &year), 1);
    assert_true(year >= 2000);
}

static void
speak_dangerously(void)
{
    char overlong[4000];
    memset(overlong, 'x', sizeof overlong);
    overlong[sizeof overlong - 1] = '\0';
    lbm_log(LBM_NOTE_INFO, "%s", "name\n<3>forged \033[31mred\x7f caf\xc3\xa9");
    lbm_log(LBM_NOTE_INFO, "%s", overlong);
    lbm_log(LBM_NOTE_INFO, "after");
}

static void
a_message_stays_one_line(void **state)
{
    char heard[8192];
    (void)state;
    listen_to(speak_dangerously, 1, heard, sizeof heard);
    const char *second = strchr(heard, '\n') + 1;
    assert_memory_equal(heard, "<6>name?<3>forged ?[31mred? caf\xc3\xa9\n", (size_t)(second - heard));
    const char *third = strchr(second, '\n') + 1;
    assert_in_range(third - second, 500, 1024);
    assert_string_equal(third, "<6>after\n");
}

static void
levels_have_names(void **state)
{
    enum lbm_note_level level = LBM_NOTE_ERROR;
    (void)state;
    assert_int_equal(lbm_log_level_parse("debug", &level), LBM_OK);
    assert_int_equal(level, LBM_NOTE_DEBUG);
    assert_int_equal(lbm_log_level_parse("Debug", &level), LBM_E_RANGE);
    assert_int_equal(lbm_log_level_parse("", &level), LBM_E_RANGE);
    assert_int_equal(level, LBM_NOTE_DEBUG);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systemd_is_told_of_each_turn),
        cmocka_unit_test(the_watchdog_is_fed_twice_a_period),
        cmocka_unit_test(the_pid_file_holds_the_pid),
        cmocka_unit_test(a_pid_file_that_is_another_file_is_kept),
        cmocka_unit_test(a_pid_file_is_not_written_through_a_link),
        cmocka_unit_test(the_journal_gets_priorities),
        cmocka_unit_test(others_get_times),
        cmocka_unit_test(a_message_stays_one_line),
        cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
