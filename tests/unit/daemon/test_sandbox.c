/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sandbox, each time in a process of its own: what it lets through, and how a violation ends. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/sandbox.h"
#include "daemon/worker.h"

enum { DONE = 17, CANNOT = 18 };

/* Run act in a sandbox.  Out: what it wrote on standard error. Value: its exit status. */
static int
run(int filter, void (*act)(void), char *told, size_t size)
{
    int ends[2], status;
    size_t len = 0;
    ssize_t got;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        if (lbm_sandbox_enter(filter, NULL) != LBM_OK)
            _exit(CANNOT);
        act();
        _exit(DONE);
    }
    close(ends[1]);
    while ((got = read(ends[0], told + len, size - 1 - len)) > 0)
        len += (size_t)got;
    told[len] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* never by a signal that says nothing */
    return WEXITSTATUS(status);
}

static void
execute(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void
trace(void)
{
    syscall(SYS_ptrace, 0, 0, 0, 0);
}

static void
packets(void)
{
    (void)!socket(AF_PACKET, SOCK_RAW, 0);
}

static void
name_space(void)
{
    syscall(SYS_clone, CLONE_NEWUSER | 17, 0, 0, 0, 0);
}

static void
other_name_space(void)
{
    (void)!unshare(CLONE_NEWNET);
}

static void
executable_page(void)
{
    (void)!mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void
change_user(void)
{
    (void)!setuid(12345);
}

static void *
leave_in_thread(void *nothing)
{
    other_name_space();
    return nothing;
}

/* A worker takes no signals, but says this. */
static void
worker(void)
{
    pthread_t thread;
    if (lbm_worker_start(&thread, "test", leave_in_thread, NULL) == LBM_OK)
        pthread_join(thread, NULL);
}

static void
no_such_call(void)
{
    syscall(987);
}

static void
a_violation_says_which_call_it_was(void **state)
{
    static const struct {
        void (*act)(void);
        const char *told;
    } cases[] = {
        {execute, "the system call execve ("},
        {trace, "the system call ptrace ("},
        {worker, "the system call unshare ("},
        {packets, "the system call socket ("},
        {name_space, "the system call clone ("},
        {other_name_space, "the system call unshare ("},
        {executable_page, "the system call mmap ("},
        {change_user, "the system call setuid ("},
        {no_such_call, "the system call of number 987 is not allowed"},
    };
    (void)state;
    if (!lbm_sandbox_filters()) {
        print_message("built with sanitizers: there is no list of system calls\n");
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char told[1024];
        assert_int_equal(run(1, cases[i].act, told, sizeof told), 1);
        if (strstr(told, cases[i].told) == NULL)
            fail_msg("not told \"%s\": %s", cases[i].told, told);
        assert_int_equal(run(0, cases[i].act, told, sizeof told), cases[i].act == execute ? 0 : DONE);
    }
}

static void *
idle(void *nothing)
{
    return nothing;
}

/* Threads, memory, files, sockets, names: what the daemon lives of. */
static void
live(void)
{
    pthread_t thread;
    struct addrinfo *found = NULL;
    char path[] = "/tmp/lbmap-sandbox-XXXXXX";
    if (pthread_create(&thread, NULL, idle, NULL) != 0 || pthread_join(thread, NULL) != 0)
        _exit(2);
    for (size_t size = 1; size < (64 << 20); size *= 4) {
        char *bytes = malloc(size);
        if (bytes == NULL)
            _exit(3);
        memset(bytes, 1, size);
        free(bytes);
    }
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, path, 4) != 4 || fdatasync(fd) != 0 || unlink(path) != 0 || close(fd) != 0)
        _exit(4);
    int tcp = socket(AF_INET, SOCK_STREAM, 0), local = socket(AF_UNIX, SOCK_STREAM, 0);
    if (tcp < 0 || local < 0)
        _exit(5);
    if (getaddrinfo("localhost", "7411", NULL, &found) == 0)
        freeaddrinfo(found);
    (void)!getaddrinfo("no-such-host.invalid", "7411", NULL,
                       &found); /* as a name service that is asked answers */
}

static void
what_a_daemon_does_is_allowed(void **state)
{
    char told[1024];
    (void)state;
    for (int filter = 0; filter <= 1; filter++) {
        int status = run(filter, live, told, sizeof told);
        if (status != DONE)
            fail_msg("status %d: %s", status, told);
    }
}

/* The line of /proc/self/status that begins with name. */
static uint64_t
standing(const char *name, int base)
{
    char line[256];
    uint64_t value = UINT64_MAX;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoull(line + strlen(name), NULL, base);
    if (file != NULL)
        fclose(file);
    return value;
}

static void
look(void)
{
    static const char *const sets[] = {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (standing(sets[i], 16) != 0)
            _exit(2);
    if (geteuid() == 0 && standing("CapBnd:", 16) != 0)
        _exit(3);
    if (standing("NoNewPrivs:", 10) != 1)
        _exit(4);
}

static void
capabilities_are_gone(void **state)
{
    char told[1024];
    (void)state;
    assert_int_equal(run(0, look, told, sizeof told), DONE);
    assert_int_equal(run(1, look, told, sizeof told), DONE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_violation_says_which_call_it_was),
        cmocka_unit_test(what_a_daemon_does_is_allowed),
        cmocka_unit_test(capabilities_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
