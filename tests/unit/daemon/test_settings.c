/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The configuration file: what is read, and what each mistake is told. */
#include "config.h"

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

#include "daemon/address.h"
#include "daemon/log.h"
#include "daemon/settings.h"

static char directory[] = "/tmp/lbmap-settings-XXXXXX";
static char path[sizeof directory + 32];

static void
write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int
make_directory(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/lbmapd.conf", directory);
    return 0;
}

static int
remove_directory(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

#define HOST "host = { id = 5; name = \"h5\"; };\n"
#define LISTEN "listen = \"127.0.0.1:7005\";\n"
#define FOUNDER "cluster = \"demo\"; founder = true;\n"

static void
a_full_file_is_read(void **state)
{
    struct lbm_settings s;
    struct lbm_diag diag = {0};
    (void)state;
    write_file("cluster = \"demo\";\n"
               "host = { id = 5; name = \"h5\"; capacity = 2; site = [0.375, 1.0, 0.5];\n"
               "  links = ( { host = 1; cost = 3; }, { host = 4; } ); };\n"
               "listen = \"[::1]:7005\";\n"
               "data = \"db/lbmap.db\"; control = \"/run/c.sock\"; pid_file = \"x.pid\";\n"
               "join = { host = 0; address = \"localhost:7000\"; };\n"
               "dimensions = 3; log = \"debug\"; admins = [ 0L, 4294967294L ];\n"
               "groups = { read = \"0\"; admin = \"root\"; }; operators = [ 7, 0 ];\n");
    assert_int_equal(lbm_settings_read(path, &s, &diag), LBM_OK);
    assert_string_equal(s.cluster, "demo");
    assert_int_equal(s.host.id, 5);
    assert_string_equal(s.host.name, "h5");
    assert_true(s.host.capacity == 2);
    assert_int_equal(s.host.site.n, 3);
    assert_true(s.host.site.at[0] == 0.375 && s.host.site.at[1] == 1 && s.host.site.at[2] == 0.5);
    assert_int_equal(s.host.links.n, 2);
    assert_int_equal(s.host.links.at[0].host, 1);
    assert_int_equal(s.host.links.at[0].cost, 3);
    assert_int_equal(s.host.links.at[1].host, 4);
    assert_int_equal(s.host.links.at[1].cost, 1);
    assert_string_equal(s.listen, "[::1]:7005");
    char expected[128];
    snprintf(expected, sizeof expected, "%s/db/lbmap.db", directory);
    assert_string_equal(s.data, expected);
    snprintf(expected, sizeof expected, "%s/x.pid", directory);
    assert_string_equal(s.pid_file, expected);
    assert_string_equal(s.control, "/run/c.sock");
    assert_int_equal(s.founder, 0);
    assert_int_equal(s.join.host, 0);
    assert_string_equal(s.join.address, "localhost:7000");
    assert_int_equal(s.dimensions, 3);
    assert_int_equal(s.log, LBM_NOTE_DEBUG);
    assert_int_equal(s.rights.admins.n, 2);
    assert_int_equal(s.rights.admins.at[1], 4294967294u);
    assert_true(s.rights.read.is_given && s.rights.read.gid == 0);
    assert_true(s.rights.admin.is_given && s.rights.admin.gid == 0);
    assert_false(s.rights.submit.is_given);
    assert_true(s.operators.n == 2 && s.operators.at[0] == 7 && s.operators.at[1] == 0);
    lbm_settings_free(&s);
}

static void
absent_settings_have_their_defaults(void **state)
{
    struct lbm_settings s;
    (void)state;
    write_file(FOUNDER "host = { id = 0; name = \"h\"; };" LISTEN);
    assert_int_equal(lbm_settings_read(path, &s, NULL), LBM_OK);
    assert_true(s.host.capacity == 1);
    assert_int_equal(s.host.site.n, 0);
    assert_int_equal(s.host.links.n, 0);
    assert_string_equal(s.data, LBM_LOCALSTATEDIR "/lib/lbmap/lbmap.db");
    assert_string_equal(s.control, LBM_RUNSTATEDIR "/lbmap/lbmapd.sock");
    assert_int_equal(s.dimensions, 2);
    assert_int_equal(s.log, LBM_NOTE_INFO);
    assert_int_equal(s.rights.admins.n, 0);
    assert_string_equal(s.pid_file, "");
    lbm_settings_free(&s);
}

static void
empty_lists_are_good(void **state)
{
    struct lbm_settings s;
    (void)state;
    write_file(FOUNDER LISTEN "host = { id = 0; name = \"h\"; links = (); }; admins = [ ];");
    assert_int_equal(lbm_settings_read(path, &s, NULL), LBM_OK);
    lbm_settings_free(&s);
}

/* Files that are refused: what is wrong, in which line (0: in none), and a word the message must have. */
static const struct {
    const char *text;
    enum lbm_err err;
    unsigned line;
    const char *word;
} refused[] = {
    {"", LBM_E_NOTFOUND, 0, "host is missing"},
    {"cluster = ", LBM_E_SYNTAX, 1, "syntax"},
    {FOUNDER HOST LISTEN "\001", LBM_E_SYNTAX, 4, "syntax"},
    {FOUNDER HOST LISTEN "colour = 1;", LBM_E_UNSUPPORTED, 4, "no setting colour"},
    {FOUNDER LISTEN "host = { id = 1; speed = 3; };", LBM_E_UNSUPPORTED, 3, "host.speed"},
    {FOUNDER LISTEN "host = { id = 1;\nlinks = ( { host = 2; weight = 1; } ); };", LBM_E_UNSUPPORTED, 4,
     "host.links.weight"},
    {FOUNDER HOST LISTEN LISTEN, LBM_E_SYNTAX, 4, "duplicate"},
    {FOUNDER LISTEN "host = { name = \"h\"; };", LBM_E_NOTFOUND, 3, "host.id is missing"},
    {FOUNDER HOST, LBM_E_NOTFOUND, 0, "listen is missing"},
    {HOST LISTEN, LBM_E_NOTFOUND, 0, "founder"},
    {HOST LISTEN "founder = true;", LBM_E_NOTFOUND, 0, "cluster is missing"},
    {FOUNDER HOST LISTEN "join = { host = 0; address = \"127.0.0.1:1\"; };", LBM_E_RANGE, 4, "founder"},
    {HOST LISTEN "join = { host = 5; address = \"127.0.0.1:1\"; };", LBM_E_RANGE, 3, "this host"},
    {HOST LISTEN "join = { host = 0; };", LBM_E_NOTFOUND, 3, "join.address"},
    {HOST LISTEN "join = { address = \"127.0.0.1:1\"; };", LBM_E_NOTFOUND, 3, "join.host"},
    {FOUNDER LISTEN "host = 5;", LBM_E_SYNTAX, 3, "group"},
    {FOUNDER LISTEN "host = { id = \"5\"; };", LBM_E_SYNTAX, 3, "whole number"},
    {FOUNDER LISTEN "host = { id = 1.5; };", LBM_E_SYNTAX, 3, "whole number"},
    {FOUNDER LISTEN "host = { id = -1; };", LBM_E_RANGE, 3, "0 .. 8191"},
    {FOUNDER LISTEN "host = { id = 8192; };", LBM_E_RANGE, 3, "0 .. 8191"},
    {FOUNDER LISTEN "host = { id = 9000000000000L; };", LBM_E_RANGE, 3, "0 .. 8191"},
    {FOUNDER LISTEN "host = { id = 1; name = \"\"; };", LBM_E_RANGE, 3, "host.name"},
    {FOUNDER LISTEN "host = { id = 1; name = \"a b\"; };", LBM_E_RANGE, 3, "host.name"},
    {FOUNDER LISTEN "host = { id = 1; name = \"h\xc3\xa9\"; };", LBM_E_RANGE, 3, "host.name"},
    {FOUNDER LISTEN "host = { id = 1; name = 7; };", LBM_E_SYNTAX, 3, "host.name"},
    {FOUNDER LISTEN "host = { id = 1; capacity = 0.0; };", LBM_E_RANGE, 3, "host.capacity"},
    {FOUNDER LISTEN "host = { id = 1; capacity = -2; };", LBM_E_RANGE, 3, "host.capacity"},
    {FOUNDER LISTEN "host = { id = 1; capacity = 1e300; };", LBM_E_RANGE, 3, "host.capacity"},
    {FOUNDER LISTEN "host = { id = 1; capacity = \"fast\"; };", LBM_E_SYNTAX, 3, "number"},
    {FOUNDER LISTEN "host = { id = 1; site = [0.5]; };", LBM_E_SYNTAX, 3, "host.site"},
    {FOUNDER LISTEN "host = { id = 1; site = [0.5, 0.5, 0.5, 0.5]; };", LBM_E_SYNTAX, 3, "host.site"},
    {FOUNDER LISTEN "host = { id = 1; site = [0.5, 1.5]; };", LBM_E_RANGE, 3, "0 .. 1"},
    {FOUNDER LISTEN "host = { id = 1; site = [-0.1, 0.5]; };", LBM_E_RANGE, 3, "0 .. 1"},
    {FOUNDER LISTEN "host = { id = 1; site = [0.1, 0.5, 0.5]; };", LBM_E_RANGE, 3, "dimensions"},
    {FOUNDER LISTEN "host = { id = 1; site = (\"x\", 1); };", LBM_E_SYNTAX, 3, "host.site"},
    {FOUNDER LISTEN "host = { id = 1; links = [ 2, 3 ]; };", LBM_E_SYNTAX, 3, "host.links"},
    {FOUNDER LISTEN "host = { id = 1; links = ( 2 ); };", LBM_E_SYNTAX, 3, "host.links"},
    {FOUNDER LISTEN "host = { id = 1; links = ( { cost = 1; } ); };", LBM_E_NOTFOUND, 3, "host.links.host"},
    {FOUNDER LISTEN "host = { id = 1; links = ( { host = 2; cost = 0; } ); };", LBM_E_RANGE, 3, "cost"},
    {FOUNDER LISTEN "host = { id = 1; links = (\n{ host = 2; },\n{ host = 1; } ); };", LBM_E_RANGE, 5,
     "itself"},
    {FOUNDER LISTEN "host = { id = 1; links = (\n{ host = 2; },\n{ host = 2; } ); };", LBM_E_EXISTS, 5,
     "second"},
    {FOUNDER HOST "listen = 7000;", LBM_E_SYNTAX, 3, "listen"},
    {FOUNDER HOST "listen = \"127.0.0.1\";", LBM_E_SYNTAX, 3, "127.0.0.1:7000"},
    {FOUNDER HOST "listen = \"127.0.0.1:0\";", LBM_E_RANGE, 3, "port"},
    {FOUNDER HOST "listen = \"127.0.0.1:65536\";", LBM_E_RANGE, 3, "port"},
    {FOUNDER HOST "listen = \"0.0.0.0:7000\";", LBM_E_UNSUPPORTED, 3, "encryption"},
    {FOUNDER HOST "listen = \"192.0.2.1:7000\";", LBM_E_UNSUPPORTED, 3, "encryption"},
    {HOST LISTEN "join = { host = 0; address = \"example.org:7000\"; };", LBM_E_UNSUPPORTED, 3, "encryption"},
    {FOUNDER HOST LISTEN "founder = 1;", LBM_E_SYNTAX, 4, "duplicate"},
    {"cluster = \"c\"; founder = 1;\n" HOST LISTEN, LBM_E_SYNTAX, 1, "true or false"},
    {FOUNDER HOST LISTEN "data = \"\";", LBM_E_RANGE, 4, "data is empty"},
    {FOUNDER HOST LISTEN "data = [ ];", LBM_E_SYNTAX, 4, "path"},
    {FOUNDER HOST LISTEN
     "control = \"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\";",
     LBM_E_LIMIT, 4, "control"},
    {FOUNDER HOST LISTEN "policy = \"steepest\";", LBM_E_RANGE, 4, "lbctl submit --help"},
    {FOUNDER HOST LISTEN "schedule = \"later\";", LBM_E_RANGE, 4, "overlapped"},
    {FOUNDER HOST LISTEN "dimensions = 4;", LBM_E_RANGE, 4, "2 .. 3"},
    {FOUNDER HOST LISTEN "log = \"loud\";", LBM_E_RANGE, 4, "error, warning, info, debug"},
    {FOUNDER HOST LISTEN "log = 3;", LBM_E_SYNTAX, 4, "log"},
    {FOUNDER HOST LISTEN "admins = 0;", LBM_E_SYNTAX, 4, "admins"},
    {FOUNDER HOST LISTEN "admins = [ -1 ];", LBM_E_RANGE, 4, "user id"},
    {FOUNDER HOST LISTEN "admins = [ \"root\" ];", LBM_E_SYNTAX, 4, "admins"},
    {FOUNDER HOST LISTEN "operators = 0;", LBM_E_SYNTAX, 4, "an array of host ids"},
    {FOUNDER HOST LISTEN "operators = [ 8192 ];", LBM_E_RANGE, 4, "operators is 8192"},
    {FOUNDER HOST LISTEN "operators = [ \"h0\" ];", LBM_E_SYNTAX, 4, "an array of host ids"},
    {FOUNDER HOST LISTEN "groups = { read = 0; };", LBM_E_SYNTAX, 4, "groups.read must be the name"},
    {FOUNDER HOST LISTEN "groups = { submit = \"\"; };", LBM_E_SYNTAX, 4, "groups.submit"},
    {FOUNDER HOST LISTEN "groups = { admin = \"4294967295\"; };", LBM_E_RANGE, 4, "no group id"},
    {FOUNDER HOST LISTEN "groups = { admin = \"no such\"; };", LBM_E_NOTFOUND, 4, "knows no such group"},
    {FOUNDER HOST LISTEN "groups = { write = \"0\"; };", LBM_E_UNSUPPORTED, 4, "groups.write"},
    {FOUNDER HOST LISTEN "@include \"nowhere.conf\"", LBM_E_SYNTAX, 4, "include"},
};

static void
each_mistake_is_refused_with_file_and_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct lbm_settings s;
        struct lbm_diag diag = {0};
        memset(&s, 0x5a, sizeof s);
        const struct lbm_settings before = s;
        write_file(refused[i].text);
        enum lbm_err err = lbm_settings_read(path, &s, &diag);
        if (err != refused[i].err || diag.line != refused[i].line || strcmp(diag.where, path) != 0 ||
            strstr(diag.text, refused[i].word) == NULL)
            fail_msg("row %zu:\n%s\ngave %s: %s:%u: %s", i, refused[i].text, lbm_err_name(err), diag.where,
                     (unsigned)diag.line, diag.text);
        assert_memory_equal(&s, &before, sizeof s);
    }
}

static void
too_many_links_and_admins_are_refused(void **state)
{
    struct lbm_buf text = {0};
    struct lbm_settings s;
    struct lbm_diag diag = {0};
    (void)state;
    lbm_buf_printf(&text, FOUNDER LISTEN "host = { id = 0; name = \"h\"; links = ( { host = 1; }");
    for (unsigned i = 1; i < LBM_HOSTS_MAX; i++)
        lbm_buf_printf(&text, ", { host = %u; }", i);
    lbm_buf_printf(&text, "); };");
    write_file(text.at);
    assert_int_equal(lbm_settings_read(path, &s, &diag), LBM_E_LIMIT);
    lbm_buf_free(&text);

    lbm_buf_printf(&text, FOUNDER HOST LISTEN "admins = [ 0");
    for (unsigned i = 1; i <= LBM_SETTINGS_ADMINS_MAX; i++)
        lbm_buf_printf(&text, ", %u", i);
    lbm_buf_printf(&text, " ];");
    write_file(text.at);
    assert_int_equal(lbm_settings_read(path, &s, &diag), LBM_E_LIMIT);
    lbm_buf_free(&text);
}

static void
what_is_no_file_is_refused(void **state)
{
    struct lbm_settings s;
    struct lbm_diag diag = {0};
    char missing[sizeof directory + 32];
    (void)state;
    snprintf(missing, sizeof missing, "%s/missing.conf", directory);
    assert_int_equal(lbm_settings_read(missing, &s, &diag), LBM_E_IO);
    assert_string_equal(diag.where, missing);
    assert_int_equal(lbm_settings_read(directory, &s, &diag), LBM_E_IO);
    assert_int_equal(lbm_settings_read("/dev/null", &s, &diag), LBM_E_IO);
    write_file("");
    assert_int_equal(truncate(path, 2 << 20), 0);
    assert_int_equal(lbm_settings_read(path, &s, &diag), LBM_E_LIMIT);
}

static void
an_error_in_an_included_file_names_that_file(void **state)
{
    struct lbm_settings s;
    struct lbm_diag diag = {0};
    char text[256], included[sizeof directory + 32];
    (void)state;
    snprintf(included, sizeof included, "%s/links.conf", directory);
    snprintf(text, sizeof text, FOUNDER HOST LISTEN "@include \"%s\"\n", included);
    write_file(text);
    FILE *file = fopen(included, "w");
    assert_non_null(file);
    fputs("\ndimensions = 9;\n", file);
    fclose(file);
    enum lbm_err err = lbm_settings_read(path, &s, &diag);
    unlink(included);
    assert_int_equal(err, LBM_E_RANGE);
    assert_string_equal(diag.where, included);
    assert_int_equal(diag.line, 2);
}

/* The manual has exactly the settings of the table, each with its range and default. */
static void
the_manual_is_in_step_with_the_table(void **state)
{
    static char manual[64 << 10];
    char name[512];
    const char *top = getenv("top_srcdir");
    (void)state;
    if (top == NULL) {
        print_message("top_srcdir is not set: run by make check\n");
        skip();
    }
    snprintf(name, sizeof name, "%s/docs/man/lbmapd.conf.5.scd", top);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    manual[fread(manual, 1, sizeof manual - 1, file)] = '\0';
    fclose(file);

    char *settings_end = strstr(manual, "\n# EXAMPLE");
    assert_non_null(settings_end);
    *settings_end = '\0';
    size_t headings = 0;
    for (const char *at = strstr(manual, "\n# SETTINGS"); (at = strstr(at + 1, "\n\n*")) != NULL;)
        headings++;
    assert_int_equal(headings, lbm_settings_n);

    for (size_t i = 0; i < lbm_settings_n; i++) {
        const struct lbm_setting *row = &lbm_settings_table[i];
        char heading[80], range[64];
        snprintf(heading, sizeof heading, "\n\n*%s*\n", row->name);
        const char *start = strstr(manual, heading);
        if (start == NULL)
            fail_msg("the manual has no heading %s", row->name);
        const char *end = strstr(start + 2, "\n\n");
        char *section = strndup(start, (size_t)(end - start));
        assert_non_null(section);
        for (char *c = section; *c != '\0'; c++)
            if (*c == '\n' || *c == '\t')
                *c = ' ';
        if (row->kind == LBM_SETTING_INTEGER || row->kind == LBM_SETTING_NUMBER) {
            snprintf(range, sizeof range, "%.10g .. %.10g", row->min, row->max);
            if (strstr(section, range) == NULL)
                fail_msg("the manual gives %s no range %s", row->name, range);
        }
        if (row->preset != NULL && row->kind != LBM_SETTING_PATH && row->kind != LBM_SETTING_SOCKET) {
            snprintf(range, sizeof range, "Default: %s.", row->preset);
            if (strstr(section, range) == NULL)
                fail_msg("the manual gives %s no default %s", row->name, row->preset);
        }
        if (row->required !=
            (strstr(section, "equired") != NULL && strstr(section, "required unless") == NULL &&
             strstr(section, "Required of the founder") == NULL))
            fail_msg("the manual is wrong on whether %s is required", row->name);
        free(section);
    }
}

static void
the_example_is_good(void **state)
{
    char name[512];
    struct lbm_settings s;
    const char *top = getenv("top_srcdir");
    (void)state;
    if (top == NULL) {
        print_message("top_srcdir is not set: run by make check\n");
        skip();
    }
    snprintf(name, sizeof name, "%s/conf/lbmapd.conf", top);
    assert_int_equal(lbm_settings_read(name, &s, NULL), LBM_OK);
    lbm_settings_free(&s);
}

static void
loopback_addresses_are_read(void **state)
{
    static const char *const good[] = {"127.0.0.1:1", "127.255.1.2:65535", "[::1]:7000", "localhost:80"};
    static const char *const bad[] = {"",
                                      ":",
                                      ":7000",
                                      "127.0.0.1:",
                                      "::1:7000",
                                      "[::1]",
                                      "[]:7000",
                                      "[::1:7000",
                                      "a:b:c",
                                      "127.0.0.1:+7",
                                      "127.0.0.1:7 ",
                                      "10.0.0.1:7",
                                      "[::]:7000",
                                      "[fe80::1]:7",
                                      "127.1:7000",
                                      "127.0.0.1:000007",
                                      "127.0.0.1:99999999999999999999",
                                      "0:7000"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct lbm_address address;
        assert_int_equal(lbm_address_parse(good[i], "here", 3, &address, NULL), LBM_OK);
        assert_true(address.len > 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct lbm_address address;
        struct lbm_diag diag = {0};
        if (lbm_address_parse(bad[i], "here", 3, &address, &diag) == LBM_OK)
            fail_msg("%s was taken", bad[i]);
        assert_string_equal(diag.where, "here");
        assert_int_equal(diag.line, 3);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_file_is_read),
        cmocka_unit_test(absent_settings_have_their_defaults),
        cmocka_unit_test(empty_lists_are_good),
        cmocka_unit_test(each_mistake_is_refused_with_file_and_line),
        cmocka_unit_test(too_many_links_and_admins_are_refused),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(an_error_in_an_included_file_names_that_file),
        cmocka_unit_test(the_manual_is_in_step_with_the_table),
        cmocka_unit_test(the_example_is_good),
        cmocka_unit_test(loopback_addresses_are_read),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
