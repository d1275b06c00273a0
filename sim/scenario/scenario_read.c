/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The language of scenarios: one command a line, # begins a comment. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/scenario/scenario_internal.h"

enum { LINE_MAX_BYTES = 400, FORM_MAX = 80 };

struct line {
    char bytes[LINE_MAX_BYTES], said[LINE_MAX_BYTES]; /* taken apart, and as it is */
    char *word[SCENARIO_WORDS];
    int quoted[SCENARIO_WORDS];
    uint32_t n;
    uint32_t number;
};

/* ---- words --------------------------------------------------------------------------------------------- */

static enum lbm_err
split(const struct scenario *s, struct line *line, struct lbm_diag *diag)
{
    char *at = line->bytes;
    line->n = 0;
    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (*at == '\0' || *at == '#')
            return LBM_OK;
        if (line->n == SCENARIO_WORDS)
            return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number, "more than %d words",
                                SCENARIO_WORDS);
        int quoted = *at == '"';
        at += quoted;
        line->quoted[line->n] = quoted;
        line->word[line->n++] = at;
        while (*at != '\0' && (quoted ? *at != '"' : !isspace((unsigned char)*at)))
            at++;
        if (quoted && *at == '\0')
            return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number, "a \" is missing at the end");
        if (*at != '\0')
            *at++ = '\0';
    }
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

static enum lbm_err
read_number(const struct scenario *s, const struct line *line, const char *word, uint64_t *out,
            struct lbm_diag *diag)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    if (!isdigit((unsigned char)word[0]) || *end != '\0')
        return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number, "%.60s is not a number", word);
    if (errno != 0 || value > UINT32_MAX)
        return lbm_diag_set(diag, LBM_E_RANGE, s->file, line->number, "%.60s is more than %" PRIu32, word,
                            UINT32_MAX);
    *out = value;
    return LBM_OK;
}

static enum lbm_err
read_host(const struct scenario *s, const struct line *line, const char *word, uint64_t *out,
          struct lbm_diag *diag)
{
    enum lbm_err err = read_number(s, line, word, out, diag);
    if (err == LBM_OK && s->run.h.n == 0)
        return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number,
                            "say `hosts SPEC` first, e.g. hosts chain:3");
    if (err == LBM_OK && *out >= s->run.h.n)
        return lbm_diag_set(diag, LBM_E_RANGE, s->file, line->number,
                            "there is no host %" PRIu64 ": they are 0 to %" PRIu32, *out, s->run.h.n - 1);
    return err;
}

static enum lbm_err
read_time(const struct scenario *s, const struct line *line, const char *word, const char *unit,
          uint64_t *out, struct lbm_diag *diag)
{
    static const struct {
        const char *name;
        uint64_t us;
    } units[] = {{"us", 1}, {"ms", 1000}, {"s", 1000000}};
    enum lbm_err err = read_number(s, line, word, out, diag);
    for (size_t i = 0; err == LBM_OK && i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0) {
            *out *= units[i].us;
            return LBM_OK;
        }
    return err != LBM_OK ? err
                         : lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number,
                                        "%.60s is no unit of time: us, ms or s", unit);
}

/* Number of the word among a|b|c, or UINT64_MAX. */
static uint64_t
choice_of(const char *choices, const char *word)
{
    size_t len = strlen(word);
    uint64_t number = 0;
    for (const char *at = choices; at != NULL; number++) {
        size_t n = strcspn(at, "|");
        if (n == len && strncmp(at, word, n) == 0)
            return number;
        at = at[n] == '|' ? at + n + 1 : NULL;
    }
    return UINT64_MAX;
}

/* ---- forms --------------------------------------------------------------------------------------------- */

static int
is_argument(const char *token)
{
    return isupper((unsigned char)token[0]) || strchr(token, '|') != NULL;
}

/* Nonzero if the line has the words of the form in their places, whatever its arguments are. */
static int
has_form(const struct line *line, const char *form)
{
    char copy[FORM_MAX], *rest;
    uint32_t i = 0;
    snprintf(copy, sizeof copy, "%s", form);
    for (char *token = strtok_r(copy, " ", &rest); token != NULL; token = strtok_r(NULL, " ", &rest), i++) {
        i += strcmp(token, "TIME") == 0; /* two words */
        if (i >= line->n || (!is_argument(token) && (line->quoted[i] || strcmp(token, line->word[i]) != 0)) ||
            (strcmp(token, "TEXT") == 0) != line->quoted[i])
            return 0;
    }
    return i == line->n;
}

static enum lbm_err
read_argument(const struct scenario *s, const struct line *line, const char *token, uint32_t i,
              struct arguments *out, uint32_t *n, struct lbm_diag *diag)
{
    const char *word = line->word[i];
    if (strcmp(token, "HOST") == 0)
        return read_host(s, line, word, &out->number[(*n)++], diag);
    if (strcmp(token, "NUMBER") == 0)
        return read_number(s, line, word, &out->number[(*n)++], diag);
    if (strcmp(token, "TIME") == 0)
        return read_time(s, line, line->word[i - 1], word, &out->number[(*n)++], diag);
    if (strchr(token, '|') != NULL) {
        out->number[*n] = choice_of(token, word);
        return out->number[(*n)++] != UINT64_MAX ? LBM_OK
                                                 : lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number,
                                                                "%.60s is none of %s", word, token);
    }
    if (strcmp(token, "KIND") == 0 && !cluster_knows_message(word))
        return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number,
                            "%.60s is no kind of message, as offer, answer, fin, repl, repl_ack, lease are",
                            word);
    out->text = lbm_copy(word, strlen(word) + 1, 1);
    return out->text != NULL ? LBM_OK
                             : lbm_diag_set(diag, LBM_E_NOMEM, s->file, line->number, "out of memory");
}

static enum lbm_err
read_arguments(const struct scenario *s, const struct line *line, const char *form, struct arguments *out,
               struct lbm_diag *diag)
{
    char copy[FORM_MAX], *rest;
    uint32_t i = 0, n = 0;
    enum lbm_err err = LBM_OK;
    snprintf(copy, sizeof copy, "%s", form);
    for (char *token = strtok_r(copy, " ", &rest); token != NULL && err == LBM_OK;
         token = strtok_r(NULL, " ", &rest), i++) {
        i += strcmp(token, "TIME") == 0;
        if (is_argument(token))
            err = read_argument(s, line, token, i, out, &n, diag);
    }
    return err;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* No row fits: say what those look like that begin with the same word. */
static enum lbm_err
no_row(const struct scenario *s, const struct line *line, struct lbm_diag *diag)
{
    struct lbm_buf forms = {0};
    size_t len = strlen(line->word[0]);
    for (size_t i = 0; i < scenario_n_rows; i++)
        if (strncmp(scenario_rows[i].form, line->word[0], len) == 0 &&
            (scenario_rows[i].form[len] == ' ' || scenario_rows[i].form[len] == '\0'))
            lbm_buf_printf(&forms, "%s`%s`", forms.len != 0 ? " or " : "", scenario_rows[i].form);
    enum lbm_err err =
        forms.len != 0
            ? lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number, "the form is %s", (char *)forms.at)
            : lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number,
                           "%.60s is no command; `lbsim scenario --commands` lists them", line->word[0]);
    lbm_buf_free(&forms);
    return err;
}

/* What happens is kept for later. Takes the arguments. */
static enum lbm_err
keep(struct scenario *s, const struct line *line, struct command *command, struct lbm_diag *diag)
{
    if (s->run.h.n == 0)
        return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number,
                            "say `hosts SPEC` first, e.g. hosts chain:3");
    command->said = lbm_copy(line->said, strlen(line->said) + 1, 1);
    LBM_ASSERT(command->said != NULL && lbm_vec_push(&s->commands, *command) == LBM_OK);
    command->arguments.text = NULL;
    return LBM_OK;
}

/* What is settled beforehand is done at once. */
static enum lbm_err
set(struct scenario *s, const struct line *line, const struct command *command, struct lbm_diag *diag)
{
    s->line = line->number;
    if (s->commands.n != 0)
        return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, line->number,
                            "this is settled before the cluster begins: say it before line %" PRIu32,
                            s->commands.at[0].line);
    return command->row->set(s, &command->arguments, diag);
}

static enum lbm_err
take_line(struct scenario *s, const struct line *line, struct lbm_diag *diag)
{
    struct command command = {.line = line->number};
    for (size_t i = 0; i < scenario_n_rows && command.row == NULL; i++)
        if (has_form(line, scenario_rows[i].form))
            command.row = &scenario_rows[i];
    if (command.row == NULL)
        return no_row(s, line, diag);
    enum lbm_err err = read_arguments(s, line, command.row->form, &command.arguments, diag);
    if (err == LBM_OK)
        err = command.row->set != NULL ? set(s, line, &command, diag) : keep(s, line, &command, diag);
    free(command.arguments.text);
    return err;
}

static enum lbm_err
read_lines(struct scenario *s, FILE *in, struct lbm_diag *diag)
{
    struct line line = {.number = 0};
    while (fgets(line.bytes, sizeof line.bytes, in) != NULL) {
        line.number++;
        if (strchr(line.bytes, '\n') == NULL && !feof(in))
            return lbm_diag_set(diag, LBM_E_LIMIT, s->file, line.number, "longer than %d bytes",
                                LINE_MAX_BYTES - 2);
        memcpy(line.said, line.bytes, sizeof line.said);
        line.said[strcspn(line.said, "#\n")] = '\0';
        enum lbm_err err = split(s, &line, diag);
        if (err == LBM_OK && line.n != 0)
            err = take_line(s, &line, diag);
        if (err != LBM_OK)
            return err;
    }
    if (ferror(in))
        return lbm_diag_set(diag, LBM_E_IO, s->file, 0, "%s", strerror(errno));
    if (s->commands.n == 0)
        return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, 0, "nothing happens in it");
    return LBM_OK;
}

enum lbm_err
scenario_read(struct scenario *s, struct lbm_diag *diag)
{
    FILE *in = fopen(s->file, "r");
    if (in == NULL)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, s->file, 0, "%s", strerror(errno));
    enum lbm_err err = read_lines(s, in, diag);
    fclose(in);
    return err;
}
