/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option parser: what it accepts, what it refuses and in which words, and what --help shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"
#include "client/links.h"

enum { HOSTS, SEED, BOUND, METHOD, OUTPUT, FLAG, SHARE, OPTIONS };
enum { QUIET, GLOBALS };
enum { OPERANDS_MAX = 2, ARGS_MAX = 16 };

static const struct lbm_choice methods[] = {{"lbmap", "ours"}, {"heirich", "the paper's"}, {NULL, NULL}};

static const struct lbm_option own[OPTIONS] = {
    [HOSTS] = {.name = "hosts", .type = LBM_OPTION_TEXT, .value = "SPEC", .required = 1, .text = "hosts"},
    [SEED] = {.name = "seed",
              .type = LBM_OPTION_INTEGER,
              .value = "N",
              .max = LBM_OPTION_INTEGER_MAX,
              .fallback = "1",
              .text = "seed"},
    [BOUND] = {.name = "imbalance",
               .letter = 'i',
               .type = LBM_OPTION_NUMBER,
               .value = "EPS",
               .max = 10.0,
               .fallback = "0.03",
               .unit = "of the share",
               .text = "bound"},
    [METHOD] = {.name = "method",
                .type = LBM_OPTION_CHOICE,
                .value = "METHOD",
                .fallback = "lbmap",
                .choices = methods,
                .text = "method"},
    [OUTPUT] = {.name = "output", .letter = 'o', .type = LBM_OPTION_TEXT, .value = "FILE", .text = "output"},
    [FLAG] = {.name = "verbose", .letter = 'v', .type = LBM_OPTION_FLAG, .text = "flag"},
    [SHARE] = {.name = "share", .type = LBM_OPTION_SHARE, .value = "S", .max = 1.0, .text = "share"},
};

static const struct lbm_option global[GLOBALS] = {
    [QUIET] = {.name = "quiet", .letter = 'q', .type = LBM_OPTION_FLAG, .text = "quiet"},
};

static const struct lbm_operand operand_rows[OPERANDS_MAX] = {
    {.name = "GRAPH", .text = "a graph"}, {.name = "MAP", .optional = 1, .text = "a map"}};

/* What one parse leaves behind. */
struct parsed {
    struct lbm_option_value value[OPTIONS], global[GLOBALS];
    const char *operand[OPERANDS_MAX];
    struct lbm_operands operands;
    struct lbm_option_set sets[2];
    int used;
    struct lbm_diag diag;
    enum lbm_err err;
};

/* Parse words separated by single spaces; "~" stands for an empty word. operands_max as in lbm_operands. */
static struct parsed *
parse_up_to(size_t operands_max, const char *line)
{
    static char words[512];
    static struct parsed p;
    char *argv[ARGS_MAX];
    int argc = 0;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(argc < ARGS_MAX);
        argv[argc++] = strcmp(word, "~") == 0 ? word + 1 : word;
    }
    memset(&p, 0, sizeof p);
    p.sets[0] = (struct lbm_option_set){own, OPTIONS, p.value};
    p.sets[1] = (struct lbm_option_set){global, GLOBALS, p.global};
    p.operands = (struct lbm_operands){p.operand, 0, operands_max};
    lbm_options_reset(&p.sets[0]);
    lbm_options_reset(&p.sets[1]);
    p.err = lbm_options_parse(p.sets, 2, argc, argv, &p.operands, &p.used, &p.diag);
    return &p;
}

static struct parsed *
parse(const char *line)
{
    return parse_up_to(OPERANDS_MAX, line);
}

static void
assert_refused(const char *line, enum lbm_err err, const char *where, const char *words)
{
    struct parsed *p = parse(line);
    assert_int_equal(p->err, err);
    assert_string_equal(p->diag.where, where);
    if (strstr(p->diag.text, words) == NULL)
        fail_msg("'%s' says '%s', not '%s'", line, p->diag.text, words);
}

/* ---- accepted ------------------------------------------------------------------------------------ */

static void
no_arguments_leave_the_fallbacks(void **state)
{
    (void)state;
    struct parsed *p = parse("");
    assert_int_equal(p->err, LBM_OK);
    assert_int_equal(p->operands.n, 0);
    assert_int_equal(p->value[SEED].integer, 1);
    assert_true(p->value[BOUND].number == 0.03);
    assert_string_equal(p->value[METHOD].text, "lbmap");
    assert_null(p->value[HOSTS].text);
    for (int i = 0; i < OPTIONS; i++)
        assert_false(p->value[i].given);
}

static void
values_follow_or_are_attached(void **state)
{
    static const char *const lines[] = {"--output a.part --imbalance 0.5",
                                        "--output=a.part --imbalance=0.5",
                                        "-o a.part -i 0.5",
                                        "-oa.part -i0.5",
                                        "-qvo a.part -i.5",
                                        "-oa.part -i 5e-1"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct parsed *p = parse(lines[i]);
        assert_int_equal(p->err, LBM_OK);
        assert_string_equal(p->value[OUTPUT].text, "a.part");
        assert_true(p->value[OUTPUT].given);
        assert_true(p->value[BOUND].number == 0.5);
    }
}

static void
flags_may_stand_together(void **state)
{
    (void)state;
    struct parsed *p = parse("-qv");
    assert_int_equal(p->err, LBM_OK);
    assert_true(p->value[FLAG].given);
    assert_true(p->global[QUIET].given);
}

static void
options_and_operands_mix(void **state)
{
    (void)state;
    struct parsed *p = parse("a.graph --seed 7 -q b.map");
    assert_int_equal(p->err, LBM_OK);
    assert_int_equal(p->operands.n, 2);
    assert_string_equal(p->operand[0], "a.graph");
    assert_string_equal(p->operand[1], "b.map");
    assert_int_equal(p->value[SEED].integer, 7);
    assert_int_equal(p->used, 5);
}

static void
two_dashes_end_the_options(void **state)
{
    (void)state;
    struct parsed *p = parse("-q -- --seed");
    assert_int_equal(p->err, LBM_OK);
    assert_int_equal(p->operands.n, 1);
    assert_string_equal(p->operand[0], "--seed");
}

static void
one_dash_is_an_operand_and_a_value(void **state)
{
    (void)state;
    struct parsed *p = parse("- -o -");
    assert_int_equal(p->err, LBM_OK);
    assert_string_equal(p->operand[0], "-");
    assert_string_equal(p->value[OUTPUT].text, "-");
}

static void
a_value_may_begin_with_a_dash_if_attached(void **state)
{
    (void)state;
    struct parsed *p = parse("--output=-x");
    assert_int_equal(p->err, LBM_OK);
    assert_string_equal(p->value[OUTPUT].text, "-x");
}

static void
a_choice_gives_its_index(void **state)
{
    (void)state;
    struct parsed *p = parse("--method heirich");
    assert_int_equal(p->err, LBM_OK);
    assert_int_equal(p->value[METHOD].integer, 1);
}

static void
without_room_parsing_ends_at_the_first_operand(void **state)
{
    (void)state;
    struct parsed *p = parse_up_to(0, "-q --seed 3 plan --nonsense");
    assert_int_equal(p->err, LBM_OK);
    assert_int_equal(p->used, 3);
    assert_int_equal(p->value[SEED].integer, 3);
}

static void
limits_are_accepted(void **state)
{
    (void)state;
    assert_int_equal(parse("--seed 9007199254740991")->value[SEED].integer, UINT64_C(9007199254740991));
    assert_int_equal(parse("--seed 0")->err, LBM_OK);
    assert_int_equal(parse("-i 10")->err, LBM_OK);
    assert_int_equal(parse("-i 0")->err, LBM_OK);
}

static void
a_share_may_be_written_in_percent(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        double share;
    } lines[] = {{"--share 3%", 0.03}, {"--share=0.03", 0.03}, {"--share 100%", 1},    {"--share 1", 1},
                 {"--share 0", 0},     {"--share 0%", 0},      {"--share 0.5%", 0.005}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct parsed *p = parse(lines[i].line);
        assert_int_equal(p->err, LBM_OK);
        double error = p->value[SHARE].number - lines[i].share;
        assert_true(error < 1e-15 && error > -1e-15);
    }
    assert_refused("--share 3", LBM_E_RANGE, "--share", "for 3 percent write 3% or 0.03");
    assert_refused("--share 101", LBM_E_RANGE, "--share", "from 0 to 1, or a percentage such as 3%");
    assert_refused("--share 101%", LBM_E_RANGE, "--share", "a percentage");
    assert_refused("--share=-1%", LBM_E_RANGE, "--share", "a percentage");
    assert_refused("--share 1e999%", LBM_E_RANGE, "--share", "a percentage");
    static const char *const texts[] = {"%", "3%%", "3 %x", "0x1%", "nan", "inf%", "%3", "3%4"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char line[32];
        snprintf(line, sizeof line, "--share=%s", texts[i]);
        struct parsed *p = parse(line);
        assert_int_not_equal(p->err, LBM_OK);
    }
}

/* ---- refused ------------------------------------------------------------------------------------- */

static void
unknown_options_are_refused(void **state)
{
    (void)state;
    assert_refused("--sed 1", LBM_E_SYNTAX, "--sed", "no such option");
    assert_refused("--seeds=1", LBM_E_SYNTAX, "--seeds", "no such option");
    assert_refused("--see 1", LBM_E_SYNTAX, "--see", "no such option");
    assert_refused("-x", LBM_E_SYNTAX, "-x", "no such option");
    assert_refused("-qx", LBM_E_SYNTAX, "-x", "no such option");
    assert_refused("--=1", LBM_E_SYNTAX, "--", "no such option");
}

static void
options_given_twice_are_refused(void **state)
{
    (void)state;
    assert_refused("--seed 1 --seed 1", LBM_E_SYNTAX, "--seed", "given twice");
    assert_refused("-o a --output=b", LBM_E_SYNTAX, "--output", "given twice");
    assert_refused("-qq", LBM_E_SYNTAX, "-q", "given twice");
}

static void
missing_values_are_refused(void **state)
{
    (void)state;
    assert_refused("--hosts", LBM_E_SYNTAX, "--hosts", "a value is missing");
    assert_refused("--hosts --seed 1", LBM_E_SYNTAX, "--hosts", "a value is missing");
    assert_refused("-o", LBM_E_SYNTAX, "-o", "a value is missing");
    assert_refused("-o --", LBM_E_SYNTAX, "-o", "a value is missing");
    assert_refused("--hosts=", LBM_E_SYNTAX, "--hosts", "empty");
    assert_refused("--hosts ~", LBM_E_SYNTAX, "--hosts", "empty");
}

static void
a_flag_takes_no_value(void **state)
{
    (void)state;
    assert_refused("--quiet=1", LBM_E_SYNTAX, "--quiet", "takes no value");
}

static void
what_is_no_number_is_refused(void **state)
{
    (void)state;
    static const char *const integers[] = {"x", "1x", "1.5", "1e3", "0x10", "=-1", "+1"};
    static const char *const numbers[] = {"x", "1x", "nan", "inf", "0x1p2", "1,5", ".", "=-", "e1", "1-"};
    char line[64];
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        snprintf(line, sizeof line, "--seed%s%s", integers[i][0] == '=' ? "" : " ", integers[i]);
        assert_refused(line, LBM_E_SYNTAX, "--seed", "is not a whole number from 0 to 9007199254740991");
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        snprintf(line, sizeof line, "--imbalance%s%s", numbers[i][0] == '=' ? "" : " ", numbers[i]);
        assert_refused(line, LBM_E_SYNTAX, "--imbalance", "is not a number from 0 to 10 of the share");
    }
}

static void
numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_refused("--seed 9007199254740992", LBM_E_RANGE, "--seed", "whole number");
    assert_refused("--seed 99999999999999999999999999999", LBM_E_RANGE, "--seed", "whole number");
    assert_refused("-i 10.01", LBM_E_RANGE, "-i", "from 0 to 10");
    assert_refused("-i=-0.1", LBM_E_SYNTAX, "-i", "from 0 to 10");
    assert_refused("--imbalance=-0.1", LBM_E_RANGE, "--imbalance", "from 0 to 10");
    assert_refused("-i 1e999", LBM_E_RANGE, "-i", "from 0 to 10");
}

static void
an_unknown_choice_names_the_right_ones(void **state)
{
    (void)state;
    assert_refused("--method scotch", LBM_E_RANGE, "--method", "'scotch' is none of lbmap, heirich");
    assert_refused("--method lbma", LBM_E_RANGE, "--method", "lbmap, heirich");
}

static void
too_many_operands_are_refused(void **state)
{
    (void)state;
    assert_refused("a b c", LBM_E_SYNTAX, "c", "one operand too many");
}

static void
missing_operands_and_options_are_named(void **state)
{
    (void)state;
    struct parsed *p = parse("--hosts ring:4");
    assert_int_equal(lbm_options_complete(&p->sets[0], operand_rows, OPERANDS_MAX, &p->operands, &p->diag),
                     LBM_E_SYNTAX);
    assert_non_null(strstr(p->diag.text, "GRAPH is missing"));
    p = parse("a.graph");
    assert_int_equal(lbm_options_complete(&p->sets[0], operand_rows, OPERANDS_MAX, &p->operands, &p->diag),
                     LBM_E_SYNTAX);
    assert_non_null(strstr(p->diag.text, "--hosts SPEC is missing"));
    p = parse("a.graph --hosts ring:4");
    assert_int_equal(lbm_options_complete(&p->sets[0], operand_rows, OPERANDS_MAX, &p->operands, &p->diag),
                     LBM_OK);
}

static void
operands_are_something_and_not_too_long(void **state)
{
    (void)state;
    const struct lbm_operand rows[] = {operand_rows[0], {.name = "MAP", .text = "a map", .longest = 3}};
    struct parsed *p = parse("a.graph map --hosts ring:4");
    assert_int_equal(lbm_options_complete(&p->sets[0], rows, OPERANDS_MAX, &p->operands, &p->diag), LBM_OK);
    p->operand[1] = "maps";
    assert_int_equal(lbm_options_complete(&p->sets[0], rows, OPERANDS_MAX, &p->operands, &p->diag),
                     LBM_E_SYNTAX);
    assert_string_equal(p->diag.where, "maps");
    assert_non_null(strstr(p->diag.text, "MAP has 3 characters at most"));
    p->operand[0] = "";
    assert_int_equal(lbm_options_complete(&p->sets[0], rows, OPERANDS_MAX, &p->operands, &p->diag),
                     LBM_E_SYNTAX);
    assert_non_null(strstr(p->diag.text, "GRAPH is empty"));
}

static void
long_words_do_not_overflow_messages(void **state)
{
    (void)state;
    char word[400] = "--";
    memset(word + 2, 'x', sizeof word - 3);
    word[sizeof word - 1] = '\0';
    assert_int_equal(parse(word)->err, LBM_E_SYNTAX);
    char value[460];
    snprintf(value, sizeof value, "--method %s", word + 2);
    assert_int_equal(parse(value)->err, LBM_E_RANGE);
}

/* ---- texts made of values ------------------------------------------------------------------------ */

static void
words_are_taken_one_by_one(void **state)
{
    (void)state;
    static const char *const expected[] = {"a", "", "bc", ""};
    char word[LBM_OPTION_WORD_MAX];
    const char *rest = "a,,bc,";
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(lbm_option_next_word(&rest, word));
        assert_string_equal(word, expected[i]);
    }
    assert_false(lbm_option_next_word(&rest, word));
    char longer[2 * LBM_OPTION_WORD_MAX];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    rest = longer;
    assert_true(lbm_option_next_word(&rest, word));
    assert_int_equal(strlen(word), LBM_OPTION_WORD_MAX - 1);
    assert_false(lbm_option_next_word(&rest, word));
}

static void
a_part_of_a_text_is_read_like_a_value(void **state)
{
    (void)state;
    struct lbm_option_value value;
    struct lbm_diag diag;
    assert_int_equal(lbm_option_convert(&own[SEED], "12", "--first", &value, &diag), LBM_OK);
    assert_int_equal(value.integer, 12);
    assert_int_equal(lbm_option_convert(&own[SEED], "", "--first", &value, &diag), LBM_E_SYNTAX);
    assert_int_equal(lbm_option_convert(&own[BOUND], "11", "--first", &value, &diag), LBM_E_RANGE);
    assert_string_equal(diag.where, "--first");
    assert_int_equal(lbm_option_convert(&own[METHOD], "heirich", "--first", &value, &diag), LBM_OK);
    assert_int_equal(value.integer, 1);
}

/* ---- help ---------------------------------------------------------------------------------------- */

static void
help_shows_every_row_within_the_page(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    assert_non_null(to);
    lbm_options_help(to, own, OPTIONS);
    lbm_operands_help(to, operand_rows, OPERANDS_MAX);
    lbm_help_paragraph(
        to, "A paragraph that is long enough that it must be broken somewhere before the right edge of "
            "the page, and a\nsecond line.");
    assert_int_equal(fclose(to), 0);
    static const char *const shown[] = {
        "--hosts SPEC",    "--seed N", "-i, --imbalance EPS", "[0.03 of the share]",
        "--method METHOD", "heirich",  "-o, --output FILE",   "-v, --verbose",
        "GRAPH",           "a map",    "second line."};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (strstr(text, shown[i]) == NULL)
            fail_msg("help does not show '%s'", shown[i]);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 79);
    free(text);
}

/* ---- links --------------------------------------------------------------------------------------------- */

static void
links_have_a_cost_or_cost_one(void **state)
{
    (void)state;
    struct lbm_link links[LBM_LINKS_TEXT_MAX];
    struct lbm_diag diag;
    size_t n;
    assert_int_equal(lbm_links_parse("3,7:20,8191:500000", "--links", 5, links, &n, &diag), LBM_OK);
    assert_int_equal(n, 3);
    const struct lbm_link expected[] = {{5, 3, 1}, {5, 7, 20}, {5, 8191, 500000}};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(links[i].p, expected[i].p);
        assert_int_equal(links[i].q, expected[i].q);
        assert_int_equal(links[i].cost, expected[i].cost);
    }
}

static void
what_are_no_links_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        ",",
                                        "3,",
                                        ",3",
                                        "3,,4",
                                        "3:",
                                        "3:0",
                                        "3:x",
                                        "-3",
                                        "+3",
                                        " 3",
                                        "3 ",
                                        "3,3",
                                        "3,3:2",
                                        "5",
                                        "4,5",
                                        "8192",
                                        "3:500001",
                                        "99999999999999999999",
                                        "3:1:1",
                                        "3;4"};
    struct lbm_link links[LBM_LINKS_TEXT_MAX];
    size_t n = 77;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct lbm_diag diag = {0};
        assert_int_equal(lbm_links_parse(texts[i], "--links", 5, links, &n, &diag), LBM_E_SYNTAX);
        assert_non_null(strstr(diag.text, "HOST[:COST]"));
        assert_int_equal(n, 77);
    }
}

static void
links_end_where_their_room_does(void **state)
{
    (void)state;
    char text[8 * LBM_LINKS_TEXT_MAX + 8] = "";
    struct lbm_link links[LBM_LINKS_TEXT_MAX];
    struct lbm_diag diag;
    size_t len = 0, n;
    for (int i = 0; i < LBM_LINKS_TEXT_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", i != 0 ? "," : "", 100 + i);
    assert_int_equal(lbm_links_parse(text, "--links", 5, links, &n, &diag), LBM_OK);
    assert_int_equal(n, LBM_LINKS_TEXT_MAX);
    snprintf(text + len, sizeof text - len, ",9");
    assert_int_equal(lbm_links_parse(text, "--links", 5, links, &n, &diag), LBM_E_SYNTAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_arguments_leave_the_fallbacks),
        cmocka_unit_test(values_follow_or_are_attached),
        cmocka_unit_test(flags_may_stand_together),
        cmocka_unit_test(options_and_operands_mix),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(one_dash_is_an_operand_and_a_value),
        cmocka_unit_test(a_value_may_begin_with_a_dash_if_attached),
        cmocka_unit_test(a_choice_gives_its_index),
        cmocka_unit_test(a_share_may_be_written_in_percent),
        cmocka_unit_test(without_room_parsing_ends_at_the_first_operand),
        cmocka_unit_test(limits_are_accepted),
        cmocka_unit_test(unknown_options_are_refused),
        cmocka_unit_test(options_given_twice_are_refused),
        cmocka_unit_test(missing_values_are_refused),
        cmocka_unit_test(a_flag_takes_no_value),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(an_unknown_choice_names_the_right_ones),
        cmocka_unit_test(too_many_operands_are_refused),
        cmocka_unit_test(missing_operands_and_options_are_named),
        cmocka_unit_test(operands_are_something_and_not_too_long),
        cmocka_unit_test(long_words_do_not_overflow_messages),
        cmocka_unit_test(words_are_taken_one_by_one),
        cmocka_unit_test(a_part_of_a_text_is_read_like_a_value),
        cmocka_unit_test(help_shows_every_row_within_the_page),
        cmocka_unit_test(links_have_a_cost_or_cost_one),
        cmocka_unit_test(what_are_no_links_is_refused),
        cmocka_unit_test(links_end_where_their_room_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
