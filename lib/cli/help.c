/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of --help, from the tables. */
#include <string.h>

#include "cli/command.h"

enum { PAGE = 79, TEXT_COLUMN = 26, CHOICE_INDENT = 8 };

/* Print words from column `at` on, broken before the page's edge; further lines begin at `indent`. */
static void
fill(FILE *to, int at, int indent, const char *text)
{
    int column = at;
    while (*text != '\0') {
        int len = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + len > PAGE) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(to, "%s%.*s", column > indent ? " " : "", len, text);
        text += len;
        if (*text == '\n') {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        }
        text += *text != '\0';
    }
    fputc('\n', to);
}

void
lbm_help_paragraph(FILE *to, const char *text)
{
    fill(to, 0, 0, text);
}

/* Print one row: name, then text filled to the width of the page. */
static void
print_row(FILE *to, int indent, const char *name, const char *text)
{
    int column = fprintf(to, "%*s%s", indent, "", name);
    if (column + 2 > TEXT_COLUMN) {
        fputc('\n', to);
        column = 0;
    }
    fprintf(to, "%*s", TEXT_COLUMN - column, "");
    fill(to, TEXT_COLUMN, TEXT_COLUMN, text);
}

static void
print_choices(FILE *to, const struct lbm_choice *choices)
{
    for (const struct lbm_choice *c = choices; c != NULL && c->name != NULL; c++)
        print_row(to, CHOICE_INDENT, c->name, c->text);
}

static void
print_option(FILE *to, const struct lbm_option *option)
{
    char name[80], text[512];
    snprintf(name, sizeof name, "%c%c%s--%s%s%s", option->letter != 0 ? '-' : ' ',
             option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ", " : "  ", option->name,
             option->value != NULL ? " " : "", option->value != NULL ? option->value : "");
    int len = snprintf(text, sizeof text, "%s", option->text);
    if (option->fallback != NULL || option->unit != NULL)
        snprintf(text + len, sizeof text - (size_t)len, " [%s%s%s]",
                 option->fallback != NULL ? option->fallback : "",
                 option->fallback != NULL && option->unit != NULL ? " " : "",
                 option->unit != NULL ? option->unit : "");
    print_row(to, 2, name, text);
    print_choices(to, option->choices);
}

void
lbm_options_help(FILE *to, const struct lbm_option *options, size_t n)
{
    for (size_t i = 0; i < n; i++)
        print_option(to, &options[i]);
}

void
lbm_operands_help(FILE *to, const struct lbm_operand *operands, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        print_row(to, 2, operands[i].name, operands[i].text);
        print_choices(to, operands[i].choices);
    }
}

static void
print_options_everywhere(FILE *to, const struct lbm_program *program)
{
    fprintf(to, "\noptions everywhere:\n");
    lbm_options_help(to, program->options, program->n_options);
    lbm_options_help(to, lbm_shared_options, LBM_SHARED_OPTIONS);
}

static void
print_statuses(FILE *to, const char *statuses)
{
    fputc('\n', to);
    fill(to, fprintf(to, "exit status:"), 0, statuses);
}

void
lbm_program_help(FILE *to, const struct lbm_program *program)
{
    fprintf(to, "usage: %s [options] COMMAND ...\n\n", program->name);
    lbm_help_paragraph(to, program->help);
    fprintf(to, "\ncommands:\n");
    for (size_t i = 0; program->commands[i] != NULL; i++)
        print_row(to, 2, program->commands[i]->name, program->commands[i]->text);
    print_options_everywhere(to, program);
    print_statuses(to, program->statuses);
}

static void
print_usage(FILE *to, const struct lbm_program *program, const struct lbm_command *c)
{
    fprintf(to, "usage: %s %s", program->name, c->name);
    for (size_t i = 0; i < c->n_operands; i++)
        fprintf(to, c->operands[i].optional ? " [%s%s]" : " %s%s", c->operands[i].name,
                c->operands[i].most > 1 ? "..." : "");
    for (size_t i = 0; i < c->n_options; i++)
        if (c->options[i].required)
            fprintf(to, " --%s %s", c->options[i].name, c->options[i].value);
    fprintf(to, " [options]\n\n");
}

void
lbm_command_help(FILE *to, const struct lbm_program *program, const struct lbm_command *c)
{
    print_usage(to, program, c);
    lbm_help_paragraph(to, c->help);
    if (c->n_operands > 0)
        fprintf(to, "\noperands:\n");
    lbm_operands_help(to, c->operands, c->n_operands);
    if (c->n_options > 0)
        fprintf(to, "\noptions:\n");
    lbm_options_help(to, c->options, c->n_options);
    print_options_everywhere(to, program);
    if (c->statuses != NULL)
        print_statuses(to, c->statuses);
}
