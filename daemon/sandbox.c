/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "daemon/sandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define LBM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LBM_SANITIZED 1
#endif
#endif
#ifndef LBM_SANITIZED
#define LBM_SANITIZED 0
#endif

int
lbm_sandbox_filters(void)
{
    return !LBM_SANITIZED;
}

static enum lbm_err
refuse(const char *what, int error, struct lbm_diag *diag)
{
    return lbm_diag_set(diag, error == ENOMEM ? LBM_E_NOMEM : LBM_E_IO, NULL, 0,
                        "the sandbox cannot be set up: %s: %s", what, strerror(error));
}

/* ---- capabilities -------------------------------------------------------------------------------------- */

static enum lbm_err
drop_capabilities(struct lbm_diag *diag)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return refuse("no_new_privs", errno, diag);
    /* Who is not root may not lower its bounding set, and has nothing to gain by it. */
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM)
            return refuse("bounding set", errno, diag);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL)
        return refuse("ambient set", errno, diag);
    if (syscall(SYS_capset, &header, none) != 0)
        return refuse("capabilities", errno, diag);
    return LBM_OK;
}

/* ---- the list of system calls -------------------------------------------------------------------------- */

/* By what they are for. A name that the machine's architecture does not have is passed over. */
static const char *const allowed[] = {
    /* threads and their memory */
    "brk",
    "clone",
    "exit",
    "exit_group",
    "futex",
    "futex_waitv",
    "get_robust_list",
    "getcpu",
    "getpid",
    "gettid",
    "madvise",
    "membarrier",
    "mmap",
    "mmap2",
    "mprotect",
    "mremap",
    "munmap",
    "prctl",
    "rseq",
    "sched_getaffinity",
    "sched_yield",
    "setpriority",
    "set_robust_list",
    "set_tid_address",
    /* signals: libevent's, abort's */
    "getppid",
    "kill",
    "restart_syscall",
    "rt_sigaction",
    "rt_sigpending",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigtimedwait",
    "sigaltstack",
    "signalfd4",
    "tgkill",
    /* time */
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "gettimeofday",
    "nanosleep",
    "time",
    "timerfd_create",
    "timerfd_gettime",
    "timerfd_settime",
    /* the event loop */
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "eventfd2",
    "pipe",
    "pipe2",
    "poll",
    "ppoll",
    "pselect6",
    "select",
    /* descriptors */
    "close",
    "close_range",
    "dup",
    "dup2",
    "dup3",
    "fcntl",
    "fcntl64",
    "ioctl",
    "lseek",
    "_llseek",
    "pread64",
    "preadv",
    "pwrite64",
    "pwritev",
    "read",
    "readv",
    "sendfile",
    "write",
    "writev",
    /* files: database, lease page, configuration, pid file, /proc */
    "access",
    "chdir",
    "chmod",
    "creat",
    "faccessat",
    "faccessat2",
    "fadvise64",
    "fallocate",
    "fchmod",
    "fchmodat",
    "fchown",
    "fdatasync",
    "flock",
    "fstat",
    "fstat64",
    "fstatfs",
    "fstatfs64",
    "fsync",
    "ftruncate",
    "ftruncate64",
    "getcwd",
    "getdents",
    "getdents64",
    "link",
    "linkat",
    "lstat",
    "mkdir",
    "mkdirat",
    "newfstatat",
    "open",
    "openat",
    "readlink",
    "readlinkat",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "stat",
    "stat64",
    "statfs",
    "statfs64",
    "statx",
    "sync_file_range",
    "truncate",
    "umask",
    "unlink",
    "unlinkat",
    "utimensat",
    /* sockets; domains below */
    "accept",
    "accept4",
    "bind",
    "connect",
    "getpeername",
    "getsockname",
    "getsockopt",
    "listen",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "setsockopt",
    "shutdown",
    "socketpair",
    /* who and where this is */
    "getegid",
    "geteuid",
    "getgid",
    "getgroups",
    "getpgrp",
    "getpriority",
    "getrandom",
    "getrlimit",
    "getrusage",
    "getuid",
    "prlimit64",
    "sysinfo",
    "times",
    "ugetrlimit",
    "uname",
};

/* Domains of sockets; NETLINK: getaddrinfo asks which addresses this machine has. */
static const int domains[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

/* glibc takes clone instead, whose flags can be seen, where the kernel has no clone3. */
static const struct {
    const char *name;
    int error;
} lacking[] = {
    {"clone3", ENOSYS}, {"io_uring_setup", ENOSYS}, {"get_mempolicy", ENOSYS}, {"set_mempolicy", ENOSYS}};

static int
allow_all(scmp_filter_ctx filter)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        int number = seccomp_syscall_resolve_name(allowed[i]);
        if (number < 0)
            continue; /* another architecture's */
        if (strcmp(allowed[i], "clone") == 0 || strcmp(allowed[i], "mmap") == 0 ||
            strcmp(allowed[i], "mprotect") == 0)
            continue; /* by their arguments, below */
        int failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
        if (failed != 0)
            return failed;
    }
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        int number = seccomp_syscall_resolve_name(lacking[i].name);
        int failed =
            number < 0 ? 0 : seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)lacking[i].error), number, 0);
        if (failed != 0)
            return failed;
    }
    return 0;
}

/* No other kind of socket, no namespace, and no page that can be written and executed. */
static int
allow_by_arguments(scmp_filter_ctx filter)
{
    const uint64_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                CLONE_NEWPID | CLONE_NEWNET;
    int failed = 0;
    for (size_t i = 0; i < sizeof domains / sizeof *domains && failed == 0; i++)
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
                                  SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)domains[i], 0));
    if (failed == 0)
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces, 0));
    if (failed == 0)
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (failed == 0) /* a library that a name service loads is mapped executable, and not writable */
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (failed == 0)
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC | PROT_WRITE, PROT_EXEC));
    return failed;
}

/* ---- what a violation says ------------------------------------------------------------------------------
 */

/* Made before, for in a signal handler nothing may be asked of a library. */
enum {
    CALLS_MAX = 1024,
    CALL_NAME_MAX = 24
}; /* Linux has numbers below 500; an operator may read a number too */
static char names[CALLS_MAX][CALL_NAME_MAX];

static void
name_calls(void)
{
    for (int number = 0; number < CALLS_MAX; number++) {
        char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
        if (name != NULL)
            snprintf(names[number], sizeof names[number], "%s", name);
        free(name);
    }
}

static size_t
put(char *line, size_t at, const char *text)
{
    size_t len = strlen(text);
    memcpy(line + at, text, len);
    return at + len;
}

static size_t
put_number(char *line, size_t at, unsigned number)
{
    char digits[12];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (n != 0)
        line[at++] = digits[--n];
    return at;
}

static void
on_violation(int signal, siginfo_t *info, void *context)
{
    char line[256];
    unsigned number = (unsigned)info->si_syscall;
    size_t len = put(line, 0, "error: the system call ");
    (void)signal;
    (void)context;
    if (number < CALLS_MAX && names[number][0] != '\0') {
        len = put(line, len, names[number]);
        len = put(line, len, " (number ");
        len = put_number(line, len, number);
        len = put(line, len, ")");
    } else {
        len = put(line, len, "of number ");
        len = put_number(line, len, number);
    }
    len = put(line, len, " is not allowed to lbmapd, which ends: report it; sandbox = false lets it go on\n");
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written;
    _exit(1); /* LBM_EXIT_FAILED */
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static enum lbm_err
filter_calls(struct lbm_diag *diag)
{
    struct sigaction action = {.sa_sigaction = on_violation, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    name_calls();
    if (sigaction(SIGSYS, &action, NULL) != 0)
        return refuse("SIGSYS", errno, diag);
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    if (filter == NULL)
        return refuse("libseccomp", ENOMEM, diag);
    int failed = allow_all(filter);
    if (failed == 0)
        failed = allow_by_arguments(filter);
    if (failed == 0)
        failed = seccomp_load(filter);
    seccomp_release(filter);
    return failed == 0 ? LBM_OK : refuse("the list of system calls", -failed, diag);
}

enum lbm_err
lbm_sandbox_enter(int filter, struct lbm_diag *diag)
{
    enum lbm_err err = drop_capabilities(diag);
    if (err == LBM_OK && filter && lbm_sandbox_filters())
        err = filter_calls(diag);
    return err;
}
