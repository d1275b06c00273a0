/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of --help, from the tables. */
#include <string.h>

#include "client/options.h"

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

void
lbm_help_row(FILE *to, int indent, const char *name, const char *text)
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
        lbm_help_row(to, CHOICE_INDENT, c->name, c->text);
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
    lbm_help_row(to, 2, name, text);
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
        if (i > 0 && strcmp(operands[i].name, operands[i - 1].name) == 0)
            continue;
        lbm_help_row(to, 2, operands[i].name, operands[i].text);
        print_choices(to, operands[i].choices);
    }
}
