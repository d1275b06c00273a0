/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One host's part of a policy on numbers. */
#include "balance/flow_computation.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"

/* Whatever happens, it ends: everywhere after the same sweep, which a slow network reaches in a minute.
 * Random draws never come to rest by themselves where a host that began again has counted twice. What is left
 * is for the exchange of vertices. */
enum { SWEEPS_MAX = 1000, DRAWN_SWEEPS_MAX = 400 };

/* ---- words --------------------------------------------------------------------------------------- */

static enum lbm_err
say(struct lbm_flow_computation *level, uint32_t link, struct lbm_flow_word word)
{
    level->n_words++;
    return lbm_vec_push(&level->outbox, ((struct lbm_flow_said){.link = link, .word = word}));
}

static enum lbm_err
say_final(struct lbm_flow_computation *level, uint32_t i)
{
    struct lbm_flow_word word = {.meeting = level->links.at[i].met,
                                 .load = level->load,
                                 .counter = level->config.diameter + 1,
                                 .has_changed = level->has_changed,
                                 .final = 1};
    return say(level, i, word);
}

/* No meetings on this link from here on. */
static int
is_over(const struct lbm_flow_link *link)
{
    return link->is_closed || link->met >= link->final_at;
}

/* ---- steps --------------------------------------------------------------------------------------- */

/* Steps of a sweep. Random draws end with one of all links, in which only counters are told. */
static uint64_t
steps_of_sweep(const struct lbm_flow_computation *level)
{
    switch (level->turns) {
    case LBM_TURNS_COLOURS:
        return level->config.n_colours;
    case LBM_TURNS_DRAWN:
        return (uint64_t)level->config.n_all_links + 1;
    case LBM_TURNS_MATCHED: /* about as many matchings as give each link a turn */
        return 2 * (uint64_t)level->config.n_colours + 1;
    default:
        return 1;
    }
}

/* Nonzero in a step in which nothing is given. */
static int
only_counts(const struct lbm_flow_computation *level)
{
    return (level->turns == LBM_TURNS_DRAWN || level->turns == LBM_TURNS_MATCHED) &&
           level->step + 1 == steps_of_sweep(level);
}

/* Random matchings: nonzero if no link at either end has drawn less. */
static int
is_matched(const struct lbm_flow_computation *level, const struct lbm_flow_link *link)
{
    uint64_t own = lbm_matching_draw(level->config.seed, level->t, link->number);
    for (uint32_t i = 0; i < link->n_rivals; i++) {
        uint32_t rival = level->rivals.at[link->rivals_at + i];
        uint64_t draw = lbm_matching_draw(level->config.seed, level->t, rival);
        if (draw < own || (draw == own && rival < link->number))
            return 0;
    }
    return 1;
}

static int
has_turn(const struct lbm_flow_computation *level, const struct lbm_flow_link *link)
{
    if (level->turns == LBM_TURNS_COLOURS)
        return link->colour == level->step;
    if (level->turns == LBM_TURNS_DRAWN && !only_counts(level))
        return link->number == level->drawn;
    if (level->turns == LBM_TURNS_MATCHED && !only_counts(level))
        return link->is_matched;
    return 1;
}

static enum lbm_err
begin_step(struct lbm_flow_computation *level)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; level->turns == LBM_TURNS_MATCHED && i < level->links.n; i++)
        level->links.at[i].is_matched = is_matched(level, &level->links.at[i]);
    if (level->turns == LBM_TURNS_DRAWN && !only_counts(level))
        level->drawn = lbm_rng_below(&level->rng, level->config.n_all_links);
    if (level->turns == LBM_TURNS_ALL)
        lbm_pace_of(&level->rule, level->t, &level->omega, &level->pace);
    for (uint32_t i = 0; err == LBM_OK && i < level->links.n; i++) {
        struct lbm_flow_link *link = &level->links.at[i];
        if (is_over(link) || !has_turn(level, link))
            continue;
        struct lbm_flow_word word = {.meeting = link->met,
                                     .load = level->load,
                                     .counter = level->termination.counter,
                                     .has_changed = level->has_changed};
        link->said[link->met & 1] = word;
        err = say(level, i, word);
    }
    level->begun = 1;
    return err;
}

int
lbm_flow_waits(const struct lbm_flow_computation *level, uint32_t i)
{
    const struct lbm_flow_link *link = &level->links.at[i];
    return level->is_running && level->begun && !is_over(link) && has_turn(level, link) &&
           !link->heard[link->met & 1];
}

/* What this host gives in the meeting, from what both have said. */
static double
flow_of(const struct lbm_flow_computation *level, const struct lbm_flow_link *link)
{
    if (only_counts(level))
        return 0.0;
    double own = link->said[link->met & 1].load, other = link->word[link->met & 1].load;
    if (level->integer) { /* what was undone may have been passed on already */
        own = fmax(own, 0.0);
        other = fmax(other, 0.0);
    }
    struct lbm_ends ends = {.load_p = link->is_lower ? own : other,
                            .load_q = link->is_lower ? other : own,
                            .share_p = link->is_lower ? level->config.share : link->share,
                            .share_q = link->is_lower ? link->share : level->config.share,
                            .last = link->is_lower ? link->last : -link->last,
                            .alpha = link->alpha};
    double flow = lbm_rule_flow(&level->rule, level->integer, &level->pace, &ends);
    if (level->turns == LBM_TURNS_DRAWN)
        flow *= level->config.unit;
    return link->is_lower ? flow : -flow;
}

static enum lbm_err
meet(struct lbm_flow_computation *level, uint32_t i)
{
    struct lbm_flow_link *link = &level->links.at[i];
    const struct lbm_flow_word *word = &link->word[link->met & 1];
    lbm_termination_hear(&level->termination, word->counter);
    level->has_changed |= word->has_changed;
    link->last = flow_of(level, link);
    link->heard[link->met & 1] = 0;
    link->met++;
    link->before = link->out;
    link->out += link->last;
    level->load -= link->last;
    level->moved |= link->last != 0.0;
    if (link->last == 0.0 || level->turns != LBM_TURNS_COLOURS)
        return LBM_OK;
    return lbm_vec_push(&level->rounds, ((struct lbm_flow_round){.link = i, .out = link->last}));
}

/* Nonzero if this host has no reason to stop. Whole units are exchanged until nothing moves (XL95); loads of
 * any fraction until nobody is above the middle between its share and its limit. */
static int
is_disturbed(const struct lbm_flow_computation *level)
{
    if (!level->has_changed)
        return 0;
    if (level->turns == LBM_TURNS_COLOURS || (level->turns == LBM_TURNS_ALL && level->integer))
        return level->moved;
    double slack = fmax(0.5 * (level->config.limit - level->config.target), 0.5);
    return level->load >
           level->config.target + (level->turns == LBM_TURNS_DRAWN ? fmax(slack, level->config.unit) : slack);
}

static enum lbm_err
end_sweep(struct lbm_flow_computation *level)
{
    if (is_disturbed(level))
        lbm_termination_disturb(&level->termination);
    lbm_termination_sweep(&level->termination);
    level->sweep++;
    level->step = 0;
    level->moved = 0;
    int over = lbm_policy_ends_in_a_sweep(level->rule.policy) ||
               lbm_termination_done(&level->termination, level->config.diameter) ||
               level->sweep >= level->config.sweeps_max;
    level->is_running = !over;
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; over && err == LBM_OK && i < level->links.n; i++)
        if (!is_over(&level->links.at[i]))
            err = say_final(level, i);
    return err;
}

static enum lbm_err
advance(struct lbm_flow_computation *level)
{
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && level->is_running) {
        if (!level->begun)
            err = begin_step(level);
        for (uint32_t i = 0; err == LBM_OK && i < level->links.n; i++)
            if (lbm_flow_waits(level, i))
                return LBM_OK;
        for (uint32_t i = 0; err == LBM_OK && i < level->links.n; i++)
            if (!is_over(&level->links.at[i]) && has_turn(level, &level->links.at[i]))
                err = meet(level, i);
        level->begun = 0;
        level->t++;
        if (err == LBM_OK && ++level->step == steps_of_sweep(level))
            err = end_sweep(level);
    }
    return err;
}

/* ---- the door ------------------------------------------------------------------------------------ */

enum lbm_err
lbm_flow_start(struct lbm_flow_computation *level, const struct lbm_flow_config *config, double load,
               const struct lbm_flow_link *links, size_t n)
{
    lbm_flow_free(level);
    level->config = *config;
    level->rule = *config->rule;
    level->config.rule = NULL;
    if (level->config.sweeps_max == 0)
        level->config.sweeps_max =
            lbm_policy_turns(config->rule->policy) == LBM_TURNS_DRAWN ? DRAWN_SWEEPS_MAX : SWEEPS_MAX;
    if (level->config.unit <= 0.0)
        level->config.unit = 1.0;
    level->turns = lbm_policy_turns(level->rule.policy);
    LBM_ASSERT(level->turns != LBM_TURNS_GLOBAL);
    level->integer = lbm_policy_is_integer(level->rule.policy);
    level->load = load;
    level->termination = (struct lbm_termination){.least = UINT32_MAX};
    lbm_rng_seed(&level->rng, config->seed);
    level->has_changed = load > config->limit;
    for (size_t i = 0; i < n; i++) {
        struct lbm_flow_link link = {.number = links[i].number,
                                     .colour = links[i].colour,
                                     .is_lower = links[i].is_lower,
                                     .share = links[i].share,
                                     .alpha = links[i].alpha != 0.0 ? links[i].alpha : level->rule.alpha,
                                     .n_rivals = links[i].n_rivals,
                                     .rivals_at = level->rivals.n,
                                     .final_at = UINT64_MAX};
        if (lbm_vec_push(&level->links, link) != LBM_OK)
            return LBM_E_NOMEM;
        for (uint32_t k = 0; k < links[i].n_rivals; k++)
            if (lbm_vec_push(&level->rivals, links[i].rival[k]) != LBM_OK)
                return LBM_E_NOMEM;
    }
    level->is_running = n != 0;
    return advance(level);
}

void
lbm_flow_free(struct lbm_flow_computation *level)
{
    lbm_vec_free(&level->links);
    lbm_vec_free(&level->rounds);
    lbm_vec_free(&level->rivals);
    lbm_vec_free(&level->outbox);
    *level = (struct lbm_flow_computation){0};
}

/* The other side ended before a meeting that this side has counted. */
static void
undo(struct lbm_flow_computation *level, uint32_t i)
{
    struct lbm_flow_link *link = &level->links.at[i];
    size_t at = level->rounds.n;
    level->load += link->last;
    link->out = link->before; /* exactly */
    link->met--;
    while (link->last != 0.0 && at > 0 && level->rounds.at[at - 1].link != i)
        at--;
    if (link->last != 0.0 && at > 0)
        level->rounds.at[at - 1].out = 0.0;
    link->last = 0.0;
    lbm_termination_disturb(&level->termination);
}

enum lbm_err
lbm_flow_hear(struct lbm_flow_computation *level, uint32_t i, const struct lbm_flow_word *word)
{
    struct lbm_flow_link *link = &level->links.at[i];
    if (word->final) {
        if (word->meeting > link->met + 1) { /* it refuses: this host has begun again */
            link->is_closed = 1;
            return advance(level);
        }
        link->final_at = word->meeting < link->final_at ? word->meeting : link->final_at;
        if (link->met == word->meeting + 1)
            undo(level, i);
        level->has_changed |= word->has_changed;
        return advance(level);
    }
    if (word->meeting + 1 == link->met) { /* it has not got our word */
        struct lbm_flow_word said = link->said[word->meeting & 1];
        said.again = 1;
        return word->again ? LBM_OK : say(level, i, said);
    }
    if (is_over(link) || !level->is_running)
        return say_final(level, i);
    if (word->meeting != link->met && word->meeting != link->met + 1)
        return LBM_OK;
    if (link->heard[word->meeting & 1] && word->meeting == link->met && !word->again &&
        has_turn(level, link)) { /* it repeats itself: nor has it got ours */
        struct lbm_flow_word said = link->said[word->meeting & 1];
        said.again = 1;
        return say(level, i, said);
    }
    link->word[word->meeting & 1] = *word;
    link->heard[word->meeting & 1] = 1;
    return advance(level);
}

enum lbm_err
lbm_flow_close(struct lbm_flow_computation *level, uint32_t i)
{
    if (is_over(&level->links.at[i]))
        return LBM_OK;
    level->links.at[i].is_closed = 1;
    enum lbm_err err = say_final(level, i);
    return err == LBM_OK ? advance(level) : err;
}

enum lbm_err
lbm_flow_refuse(struct lbm_flow_computation *level, uint32_t i)
{
    struct lbm_flow_word word = {.meeting = UINT64_MAX, .has_changed = level->has_changed, .final = 1};
    level->links.at[i].is_closed = 1;
    enum lbm_err err = say(level, i, word);
    return err == LBM_OK ? advance(level) : err;
}

enum lbm_err
lbm_flow_repeat(struct lbm_flow_computation *level)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < level->links.n; i++)
        if (lbm_flow_waits(level, i))
            err = say(level, i, level->links.at[i].said[level->links.at[i].met & 1]);
    return err;
}

int64_t
lbm_flow_result(const struct lbm_flow_computation *level, uint32_t link)
{
    return level->has_changed ? (int64_t)llround(level->links.at[link].out) : 0;
}
