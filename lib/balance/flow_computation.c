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
say(struct lbm_flow_computation *flow, uint32_t link, struct lbm_flow_word word)
{
    flow->n_words++;
    return lbm_vec_push(&flow->outbox, ((struct lbm_flow_said){.link = link, .word = word}));
}

static enum lbm_err
say_final(struct lbm_flow_computation *flow, uint32_t i)
{
    struct lbm_flow_word word = {.exchange = flow->links.at[i].met,
                                 .load = flow->load,
                                 .counter = flow->config.diameter + 1,
                                 .has_changed = flow->has_changed,
                                 .final = 1};
    return say(flow, i, word);
}

/* No exchanges on this link from here on. */
static int
is_over(const struct lbm_flow_link *link)
{
    return link->is_closed || link->met >= link->final_at;
}

/* ---- steps --------------------------------------------------------------------------------------- */

/* Steps of a sweep. Random draws end with one of all links, in which only counters are told. */
static uint64_t
steps_of_sweep(const struct lbm_flow_computation *flow)
{
    switch (flow->turns) {
    case LBM_TURNS_COLOURS:
        return flow->config.n_colours;
    case LBM_TURNS_DRAWN:
        return (uint64_t)flow->config.n_all_links + 1;
    case LBM_TURNS_MATCHED: /* about as many matchings as give each link a turn */
        return 2 * (uint64_t)flow->config.n_colours + 1;
    default:
        return 1;
    }
}

/* Nonzero in a step in which nothing is given. */
static int
only_counts(const struct lbm_flow_computation *flow)
{
    return (flow->turns == LBM_TURNS_DRAWN || flow->turns == LBM_TURNS_MATCHED) &&
           flow->step + 1 == steps_of_sweep(flow);
}

/* Random matchings: nonzero if no link at either end has drawn less. */
static int
is_matched(const struct lbm_flow_computation *flow, const struct lbm_flow_link *link)
{
    uint64_t own = lbm_matching_draw(flow->config.seed, flow->t, link->number);
    for (uint32_t i = 0; i < link->n_rivals; i++) {
        uint32_t rival = flow->rivals.at[link->rivals_at + i];
        uint64_t draw = lbm_matching_draw(flow->config.seed, flow->t, rival);
        if (draw < own || (draw == own && rival < link->number))
            return 0;
    }
    return 1;
}

static int
has_turn(const struct lbm_flow_computation *flow, const struct lbm_flow_link *link)
{
    if (flow->turns == LBM_TURNS_COLOURS)
        return link->colour == flow->step;
    if (flow->turns == LBM_TURNS_DRAWN && !only_counts(flow))
        return link->number == flow->drawn;
    if (flow->turns == LBM_TURNS_MATCHED && !only_counts(flow))
        return link->is_matched;
    return 1;
}

static enum lbm_err
begin_step(struct lbm_flow_computation *flow)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; flow->turns == LBM_TURNS_MATCHED && i < flow->links.n; i++)
        flow->links.at[i].is_matched = is_matched(flow, &flow->links.at[i]);
    if (flow->turns == LBM_TURNS_DRAWN && !only_counts(flow))
        flow->drawn = lbm_rng_below(&flow->rng, flow->config.n_all_links);
    if (flow->turns == LBM_TURNS_ALL)
        lbm_pace_of(&flow->rule, flow->t, &flow->omega, &flow->pace);
    for (uint32_t i = 0; err == LBM_OK && i < flow->links.n; i++) {
        struct lbm_flow_link *link = &flow->links.at[i];
        if (is_over(link) || !has_turn(flow, link))
            continue;
        struct lbm_flow_word word = {.exchange = link->met,
                                     .load = flow->load,
                                     .counter = flow->termination.counter,
                                     .has_changed = flow->has_changed};
        link->said[link->met & 1] = word;
        err = say(flow, i, word);
    }
    flow->begun = 1;
    return err;
}

int
lbm_flow_waits(const struct lbm_flow_computation *flow, uint32_t i)
{
    const struct lbm_flow_link *link = &flow->links.at[i];
    return flow->is_running && flow->begun && !is_over(link) && has_turn(flow, link) &&
           !link->heard[link->met & 1];
}

/* What this host gives in the exchange, from what both have said. */
static double
flow_of(const struct lbm_flow_computation *flow, const struct lbm_flow_link *link)
{
    if (only_counts(flow))
        return 0.0;
    double own = link->said[link->met & 1].load, other = link->word[link->met & 1].load;
    if (flow->integer) { /* what was undone may have been passed on already */
        own = fmax(own, 0.0);
        other = fmax(other, 0.0);
    }
    struct lbm_ends ends = {.load_p = link->is_lower ? own : other,
                            .load_q = link->is_lower ? other : own,
                            .share_p = link->is_lower ? flow->config.share : link->share,
                            .share_q = link->is_lower ? link->share : flow->config.share,
                            .last = link->is_lower ? link->last : -link->last,
                            .alpha = link->alpha};
    double amount = lbm_rule_flow(&flow->rule, flow->integer, &flow->pace, &ends);
    if (flow->turns == LBM_TURNS_DRAWN)
        amount *= flow->config.unit;
    return link->is_lower ? amount : -amount;
}

static enum lbm_err
meet(struct lbm_flow_computation *flow, uint32_t i)
{
    struct lbm_flow_link *link = &flow->links.at[i];
    const struct lbm_flow_word *word = &link->word[link->met & 1];
    lbm_termination_hear(&flow->termination, word->counter);
    flow->has_changed |= word->has_changed;
    link->last = flow_of(flow, link);
    link->heard[link->met & 1] = 0;
    link->met++;
    link->before = link->out;
    link->out += link->last;
    flow->load -= link->last;
    flow->moved |= link->last != 0.0;
    if (link->last == 0.0 || flow->turns != LBM_TURNS_COLOURS)
        return LBM_OK;
    return lbm_vec_push(&flow->rounds, ((struct lbm_flow_round){.link = i, .out = link->last}));
}

/* Nonzero if this host has no reason to stop. Whole units are exchanged until nothing moves (XL95); loads of
 * any fraction until nobody is above the middle between its share and its limit. */
static int
is_disturbed(const struct lbm_flow_computation *flow)
{
    if (!flow->has_changed)
        return 0;
    if (flow->turns == LBM_TURNS_COLOURS || (flow->turns == LBM_TURNS_ALL && flow->integer))
        return flow->moved;
    double slack = fmax(0.5 * (flow->config.limit - flow->config.target), 0.5);
    return flow->load >
           flow->config.target + (flow->turns == LBM_TURNS_DRAWN ? fmax(slack, flow->config.unit) : slack);
}

static enum lbm_err
end_sweep(struct lbm_flow_computation *flow)
{
    if (is_disturbed(flow))
        lbm_termination_disturb(&flow->termination);
    lbm_termination_sweep(&flow->termination);
    flow->sweep++;
    flow->step = 0;
    flow->moved = 0;
    int over = lbm_policy_ends_in_a_sweep(flow->rule.policy) ||
               lbm_termination_done(&flow->termination, flow->config.diameter) ||
               flow->sweep >= flow->config.sweeps_max;
    flow->is_running = !over;
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; over && err == LBM_OK && i < flow->links.n; i++)
        if (!is_over(&flow->links.at[i]))
            err = say_final(flow, i);
    return err;
}

static enum lbm_err
advance(struct lbm_flow_computation *flow)
{
    enum lbm_err err = LBM_OK;
    while (err == LBM_OK && flow->is_running) {
        if (!flow->begun)
            err = begin_step(flow);
        for (uint32_t i = 0; err == LBM_OK && i < flow->links.n; i++)
            if (lbm_flow_waits(flow, i))
                return LBM_OK;
        for (uint32_t i = 0; err == LBM_OK && i < flow->links.n; i++)
            if (!is_over(&flow->links.at[i]) && has_turn(flow, &flow->links.at[i]))
                err = meet(flow, i);
        flow->begun = 0;
        flow->t++;
        if (err == LBM_OK && ++flow->step == steps_of_sweep(flow))
            err = end_sweep(flow);
    }
    return err;
}

/* ---- the door ------------------------------------------------------------------------------------ */

enum lbm_err
lbm_flow_start(struct lbm_flow_computation *flow, const struct lbm_flow_config *config, double load,
               const struct lbm_flow_link *links, size_t n)
{
    lbm_flow_free(flow);
    flow->config = *config;
    flow->rule = *config->rule;
    flow->config.rule = NULL;
    if (flow->config.sweeps_max == 0)
        flow->config.sweeps_max =
            lbm_policy_turns(config->rule->policy) == LBM_TURNS_DRAWN ? DRAWN_SWEEPS_MAX : SWEEPS_MAX;
    if (flow->config.unit <= 0.0)
        flow->config.unit = 1.0;
    flow->turns = lbm_policy_turns(flow->rule.policy);
    LBM_ASSERT(flow->turns != LBM_TURNS_GLOBAL);
    flow->integer = lbm_policy_is_integer(flow->rule.policy);
    flow->load = load;
    flow->termination = (struct lbm_termination){.least = UINT32_MAX};
    lbm_rng_seed(&flow->rng, config->seed);
    flow->has_changed = load > config->limit;
    for (size_t i = 0; i < n; i++) {
        struct lbm_flow_link link = {.number = links[i].number,
                                     .colour = links[i].colour,
                                     .is_lower = links[i].is_lower,
                                     .share = links[i].share,
                                     .alpha = links[i].alpha != 0.0 ? links[i].alpha : flow->rule.alpha,
                                     .n_rivals = links[i].n_rivals,
                                     .rivals_at = flow->rivals.n,
                                     .final_at = UINT64_MAX};
        if (lbm_vec_push(&flow->links, link) != LBM_OK)
            return LBM_E_NOMEM;
        for (uint32_t k = 0; k < links[i].n_rivals; k++)
            if (lbm_vec_push(&flow->rivals, links[i].rival[k]) != LBM_OK)
                return LBM_E_NOMEM;
    }
    flow->is_running = n != 0;
    return advance(flow);
}

void
lbm_flow_free(struct lbm_flow_computation *flow)
{
    lbm_vec_free(&flow->links);
    lbm_vec_free(&flow->rounds);
    lbm_vec_free(&flow->rivals);
    lbm_vec_free(&flow->outbox);
    *flow = (struct lbm_flow_computation){0};
}

/* The other side ended before an exchange that this side has counted. */
static void
undo(struct lbm_flow_computation *flow, uint32_t i)
{
    struct lbm_flow_link *link = &flow->links.at[i];
    size_t at = flow->rounds.n;
    flow->load += link->last;
    link->out = link->before; /* exactly */
    link->met--;
    while (link->last != 0.0 && at > 0 && flow->rounds.at[at - 1].link != i)
        at--;
    if (link->last != 0.0 && at > 0)
        flow->rounds.at[at - 1].out = 0.0;
    link->last = 0.0;
    lbm_termination_disturb(&flow->termination);
}

enum lbm_err
lbm_flow_hear(struct lbm_flow_computation *flow, uint32_t i, const struct lbm_flow_word *word)
{
    struct lbm_flow_link *link = &flow->links.at[i];
    if (word->final) {
        if (word->exchange > link->met + 1) { /* it refuses: this host has begun again */
            link->is_closed = 1;
            return advance(flow);
        }
        link->final_at = word->exchange < link->final_at ? word->exchange : link->final_at;
        if (link->met == word->exchange + 1)
            undo(flow, i);
        flow->has_changed |= word->has_changed;
        return advance(flow);
    }
    if (word->exchange + 1 == link->met) { /* it has not got our word */
        struct lbm_flow_word said = link->said[word->exchange & 1];
        said.again = 1;
        return word->again ? LBM_OK : say(flow, i, said);
    }
    if (is_over(link) || !flow->is_running)
        return say_final(flow, i);
    if (word->exchange != link->met && word->exchange != link->met + 1)
        return LBM_OK;
    if (link->heard[word->exchange & 1] && word->exchange == link->met && !word->again &&
        has_turn(flow, link)) { /* it repeats itself: nor has it got ours */
        struct lbm_flow_word said = link->said[word->exchange & 1];
        said.again = 1;
        return say(flow, i, said);
    }
    link->word[word->exchange & 1] = *word;
    link->heard[word->exchange & 1] = 1;
    return advance(flow);
}

enum lbm_err
lbm_flow_close(struct lbm_flow_computation *flow, uint32_t i)
{
    if (is_over(&flow->links.at[i]))
        return LBM_OK;
    flow->links.at[i].is_closed = 1;
    enum lbm_err err = say_final(flow, i);
    return err == LBM_OK ? advance(flow) : err;
}

enum lbm_err
lbm_flow_refuse(struct lbm_flow_computation *flow, uint32_t i)
{
    struct lbm_flow_word word = {.exchange = UINT64_MAX, .has_changed = flow->has_changed, .final = 1};
    flow->links.at[i].is_closed = 1;
    enum lbm_err err = say(flow, i, word);
    return err == LBM_OK ? advance(flow) : err;
}

enum lbm_err
lbm_flow_repeat(struct lbm_flow_computation *flow)
{
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < flow->links.n; i++)
        if (lbm_flow_waits(flow, i))
            err = say(flow, i, flow->links.at[i].said[flow->links.at[i].met & 1]);
    return err;
}

int64_t
lbm_flow_result(const struct lbm_flow_computation *flow, uint32_t link)
{
    return flow->has_changed ? (int64_t)llround(flow->links.at[link].out) : 0;
}
