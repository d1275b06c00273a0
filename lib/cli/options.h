/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Command lines by tables: one row an option, one row an operand, one parser for all commands.
 *
 * Owns: the grammar of arguments (--name VALUE, --name=VALUE, -n VALUE, -nVALUE, flags together as -qV, "--"
 * ends the options) and the text of --help.
 * Never: prints an error; the caller knows the command's name. */
#ifndef LBM_CLI_OPTIONS_H
#define LBM_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum lbm_option_type {
    LBM_OPTION_FLAG,    /* no value */
    LBM_OPTION_INTEGER, /* whole number, min .. max */
    LBM_OPTION_NUMBER,  /* real number, min .. max */
    LBM_OPTION_SHARE,   /* the same, of a whole: at most 1; "3%" is 0.03 */
    LBM_OPTION_TEXT,    /* anything that is not empty */
    LBM_OPTION_CHOICE   /* one of choices, exactly */
};

/* Largest bound of an integer: doubles, and so readers of JSON, hold every whole number up to it. */
#define LBM_OPTION_INTEGER_MAX 9007199254740991.0

/* What a value may be, and what that means; the end of a list has no name. With type TEXT it is only
 * shown by --help. */
struct lbm_choice {
    const char *name;
    const char *text;
};

struct lbm_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum lbm_option_type type;
    const char *value;    /* what --help calls the value, NULL for flags */
    double min, max;      /* INTEGER, NUMBER, SHARE */
    const char *fallback; /* value if it is not given, as text; NULL: none */
    const char *unit;     /* of a number, or NULL */
    int required;
    const struct lbm_choice *choices; /* or NULL */
    const struct lbm_choice *earlier; /* names that choices had in earlier versions, and have now; or NULL */
    const char *text;
};

/* Rows of a table of options. In: name, what --help calls the value, range or choices, text; then, as
 * initializers, whatever else an option has: LBM_FLAG_OPTION("all", "every host", .letter = 'a'). */
#define LBM_OPTION_OF(type_, name_, value_, text_, ...)                                                      \
    {                                                                                                        \
        .name = (name_), .type = LBM_OPTION_##type_, .value = value_, .text = text_, __VA_ARGS__             \
    }
#define LBM_FLAG_OPTION(name_, ...) LBM_OPTION_OF(FLAG, name_, NULL, __VA_ARGS__, )
#define LBM_TEXT_OPTION(name_, value_, ...) LBM_OPTION_OF(TEXT, name_, value_, __VA_ARGS__, )
#define LBM_CHOICE_OPTION(name_, value_, choices_, ...)                                                      \
    LBM_OPTION_OF(CHOICE, name_, value_, __VA_ARGS__, .choices = choices_)
#define LBM_INTEGER_OPTION(name_, value_, min_, max_, ...)                                                   \
    LBM_OPTION_OF(INTEGER, name_, value_, __VA_ARGS__, .min = min_, .max = max_)
#define LBM_NUMBER_OPTION(name_, value_, min_, max_, ...)                                                    \
    LBM_OPTION_OF(NUMBER, name_, value_, __VA_ARGS__, .min = min_, .max = max_)
#define LBM_SHARE_OPTION(name_, value_, min_, max_, ...)                                                     \
    LBM_OPTION_OF(SHARE, name_, value_, __VA_ARGS__, .min = min_, .max = max_)

struct lbm_operand {
    const char *name;
    int optional; /* only after those that are not */
    const struct lbm_choice *choices;
    const char *text;
    size_t most;    /* of the last row: it may be given so often; 0: once */
    size_t longest; /* characters; 0: any number */
};

/* What an option was given: text as it stands; number, integer, or the index of the choice. */
struct lbm_option_value {
    int given;           /* nonzero: on the command line, so not the fallback */
    const char *text;    /* NULL: neither given nor has it a fallback; borrowed from argv or the table */
    const char *renamed; /* NULL, or the name of the choice that was given by an earlier spelling */
    double number;
    uint64_t integer;
};

/* A table of options and where their values go. */
struct lbm_option_set {
    const struct lbm_option *option;
    size_t n;
    struct lbm_option_value *value; /* [n] */
};

/* Operands: what the command line holds besides options. */
struct lbm_operands {
    const char **at;
    size_t n;
    size_t max; /* room; 0: parsing ends before the first operand */
};

/* Set every value to its fallback. */
void lbm_options_reset(const struct lbm_option_set *set);

/* Parse argv[0 .. argc). An option is looked for in the sets in order.
 * In/out:  values of the sets, reset before; an option that was given already (also by an earlier call)
 *          is refused.
 * Out:     operands filled from operands->n on; *used arguments read.
 * Errors:  LBM_E_SYNTAX (unknown, given twice, value missing or not a number, too many operands),
 * LBM_E_RANGE; diag names the option. */
enum lbm_err lbm_options_parse(const struct lbm_option_set *sets, size_t n_sets, int argc, char *const *argv,
                               struct lbm_operands *operands, int *used,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* Check that what is required is there, and operands are something: a script's variable that is not set is no
 * name. Errors: LBM_E_SYNTAX naming what is missing. */
enum lbm_err lbm_options_complete(const struct lbm_option_set *set, const struct lbm_operand *rows,
                                  size_t n_rows, const struct lbm_operands *operands,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read a text as a value of an option, for options of type TEXT that are made of such values.
 * In: label names the option in messages.  Out: value->number, integer; value->text borrows text.
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE; *value may have changed. */
enum lbm_err lbm_option_convert(const struct lbm_option *option, const char *text, const char *label,
                                struct lbm_option_value *value, struct lbm_diag *diag) LBM_MUST_CHECK;

enum { LBM_OPTION_WORD_MAX = 64 };

/* The next of words that commas separate; it is cut if it is longer than any word that means something.
 * In/out: *rest, what has not been read. Value: 0 if there is none. */
int lbm_option_next_word(const char **rest, char word[LBM_OPTION_WORD_MAX]);

/* Print the rows of a table as --help shows them. */
void lbm_options_help(FILE *to, const struct lbm_option *options, size_t n);
void lbm_operands_help(FILE *to, const struct lbm_operand *operands, size_t n);

/* Print a paragraph filled to the width of the page. */
void lbm_help_paragraph(FILE *to, const char *text);

#endif
