/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loaded before the C library (LD_PRELOAD), it makes one call of a class of functions fail: the k-th of the
 * process.
 *
 *   KTH_CLASS   memory, write, sync, open or accept
 *   KTH_K       which call fails; 0: none, calls are counted
 *   KTH_COUNT   a file of two 8-byte numbers: calls so far, and 1 once one has failed
 *
 * Which error it is depends on k, so that a row of runs has all of them. Writes count to files and sockets
 * alone, and not to standard error: what is written to an eventfd or a pipe cannot fail so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { KIND_NONE, KIND_MEMORY, KIND_WRITE, KIND_SYNC, KIND_OPEN, KIND_ACCEPT };

struct counts {
    _Atomic uint64_t calls;
    _Atomic uint64_t failed;
};

static enum kind the_kind;
static uint64_t the_k;
static struct counts here;
static struct counts *counts = &here;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

__attribute__((constructor)) static void
begin(void)
{
    static const char *const names[] = {"", "memory", "write", "sync", "open", "accept"};
    const char *name = getenv("KTH_CLASS"), *k = getenv("KTH_K"), *path = getenv("KTH_COUNT");
    if (name == NULL || k == NULL || path == NULL)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, sizeof *counts) != 0)
        _exit(99);
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counts == MAP_FAILED)
        _exit(99);
    close(fd);
    the_k = strtoull(k, NULL, 10);
    for (enum kind i = KIND_MEMORY; i <= KIND_ACCEPT; i++)
        if (strcmp(name, names[i]) == 0)
            the_kind = i;
    if (the_kind == KIND_NONE)
        _exit(99);
}

/* Count a call. Value: nonzero if it is the one to fail, with errno one of two. */
static int
fails(enum kind kind, int one, int other)
{
    if (kind != the_kind || atomic_fetch_add(&counts->calls, 1) + 1 != the_k)
        return 0;
    atomic_store(&counts->failed, 1);
    errno = the_k % 2 != 0 ? one : other;
    return 1;
}

/* The C library's function of that name. */
static void *
real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL)
        _exit(99);
    return function;
}

#define REAL(name) ((__typeof__(&name))(uintptr_t)real(#name))

/* ---- memory -------------------------------------------------------------------------------------------- */

void *
malloc(size_t size)
{
    return fails(KIND_MEMORY, ENOMEM, ENOMEM) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
    return fails(KIND_MEMORY, ENOMEM, ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t size)
{
    return fails(KIND_MEMORY, ENOMEM, ENOMEM) ? NULL : __libc_realloc(old, size);
}

void *
reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, bytes);
}

/* ---- write --------------------------------------------------------------------------------------------- */

/* Value: nonzero if writing to fd is to fail, with errno as it would be for a file or a socket. */
static int
write_fails(int fd)
{
    struct stat status;
    if (the_kind != KIND_WRITE || fd == STDERR_FILENO || fstat(fd, &status) != 0)
        return 0;
    if (S_ISREG(status.st_mode))
        return fails(KIND_WRITE, EIO, ENOSPC);
    return S_ISSOCK(status.st_mode) && fails(KIND_WRITE, ECONNRESET, ENOBUFS);
}

ssize_t
write(int fd, const void *bytes, size_t len)
{
    return write_fails(fd) ? -1 : syscall(SYS_write, fd, bytes, len);
}

ssize_t
pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    if (!write_fails(fd))
        return syscall(SYS_pwrite64, fd, bytes, len, at);
    if (errno == EIO || len < 2)
        return -1;
    /* A full disk takes a part, and refuses the next one by itself when it is really full. */
    return syscall(SYS_pwrite64, fd, bytes, len / 2, at);
}

ssize_t
pwrite64(int fd, const void *bytes, size_t len, off_t at)
{
    return pwrite(fd, bytes, len, at);
}

ssize_t
writev(int fd, const struct iovec *part, int n)
{
    return write_fails(fd) ? -1 : syscall(SYS_writev, fd, part, n);
}

ssize_t
send(int fd, const void *bytes, size_t len, int flags)
{
    return write_fails(fd) ? -1 : syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}

ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
    return write_fails(fd) ? -1 : syscall(SYS_sendmsg, fd, message, flags);
}

int
ftruncate(int fd, off_t len)
{
    return write_fails(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, len);
}

/* ---- sync, open, accept -------------------------------------------------------------------------------- */

int
fsync(int fd)
{
    return fails(KIND_SYNC, EIO, ENOSPC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int
fdatasync(int fd)
{
    return fails(KIND_SYNC, EIO, ENOSPC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

static int
open_at(int directory, const char *path, int flags, unsigned mode)
{
    return fails(KIND_OPEN, EMFILE, EIO) ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
}

/* The mode is there only if a file may be made. */
#define MODE(last)                                                                                           \
    unsigned mode = 0;                                                                                       \
    if (((last) & (O_CREAT | O_TMPFILE)) != 0) {                                                             \
        va_list args;                                                                                        \
        va_start(args, last);                                                                                \
        mode = va_arg(args, unsigned);                                                                       \
        va_end(args);                                                                                        \
    }

int
open(const char *path, int flags, ...)
{
    MODE(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
    MODE(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int
openat(int directory, const char *path, int flags, ...)
{
    MODE(flags)
    return open_at(directory, path, flags, mode);
}

FILE *
fopen(const char *path, const char *mode)
{
    return fails(KIND_OPEN, EMFILE, EIO) ? NULL : REAL(fopen)(path, mode);
}

FILE *
fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}

int
accept(int fd, __SOCKADDR_ARG address, socklen_t *len)
{
    return fails(KIND_ACCEPT, EMFILE, ECONNABORTED) ? -1
                                                    : (int)syscall(SYS_accept, fd, address.__sockaddr__, len);
}

int
accept4(int fd, __SOCKADDR_ARG address, socklen_t *len, int flags)
{
    return fails(KIND_ACCEPT, EMFILE, ECONNABORTED)
               ? -1
               : (int)syscall(SYS_accept4, fd, address.__sockaddr__, len, flags);
}
