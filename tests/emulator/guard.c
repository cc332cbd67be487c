/* guard.c - device memory that the host can't touch: it may be read and written only while something of a
 * stream runs. For host code that takes a device's pointer for its own, which works on the cpu backend. */
#include "emu_int.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static bool guarded;
static int opened; /* how often, one inside of the other */

static void protect(int prot)
{
    if (pw_emu_regions.device != NULL)
        mprotect((void *)pw_emu_regions.device, PW_EMU_SPACE, prot);
}

static void touched(int signal_number, siginfo_t *info, void *context)
{
    static const char text[] = "emulator: host memory: the host touches device memory\n";
    ssize_t told = pw_emu_is_device(info->si_addr) ? write(STDERR_FILENO, text, sizeof text - 1) : 0;
    (void)told; /* there may be no reader */
    (void)context;
    signal(signal_number, SIG_DFL); /* the access is repeated, and stops where it is */
}

void pw_emu_set_guarded(bool on)
{
    struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO};
    pw_emu_lock();
    guarded = on;
    if (on)
        sigaction(SIGSEGV, &action, NULL);
    protect(on && opened == 0 ? PROT_NONE : PROT_READ | PROT_WRITE);
    pw_emu_unlock();
}

void pw_emu_open_device(void)
{
    if (opened++ == 0 && guarded)
        protect(PROT_READ | PROT_WRITE);
}

void pw_emu_close_device(void)
{
    if (--opened == 0 && guarded)
        protect(PROT_NONE);
}
