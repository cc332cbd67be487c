#include "study/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

#define MAX_WORDS 64

/* Becomes pewter, with these files as standard output and messages. Called between fork and exec, so it
 * allocates nothing. */
_Noreturn static void become(const char *const *args, int out, int messages)
{
    char *argv[MAX_WORDS + 2] = {(char[]){"pewter"}};
    sigset_t none;
    for (int i = 0; i < MAX_WORDS && args[i] != NULL; i++)
        argv[i + 1] = (char *)args[i]; /* exec changes none of them */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(out, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    execv("/proc/self/exe", argv);
    _exit(127);
}

/* Writes the last line of a file, at most its last 4 kB, to why. */
static void read_why(char *why, int messages)
{
    char text[4096];
    off_t size = lseek(messages, 0, SEEK_END), most = sizeof text - 1;
    ssize_t n = pread(messages, text, sizeof text - 1, size > most ? size - most : 0);
    n = n > 0 ? n : 0;
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    const char *line = strrchr(text, '\n');
    pw_text_copy(why, PW_CHILD_WHY, line != NULL ? line + 1 : text);
}

/* Reads its lines until it ends. */
static int attend(pid_t pid, int from, void (*each)(void *arg, const char *line), void *arg)
{
    char *line = NULL;
    size_t cap = 0;
    int status;
    FILE *in = fdopen(from, "r");
    while (getline(&line, &cap, in) > 0)
        if (each != NULL)
            each(arg, line);
    free(line);
    fclose(in);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

enum pw_code pw_child_run(const char *const *args, void (*each)(void *arg, const char *line), void *arg,
                          int *status, char *why, struct pw_err *err)
{
    int ends[2] = {-1, -1}, messages = memfd_create("messages", MFD_CLOEXEC);
    pid_t parent = getpid(), pid = -1;
    fflush(NULL);
    if (messages >= 0 && pipe2(ends, O_CLOEXEC) == 0)
        pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) /* it died before prctl */
            _exit(127);
        become(args, ends[1], messages);
    }
    int number = errno;
    close(ends[1]);
    if (pid > 0) {
        *status = attend(pid, ends[0], each, arg);
        read_why(why, messages);
    } else {
        close(ends[0]);
    }
    close(messages);
    return pid > 0 ? PW_OK : pw_fail(err, PW_EIO, "no child process: %s", strerror(number));
}

/* A process between the two ends at once, so that none waits for the last. */
enum pw_code pw_child_leave(const char *const *args, const char *log, struct pw_err *err)
{
    int to = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (to < 0)
        return pw_fail(err, PW_EIO, "%s: %s", log, strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() != 0)
            _exit(0);
        setsid();
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        become(args, to, to);
    }
    close(to);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 ? PW_OK : pw_fail(err, PW_EIO, "no child process: %s", strerror(errno));
}
