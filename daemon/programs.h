/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process that runs programs of jobs for this daemon (lbctl run). It is forked before the sandbox, in
 * which nothing can be executed any more, and has no privileges but, if users' programs are run, to become
 * another user.
 *
 * Owns: the processes of programs, each with what it starts in a process group of its own. It ends with the
 * daemon, however that ends, and they with it. Never: decides what is run, or when it is started again. */
#ifndef LBM_DAEMON_PROGRAMS_H
#define LBM_DAEMON_PROGRAMS_H

#include "base/err.h"
#include "base/limits.h"
#include "node/node.h"

struct lbm_programs_process;

/* Fork. In: programs that are run; control, the daemon's socket, which programs find in LBMAP_SOCKET.
 * Out: *out NULL with LBM_PROGRAMS_NONE. Errors: LBM_E_IO, LBM_E_NOMEM; LBM_E_DENIED this user may not become
 * others. */
enum lbm_err lbm_programs_new(enum lbm_programs programs, const char *control,
                              struct lbm_programs_process **out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Start a program. Errors: LBM_E_IO the process is gone, or does not read. */
enum lbm_err lbm_programs_start(struct lbm_programs_process *programs,
                                const struct lbm_program_order *order) LBM_MUST_CHECK;

/* End a program: SIGTERM to its process group, SIGKILL three seconds later. Errors: as lbm_programs_start. */
enum lbm_err lbm_programs_end(struct lbm_programs_process *programs, uint64_t id) LBM_MUST_CHECK;

/* Readable when lbm_programs_report has something to say. */
int lbm_programs_fd(const struct lbm_programs_process *programs);

/* What has become of a program. */
struct lbm_programs_report {
    uint64_t id;
    uint32_t has_ended; /* 0: it has written `text` */
    uint32_t status;    /* exit status, or 128 and the signal */
    uint32_t len;
    uint8_t
        text[LBM_OUTPUT_BYTES_MAX]; /* [len] what it has written; has_ended: why it could not be started */
};

/* Value: 1: *report is the next; 0: there is none; -1: the process is gone. */
int lbm_programs_next(struct lbm_programs_process *programs, struct lbm_programs_report *report);

/* End all programs and the process. NULL is allowed. */
void lbm_programs_free(struct lbm_programs_process *programs);

#endif
