/* ref_slow.c - see ref_slow.h. */
#undef _FORTIFY_SOURCE /* it would define pread64 inline */
#include "ref_slow.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    pthread_t screen; /* must never wait for the disk */
    bool stuck;
    int by_screen, synced;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

static void wait_for_disk(bool sync)
{
    pthread_mutex_lock(&disk.lock);
    bool screen = pthread_equal(pthread_self(), disk.screen);
    disk.synced += sync && !screen;
    if (disk.stuck && screen)
        disk.by_screen++;
    else
        while (disk.stuck)
            pthread_cond_wait(&disk.freed, &disk.lock);
    pthread_mutex_unlock(&disk.lock);
}

int fsync(int fd)
{
    (void)fd;
    wait_for_disk(true);
    return 0;
}

int flock(int fd, int how)
{
    wait_for_disk(false);
    return (int)syscall(SYS_flock, fd, how);
}

int mkdir(const char *path, mode_t mode)
{
    wait_for_disk(false);
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int access(const char *path, int how)
{
    wait_for_disk(false);
    return (int)syscall(SYS_faccessat, AT_FDCWD, path, how);
}

ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
    wait_for_disk(false);
    return syscall(SYS_pread64, fd, to, n, at);
}

void slow_stick(bool stuck)
{
    pthread_mutex_lock(&disk.lock);
    disk.screen = pthread_self();
    disk.stuck = stuck;
    disk.by_screen = stuck ? 0 : disk.by_screen;
    pthread_cond_broadcast(&disk.freed);
    pthread_mutex_unlock(&disk.lock);
}

int slow_by_screen(void)
{
    pthread_mutex_lock(&disk.lock);
    int n = disk.by_screen;
    pthread_mutex_unlock(&disk.lock);
    return n;
}

int slow_synced_by_others(void)
{
    pthread_mutex_lock(&disk.lock);
    int n = disk.synced;
    pthread_mutex_unlock(&disk.lock);
    return n;
}
