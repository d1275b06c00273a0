/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads that applications report while they run. A report moves what is known of a vertex a part of the way:
 * a quarter if it differs no more than reports usually do, the more the less it looks like that. The record
 * follows at once when what is known differs by more than noise does, and the later the less it differs. So
 * noise changes few records and, since a host has many vertices, no loads, and what remains of a difference
 * in the end is too small to matter; loads that do not scatter are known when they are reported. What many
 * vertices have in common is no noise, however little it is for each: then the records follow at once, and
 * reports count the more the less they scatter.
 *
 * What is due to each host is a share of the whole, which is then the sum of what the hosts say they have.
 * The job's coordinator adds it up and tells all: if hosts differ in what is due to them, each of two may
 * think that the other has room. Hosts say what they have at moments of their own, so what moves meanwhile is
 * missed or counted twice: the sum is taken again when it has changed by more than that and every vertex is
 * counted once, or has been the same for a while. Else vertices that move would change what is due to all,
 * and so keep others moving. Once nothing has moved for a while, the mean of the sums is as good as any of
 * them.
 *
 * Loads that a program knows, instead of measuring them, hold at once. */
#include <inttypes.h>
#include <math.h>

#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/records/records.h"

enum {
    REPORT_PARTS = 4,   /* a report counts one part in that many at least */
    SCATTER_PARTS = 4,  /* all reports of a host at once count so of how much they scatter */
    COMMON_LEAST = 32,  /* that many reports at once tell what they have in common */
    WHOLE_PARTS = 1000, /* the whole has changed: by one part in that many, or more */
    WHOLE_AGAIN = 7,    /* that many sums, or numbers of vertices, alike are no chance, nor a vertex between a
                         * lost    host and its successor; */
    WHOLE_MEAN = 7,     /* nor is the mean of several of which each counts every vertex once */
    MOVING_US = 2000000, /* so long vertices that are too many, or too few, are taken to be on their way */
    WORK_MAX = INT32_MAX /* ADR 4 */
};

/* Parts of a vertex's work, mean difference between a report and what was known: presumed, and least. One
 * that is `surprise` times as large counts half, and no more than that of how much reports scatter. */
static const double scatter_presumed = 0.05, scatter_least = 0.01, surprise = 4;

/* Parts of a vertex's work: a difference of `noise`, or of twice the scatter, is followed at once, one of
 * `little` never, others after wait_s divided by the difference. */
static const double noise = 0.1, little = 0.005, wait_s = 0.25;

/* Standard error of a mean of reports, each counting a quarter, in mean differences of a report from it: a
 * third (the root of 1 / 8) of the standard deviation of such differences, which is 1.25 times their mean. */
static const double mean_error = 0.44;

/* Standard errors that a sum of loads differs by when it has changed; each host is taken to have missed one
 * vertex, or one too many. */
static const double sum_errors = 3;

/* What reports have in common counts if it is so much of the loads, and that many times its standard error.
 */
static const double common_least = 0.01, common_errors = 5;

uint64_t
lbm_exchange_load_present(const struct lbm_node *node, const struct job *job)
{
    uint64_t n = job->shard.n_own + job->shard.n_out;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        const struct load_report *load_report = lbm_local_report_known(job, member->host);
        if (member->host != node->host && lbm_view_participates(member) && load_report != NULL)
            n += load_report->vertices;
    }
    return n;
}

void
lbm_exchange_load_drifts(struct lbm_node *node, struct job *job)
{
    if (job->drifts)
        return;
    job->drifts = 1;
    job->load_us = node->now_us + PING_US;
}

/* Sum over all hosts of loads, and of vertices. Value: 0 while some of it is not known: a host has not been
 * heard of, or one is lost and its successor has yet to take over. */
static uint64_t
sum_of_loads(const struct lbm_node *node, const struct job *job, uint64_t *count)
{
    uint64_t sum = 0;
    *count = 0;
    for (size_t i = 0; i < node->view.departed.n; i++)
        if (node->view.departed.at[i].evicted && !node->view.departed.at[i].taken_over)
            return 0;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        const struct load_report *load_report = lbm_local_report_known(job, member->host);
        if (!lbm_view_participates(member))
            continue;
        if (member->host == node->host)
            sum += job->shard.load + job->shard.load_out;
        else if (load_report == NULL || load_report->heard_us == 0)
            return 0;
        else
            sum += load_report->whole;
        *count += member->host == node->host ? job->shard.n_own + job->shard.n_out : load_report->vertices;
    }
    return sum;
}

void
lbm_exchange_load_report(const struct lbm_node *node, const struct job *job, Lbm__LoadReport *load_report)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    load_report->drifts = job->drifts != 0;
    if (entry->coordinator != node->host)
        return;
    load_report->sum = job->whole;
    load_report->sum_vertices = job->count;
    load_report->uneven = job->remap.uneven;
}

void
lbm_exchange_load_heard(struct lbm_node *node, struct job *job, uint32_t from,
                        const Lbm__LoadReport *load_report)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    if (load_report->drifts)
        lbm_exchange_load_drifts(node, job);
    if (entry == NULL || entry->coordinator != from)
        return;
    if (load_report->sum > LBM_LOAD_MAX && load_report->sum / 4 > entry->work) {
        lbm_local_refused(node, "host %" PRIu32 " says that all loads are %" PRIu64 ", which they cannot be",
                          from, load_report->sum);
        return;
    }
    job->whole = load_report->sum != 0 ? load_report->sum : job->whole;
    job->count = load_report->sum_vertices != 0 ? load_report->sum_vertices : job->count;
    uint64_t whole = lbm_local_load_whole(node, entry);
    job->remap.uneven = load_report->uneven < whole ? load_report->uneven : whole;
    if (job->was_settled && job->phase >= LBM_PHASE_BALANCING)
        node->raise->mapping_remap_look(node, job);
}

/* Nonzero for the coordinator, and while nothing is heard from it. */
static int
adds_up(const struct lbm_node *node, const struct lbm_job_entry *entry)
{
    const struct lbm_member *coordinator = lbm_view_member(&node->view, entry->coordinator);
    return entry->coordinator == node->host || coordinator == NULL ||
           lbm_membership_is_overdue(node, coordinator);
}

/* Nonzero if the loads of all hosts are another sum than the one known, and not only for what moves. */
static int
is_certain(const struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry, uint64_t sum,
           uint64_t count)
{
    double change = fabs((double)sum - (double)lbm_local_load_whole(node, entry));
    double error = lbm_local_load_mean(node, entry) * sqrt((double)node->view.active.n);
    int is_off = count != lbm_local_load_count(node, entry);
    job->counted_us = is_off ? job->counted_us : node->now_us;
    job->sum_again = sum == job->sum ? job->sum_again + 1 : 0;
    job->sum = sum;
    int is_moving = is_off && node->now_us - job->counted_us < MOVING_US;
    return (change > sum_errors * error && !is_moving) || job->sum_again >= WHOLE_AGAIN;
}

/* The mean of that many sums in a row, each of which counts every vertex once; 0: they are not enough yet. */
static uint64_t
mean_sum(struct job *job, uint64_t sum, int is_exact)
{
    job->n_sums = is_exact ? job->n_sums + 1 : 0;
    if (!is_exact)
        return 0;
    job->sum_mean += ((double)sum - job->sum_mean) / job->n_sums;
    if (job->n_sums < WHOLE_MEAN)
        return 0;
    job->n_sums = 0;
    return (uint64_t)job->sum_mean;
}

/* Loads that are noisy are hardly ever the same sum again: that says nothing of how many vertices there are.
 */
static void
look_at_count(struct job *job, uint64_t count)
{
    job->count_again = count == job->count_seen ? job->count_again + 1 : 0;
    job->count_seen = count;
    if (count != 0 && job->count_again >= WHOLE_AGAIN)
        job->count = (uint32_t)count;
}

void
lbm_exchange_load_timer(struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    if (!job->drifts || node->now_us < job->load_us)
        return;
    job->load_us = node->now_us + PING_US;
    if (!adds_up(node, entry))
        return;
    uint64_t count, known = lbm_local_load_whole(node, entry), sum = sum_of_loads(node, job, &count);
    look_at_count(job, sum != 0 ? count : 0);
    uint64_t mean = mean_sum(job, sum, sum != 0 && count == lbm_local_load_count(node, entry));
    int is_sure = is_certain(node, job, entry, sum, count);
    if (sum == 0 || (!is_sure && mean == 0))
        return;
    uint64_t whole = is_sure ? sum : mean;
    /* A sum that equals the submitted one is stored too: the others keep an older figure until they hear one.
     */
    if (job->whole == 0 || (whole > known ? whole - known : known - whole) > known / WHOLE_PARTS)
        job->whole = whole;
    if (is_sure && count != 0)
        job->count = (uint32_t)count;
}

static uint32_t
as_work(double load)
{
    double rounded = floor(load + 0.5);
    return rounded < 1 ? 1 : rounded > WORK_MAX ? WORK_MAX : (uint32_t)rounded;
}

static double
scatter_of(const struct job *job)
{
    return job->scatter > 0 ? fmax(job->scatter, scatter_least) : scatter_presumed;
}

/* A difference is followed at once, or the later the less it is. */
static void
follow(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, int at_once)
{
    uint32_t now_s = (uint32_t)(node->now_us / 1000000);
    double difference = fabs((double)vertex->reported - vertex->work), work = vertex->work;
    double usual = fmin(noise, 2 * scatter_of(job)) * work;
    int may_wait = difference <= usual && difference * (now_s - vertex->followed) < wait_s * work;
    if (difference < 0.5 || difference <= little * work || (may_wait && !at_once))
        return;
    vertex->followed = now_s;
    lbm_records_work(node, job, vertex, as_work((double)vertex->reported));
}

static void
take_known(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, double load)
{
    vertex->reported = (float)fmax(load, 1e-3);
    if (as_work(load) != vertex->work)
        lbm_records_work(node, job, vertex, as_work(load));
}

/* The vertex of row i of a report, or NULL: it is not worked on, or not by this application any more. */
static struct lbm_vertex *
reported_vertex(const struct lbm_node *node, const struct job *job, const Lbm__LoadRequest *load, size_t i)
{
    struct lbm_vertex *vertex = lbm_records_of(job, load->vertex[i]);
    int is_held = vertex != NULL && vertex->stage == LBM_STAGE_OWN && vertex->running == load->token[i];
    return is_held && !lbm_records_is_undecided(node, vertex) ? vertex : NULL;
}

static double
as_heard(double load)
{
    return load < WORK_MAX ? load : WORK_MAX;
}

static double
known_load(const struct lbm_vertex *vertex)
{
    return vertex->reported > 0 ? (double)vertex->reported : vertex->work;
}

/* How much reports count when they have something in common; 0: they have nothing. That is the part of it in
 * what a report says: the rest is scatter. */
static double
common_part(const struct lbm_node *node, const struct job *job, const Lbm__LoadRequest *load)
{
    double sum = 0, squares = 0, work = 0, n = 0;
    for (size_t i = 0; i < load->n_vertex; i++) {
        const struct lbm_vertex *vertex = reported_vertex(node, job, load, i);
        if (vertex == NULL)
            continue;
        double difference = as_heard(load->load[i]) - vertex->work;
        sum += difference;
        squares += difference * difference;
        work += vertex->work;
        n++;
    }
    if (n < COMMON_LEAST || fabs(sum) < common_least * work)
        return 0;
    double scatter = fmax(squares - sum * sum / n, 0); /* n times the variance */
    return fabs(sum) > common_errors * sqrt(scatter) ? sum * sum / n / squares : 0;
}

/* What a report counts that differs by this part of what is known: half if that is a surprise, nearly all if
 * it is far more. */
static double
counted_part(double difference, double scatter)
{
    double usual = surprise * scatter;
    double part = difference * difference / (difference * difference + usual * usual);
    return fmax(part, 1.0 / REPORT_PARTS);
}

/* Reports differ from what was known as they usually do, or for a change of loads: that is over with the next
 * report. */
static void
learn_scatter(const struct lbm_node *node, struct job *job, const Lbm__LoadRequest *load)
{
    double scatter = scatter_of(job), sum = 0, n = 0;
    for (size_t i = 0; i < load->n_vertex; i++) {
        const struct lbm_vertex *vertex = reported_vertex(node, job, load, i);
        if (vertex == NULL)
            continue;
        double known = known_load(vertex);
        sum += fmin(fabs(as_heard(load->load[i]) - known) / known, surprise * scatter);
        n++;
    }
    if (n > 0)
        job->scatter = scatter + (sum / n - scatter) * n / (n + (SCATTER_PARTS - 1) * job->shard.n_own);
}

/* Reports change records one by one, and what is known of each vertex scatters more than what is reported.
 * Nor is that certain: it is a mean of the last few reports. Out: lag, noise. */
static void
sum_reports(struct job *job)
{
    double squares = 0;
    job->lag = 0;
    for (size_t i = 0; i < job->shard.vertices.n; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        if (vertex->stage != LBM_STAGE_OWN || vertex->reported <= 0)
            continue;
        double known = known_load(vertex);
        job->lag += known - vertex->work;
        squares += known * known;
    }
    job->noise = mean_error * scatter_of(job) * sqrt(squares);
}

void
lbm_exchange_load_measured(struct lbm_node *node, uint64_t client, uint64_t request,
                           const Lbm__LoadRequest *load)
{
    struct job *job = lbm_local_application_job(node, client);
    double common = job != NULL && !load->known ? common_part(node, job, load) : 0;
    double scatter = job != NULL ? scatter_of(job) : 0;
    if (job != NULL && !load->known)
        learn_scatter(node, job, load);
    for (size_t i = 0; job != NULL && i < load->n_vertex && node->failed == LBM_OK; i++) {
        struct lbm_vertex *vertex = reported_vertex(node, job, load, i);
        if (vertex == NULL)
            continue;
        double known = known_load(vertex), heard = as_heard(load->load[i]);
        if (load->known) {
            take_known(node, job, vertex, heard);
            continue;
        }
        double part = counted_part(fabs(heard - known) / known, scatter);
        vertex->reported = (float)fmax(known + (heard - known) * fmax(part, common), 1e-3);
        follow(node, job, vertex, common > 0);
    }
    if (job == NULL) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE, "no job is served by this connection");
        return;
    }
    sum_reports(job);
    lbm_exchange_load_drifts(node, job);
    Lbm__Response response = LBM__RESPONSE__INIT;
    lbm_core_reply(node, client, request, 1, &response);
}
