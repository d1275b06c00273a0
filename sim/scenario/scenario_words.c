/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be said in a scenario, and what it does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "graph/generate.h"
#include "sim/scenario/scenario_internal.h"

enum { CLOCK_PPM = CLUSTER_CLOCK_PPM, FOUND_US = 3000000, JOIN_US = 30000000 };

static uint32_t
host_in(const struct arguments *a, uint32_t i)
{
    return (uint32_t)a->number[i];
}

/* ---- before the cluster begins ------------------------------------------------------------------------- */

static enum lbm_err
set_hosts(struct scenario *s, const struct arguments *a, struct lbm_diag *diag)
{
    struct lbm_diag why;
    if (s->run.h.n != 0)
        return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, s->line, "the hosts are known already");
    if (lbm_hosts_generate(a->text, &s->run.h, &why) != LBM_OK)
        return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, s->line, "%s", why.text);
    if (s->run.h.n > 64)
        return lbm_diag_set(diag, LBM_E_RANGE, s->file, s->line, "%" PRIu32 " hosts are more than 64",
                            s->run.h.n);
    return LBM_OK;
}

static enum lbm_err
set_guest(struct scenario *s, const struct arguments *a, struct lbm_diag *diag)
{
    struct lbm_diag why;
    for (uint32_t i = 0; i < RUN_JOBS_MAX; i++) {
        lbm_graph_free(&s->run.g[i]);
        if (lbm_graph_generate(a->text, 1, &s->run.g[i], &why) != LBM_OK)
            return lbm_diag_set(diag, LBM_E_SYNTAX, s->file, s->line, "%s", why.text);
    }
    return LBM_OK;
}

static enum lbm_err
set_delay(struct scenario *s, const struct arguments *a, struct lbm_diag *diag)
{
    if (a->number[0] > a->number[1])
        return lbm_diag_set(diag, LBM_E_RANGE, s->file, s->line, "the lesser delay comes first");
    s->run.cluster_options.delay_least_us = (int64_t)a->number[0];
    s->run.cluster_options.delay_most_us = (int64_t)a->number[1];
    return LBM_OK;
}

static enum lbm_err
set_room(struct scenario *s, const struct arguments *a, struct lbm_diag *diag)
{
    (void)diag;
    s->run.cluster_options.limited_host = host_in(a, 0);
    s->run.cluster_options.vertices_max = (uint32_t)a->number[1];
    return LBM_OK;
}

static enum lbm_err
set_late(struct scenario *s, const struct arguments *a, struct lbm_diag *diag)
{
    if (a->number[0] >= s->run.h.n)
        return lbm_diag_set(diag, LBM_E_RANGE, s->file, s->line,
                            "one host at least begins: say it after `hosts`, with less than %" PRIu32,
                            s->run.h.n);
    s->run.cluster_options.late = (uint32_t)a->number[0];
    return LBM_OK;
}

#define SETTING(name, field, type)                                                                           \
    static enum lbm_err set_##name(struct scenario *s, const struct arguments *a, struct lbm_diag *diag)     \
    {                                                                                                        \
        (void)diag;                                                                                          \
        s->run.cluster_options.field = (type)a->number[0];                                                   \
        return LBM_OK;                                                                                       \
    }
SETTING(seed, seed, uint64_t)
SETTING(sync, sync_us, int64_t)
SETTING(engine, engine, enum lbm_log_engine)
SETTING(evictions, evict_share, double)
SETTING(large, large_members, uint32_t)

/* ---- time and trace ------------------------------------------------------------------------------------ */

static void
run_time(struct scenario *s, const struct arguments *a)
{
    (void)scenario_run(s, (int64_t)a->number[0], NULL);
}

static void
await_text(struct scenario *s, const struct arguments *a)
{
    if (!scenario_run(s, (int64_t)a->number[0], a->text))
        scenario_fails(s, "--", "it does not come within the time");
}

static void
expect_none(struct scenario *s, const struct arguments *a)
{
    if (scenario_run(s, (int64_t)a->number[0], a->text))
        scenario_fails(s, "--", "it comes");
}

static int
has_happened(const struct scenario *s, const char *pattern)
{
    return s->lines.len != 0 && scenario_matches(pattern, (const char *)s->lines.at);
}

static void
expect_happened(struct scenario *s, const struct arguments *a)
{
    if (!has_happened(s, a->text))
        scenario_fails(s, "--", "it has not happened");
}

static void
expect_never(struct scenario *s, const struct arguments *a)
{
    if (has_happened(s, a->text))
        scenario_fails(s, "--", "it has happened");
}

static void
expect_backup(struct scenario *s, const struct arguments *a)
{
    uint32_t backup = run_backup(&s->run, host_in(a, 0));
    if (backup != host_in(a, 1))
        scenario_fails(s, "--", "the backup of host %" PRIu32 " is %" PRId32, host_in(a, 0), (int32_t)backup);
}

static void
expect_vertices(struct scenario *s, const struct arguments *a)
{
    uint32_t n = s->run.g[0].n, doubles, none, here = 0;
    uint32_t *part = lbm_alloc(n, sizeof *part);
    LBM_ASSERT(part != NULL);
    cluster_owners(s->run.cluster, n, part, &doubles, &none);
    for (uint32_t v = 0; v < n; v++)
        here += part[v] == host_in(a, 0);
    if (here < a->number[1] || here > a->number[2])
        scenario_fails(s, "--", "host %" PRIu32 " has %" PRIu32, host_in(a, 0), here);
    free(part);
}

static int
all_settled(struct cluster *cluster, void *arg)
{
    (void)arg;
    return cluster_settled(cluster, "job0");
}

/* Those that are up have settled, whatever hosts that take no part have. */
static int
others_settled(struct cluster *cluster, void *arg)
{
    const struct run *run = arg;
    for (uint32_t p = 0; p < run->h.n; p++) {
        if (!cluster_is_up(cluster, p) || cluster_is_stopped(cluster, p))
            continue;
        const Lbm__JobEntry *job = cluster_job(cluster, p, "job0");
        if (job == NULL || strcmp(job->heard_phase, lbm_phase_name(LBM_PHASE_SETTLED)) != 0)
            return 0;
    }
    return 1;
}

static int
all_worked_on(struct cluster *cluster, void *arg)
{
    (void)arg;
    return cluster_idle_vertices(cluster) == 0;
}

static void
await_state(struct scenario *s, const struct arguments *a)
{
    static const struct {
        int (*is)(struct cluster *cluster, void *arg);
        const char *text;
    } states[] = {{run_in_sync, "the hosts that are up are not all active and in sync"},
                  {all_settled, "the job has not settled"},
                  {all_worked_on, "some vertex is worked on by nobody"},
                  {others_settled, "the job has not settled among those that take part"}};
    if (!cluster_run(s->run.cluster, (int64_t)a->number[1], states[a->number[0]].is, &s->run))
        scenario_fails(s, "--", "%s", states[a->number[0]].text);
}

/* ---- hosts --------------------------------------------------------------------------------------------- */

static enum crash
crash_in(const struct arguments *a)
{
    static const enum crash crashes[] = {CRASH_NONE, CRASH_SOME, CRASH_ALL};
    return crashes[a->number[1]];
}

static void
crash(struct scenario *s, const struct arguments *a)
{
    cluster_crash_with(s->run.cluster, host_in(a, 0), crash_in(a));
}

static void
kill_daemon(struct scenario *s, const struct arguments *a)
{
    cluster_kill(s->run.cluster, host_in(a, 0), crash_in(a));
}

static void
start(struct scenario *s, const struct arguments *a)
{
    s->run.dead[host_in(a, 0)] = 0;
    cluster_restart(s->run.cluster, host_in(a, 0));
}

/* One after the other, so that each gets the same backup whatever the delays are. */
static void
start_all(struct scenario *s, const struct arguments *a)
{
    (void)a;
    (void)scenario_run(s, FOUND_US, NULL);
    for (uint32_t p = 0; p < s->run.h.n && scenario_is_well(s); p++) {
        if (cluster_is_up(s->run.cluster, p))
            continue;
        cluster_restart(s->run.cluster, p);
        if (!cluster_run(s->run.cluster, JOIN_US, run_in_sync, &s->run))
            scenario_fails(s, "--", "host %" PRIu32 " does not come to be active and in sync", p);
    }
}

static void
destroy(struct scenario *s, const struct arguments *a)
{
    cluster_crash_with(s->run.cluster, host_in(a, 0), CRASH_NONE);
    cluster_lose_disk(s->run.cluster, host_in(a, 0));
    s->run.dead[host_in(a, 0)] = 1;
}

static void
roll_back(struct scenario *s, const struct arguments *a)
{
    if (!cluster_roll_back_disk(s->run.cluster, host_in(a, 0)))
        scenario_fails(s, "--", "say `image %" PRIu32 "` earlier", host_in(a, 0));
}

static void
go_on(struct scenario *s, const struct arguments *a)
{
    if (!cluster_is_stopped(s->run.cluster, host_in(a, 0)))
        scenario_fails(s, "--", "host %" PRIu32 " is not stopped", host_in(a, 0));
    else
        cluster_continue(s->run.cluster, host_in(a, 0));
}

static void
set_clock(struct scenario *s, const struct arguments *a)
{
    static const int32_t ppm[] = {CLOCK_PPM, -CLOCK_PPM, 0};
    cluster_clock_rate(s->run.cluster, host_in(a, 0), ppm[a->number[1]]);
}

#define OF_HOST(name, function)                                                                              \
    static void name(struct scenario *s, const struct arguments *a)                                          \
    {                                                                                                        \
        function(s->run.cluster, host_in(a, 0));                                                             \
    }
OF_HOST(stop, cluster_stop)
OF_HOST(suspend, cluster_suspend)
OF_HOST(image, cluster_image_disk)
OF_HOST(empty, cluster_lose_disk)
OF_HOST(kill_applications, cluster_kill_applications)

static void
stall_disk(struct scenario *s, const struct arguments *a)
{
    cluster_stall_disk(s->run.cluster, host_in(a, 0), (int64_t)a->number[1]);
}

/* ---- network ------------------------------------------------------------------------------------------- */

static void
hold(struct scenario *s, const struct arguments *a)
{
    cluster_hold(s->run.cluster, a->text, host_in(a, 0), host_in(a, 1));
}

static void
forge(struct scenario *s, const struct arguments *a)
{
    cluster_forge(s->run.cluster, host_in(a, 1), host_in(a, 2), (uint32_t)a->number[0]);
}

static void
pass(struct scenario *s, const struct arguments *a)
{
    if (!cluster_pass(s->run.cluster, host_in(a, 0), host_in(a, 1)))
        scenario_fails(s, "--", "nothing is held there");
}

static void
break_connection(struct scenario *s, const struct arguments *a)
{
    cluster_disconnect(s->run.cluster, host_in(a, 0), host_in(a, 1));
}

static void
cut(struct scenario *s, const struct arguments *a)
{
    cluster_cut(s->run.cluster, host_in(a, 0), host_in(a, 1), 1);
}

static void
mend(struct scenario *s, const struct arguments *a)
{
    cluster_cut(s->run.cluster, host_in(a, 0), host_in(a, 1), 0);
}

static void
lag(struct scenario *s, const struct arguments *a)
{
    cluster_lag(s->run.cluster, host_in(a, 0), host_in(a, 1), (int64_t)a->number[2]);
    cluster_lag(s->run.cluster, host_in(a, 1), host_in(a, 0), (int64_t)a->number[2]);
}

static void
apart(struct scenario *s, uint32_t host, int on)
{
    for (uint32_t p = 0; p < s->run.h.n; p++)
        if (p != host)
            cluster_cut(s->run.cluster, host, p, on);
}

static void
isolate(struct scenario *s, const struct arguments *a)
{
    apart(s, host_in(a, 0), 1);
}

static void
reconnect(struct scenario *s, const struct arguments *a)
{
    apart(s, host_in(a, 0), 0);
}

/* ---- jobs, operators, the log -------------------------------------------------------------------------- */

static void
submit(struct scenario *s, const struct arguments *a)
{
    if (s->run.jobs == RUN_JOBS_MAX) {
        scenario_fails(s, "--", "there are %d jobs already", RUN_JOBS_MAX);
        return;
    }
    uint32_t before = s->run.jobs;
    run_submit(&s->run, host_in(a, 0), 1);
    if (s->run.jobs == before)
        scenario_fails(s, "--", "host %" PRIu32 " does not take it", host_in(a, 0));
}

static void
cancel(struct scenario *s, const struct arguments *a)
{
    if (a->number[0] >= s->run.jobs)
        scenario_fails(s, "--", "there is no such job");
    else
        run_cancel(&s->run, host_in(a, 1), (uint32_t)a->number[0]);
}

static void
application(struct scenario *s, const struct arguments *a)
{
    if (!cluster_job_lives(s->run.cluster, "job0"))
        scenario_fails(s, "--", "the log has no job yet");
    else
        cluster_run_application(s->run.cluster, host_in(a, 0), "job0", (enum client_model)a->number[1]);
}

static void
applications(struct scenario *s, const struct arguments *a)
{
    for (uint32_t p = 0; p < s->run.h.n; p++) {
        struct arguments one = {.number = {p, a->number[0]}};
        if (cluster_is_up(s->run.cluster, p))
            application(s, &one);
    }
}

static void
client_model(struct scenario *s, const struct arguments *a)
{
    cluster_set_client_model(s->run.cluster, (enum client_model)a->number[0]);
}

static double
load_of_each(void *arg, uint32_t vertex, int64_t now_us)
{
    const struct scenario *s = arg;
    (void)now_us;
    return vertex == s->load_vertex ? s->load : 1;
}

static void
load(struct scenario *s, const struct arguments *a)
{
    s->load_vertex = (uint32_t)a->number[0];
    s->load = (double)a->number[1];
    cluster_set_loads(s->run.cluster, load_of_each, s);
}

static void
expect_sum(struct scenario *s, const struct arguments *a)
{
    const Lbm__JobEntry *job = cluster_job(s->run.cluster, host_in(a, 0), "job0");
    if (job == NULL)
        scenario_fails(s, "--", "the host does not know job0");
    else if (job->work != a->number[1])
        scenario_fails(s, "--", "it is %" PRIu64, job->work);
}

static void
change_host(struct scenario *s, Lbm__HostAction action, uint32_t host, uint32_t at, double capacity)
{
    Lbm__HostChange change = LBM__HOST_CHANGE__INIT;
    change.action = action;
    change.host = host;
    change.capacity = capacity;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOST_CHANGE;
    request.host_change = &change;
    if (!cluster_is_up(s->run.cluster, at))
        scenario_fails(s, "--", "host %" PRIu32 ", which is asked, is down", at);
    else
        cluster_request(s->run.cluster, at, 0, &request);
}

static void
operate(struct scenario *s, const struct arguments *a)
{
    static const Lbm__HostAction actions[] = {
        LBM__HOST_ACTION__HOST_EVICT,
        LBM__HOST_ACTION__HOST_DRAIN,
        LBM__HOST_ACTION__HOST_LEAVE,
        LBM__HOST_ACTION__HOST_JOIN,
    };
    change_host(s, actions[a->number[0]], host_in(a, 1), host_in(a, 2), 0);
}

static void
capacity(struct scenario *s, const struct arguments *a)
{
    change_host(s, LBM__HOST_ACTION__HOST_SET, host_in(a, 0), host_in(a, 2), (double)a->number[1]);
}

static void
promote(struct scenario *s, const struct arguments *a)
{
    run_promote(&s->run, host_in(a, 0), 0);
}

static void
log_is(struct scenario *s, const struct arguments *a)
{
    if (!cluster_log_is_external(s->run.cluster)) {
        scenario_fails(s, "--", "say `engine external` first");
        return;
    }
    cluster_log_unavailable(s->run.cluster, a->number[0] == 0);
    cluster_log_loses(s->run.cluster, a->number[0] == 1 ? 1 : 0);
}

static void
deaf(struct scenario *s, const struct arguments *a)
{
    if (!cluster_log_is_external(s->run.cluster))
        scenario_fails(s, "--", "say `engine external` first");
    else
        cluster_log_deaf(s->run.cluster, host_in(a, 0), 1);
}

static void
hears(struct scenario *s, const struct arguments *a)
{
    cluster_log_deaf(s->run.cluster, host_in(a, 0), 0);
}

static void
settle(struct scenario *s, const struct arguments *a)
{
    (void)a;
    cluster_pass_all(s->run.cluster);
    for (uint32_t p = 0; p < s->run.h.n; p++)
        cluster_log_deaf(s->run.cluster, p, 0);
    run_come_to_rest(&s->run);
    if (s->result.invariant[0] != '\0')
        scenario_fails(s, s->result.invariant, "%s", s->result.text);
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

const struct scenario_row scenario_rows[] = {
    {"hosts SPEC", "the hosts, as for lbctl; all scenarios begin with it", NULL, set_hosts, NEEDS_NOTHING},
    {"guest SPEC", "the graph of the jobs; lattice:3x3 unless told", NULL, set_guest, NEEDS_NOTHING},
    {"seed NUMBER", "of all that is drawn; 1 unless told", NULL, set_seed, NEEDS_NOTHING},
    {"delay NUMBER to NUMBER us", "of messages; 100 to 300 unless told", NULL, set_delay, NEEDS_NOTHING},
    {"sync NUMBER us", "a transaction takes up to this; 2000 unless told", NULL, set_sync, NEEDS_NOTHING},
    {"engine local|external", "who orders the control log; local unless told", NULL, set_engine,
     NEEDS_NOTHING},
    {"late NUMBER", "that many of the last hosts are not started", NULL, set_late, NEEDS_NOTHING},
    {"room HOST NUMBER", "a host refuses what would make it more vertices", NULL, set_room, NEEDS_NOTHING},
    {"evictions NUMBER", "the part of the members that may be lost; 1 unless told, 0: operators alone evict",
     NULL, set_evictions, NEEDS_NOTHING},
    {"large NUMBER", "clusters of more hosts than that are large: nobody is asked whose an offered vertex is",
     NULL, set_large, NEEDS_NOTHING},

    {"run TIME", "time passes", run_time, NULL, NEEDS_NOTHING},
    {"await TEXT within TIME", "until a line of the trace has the text, in which * stands for anything",
     await_text, NULL, NEEDS_NOTHING},
    {"await members|settled|work|others within TIME",
     "until all that are up are active and in sync; the job has settled; all is worked on; it has settled "
     "but for hosts that take no part",
     await_state, NULL, NEEDS_NOTHING},
    {"expect no TEXT for TIME", "time passes without such a line", expect_none, NULL, NEEDS_NOTHING},
    {"expect TEXT happened", "there was such a line", expect_happened, NULL, NEEDS_NOTHING},
    {"expect TEXT never", "there was none so far", expect_never, NULL, NEEDS_NOTHING},
    {"expect vertices HOST NUMBER to NUMBER", "that many are the host's", expect_vertices, NULL,
     NEEDS_NOTHING},
    {"expect sum HOST NUMBER", "the host takes the loads of job0 to add up to that", expect_sum, NULL,
     NEEDS_UP},
    {"expect backup HOST HOST", "the backup of the first is the second", expect_backup, NULL, NEEDS_UP},

    {"hold KIND HOST HOST", "from such a message on, what the first sends to the second waits", hold, NULL,
     NEEDS_NOTHING},
    {"forge epoch|moved|view|term HOST HOST",
     "the next ping of the first to the second says a number out of reach", forge, NULL, NEEDS_NOTHING},
    {"pass HOST HOST", "it comes through", pass, NULL, NEEDS_NOTHING},
    {"break HOST HOST", "the connection breaks, what is on its way or waits is lost", break_connection, NULL,
     NEEDS_NOTHING},
    {"cut HOST HOST", "nothing goes between the two any more", cut, NULL, NEEDS_NOTHING},
    {"mend HOST HOST", "it does again", mend, NULL, NEEDS_NOTHING},
    {"lag HOST HOST TIME", "what goes between the two takes so much longer, each way", lag, NULL,
     NEEDS_NOTHING},
    {"isolate HOST", "nothing goes to it or from it any more", isolate, NULL, NEEDS_NOTHING},
    {"reconnect HOST", "it does again", reconnect, NULL, NEEDS_NOTHING},

    {"crash HOST none|some|all",
     "the machine stops; none, some or all of what was in progress is on the disk", crash, NULL, NEEDS_UP},
    {"kill HOST none|some|all", "the daemon alone; applications go on", kill_daemon, NULL, NEEDS_UP},
    {"start all", "that are down, each when those before are active and in sync", start_all, NULL,
     NEEDS_NOTHING},
    {"start HOST", "from its disk", start, NULL, NEEDS_DOWN},
    {"destroy HOST", "the machine and its disk are lost for good", destroy, NULL, NEEDS_UP},
    {"image HOST", "remember what the disk holds", image, NULL, NEEDS_NOTHING},
    {"roll-back HOST", "the disk holds what it held at `image`", roll_back, NULL, NEEDS_DOWN},
    {"empty HOST", "the disk is a new one, with nothing on it", empty, NULL, NEEDS_DOWN},
    {"stall-disk HOST TIME", "no sync ends meanwhile", stall_disk, NULL, NEEDS_UP},
    {"stop HOST", "the daemon alone stands still", stop, NULL, NEEDS_UP},
    {"suspend HOST", "the machine sleeps, its clock goes on", suspend, NULL, NEEDS_UP},
    {"continue HOST", "it goes on", go_on, NULL, NEEDS_UP},
    {"clock HOST fast|slow|right", "0.495 % fast or slow", set_clock, NULL, NEEDS_NOTHING},

    {"submit HOST", "a job, called job0 and so on", submit, NULL, NEEDS_UP},
    {"cancel NUMBER at HOST", "an operator cancels job0 or another one there", cancel, NULL, NEEDS_NOTHING},
    {"application HOST obedient|slow|disobedient", "one for job0 begins", application, NULL, NEEDS_NOTHING},
    {"applications obedient|slow|disobedient", "one for job0 begins on each host that is up", applications,
     NULL, NEEDS_NOTHING},
    {"load NUMBER NUMBER", "from now on applications say that a vertex costs so much, and each other one 1",
     load, NULL, NEEDS_NOTHING},
    {"client-model obedient|slow|disobedient", "of all applications from now on", client_model, NULL,
     NEEDS_NOTHING},
    {"kill-applications HOST", "all of them", kill_applications, NULL, NEEDS_NOTHING},

    {"ask evict|drain|leave|join HOST at HOST", "an operator asks the second to do that with the first",
     operate, NULL, NEEDS_NOTHING},
    {"capacity HOST NUMBER at HOST", "an operator sets that of the first at the second", capacity, NULL,
     NEEDS_NOTHING},
    {"promote HOST", "it is to order the local log", promote, NULL, NEEDS_UP},
    {"log away|mute|well", "the external log does not answer; appends without an answer; is well again",
     log_is, NULL, NEEDS_NOTHING},
    {"deaf HOST", "it gets no entries of the external log", deaf, NULL, NEEDS_NOTHING},
    {"hears HOST", "it does again", hears, NULL, NEEDS_NOTHING},
    {"settle", "all that is wrong ends; every vertex must be worked on, and all come to rest", settle, NULL,
     NEEDS_NOTHING},
};
const size_t scenario_n_rows = sizeof scenario_rows / sizeof *scenario_rows;
