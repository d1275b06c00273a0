/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "client/process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/own.h"

enum { PORT_LEAST = 10240 }; /* of those that are chosen */

/* Whatever this program has inherited (a lock that the shell holds, a pipe) is not the daemon's: exec closes
 * it. */
static void
close_inherited(void)
{
    if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    for (long fd = 3, end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
        (void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

/* In the child: detach, redirect, execute. What fails is told through the pipe, which exec closes. */
static _Noreturn void
become_daemon(const char *program, const char *config, int out, int report)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close_inherited();
    if (in >= 0 && setsid() >= 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(out, 2) >= 0)
        execlp(program, program, "-c", config, (char *)NULL);
    int error = errno;
    if (write(report, &error, sizeof error) != sizeof error)
        _exit(126);
    _exit(127);
}

enum lbm_err
lbm_process_start(const char *program, const char *config, const char *log, pid_t *pid, struct lbm_diag *diag)
{
    int report[2], error = 0, out = -1;
    enum lbm_err err = lbm_file_open_own(log, O_WRONLY | O_APPEND, 0666, &out, diag);
    if (err != LBM_OK)
        return err;
    if (pipe2(report, O_CLOEXEC) != 0) {
        close(out);
        return lbm_diag_set(diag, LBM_E_IO, program, 0, "cannot be started: %s", strerror(errno));
    }
    *pid = fork();
    if (*pid == 0)
        become_daemon(program, config, out, report[1]);
    int fork_error = errno;
    close(out);
    close(report[1]);
    if (*pid < 0) {
        close(report[0]);
        return lbm_diag_set(diag, LBM_E_IO, program, 0, "cannot be started: %s", strerror(fork_error));
    }
    ssize_t n = read(report[0], &error, sizeof error);
    close(report[0]);
    if (n != sizeof error)
        return LBM_OK;
    waitpid(*pid, NULL, 0);
    return lbm_diag_set(diag, LBM_E_IO, program, 0, "cannot be started: %s", strerror(error));
}

/* Up to size - 1 bytes of a small file, terminated; -1 if it cannot be read. */
static ssize_t
read_small(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    if (n >= 0)
        text[n] = '\0';
    return n;
}

pid_t
lbm_process_find(const char *pid_file, const char *config)
{
    char text[4096], path[64];
    if (read_small(pid_file, text, sizeof text) <= 0)
        return 0;
    long pid = strtol(text, NULL, 10);
    if (pid <= 1)
        return 0;
    snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
    ssize_t n = read_small(path, text, sizeof text);
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1)
        if (strcmp(text + at, config) == 0)
            return (pid_t)pid;
    return 0;
}

int
lbm_process_alive(pid_t pid, int *stopped)
{
    char text[1024], path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (stopped != NULL)
        *stopped = 0;
    if (pid <= 1 || read_small(path, text, sizeof text) <= 0)
        return 0;
    const char *name_end = strrchr(text, ')');
    char state = name_end != NULL && name_end[1] == ' ' ? name_end[2] : '?';
    if (stopped != NULL)
        *stopped = state == 'T';
    return state != 'Z' && state != 'X';
}

void
lbm_process_daemon_path(char *path, size_t size)
{
    static const char *const places[] = {"lbmapd", "../sbin/lbmapd", "../daemon/lbmapd"};
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%.*s/%s", (int)(slash - self), self, places[i]);
        if (access(path, X_OK) == 0)
            return;
    }
    snprintf(path, size, "lbmapd");
}

/* Out: the lowest port that the system gives to outgoing connections, or PORT_LEAST if that is not known. */
static unsigned
outgoing_least(void)
{
    unsigned least = 0;
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    if (file == NULL)
        return PORT_LEAST;
    int n_read = fscanf(file, "%u", &least);
    fclose(file);
    return n_read == 1 && least > PORT_LEAST && least <= UINT16_MAX ? least : PORT_LEAST;
}

/* Bind a socket to the first port of loopback that is free, from *next on, below `end`; to any if none is
 * left there. Out: *port; *next the one after it. Nonzero: errno says why not. */
static int
bind_free(int fd, unsigned *next, unsigned end, uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    int bound = -1;
    while (bound != 0 && *next < end) {
        address.sin_port = htons((uint16_t)(*next)++);
        bound = bind(fd, (struct sockaddr *)&address, sizeof address);
    }
    address.sin_port = 0;
    if (bound != 0)
        bound = bind(fd, (struct sockaddr *)&address, sizeof address);
    if (bound == 0 && getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        bound = -1;
    *port = ntohs(address.sin_port);
    return bound;
}

/* Below those of outgoing connections: one of these might have the port of a daemon that is down for a
 * moment. From somewhere in the lower half on, since clusters may start next to each other. */
enum lbm_err
lbm_process_free_ports(uint32_t n, uint16_t *port, struct lbm_diag *diag)
{
    int *fd = malloc((n != 0 ? n : 1) * sizeof *fd);
    enum lbm_err err = fd == NULL ? LBM_E_NOMEM : LBM_OK;
    uint32_t opened = 0, chance = 0;
    unsigned end = outgoing_least(), next = PORT_LEAST;
    if (end > PORT_LEAST && getrandom(&chance, sizeof chance, 0) == sizeof chance)
        next += chance % ((end - PORT_LEAST + 1) / 2);
    for (; err == LBM_OK && opened < n; opened++) {
        fd[opened] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd[opened] < 0 || bind_free(fd[opened], &next, end, &port[opened]) != 0)
            err = lbm_diag_set(diag, LBM_E_IO, "127.0.0.1", 0, "no free port: %s", strerror(errno));
    }
    for (uint32_t i = 0; fd != NULL && i < opened; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    free(fd);
    return err;
}
