/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbmapd: options, configuration, log; then the loop. */
#include "config.h"

#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "daemon/ensemble.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/sandbox.h"
#include "daemon/settings.h"

#define DEFAULT_SETTINGS LBM_SYSCONFDIR "/lbmap/lbmapd.conf"

enum {
    MAPPED_BYTES = 320 * 1024, /* allocated by itself from that size on, */
    TRIMMED_BYTES = 4 << 20,   /* and more than that is not kept of what is free at the end */
};
_Static_assert(MAPPED_BYTES >= LBM_BLOB_PIECE_MAX + 4096, "pieces of payloads take turns in the same memory");

enum option_id {
    OPTION_CONFIG = 'c',
    OPTION_DEBUG = 'd',
    OPTION_VERSION = 'V',
    OPTION_HELP = 'h',
    OPTION_CHECK = 256
};

static const struct {
    const char *name;
    enum option_id id;
    const char *argument; /* NULL: none */
    const char *text;
} options[] = {
    {"config", OPTION_CONFIG, "FILE", "configuration file [" DEFAULT_SETTINGS "]"},
    {"debug", OPTION_DEBUG, NULL, "log everything, whatever the configuration says"},
    {"check-config", OPTION_CHECK, NULL, "read the configuration, say whether it is good, and exit"},
    {"version", OPTION_VERSION, NULL, "print the version and exit"},
    {"help", OPTION_HELP, NULL, "print this text and exit"},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

struct arguments {
    const char *settings_path;
    int debug;
    int check_only;
    int done; /* --help or --version was answered */
};

static void
print_help(void)
{
    static const char *const statuses[] = {
#define EXIT_TEXT(id, number, text) [number] = text,
        LBM_EXIT_LIST(EXIT_TEXT)
#undef EXIT_TEXT
    };
    puts("usage: lbmapd [OPTION]...\n"
         "Map task graphs onto this host and its neighbours, and keep the load balanced.\n"
         "Runs in the foreground and logs to standard error.\n");
    for (int i = 0; i < OPTIONS; i++) {
        char name[32];
        char letter[8] = "    ";
        snprintf(name, sizeof name, "--%s%s%s", options[i].name, options[i].argument != NULL ? " " : "",
                 options[i].argument != NULL ? options[i].argument : "");
        if (options[i].id < 256)
            snprintf(letter, sizeof letter, "-%c, ", (char)options[i].id);
        printf("  %s%-16s %s\n", letter, name, options[i].text);
    }
    puts("\nExit status:");
    for (int i = 0; i < LBM_EXIT_COUNT; i++)
        printf("  %d  %s\n", i, statuses[i]);
    puts("\nSIGTERM and SIGINT stop the daemon in order; SIGHUP makes it read the log level again.\n"
         "See lbmapd(8) and lbmapd.conf(5).");
}

/* Value: nonzero if the arguments can be used; else getopt or this has said why not. */
static int
read_arguments(int argc, char **argv, struct arguments *arguments)
{
    struct option table[OPTIONS + 1] = {0};
    for (int i = 0; i < OPTIONS; i++) {
        table[i].name = options[i].name;
        table[i].has_arg = options[i].argument != NULL ? required_argument : no_argument;
        table[i].val = (int)options[i].id;
    }
    int id;
    while ((id = getopt_long(argc, argv, "c:dVh", table, NULL)) != -1) {
        switch (id) {
        case OPTION_CONFIG:
            arguments->settings_path = optarg;
            break;
        case OPTION_DEBUG:
            arguments->debug = 1;
            break;
        case OPTION_CHECK:
            arguments->check_only = 1;
            break;
        case OPTION_VERSION:
            puts("lbmapd " PACKAGE_VERSION);
            arguments->done = 1;
            return 1;
        case OPTION_HELP:
            print_help();
            arguments->done = 1;
            return 1;
        default:
            return 0;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "lbmapd: \"%s\" is not an option\n", argv[optind]);
        return 0;
    }
    return 1;
}

static void
log_assertion(const char *expression, const char *file, int line)
{
    lbm_log(LBM_NOTE_ERROR, "%s:%d: internal error, please report it: %s does not hold", file, line,
            expression);
}

/* Where it can be started, etcd is run by a process that is not in the sandbox. */
static enum lbm_err
open_keeper(const struct lbm_settings *settings, struct lbm_keeper **out, struct lbm_diag *diag)
{
    char dir[PATH_MAX];
    *out = NULL;
    if (settings->log_engine != LBM_LOG_PLACE_AUTO)
        return LBM_OK;
    return lbm_keeper_new(settings->etcd_program, lbm_ensemble_dir(settings->data, dir), out, diag);
}

static enum lbm_exit
run(const struct arguments *arguments)
{
    struct lbm_settings settings;
    struct lbm_diag diag = {0};
    lbm_log_open(arguments->debug ? LBM_NOTE_DEBUG : LBM_NOTE_INFO);
    if (lbm_settings_read(arguments->settings_path, &settings, &diag) != LBM_OK) {
        lbm_log_diag(LBM_NOTE_ERROR, &diag);
        return LBM_EXIT_INPUT;
    }
    enum lbm_exit status = LBM_EXIT_STOPPED;
    if (arguments->check_only) {
        printf("%s: good\n", arguments->settings_path);
    } else {
        struct lbm_loop_config config = {
            .settings = &settings, .settings_path = arguments->settings_path, .debug = arguments->debug};
        if (!arguments->debug)
            lbm_log_set_level(settings.log);
        if (open_keeper(&settings, &config.keeper, &diag) == LBM_OK &&
            lbm_programs_new(settings.programs.run, settings.control, &config.programs, &diag) == LBM_OK &&
            lbm_sandbox_enter(settings.sandbox, &diag) == LBM_OK) {
            status = lbm_loop_run(&config);
        } else {
            lbm_log_diag(LBM_NOTE_ERROR, &diag);
            status = LBM_EXIT_FAILED;
        }
        lbm_programs_free(config.programs);
        lbm_keeper_free(config.keeper);
    }
    lbm_settings_free(&settings);
    return status;
}

/* Columns and rows of large guests go back to the system when they are freed or grow, whatever lies behind
 * them, and pieces of payloads do not: each would be cleared by the system. Left to itself the allocator
 * raises its limit with each of them. And it would give every thread an arena, which keeps what that thread
 * has freed. */
static void
return_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, TRIMMED_BYTES);
    (void)mallopt(M_ARENA_MAX, 1);
#endif
}

int
main(int argc, char **argv)
{
    struct arguments arguments = {.settings_path = DEFAULT_SETTINGS};
    return_memory();
    lbm_assert_hook = log_assertion;
    signal(SIGHUP, SIG_IGN);  /* until the loop takes it: a database may be checked for minutes before */
    signal(SIGPIPE, SIG_IGN); /* a connection that breaks is an error of that connection */
    signal(SIGXFSZ, SIG_IGN); /* a database at its limit is an error of the database */
    if (!read_arguments(argc, argv, &arguments)) {
        fputs("Try lbmapd --help.\n", stderr);
        return LBM_EXIT_INPUT;
    }
    return arguments.done ? LBM_EXIT_STOPPED : (int)run(&arguments);
}
