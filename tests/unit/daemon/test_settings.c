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

#define HOST "host = { name = \"h5\"; };\n"
#define LISTEN "listen = \"127.0.0.1:7005\";\n"
#define CLUSTER "cluster = \"demo\";\n"

static void
a_full_file_is_read(void **state)
{
    struct lbm_settings s;
    struct lbm_diag diag = {0};
    (void)state;
    write_file("cluster = \"demo\";\n"
               "host = { name = \"h5\"; capacity = 2; site = [0.375, 1.0, 0.5];\n"
               "  links = ( { host = 1; cost = 3; }, { host = 4; } ); };\n"
               "listen = \"[::1]:7005\";\n"
               "data = \"db/lbmap.db\"; control = \"/run/c.sock\"; pid_file = \"x.pid\";\n"
               "address = \"ws5.example:7411\"; identity = \"mine\";\n"
               "dimensions = 3; log = \"debug\"; admins = [ 0L, 4294967294L ];\n"
               "groups = { read = \"0\"; admin = \"root\"; }; operators = [ 7, 0 ];\n"
               "durability = \"memory\";\n");
    assert_int_equal(lbm_settings_read(path, &s, &diag), LBM_OK);
    assert_string_equal(s.cluster, "demo");
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
    assert_string_equal(s.address, "ws5.example:7411");
    snprintf(expected, sizeof expected, "%s/mine", directory);
    assert_string_equal(s.identity, expected);
    assert_int_equal(s.dimensions, 3);
    assert_int_equal(s.durability, LBM_DURABILITY_MEMORY);
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
    write_file(CLUSTER "host = { name = \"h\"; };" LISTEN);
    assert_int_equal(lbm_settings_read(path, &s, NULL), LBM_OK);
    assert_true(s.host.capacity == 1);
    assert_string_equal(s.address, "127.0.0.1:7005");
    assert_string_equal(s.identity, LBM_LOCALSTATEDIR "/lib/lbmap/identity");
    assert_int_equal(s.host.site.n, 0);
    assert_int_equal(s.host.links.n, 0);
    assert_string_equal(s.data, LBM_LOCALSTATEDIR "/lib/lbmap/lbmap.db");
    assert_string_equal(s.control, LBM_RUNSTATEDIR "/lbmap/lbmapd.sock");
    assert_int_equal(s.dimensions, 2);
    assert_int_equal(s.durability, LBM_DURABILITY_DISK);
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
    write_file(CLUSTER LISTEN "host = { name = \"h\"; links = (); }; admins = [ ];");
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
    {"", LBM_E_NOTFOUND, 0, "address is missing"},
    {CLUSTER HOST "listen = \"[::]:7005\";", LBM_E_NOTFOUND, 0, "address is missing"},
    {CLUSTER HOST "listen = \"0.0.0.0:7005\";", LBM_E_NOTFOUND, 0, "address is missing"},
    {CLUSTER HOST "listen = \"ws3.example:7005\";", LBM_E_UNSUPPORTED, 3, "is a name"},
    {CLUSTER HOST LISTEN "address = \"ws3\";", LBM_E_SYNTAX, 4, "ws3"},
    {CLUSTER HOST LISTEN "address = \"10.1.1:7\";", LBM_E_SYNTAX, 4, "10.1.1"},
    {CLUSTER HOST LISTEN "identity = 5;", LBM_E_SYNTAX, 4, "identity"},
    {CLUSTER HOST LISTEN "founder = true;", LBM_E_UNSUPPORTED, 4, "no setting founder"},
    {"cluster = ", LBM_E_SYNTAX, 1, "syntax"},
    {CLUSTER HOST LISTEN "\001", LBM_E_SYNTAX, 4, "syntax"},
    {CLUSTER HOST LISTEN "colour = 1;", LBM_E_UNSUPPORTED, 4, "no setting colour"},
    {CLUSTER LISTEN "host = { speed = 3; };", LBM_E_UNSUPPORTED, 3, "host.speed"},
    {CLUSTER LISTEN "host = {\nlinks = ( { host = 2; weight = 1; } ); };", LBM_E_UNSUPPORTED, 4,
     "host.links.weight"},
    {CLUSTER HOST LISTEN LISTEN, LBM_E_SYNTAX, 4, "duplicate"},
    {CLUSTER LISTEN "host = 5;", LBM_E_SYNTAX, 3, "group"},
    {CLUSTER LISTEN "host = { name = \"\"; };", LBM_E_RANGE, 3, "host.name"},
    {CLUSTER LISTEN "host = { name = \"a b\"; };", LBM_E_RANGE, 3, "host.name"},
    {CLUSTER LISTEN "host = { name = \"h\xc3\xa9\"; };", LBM_E_RANGE, 3, "host.name"},
    {CLUSTER LISTEN "host = { name = 7; };", LBM_E_SYNTAX, 3, "host.name"},
    {CLUSTER LISTEN "host = { capacity = 0.0; };", LBM_E_RANGE, 3, "host.capacity"},
    {CLUSTER LISTEN "host = { capacity = -2; };", LBM_E_RANGE, 3, "host.capacity"},
    {CLUSTER LISTEN "host = { capacity = 1e300; };", LBM_E_RANGE, 3, "host.capacity"},
    {CLUSTER LISTEN "host = { capacity = \"fast\"; };", LBM_E_SYNTAX, 3, "number"},
    {CLUSTER LISTEN "host = { site = [0.5]; };", LBM_E_SYNTAX, 3, "host.site"},
    {CLUSTER LISTEN "host = { site = [0.5, 0.5, 0.5, 0.5]; };", LBM_E_SYNTAX, 3, "host.site"},
    {CLUSTER LISTEN "host = { site = [0.5, 1.5]; };", LBM_E_RANGE, 3, "0 .. 1"},
    {CLUSTER LISTEN "host = { site = [-0.1, 0.5]; };", LBM_E_RANGE, 3, "0 .. 1"},
    {CLUSTER LISTEN "host = { site = [0.1, 0.5, 0.5]; };", LBM_E_RANGE, 3, "dimensions"},
    {CLUSTER LISTEN "host = { site = (\"x\", 1); };", LBM_E_SYNTAX, 3, "host.site"},
    {CLUSTER LISTEN "host = { links = [ 2, 3 ]; };", LBM_E_SYNTAX, 3, "host.links"},
    {CLUSTER LISTEN "host = { links = ( 2 ); };", LBM_E_SYNTAX, 3, "host.links"},
    {CLUSTER LISTEN "host = { links = ( { cost = 1; } ); };", LBM_E_NOTFOUND, 3, "host.links.host"},
    {CLUSTER LISTEN "host = { links = ( { host = 2; cost = 0; } ); };", LBM_E_RANGE, 3, "cost"},
    {CLUSTER LISTEN "host = { links = (\n{ host = 2; },\n{ host = 2; } ); };", LBM_E_EXISTS, 5, "second"},
    {CLUSTER HOST "listen = 7000;", LBM_E_SYNTAX, 3, "listen"},
    {CLUSTER HOST "listen = \"127.0.0.1\";", LBM_E_SYNTAX, 3, "10.0.3.7:7411"},
    {CLUSTER HOST "listen = \"127.0.0.1:0\";", LBM_E_RANGE, 3, "port"},
    {CLUSTER HOST "listen = \"127.0.0.1:65536\";", LBM_E_RANGE, 3, "port"},
    {CLUSTER HOST LISTEN "data = \"\";", LBM_E_RANGE, 4, "data is empty"},
    {CLUSTER HOST LISTEN "data = [ ];", LBM_E_SYNTAX, 4, "path"},
    {CLUSTER HOST LISTEN
     "control = \"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\";",
     LBM_E_LIMIT, 4, "control"},
    {CLUSTER HOST LISTEN "policy = \"steepest\";", LBM_E_RANGE, 4, "lbctl submit --help"},
    {CLUSTER HOST LISTEN "schedule = \"later\";", LBM_E_RANGE, 4, "overlapped"},
    {CLUSTER HOST LISTEN "dimensions = 4;", LBM_E_RANGE, 4, "2 .. 3"},
    {CLUSTER HOST LISTEN "log = \"loud\";", LBM_E_RANGE, 4, "error, warning, info, debug"},
    {CLUSTER HOST LISTEN "log = 3;", LBM_E_SYNTAX, 4, "log"},
    {CLUSTER HOST LISTEN "admins = 0;", LBM_E_SYNTAX, 4, "admins"},
    {CLUSTER HOST LISTEN "admins = [ -1 ];", LBM_E_RANGE, 4, "user id"},
    {CLUSTER HOST LISTEN "admins = [ \"root\" ];", LBM_E_SYNTAX, 4, "admins"},
    {CLUSTER HOST LISTEN "operators = 0;", LBM_E_SYNTAX, 4, "an array of host ids"},
    {CLUSTER HOST LISTEN "operators = [ 8192 ];", LBM_E_RANGE, 4, "operators is 8192"},
    {CLUSTER HOST LISTEN "operators = [ \"h0\" ];", LBM_E_SYNTAX, 4, "an array of host ids"},
    {CLUSTER HOST LISTEN "durability = \"tape\";", LBM_E_RANGE, 4, "must be \"disk\" or \"memory\""},
    {CLUSTER HOST LISTEN "durability = true;", LBM_E_SYNTAX, 4, "durability must be"},
    {CLUSTER HOST LISTEN "groups = { read = 0; };", LBM_E_SYNTAX, 4, "groups.read must be the name"},
    {CLUSTER HOST LISTEN "groups = { submit = \"\"; };", LBM_E_SYNTAX, 4, "groups.submit"},
    {CLUSTER HOST LISTEN "groups = { admin = \"4294967295\"; };", LBM_E_RANGE, 4, "no group id"},
    {CLUSTER HOST LISTEN "groups = { admin = \"no such\"; };", LBM_E_NOTFOUND, 4, "knows no such group"},
    {CLUSTER HOST LISTEN "groups = { write = \"0\"; };", LBM_E_UNSUPPORTED, 4, "groups.write"},
    {CLUSTER HOST LISTEN "@include \"nowhere.conf\"", LBM_E_SYNTAX, 4, "include"},
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
    lbm_buf_printf(&text, CLUSTER LISTEN "host = { name = \"h\"; links = ( { host = 1; }");
    for (unsigned i = 1; i < LBM_HOSTS_MAX; i++)
        lbm_buf_printf(&text, ", { host = %u; }", i);
    lbm_buf_printf(&text, "); };");
    write_file(text.at);
    assert_int_equal(lbm_settings_read(path, &s, &diag), LBM_E_LIMIT);
    lbm_buf_free(&text);

    lbm_buf_printf(&text, CLUSTER HOST LISTEN "admins = [ 0");
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
    snprintf(text, sizeof text, CLUSTER HOST LISTEN "@include \"%s\"\n", included);
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
            (strstr(section, "equired") != NULL && strstr(section, "required unless") == NULL))
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
addresses_are_read(void **state)
{
    static const char *const good[] = {"127.0.0.1:1", "127.255.1.2:65535", "[::1]:7000",  "localhost:80",
                                       "10.0.0.1:7",  "[::]:7000",         "[fe80::1]:7", "0.0.0.0:7411"};
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
                                      "ws3.example:7000",
                                      "[127.0.0.1]:7000",
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

static void
names_are_addresses_of_others(void **state)
{
    static const char *const good[] = {"ws3.example:7411", "ws3:1", "10.0.0.1:7", "[fd00::7]:7411",
                                       "3com.example:1"};
    static const char *const bad[] = {"10.0.0:7",   "300.1.1.1:7", "[ws3]:7", "ws 3:7",
                                      ".example:7", "-x:7",        "w/s:1",   "w%s:1"};
    struct lbm_address_text text;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(lbm_address_split(good[i], "here", 3, &text, NULL), LBM_OK);
    assert_int_equal(lbm_address_split("[fd00::7]:7411", NULL, 0, &text, NULL), LBM_OK);
    assert_string_equal(text.host, "fd00::7");
    assert_string_equal(text.port, "7411");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (lbm_address_split(bad[i], "here", 3, &text, NULL) == LBM_OK)
            fail_msg("%s was taken", bad[i]);
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
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(names_are_addresses_of_others),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
