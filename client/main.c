/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl: its commands, and what holds for all of them. */
#include <stdio.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/check.h"
#include "client/command.h"

static const struct lbm_command *const commands[] = {
    &lbm_command_plan,
    &lbm_command_eval,
    &lbm_command_gen,
    &lbm_command_convert,
    &lbm_command_graph_from,
    &lbm_command_mpirun,
    &lbm_command_cluster,
    &lbm_command_status,
    &lbm_command_hosts,
    &lbm_command_jobs,
    &lbm_command_submit,
    &lbm_command_wait,
    &lbm_command_run,
    &lbm_command_map,
    &lbm_command_locate,
    &lbm_command_plot,
    &lbm_command_cancel,
    &lbm_command_recover,
    &lbm_command_backup,
    &lbm_command_restore,
    &lbm_command_payloads,
    &lbm_command_events,
    &lbm_command_explain,
    &lbm_command_join,
    &lbm_command_drain,
    &lbm_command_leave,
    &lbm_command_evict,
    &lbm_command_maintain,
    &lbm_command_set,
    &lbm_command_log,
    &lbm_command_trace,
    &lbm_command_network,
    &lbm_command_init,
    &lbm_command_token,
    &lbm_command_enroll,
    &lbm_command_approve,
    &lbm_command_revoke,
    &lbm_command_pki,
    NULL,
};

static const struct lbm_option options[] = {
    [LBM_GLOBAL_SOCKET] = LBM_TEXT_OPTION("socket", "SOCKET",
                                          "control socket of the daemon, or ADDRESS:PORT of one on another "
                                          "machine; commands that need no daemon ignore "
                                          "it",
                                          .letter = 's', .fallback = LBM_RUNSTATEDIR "/lbmap/lbmapd.sock"),
    [LBM_GLOBAL_IDENTITY] = LBM_TEXT_OPTION(
        "identity", "DIR",
        "with -s ADDRESS:PORT: the folder that lbctl pki user made; ~/.config/lbmap/identity if absent"),
    [LBM_GLOBAL_JSON] = LBM_JSON_OPTION,
};

static const struct lbm_program program = {
    .name = "lbctl",
    .help = "Maps guest graphs (tasks and their traffic) onto host graphs (machines and their links). `lbctl "
            "COMMAND --help` says more about a command; its name may be shortened while it is unique.",
    .commands = commands,
    .options = options,
    .n_options = LBM_GLOBAL_OPTIONS,
    .statuses = "0 done, 1 refused or failed, 2 wrong usage or input, 3 daemon unreachable, 4 timed out, 5 "
                "not permitted",
};

static void
assertion_failed(const char *expression, const char *file, int line)
{
    fprintf(stderr, "lbctl: %s:%d: this must not happen: %s; please report it\n", file, line, expression);
}

/* The GNU allocator maps an array apart only from a size that grows with what is freed, so that after a long
 * text was read all others share a heap with holes in it: a plan for a million vertices takes a sixth less
 * with a size that stays. */
static void
keep_arrays_apart(void)
{
#ifdef __GLIBC__
    enum { ARRAY_BYTES = 1 << 20 };
    (void)mallopt(M_MMAP_THRESHOLD, ARRAY_BYTES); /* it takes any size up to 32 MiB */
#endif
}

int
main(int argc, char **argv)
{
    lbm_assert_hook = assertion_failed;
    keep_arrays_apart();
    return lbm_program_run(&program, argc, argv);
}
