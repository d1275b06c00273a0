/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RunRequest: every host that has vertices of a job runs a program, as the job's owner. Who asks is that
 * owner, on this machine: the kernel has said who it is. */
#include <inttypes.h>

#include "node/application/guest.h"
#include "node/client/client.h"
#include "node/client/internal.h"
#include "node/core/core.h"
#include "node/view/view.h"

static void
propose(struct lbm_node *node, const struct client *client, const struct lbm_job_entry *entry,
        const Lbm__RunRequest *asked)
{
    Lbm__JobRun run = LBM__JOB_RUN__INIT;
    run.watcher = node->host;
    if (asked->action == LBM__RUN_ACTION__RUN_START) {
        run.arguments = asked->arguments;
        run.words = asked->words;
    }
    Lbm__JobSet set = LBM__JOB_SET__INIT;
    set.job = entry->job;
    set.imbalance = entry->imbalance; /* hosts of earlier versions set it */
    set.run = &run;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_SET;
    command.job_set = &set;
    lbm_client_propose(node, client, &command);
}

/* Nonzero if the client may start that here; else it has been told why not. */
static int
may_start(struct lbm_node *node, const struct client *client, const struct lbm_job_entry *entry,
          const Lbm__RunRequest *asked)
{
    char text[LBM_DIAG_TEXT_MAX];
    struct lbm_job_run run; /* large, and on the stack once */
    Lbm__JobRun message = LBM__JOB_RUN__INIT;
    message.arguments = asked->arguments;
    message.words = asked->words;
    lbm_job_run_take(&message, &run);
    const char *refusal = lbm_application_programs_refusal(node, entry, text, sizeof text);
    if (client->is_remote)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_DENIED,
                             "user %" PRIu32
                             " may not run programs from another machine; ask the daemon of its own one",
                             client->uid);
    else if (client->uid != entry->owner)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_DENIED,
                             "user %" PRIu32
                             " may not run a program for job %s: it would run as the owner, user %" PRIu32
                             "; ask that user",
                             client->uid, entry->name, entry->owner);
    else if (refusal != NULL)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_UNSUPPORTED, "host %" PRIu32 ": %s",
                             node->host, refusal);
    else if (node->view.protocol < LBM_PROTOCOL_RUNS)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_UNSUPPORTED,
                             "hosts of the cluster run an earlier version of lbmap, which runs no programs "
                             "(protocol %" PRIu32 "): see lbctl hosts --json",
                             node->view.protocol);
    else if (lbm_application_is_finished(node, entry->job))
        lbm_core_reply_error(node, client->id, client->request, LBM_E_STATE,
                             "job %s is done: a program has said so; submit it again to run another one",
                             entry->name);
    else if (run.arguments == 0)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_RANGE,
                             "no program is named, or it is not said as it must be");
    else if (entry->run.arguments != 0)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_EXISTS,
                             "a program is run for job %s already, from host %" PRIu32
                             "; lbctl run %s --stop ends it",
                             entry->name, entry->run.watcher, entry->name);
    else
        return 1;
    return 0;
}

void
lbm_client_answer_run(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    const Lbm__RunRequest *asked = request->run;
    const struct lbm_job_entry *entry = lbm_view_job_named(&node->view, asked->job);
    if (entry == NULL)
        lbm_core_reply_error(node, client->id, client->request, LBM_E_NOTFOUND,
                             "there is no job named %s; lbctl jobs lists them", asked->job);
    else if (asked->action == LBM__RUN_ACTION__RUN_WATCH)
        lbm_application_watch(node, client->id, client->request, entry);
    else if (asked->action == LBM__RUN_ACTION__RUN_STOP || may_start(node, client, entry, asked))
        propose(node, client, entry, asked);
}
