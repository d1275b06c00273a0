/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* Where the parser is. `label` is the option as the user wrote it, for messages. */
struct parser {
    const struct lbm_option_set *sets;
    size_t n_sets;
    int argc;
    char *const *argv;
    int at; /* the argument being read */
    char label[LBM_DIAG_WHERE_MAX];
    struct lbm_diag *diag;
};

/* ---- values ------------------------------------------------------------------------------------- */

static enum lbm_err
refuse_number(const struct lbm_option *option, const char *text, const char *label, enum lbm_err err,
              struct lbm_diag *diag)
{
    return lbm_diag_set(diag, err, label, 0, "'%s' is not %s from %.16g to %.16g%s%s", text,
                        option->type == LBM_OPTION_INTEGER ? "a whole number" : "a number", option->min,
                        option->max, option->unit != NULL ? " " : "",
                        option->unit != NULL ? option->unit : "");
}

static enum lbm_err
convert_number(const struct lbm_option *option, const char *text, const char *label,
               struct lbm_option_value *value, struct lbm_diag *diag)
{
    const char *allowed = option->type == LBM_OPTION_INTEGER ? "0123456789" : "0123456789.eE+-";
    if (text[strspn(text, allowed)] != '\0')
        return refuse_number(option, text, label, LBM_E_SYNTAX, diag);
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0')
        return refuse_number(option, text, label, LBM_E_SYNTAX, diag);
    if (!isfinite(number) || number < option->min || number > option->max)
        return refuse_number(option, text, label, LBM_E_RANGE, diag);
    value->number = number;
    value->integer = option->type == LBM_OPTION_INTEGER ? (uint64_t)number : 0;
    return LBM_OK;
}

/* A bare number above 1 is most likely meant as percent: it is refused, and both ways to write it are shown.
 */
static enum lbm_err
convert_share(const struct lbm_option *option, const char *text, const char *label,
              struct lbm_option_value *value, struct lbm_diag *diag)
{
    static const char what[] = "a number from %.16g to %.16g, or a percentage such as 3%%";
    char *end, range[96];
    double number = strtod(text, &end);
    int is_percent = end != text && strcmp(end, "%") == 0;
    LBM_ASSERT(option->max <= 1);
    snprintf(range, sizeof range, what, option->min, option->max);
    if (text[strspn(text, "0123456789.eE+-%")] != '\0' || end == text || (*end != '\0' && !is_percent))
        return lbm_diag_set(diag, LBM_E_SYNTAX, label, 0, "'%s' is not %s", text, range);
    double share = is_percent ? number / 100 : number;
    if (!is_percent && number > option->max && number <= 100)
        return lbm_diag_set(diag, LBM_E_RANGE, label, 0,
                            "'%s' is not %s: for %.16g percent write %.16g%% or %.16g", text, range, number,
                            number, number / 100);
    if (!isfinite(share) || share < option->min || share > option->max)
        return lbm_diag_set(diag, LBM_E_RANGE, label, 0, "'%s' is not %s", text, range);
    value->number = share;
    return LBM_OK;
}

static enum lbm_err
convert_choice(const struct lbm_option *option, const char *text, const char *label,
               struct lbm_option_value *value, struct lbm_diag *diag)
{
    char names[LBM_DIAG_TEXT_MAX / 2] = "";
    size_t len = 0;
    for (const struct lbm_choice *c = option->earlier; c != NULL && c->name != NULL; c++)
        if (strcmp(c->name, text) == 0)
            text = value->renamed = c->text;
    for (const struct lbm_choice *c = option->choices; c->name != NULL; c++) {
        if (strcmp(c->name, text) == 0) {
            value->integer = (uint64_t)(c - option->choices);
            return LBM_OK;
        }
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len == 0 ? "" : ", ", c->name);
        LBM_ASSERT(len < sizeof names);
    }
    return lbm_diag_set(diag, LBM_E_RANGE, label, 0, "'%s' is none of %s", text, names);
}

enum lbm_err
lbm_option_convert(const struct lbm_option *option, const char *text, const char *label,
                   struct lbm_option_value *value, struct lbm_diag *diag)
{
    if (*text == '\0')
        return lbm_diag_set(diag, LBM_E_SYNTAX, label, 0, "the value is empty; give %s", option->value);
    enum lbm_err err = LBM_OK;
    if (option->type == LBM_OPTION_INTEGER || option->type == LBM_OPTION_NUMBER)
        err = convert_number(option, text, label, value, diag);
    else if (option->type == LBM_OPTION_SHARE)
        err = convert_share(option, text, label, value, diag);
    else if (option->type == LBM_OPTION_CHOICE)
        err = convert_choice(option, text, label, value, diag);
    if (err == LBM_OK)
        value->text = text;
    return err;
}

int
lbm_option_next_word(const char **rest, char word[LBM_OPTION_WORD_MAX])
{
    if (*rest == NULL)
        return 0;
    size_t len = strcspn(*rest, ",");
    snprintf(word, LBM_OPTION_WORD_MAX, "%.*s", len < INT_MAX ? (int)len : INT_MAX, *rest);
    *rest = (*rest)[len] == ',' ? *rest + len + 1 : NULL;
    return 1;
}

void
lbm_options_reset(const struct lbm_option_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct lbm_option *option = &set->option[i];
        set->value[i] = (struct lbm_option_value){0};
        if (option->fallback == NULL)
            continue;
        enum lbm_err err = lbm_option_convert(option, option->fallback, option->name, &set->value[i], NULL);
        LBM_ASSERT(err == LBM_OK);
    }
}

/* ---- arguments ---------------------------------------------------------------------------------- */

/* Row and value of an option: by name [len], or by letter if name is NULL. NULL: there is none. */
static const struct lbm_option *
find(const struct parser *p, const char *name, size_t len, char letter, struct lbm_option_value **value)
{
    for (size_t s = 0; s < p->n_sets; s++)
        for (size_t i = 0; i < p->sets[s].n; i++) {
            const struct lbm_option *option = &p->sets[s].option[i];
            int same = name == NULL ? option->letter == letter
                                    : strlen(option->name) == len && memcmp(option->name, name, len) == 0;
            if (!same)
                continue;
            *value = &p->sets[s].value[i];
            return option;
        }
    return NULL;
}

/* Value of the option p->label: what is attached to it, else the next argument. */
static enum lbm_err
take(struct parser *p, const struct lbm_option *option, const char *attached, struct lbm_option_value *value)
{
    if (value->given)
        return lbm_diag_set(p->diag, LBM_E_SYNTAX, p->label, 0, "given twice; give it once");
    if (option->type == LBM_OPTION_FLAG) {
        if (attached != NULL)
            return lbm_diag_set(p->diag, LBM_E_SYNTAX, p->label, 0, "takes no value");
        value->given = 1;
        return LBM_OK;
    }
    const char *text = attached;
    if (text == NULL && p->at + 1 < p->argc) {
        text = p->argv[p->at + 1];
        /* A value that looks like an option is a forgotten value; "-" is standard input or output. */
        if (text[0] == '-' && text[1] != '\0')
            text = NULL;
        else
            p->at++;
    }
    if (text == NULL)
        return lbm_diag_set(p->diag, LBM_E_SYNTAX, p->label, 0, "a value is missing; give %s %s (or %s%s%s)",
                            p->label, option->value, p->label, p->label[1] == '-' ? "=" : "", option->value);
    enum lbm_err err = lbm_option_convert(option, text, p->label, value, p->diag);
    value->given = err == LBM_OK;
    return err;
}

static enum lbm_err
unknown(const struct parser *p)
{
    return lbm_diag_set(p->diag, LBM_E_SYNTAX, p->label, 0, "there is no such option; see --help");
}

static enum lbm_err
parse_long(struct parser *p, const char *argument)
{
    const char *name = argument + 2;
    size_t len = strcspn(name, "=");
    snprintf(p->label, sizeof p->label, "--%.*s", (int)(len < 200 ? len : 200), name);
    struct lbm_option_value *value;
    const struct lbm_option *option = find(p, name, len, 0, &value);
    if (option == NULL)
        return unknown(p);
    return take(p, option, name[len] == '=' ? name + len + 1 : NULL, value);
}

static enum lbm_err
parse_letters(struct parser *p, const char *argument)
{
    for (const char *letter = argument + 1; *letter != '\0'; letter++) {
        snprintf(p->label, sizeof p->label, "-%c", *letter);
        struct lbm_option_value *value;
        const struct lbm_option *option = find(p, NULL, 0, *letter, &value);
        if (option == NULL)
            return unknown(p);
        int flag = option->type == LBM_OPTION_FLAG;
        enum lbm_err err = take(p, option, flag || letter[1] == '\0' ? NULL : letter + 1, value);
        if (err != LBM_OK || !flag)
            return err;
    }
    return LBM_OK;
}

enum lbm_err
lbm_options_parse(const struct lbm_option_set *sets, size_t n_sets, int argc, char *const *argv,
                  struct lbm_operands *operands, int *used, struct lbm_diag *diag)
{
    struct parser p = {.sets = sets, .n_sets = n_sets, .argc = argc, .argv = argv, .diag = diag};
    int options_ended = 0;
    for (; p.at < argc; p.at++) {
        const char *argument = argv[p.at];
        int is_option = !options_ended && argument[0] == '-' && argument[1] != '\0';
        if (!is_option && operands->max == 0)
            break;
        if (is_option && strcmp(argument, "--") == 0) {
            options_ended = 1;
            continue;
        }
        enum lbm_err err = LBM_OK;
        if (is_option)
            err = argument[1] == '-' ? parse_long(&p, argument) : parse_letters(&p, argument);
        else if (operands->n == operands->max)
            err = lbm_diag_set(diag, LBM_E_SYNTAX, argument, 0, "one operand too many; see --help");
        else
            operands->at[operands->n++] = argument;
        if (err != LBM_OK)
            return err;
    }
    *used = p.at;
    return LBM_OK;
}

static enum lbm_err
check_operand(const struct lbm_operand *row, const char *text, struct lbm_diag *diag)
{
    if (text[0] == '\0')
        return lbm_diag_set(diag, LBM_E_SYNTAX, "", 0, "%s is empty (%s); see --help", row->name, row->text);
    if (row->longest != 0 && strlen(text) > row->longest)
        return lbm_diag_set(diag, LBM_E_SYNTAX, text, 0, "%s has %zu characters at most", row->name,
                            row->longest);
    return LBM_OK;
}

enum lbm_err
lbm_options_complete(const struct lbm_option_set *set, const struct lbm_operand *rows, size_t n_rows,
                     const struct lbm_operands *operands, struct lbm_diag *diag)
{
    for (size_t i = operands->n; i < n_rows; i++)
        if (!rows[i].optional)
            return lbm_diag_set(diag, LBM_E_SYNTAX, "", 0, "%s is missing (%s); see --help", rows[i].name,
                                rows[i].text);
    for (size_t i = 0; i < operands->n && n_rows != 0; i++) {
        enum lbm_err err = check_operand(&rows[i < n_rows ? i : n_rows - 1], operands->at[i], diag);
        if (err != LBM_OK)
            return err;
    }
    for (size_t i = 0; i < set->n; i++)
        if (set->option[i].required && !set->value[i].given)
            return lbm_diag_set(diag, LBM_E_SYNTAX, "", 0, "--%s %s is missing; see --help",
                                set->option[i].name, set->option[i].value);
    return LBM_OK;
}
