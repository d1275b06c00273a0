/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* environ, close_range */
#include "daemon/program_start.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/sandbox.h"

int
lbm_program_may_become_others(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    const uint32_t needed = 1u << CAP_SETUID | 1u << CAP_SETGID | 1u << CAP_KILL;
    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & needed) == needed;
}

/* ---- why not ------------------------------------------------------------------------------------------- */

static _Noreturn void fail(int why, const char *fmt, ...) LBM_PRINTF(2, 3);
static _Noreturn void
fail(int why, const char *fmt, ...)
{
    char text[LBM_PROGRAM_WHY_MAX];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ssize_t n = write(why, text, len < (int)sizeof text ? (size_t)len : sizeof text - 1);
    (void)n;
    _exit(127);
}

/* ---- the user ------------------------------------------------------------------------------------------ */

static void
become(const struct lbm_program_order *order, const struct passwd *user, int why)
{
    struct lbm_diag diag;
    if (order->uid != geteuid() && (initgroups(user->pw_name, user->pw_gid) != 0 ||
                                    setresgid(user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
                                    setresuid(order->uid, order->uid, order->uid) != 0))
        fail(why, "it cannot become user %" PRIu32 ": %s", order->uid, strerror(errno));
    if (lbm_sandbox_enter(0, &diag) != LBM_OK)
        fail(why, "%.120s", diag.text);
}

static void
set(const char *name, const char *value, int why)
{
    if (setenv(name, value, 1) != 0)
        fail(why, "no memory for its environment");
}

/* Out: argument [order->arguments + 1], which borrow from the order. */
static void
unpack(const struct lbm_program_order *order, const struct passwd *user, const char *control, char **argument,
       int why)
{
    char *word = (char *)(uintptr_t)order->words, *end = word + order->len, host[16];
    const char *folder = word;
    uint32_t n = 0;
    clearenv();
    set("PATH", "/usr/local/bin:/usr/bin:/bin", why);
    set("HOME", user->pw_dir, why);
    set("SHELL", user->pw_shell[0] != '\0' ? user->pw_shell : "/bin/sh", why);
    for (word += strlen(word) + 1; word < end; word += strlen(word) + 1) {
        if (n < order->arguments)
            argument[n++] = word;
        else if (strchr(word, '=') != NULL && putenv(word) != 0)
            fail(why, "no memory for its environment");
    }
    argument[n] = NULL;
    snprintf(host, sizeof host, "%" PRIu32, order->host);
    set("USER", user->pw_name, why);
    set("LOGNAME", user->pw_name, why);
    set("LBMAP_JOB", order->job, why);
    set("LBMAP_HOST", host, why);
    set("LBMAP_SOCKET", control, why);
    if (chdir(folder) != 0)
        fail(why, "it cannot enter the folder %.80s: %s", folder, strerror(errno));
}

_Noreturn void
lbm_program_execute(const struct lbm_program_order *order, const char *control, int output, int why)
{
    char **argument = calloc((size_t)order->arguments + 1, sizeof *argument);
    const struct passwd *user = getpwuid(order->uid);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (setsid() < 0 && setpgid(0, 0) != 0)
        fail(why, "it gets no process group: %s", strerror(errno));
    if (argument == NULL)
        fail(why, "no memory for its arguments");
    if (user == NULL)
        fail(why, "there is no user %" PRIu32 " on this host", order->uid);
    become(order, user, why);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* after that: a change of the user takes it away */
    unpack(order, user, control, argument, why);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0)
        fail(why, "it gets no standard output: %s", strerror(errno));
    execvp(argument[0], argument);
    fail(why, "%.80s cannot be executed: %s", argument[0], strerror(errno));
}
