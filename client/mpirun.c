/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl mpirun: start an MPI program whose rank i is on the host of vertex i.
 *
 * Owns: the choice of the launcher's options, the files that it reads, and the process of the launcher. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/daemon.h"
#include "client/formats.h"
#include "client/guest.h"
#include "client/launch.h"
#include "file/file.h"
#include "threads/parallel.h"

enum {
    MPI_HOSTS,
    MPI_IMBALANCE,
    MPI_SEED,
    MPI_MPIRUN,
    MPI_KIND,
    MPI_DRY_RUN,
    MPI_GUEST,
    MPI_LAUNCH = MPI_GUEST + LBM_GUEST_OPTIONS,
    MPI_OPTIONS = MPI_LAUNCH + LBM_LAUNCH_OPTIONS
};

enum kind { OPENMPI_4, OPENMPI_5, MPICH, KINDS };

static const struct lbm_choice kinds[] = {
    [OPENMPI_4] = {"openmpi4", "a rankfile and --rankfile"},
    [OPENMPI_5] = {"openmpi5", "a rankfile and --map-by rankfile:FILE="},
    [MPICH] = {"mpich", "a machine file in the order of ranks and -f"},
    [KINDS] = {NULL, NULL},
};

static const struct lbm_option options[] = {
    [MPI_HOSTS] = LBM_TEXT_OPTION("hosts", "SPEC",
                                  "the hosts and their links: the first operand is a GRAPH, and is planned "
                                  "now; without, it is a JOB of the daemon",
                                  .choices = lbm_host_forms),
    [MPI_IMBALANCE] = LBM_SHARE_OPTION("imbalance", "EPS", 0, 1,
                                       "of a plan: how far a host's load may exceed its share: 0.03 or 3%",
                                       .fallback = "0.03"),
    [MPI_SEED] = LBM_INTEGER_OPTION("seed", "N", 0, LBM_OPTION_INTEGER_MAX,
                                    "of a plan: start of the random numbers", .fallback = "1"),
    [MPI_MPIRUN] = LBM_TEXT_OPTION("mpirun", "COMMAND", "the launcher", .fallback = "mpirun"),
    [MPI_KIND] = LBM_CHOICE_OPTION("launcher", "KIND", kinds, "what it is [by its --version]"),
    [MPI_DRY_RUN] = LBM_FLAG_OPTION("dry-run", "print the command and its files, and start nothing"),
    LBM_GUEST_OPTION_ROWS(MPI_GUEST),
    LBM_LAUNCH_OPTION_ROWS(MPI_LAUNCH),
};

enum { MPI_GRAPH, MPI_PROGRAM, MPI_ARGUMENTS_MAX = 4096 };

static const struct lbm_operand operands[] = {
    [MPI_GRAPH] = {.name = "JOB|GRAPH", .text = "a job, or with --hosts a guest graph; vertices are ranks"},
    [MPI_PROGRAM] = {.name = "PROGRAM",
                     .text = "behind \"--\": more options of the launcher if need be, then the program and "
                             "its arguments",
                     .most = MPI_ARGUMENTS_MAX},
};

/* ---- the mapping --------------------------------------------------------------------------------------- */

struct mpi_run {
    const struct lbm_cli *client;
    enum kind kind;
    struct lbm_graph g;         /* of a plan */
    struct lbm_hosts h;         /* of a plan */
    struct lbm_plan plan;       /* made here */
    struct lbm_buf remarks;     /* of the reader of g */
    struct lbm_picture picture; /* of a job */
    struct lbm_mapping mapping;
};

static enum lbm_err
make_plan(struct mpi_run *run, struct lbm_diag *diag)
{
    const struct lbm_cli *client = run->client;
    const struct lbm_option_value *slots = &client->value[MPI_LAUNCH + LBM_LAUNCH_SLOTS];
    struct lbm_plan_options how;
    enum lbm_err err = lbm_file_hosts(client->value[MPI_HOSTS].text, &run->h, diag);
    if (err == LBM_OK)
        err = lbm_guest_read(client, MPI_GUEST, client->operand[MPI_GRAPH], &run->remarks, &run->g, diag);
    if (err != LBM_OK)
        return err;
    lbm_guest_remark(client, client->operand[MPI_GRAPH], &run->remarks);
    lbm_plan_defaults(&how);
    how.imbalance = client->value[MPI_IMBALANCE].number;
    how.seed = client->value[MPI_SEED].integer;
    how.parallel = lbm_parallel_run;
    if (slots->given && slots->integer * run->h.n < run->g.n)
        return lbm_diag_set(diag, LBM_E_RANGE, "--slots", 0,
                            "%" PRIu32 " ranks do not fit on %" PRIu32 " hosts with %" PRIu64 " slots each",
                            run->g.n, run->h.n, slots->integer);
    if (slots->given && run->g.work == NULL)
        how.load_most = slots->integer;
    err = lbm_plan_make(&run->g, &run->h, &how, &run->plan, diag);
    run->mapping.g = &run->g;
    run->mapping.h = &run->h;
    run->mapping.plan = &run->plan;
    return err;
}

/* Gather the mapping of a job. Prints what fails. */
static enum lbm_status
take_job(struct mpi_run *run)
{
    struct lbm_daemon daemon;
    struct lbm_diag diag;
    const char *job = run->client->operand[MPI_GRAPH];
    enum lbm_status status = lbm_daemon_open(&daemon, run->client, NULL, LBM_DAEMON_TIMEOUT_MS, 0);
    if (status != LBM_STATUS_DONE)
        return status;
    status = lbm_daemon_picture(&daemon, job, &run->picture);
    lbm_daemon_close(&daemon);
    if (status != LBM_STATUS_DONE)
        return status;
    const struct lbm_job_map *map = &run->picture.map;
    for (uint32_t v = 0; v < map->g.n; v++)
        if (map->id != NULL && map->id[v] != v) {
            (void)lbm_diag_set(&diag, LBM_E_UNSUPPORTED, job, 0,
                               "vertices have been removed, and ranks are numbers without gaps");
            return lbm_cli_fail(run->client, &diag);
        }
    run->mapping.g = &map->g;
    run->mapping.h = &run->picture.h;
    run->mapping.plan = &map->plan;
    return LBM_STATUS_DONE;
}

/* ---- the launcher -------------------------------------------------------------------------------------- */

/* The kind of a launcher, from what it says of itself. Errors: LBM_E_IO, it does not run; LBM_E_UNSUPPORTED.
 */
static enum lbm_err
ask_kind(const char *mpirun, enum kind *kind, struct lbm_diag *diag)
{
    char text[256] = "";
    int out[2], status = 0;
    if (pipe(out) != 0)
        return lbm_diag_set(diag, LBM_E_IO, mpirun, 0, "cannot be asked: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(out[1], 1) >= 0 && close(out[0]) == 0)
            execlp(mpirun, mpirun, "--version", (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    for (size_t n = 0; pid > 0;) { /* what does not fit is read too: the program shall end by itself */
        char rest[256];
        ssize_t got = read(out[0], rest, sizeof rest);
        if (got <= 0)
            break;
        size_t take = sizeof text - 1 - n < (size_t)got ? sizeof text - 1 - n : (size_t)got;
        memcpy(text + n, rest, take);
        n += take;
    }
    close(out[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) == 127)
        return lbm_diag_set(diag, LBM_E_IO, mpirun, 0,
                            "cannot be executed: install Open MPI or MPICH, or name it with --mpirun");
    const char *open_mpi = strstr(text, "(Open MPI)");
    int major = open_mpi != NULL ? atoi(open_mpi + strlen("(Open MPI)")) : 0;
    if (open_mpi == NULL && strstr(text, "HYDRA") == NULL)
        return lbm_diag_set(
            diag, LBM_E_UNSUPPORTED, mpirun, 0,
            "is neither Open MPI's nor MPICH's, by its --version; --launcher says what it is");
    *kind = open_mpi == NULL ? MPICH : major >= 5 ? OPENMPI_5 : OPENMPI_4;
    return LBM_OK;
}

/* Hosts with the ranks that they take, in the order of hosts; Open MPI wants to know them before ranks. */
static void
put_hostfile(const struct mpi_run *run, struct lbm_buf *out)
{
    const struct lbm_mapping *mapping = &run->mapping;
    char id[LBM_HOST_ID_BYTES];
    for (uint32_t p = 0; p < mapping->h->n; p++) {
        uint32_t ranks = 0;
        for (uint32_t v = 0; v < mapping->g->n; v++)
            ranks += mapping->plan->part[v] == p;
        if (ranks > 0)
            lbm_buf_printf(out, "%s slots=%" PRIu32 "\n", lbm_launch_label(mapping->h, p, id), ranks);
    }
}

/* The files of a run, in a folder of its own, and the command. */
struct command {
    char dir[64], ranks[96], hosts[96], rankfile[128], count[16];
    const char *argv[MPI_ARGUMENTS_MAX + 16];
};

static void
make_command(const struct mpi_run *run, struct command *c)
{
    const struct lbm_cli *client = run->client;
    size_t n = 0;
    snprintf(c->count, sizeof c->count, "%" PRIu32, run->mapping.g->n);
    c->argv[n++] = client->value[MPI_MPIRUN].text;
    if (run->kind == MPICH) {
        c->argv[n++] = "-f";
        c->argv[n++] = c->ranks;
    } else {
        c->argv[n++] = "--hostfile";
        c->argv[n++] = c->hosts;
        c->argv[n++] = run->kind == OPENMPI_5 ? "--map-by" : "--rankfile";
        snprintf(c->rankfile, sizeof c->rankfile, "%s%s", run->kind == OPENMPI_5 ? "rankfile:FILE=" : "",
                 c->ranks);
        c->argv[n++] = c->rankfile;
    }
    c->argv[n++] = "-n";
    c->argv[n++] = c->count;
    for (size_t i = MPI_PROGRAM; i < client->n_operands; i++)
        c->argv[n++] = client->operand[i];
    c->argv[n] = NULL;
}

static enum lbm_err
write_files(const struct mpi_run *run, struct command *c, struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    enum lbm_map_format format = run->kind == MPICH ? LBM_MAP_FORMAT_HYDRA : LBM_MAP_FORMAT_RANKFILE;
    int dry = run->client->value[MPI_DRY_RUN].given;
    snprintf(c->dir, sizeof c->dir, "/tmp/lbctl-mpirun.XXXXXX");
    if (!dry && mkdtemp(c->dir) == NULL)
        return lbm_diag_set(diag, LBM_E_IO, c->dir, 0, "no such folder can be made: %s", strerror(errno));
    snprintf(c->ranks, sizeof c->ranks, "%s/%s", c->dir, run->kind == MPICH ? "machines" : "rankfile");
    snprintf(c->hosts, sizeof c->hosts, "%s/hostfile", c->dir);
    enum lbm_err err = lbm_mapping_write(format, &run->mapping, &text, diag);
    if (err == LBM_OK && dry)
        printf("# %s\n%.*s", c->ranks, (int)text.len, text.at != NULL ? text.at : "");
    else if (err == LBM_OK)
        err = lbm_file_write(c->ranks, text.at, text.len, diag);
    text.len = 0;
    if (err == LBM_OK && run->kind != MPICH) {
        put_hostfile(run, &text);
        if (text.failed)
            err = lbm_diag_set(diag, LBM_E_NOMEM, c->hosts, 0, "no memory for the names of the hosts");
        else if (dry)
            printf("# %s\n%.*s", c->hosts, (int)text.len, text.at != NULL ? text.at : "");
        else
            err = lbm_file_write(c->hosts, text.at, text.len, diag);
    }
    lbm_buf_free(&text);
    return err;
}

static volatile sig_atomic_t launcher; /* its process; for the handler */

static void
pass_on(int signal)
{
    if (launcher > 0)
        kill((pid_t)launcher, signal);
}

/* Run the command and wait for it. Out: *code, its exit status, or 128 and the signal that ended it.
 * A terminal's Ctrl-C reaches the launcher by itself; what is sent to this process alone is passed on. */
static enum lbm_err
run_command(const struct command *c, int *code, struct lbm_diag *diag)
{
    struct sigaction passing = {.sa_handler = pass_on}, ignoring = {.sa_handler = SIG_IGN};
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(c->argv[0], (char *const *)(uintptr_t)c->argv);
        fprintf(stderr, "lbctl mpirun: %s: cannot be executed: %s\n", c->argv[0], strerror(errno));
        _exit(127);
    }
    if (pid < 0)
        return lbm_diag_set(diag, LBM_E_IO, c->argv[0], 0, "cannot be started: %s", strerror(errno));
    launcher = (sig_atomic_t)pid;
    sigaction(SIGINT, &ignoring, NULL);
    sigaction(SIGQUIT, &ignoring, NULL);
    sigaction(SIGTERM, &passing, NULL);
    sigaction(SIGHUP, &passing, NULL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    launcher = 0;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return LBM_OK;
}

static void
print_command(const struct command *c)
{
    for (size_t i = 0; c->argv[i] != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", c->argv[i]);
    printf("\n");
}

/* ---- the run ------------------------------------------------------------------------------------------- */

/* What the hosts are called, how many ranks and cores they have. A host of which that is not known is taken
 * to have as many cores as this machine. */
static enum lbm_err
read_launch(struct mpi_run *run, struct lbm_diag *diag)
{
    struct lbm_hosts *h = run->mapping.h == &run->h ? &run->h : &run->picture.h;
    const struct lbm_cli *client = run->client;
    enum lbm_map_format format = LBM_MAP_FORMAT_RANKFILE; /* takes every option of launchers */
    enum lbm_err err = lbm_launch_read(client, MPI_LAUNCH, format, h, &run->mapping.launch, diag);
    if (err == LBM_OK && h->name == NULL && h->machine == NULL)
        err = lbm_diag_set(diag, LBM_E_SYNTAX, "--names", 0,
                           "these hosts have no names, and %s needs those that they have in the network",
                           client->value[MPI_MPIRUN].text);
    long here = sysconf(_SC_NPROCESSORS_ONLN);
    run->mapping.launch.shared = 1;
    if (err == LBM_OK && run->kind != MPICH && run->mapping.launch.cores == 0 && h->slots == NULL) {
        run->mapping.launch.cores = here > 0 ? (uint32_t)here : 1;
        lbm_cli_remark(client,
                       "how many cores these hosts have is not known: %" PRIu32 ", as here, are used; "
                       "--cores N says it",
                       run->mapping.launch.cores);
    }
    return err;
}

/* What the placement is worth, in a line. */
static void
remark_quality(const struct mpi_run *run)
{
    struct lbm_quality q;
    if (lbm_map_evaluate(run->mapping.g, run->mapping.h, run->mapping.plan->part, &q, NULL) == LBM_OK)
        lbm_cli_remark(run->client,
                       "%" PRIu32 " ranks on %" PRIu32 " hosts: hop-bytes %" PRIu64 ", cut %" PRIu64
                       ", imbalance %.1f %%",
                       run->mapping.g->n, run->mapping.h->n - q.empty_hosts, q.hop_bytes, q.cut,
                       100 * q.imbalance);
}

/* Place the ranks and start them. Out: *code, what the launcher ended with. */
static enum lbm_status
place_and_start(struct mpi_run *run, int *code)
{
    const struct lbm_cli *client = run->client;
    const struct lbm_option_value *value = client->value;
    struct command command = {0};
    struct lbm_diag diag;
    enum lbm_err err = LBM_OK;
    run->kind = (enum kind)value[MPI_KIND].integer;
    if (!value[MPI_KIND].given)
        err = ask_kind(value[MPI_MPIRUN].text, &run->kind, &diag);
    if (err == LBM_OK && !value[MPI_HOSTS].given)
        err = lbm_guest_refuse(client, MPI_GUEST, "it is about a GRAPH, and without --hosts a JOB is meant",
                               &diag);
    if (err == LBM_OK && value[MPI_HOSTS].given)
        err = make_plan(run, &diag);
    if (err != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    enum lbm_status status = value[MPI_HOSTS].given ? LBM_STATUS_DONE : take_job(run);
    if (status != LBM_STATUS_DONE)
        return status;
    if (read_launch(run, &diag) != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    err = write_files(run, &command, &diag);
    make_command(run, &command);
    if (err == LBM_OK && value[MPI_DRY_RUN].given) {
        print_command(&command);
    } else if (err == LBM_OK) {
        remark_quality(run);
        err = run_command(&command, code, &diag);
    }
    if (!value[MPI_DRY_RUN].given) {
        (void)unlink(command.ranks);
        (void)unlink(command.hosts);
        (void)rmdir(command.dir);
    }
    return err == LBM_OK        ? LBM_STATUS_DONE
           : err == LBM_E_RANGE ? lbm_cli_refuse(client, &diag)
                                : lbm_cli_fail(client, &diag);
}

static enum lbm_status
run_mpirun(const struct lbm_cli *client)
{
    struct mpi_run run = {.client = client};
    int code = 0;
    enum lbm_status status = place_and_start(&run, &code);
    lbm_plan_free(&run.plan);
    lbm_hosts_free(&run.h);
    lbm_graph_free(&run.g);
    lbm_buf_free(&run.remarks);
    if (!client->value[MPI_HOSTS].given)
        lbm_picture_free(&run.picture);
    return status == LBM_STATUS_DONE ? (enum lbm_status)code : status;
}

const struct lbm_command lbm_command_mpirun = {
    .name = "mpirun",
    .text = "start an MPI program with its ranks placed by a mapping",
    .help =
        "Places rank i on the host of vertex i: of a job as its hosts hold it now, or of a graph that is "
        "planned now. Calls the launcher (Open MPI 4 and 5, MPICH) with the files that it needs, and ends "
        "with its exit status. Ranks get cores of their own; where a host has more ranks than cores, all "
        "its ranks share all its cores.",
    .options = options,
    .n_options = MPI_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof operands[0],
    .statuses =
        "that of the launcher; 127, it cannot be executed; 128 and a signal, if that ended it; before "
        "it is started 1 failed, 2 wrong usage or input, 3 daemon unreachable",
    .run = run_mpirun,
};
