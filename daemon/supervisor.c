/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "daemon/supervisor.h"

#include <unistd.h>

#include "file/own.h"

#ifdef HAVE_SYSTEMD

#include <systemd/sd-daemon.h>

void
lbm_supervisor_ready(const char *status)
{
    sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void
lbm_supervisor_waiting(const char *status)
{
    sd_notifyf(0, "STATUS=%s", status);
}

void
lbm_supervisor_stopping(void)
{
    sd_notify(0, "STOPPING=1");
}

void
lbm_supervisor_alive(void)
{
    sd_notify(0, "WATCHDOG=1");
}

uint64_t
lbm_supervisor_alive_period_us(void)
{
    uint64_t limit_us = 0;
    return sd_watchdog_enabled(0, &limit_us) > 0 ? limit_us / 2 : 0;
}

#else

void
lbm_supervisor_ready(const char *status)
{
    (void)status;
}

void
lbm_supervisor_waiting(const char *status)
{
    (void)status;
}

void
lbm_supervisor_stopping(void)
{
}

void
lbm_supervisor_alive(void)
{
}

uint64_t
lbm_supervisor_alive_period_us(void)
{
    return 0;
}

#endif

enum lbm_err
lbm_pid_file_write(const char *path, struct lbm_diag *diag)
{
    return lbm_file_write_number(path, (long)getpid(), diag);
}
