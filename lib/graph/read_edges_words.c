/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edge lists whose vertices are called by words: numbered in the order in which they first appear, or of
 * numbers too large to be ids: then in their order. A word with blanks stands in double quotes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/edge_lines.h"

struct words {
    struct lbm_names token;  /* every vertex of every line, in order */
    LBM_VEC(uint32_t) first; /* token of each edge's first vertex; the second follows */
    LBM_VEC(double) weight;
    LBM_VEC(uint64_t) line;
    size_t lines, wordy;    /* lines read; those whose vertices are not both numbers */
    uint64_t wordy_line;    /* the last of these */
    uint32_t *vertex;       /* [tokens] */
    struct lbm_names names; /* of the vertices */
};

static enum lbm_err
no_memory(const struct lbm_scan *s)
{
    return lbm_diag_set(s->diag, LBM_E_NOMEM, s->name, 0, "no memory for the edges");
}

/* Nonzero if the word is a real or negative number: no vertex is called so without quotes. */
static int
is_odd_number(const char *word, size_t len)
{
    size_t digits = 0;
    for (size_t i = 0; i < len; i++) {
        if (strchr("0123456789+-.eE", word[i]) == NULL)
            return 0;
        digits += (unsigned char)(word[i] - '0') <= 9;
    }
    return digits > 0 && digits < len && word[0] != 'e' && word[0] != 'E';
}

static int
is_number(const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)(word[i] - '0') > 9)
            return 0;
    return len > 0;
}

/* The next word of the line, with its quotes taken off. */
static enum lbm_err
read_word(struct lbm_scan *s, struct words *words, int *number)
{
    char token[32];
    lbm_scan_line_done(s);
    lbm_scan_token(s, token, sizeof token);
    const char *word = s->at, *at = word;
    int quoted = *word == '"';
    if (quoted)
        for (word = ++at; at < s->end && *at != '"' && *at != '\n';)
            at++;
    else
        for (; at < s->end && *at != '\n' && !lbm_scan_is_blank(*at); at++)
            if (*at == ',' || *at == ';')
                return lbm_scan_refuse(s, LBM_E_SYNTAX,
                                       "\"%s\": vertices and weights are separated by blanks or tabs, a name "
                                       "with a comma stands in quotes",
                                       token);
    if (quoted && (at == s->end || *at != '"'))
        return lbm_scan_refuse(s, LBM_E_SYNTAX, "%s: the quotes are not closed on this line", token);
    if (!quoted && is_odd_number(word, (size_t)(at - word)))
        return lbm_scan_refuse(s, LBM_E_RANGE,
                               "\"%s\" is no vertex: that is an integer from 0, a word, or a name in quotes",
                               token);
    *number = !quoted && is_number(word, (size_t)(at - word));
    if (lbm_names_add(&words->token, word, (size_t)(at - word)) != LBM_OK)
        return no_memory(s);
    s->at = at + quoted;
    if (words->token.at.n >= UINT32_MAX)
        return lbm_scan_refuse(s, LBM_E_LIMIT, "too many edges between vertices with names");
    return LBM_OK;
}

static enum lbm_err
read_line(struct lbm_scan *s, struct words *words)
{
    int first = 1, second = 1;
    double weight;
    uint32_t token = (uint32_t)words->token.at.n;
    enum lbm_err err = read_word(s, words, &first);
    int is_edge = err == LBM_OK && !lbm_scan_line_done(s);
    if (is_edge)
        err = read_word(s, words, &second);
    if (err == LBM_OK && is_edge)
        err = lbm_edge_line_tail(s, &weight);
    if (err == LBM_OK && is_edge &&
        (lbm_vec_push(&words->first, token) != LBM_OK || lbm_vec_push(&words->weight, weight) != LBM_OK ||
         lbm_vec_push(&words->line, s->line) != LBM_OK))
        err = no_memory(s);
    words->lines++;
    if (!first || !second) {
        words->wordy++;
        words->wordy_line = s->line;
    }
    return err;
}

/* In the order of numbers that are no longer than each other, else of their length. */
static int
compare_numbers(const void *a, const void *b)
{
    const char *left = ((const struct lbm_name_entry *)a)->name,
               *right = ((const struct lbm_name_entry *)b)->name;
    size_t left_len = strlen(left), right_len = strlen(right);
    return left_len != right_len ? (left_len < right_len ? -1 : 1) : strcmp(left, right);
}

static int
compare_places(const void *a, const void *b)
{
    const struct lbm_name_entry *left = a, *right = b;
    return (left->v > right->v) - (left->v < right->v);
}

/* Number the distinct words. Out: words->vertex, words->names. */
static enum lbm_err
number(struct words *words, const struct lbm_scan *s)
{
    size_t tokens = words->token.at.n, n = 0;
    struct lbm_name_entry *sorted = lbm_names_sort(&words->token),
                          *distinct = lbm_alloc(tokens, sizeof *distinct);
    uint32_t *place = lbm_alloc(tokens, sizeof *place); /* of the vertex whose word appears first here */
    words->vertex = lbm_alloc(tokens, sizeof *words->vertex);
    enum lbm_err err =
        sorted != NULL && distinct != NULL && place != NULL && words->vertex != NULL ? LBM_OK : no_memory(s);
    for (size_t i = 0; i < tokens && err == LBM_OK; i++) {
        if (i == 0 || strcmp(sorted[i].name, sorted[i - 1].name) != 0)
            distinct[n++] = sorted[i];
        words->vertex[sorted[i].v] = distinct[n - 1].v; /* for now the token where it first appears */
    }
    if (err == LBM_OK)
        qsort(distinct, n, sizeof *distinct, words->wordy > 0 ? compare_places : compare_numbers);
    for (size_t v = 0; v < n && err == LBM_OK; v++) {
        place[distinct[v].v] = (uint32_t)v;
        if (lbm_names_add(&words->names, distinct[v].name, strlen(distinct[v].name)) != LBM_OK)
            err = no_memory(s);
    }
    for (size_t i = 0; i < tokens && err == LBM_OK; i++)
        words->vertex[i] = place[words->vertex[i]];
    free(sorted);
    free(distinct);
    free(place);
    return err;
}

static enum lbm_err
build(struct words *words, const struct lbm_scan *s, struct lbm_graph *g)
{
    struct lbm_edge_list list = {.labels = lbm_names_labels(&words->names)};
    enum lbm_err err = LBM_OK;
    for (size_t e = 0; e < words->first.n && err == LBM_OK; e++) {
        struct lbm_scan at = *s;
        uint32_t token = words->first.at[e];
        at.line = words->line.at[e];
        err = lbm_edge_list_add(&list, &at, words->vertex[token], words->vertex[token + 1],
                                words->weight.at[e]);
    }
    if (err == LBM_OK && words->names.at.n > LBM_VERTICES_MAX)
        err = lbm_scan_refuse(s, LBM_E_LIMIT, "more than %" PRIu32 " vertices", LBM_VERTICES_MAX);
    if (err == LBM_OK)
        err = lbm_edge_list_build(&list, (uint32_t)words->names.at.n, LBM_DIRECTIONS_EQUAL, s, g);
    lbm_edge_list_free(&list);
    return err;
}

/* A heading would become two vertices. */
static enum lbm_err
check_heading(const struct words *words, uint64_t first_line, const struct lbm_scan *s)
{
    if (words->wordy != 1 || words->lines == 1 || words->wordy_line != first_line)
        return LBM_OK;
    return lbm_diag_set(s->diag, LBM_E_SYNTAX, s->name, first_line,
                        "only this line has words, the others numbers: if it is a heading, begin it with #");
}

enum lbm_err
lbm_read_edges_words(struct lbm_scan *s, struct lbm_graph *out)
{
    struct words words = {0};
    struct lbm_graph g = {0};
    enum lbm_err err = LBM_OK;
    uint64_t first_line = 0;
    while (err == LBM_OK && !lbm_scan_skip_lines(s, "#%", 1)) {
        first_line = first_line == 0 ? s->line : first_line;
        err = read_line(s, &words);
        if (err == LBM_OK)
            lbm_scan_next_line(s);
    }
    if (err == LBM_OK)
        err = check_heading(&words, first_line, s);
    if (err == LBM_OK)
        err = number(&words, s);
    if (err == LBM_OK)
        err = build(&words, s, &g);
    if (err == LBM_OK)
        lbm_reading_remark(s->reading, "%zu vertices have names; they are numbered from 0 in the order %s",
                           words.names.at.n,
                           words.wordy > 0 ? "in which these first appear" : "of these numbers");
    if (err == LBM_OK)
        err = lbm_names_give(&words.names, s, &g);
    lbm_names_free(&words.token);
    lbm_names_free(&words.names);
    lbm_vec_free(&words.first);
    lbm_vec_free(&words.weight);
    lbm_vec_free(&words.line);
    free(words.vertex);
    if (err == LBM_OK)
        *out = g;
    else
        lbm_graph_free(&g);
    return err;
}
