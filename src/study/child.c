#include "study/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

#define MAX_WORDS 64

/* For pw_child_pass_signals. A process has one set of signal handlers, so this belongs to the process. */
static volatile sig_atomic_t passes, caught, current;

static void pass_on(int signal)
{
    (void)signal;
    if (caught == 0 && current > 0)
        kill((pid_t)current, SIGINT);
    caught = 1;
}

void pw_child_pass_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction act = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction was;
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN) /* as by nohup */
            sigaction(signals[i], &act, NULL);
    }
    passes = 1;
}

/* A child that only SIGINT of this process ends. Its process group keeps Ctrl-C of a terminal from it. */
static void protect(void)
{
    setpgid(0, 0);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGINT);
}

/* Begins to pass signals to a child. One that came before is passed now. */
static void pass_to(pid_t pid)
{
    if (passes == 0)
        return;
    current = (sig_atomic_t)pid;
    if (caught != 0)
        kill(pid, SIGINT);
}

/* Becomes a program, with these files as standard output and messages. Called between fork and exec, so it
 * allocates nothing. */
_Noreturn static void become(const char *path, const char *const *words, int out, int messages)
{
    char *argv[MAX_WORDS + 1] = {NULL};
    sigset_t none;
    for (int i = 0; i < MAX_WORDS && words[i] != NULL; i++)
        argv[i] = (char *)words[i]; /* exec changes none of them */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(out, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    execv(path, argv);
    _exit(127);
}

/* The words of a run of pewter. */
static void name_first(const char *words[MAX_WORDS + 1], const char *const *args)
{
    words[0] = "pewter";
    int n = 0;
    for (; n < MAX_WORDS - 1 && args[n] != NULL; n++)
        words[n + 1] = args[n];
    words[n + 1] = NULL;
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
    siginfo_t end;
    FILE *in = fdopen(from, "r");
    while (getline(&line, &cap, in) > 0)
        if (each != NULL)
            each(arg, line);
    free(line);
    fclose(in);
    while (waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    current = 0; /* before its number is free */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* Runs a program and waits. seconds: a limit; 0: none, and signals are passed on. */
static enum pw_code run_program(const char *path, const char *const *words, unsigned seconds,
                                void (*each)(void *arg, const char *line), void *arg, int *status, char *why,
                                struct pw_err *err)
{
    int ends[2] = {-1, -1}, messages = memfd_create("messages", MFD_CLOEXEC);
    pid_t parent = getpid(), pid = -1;
    fflush(NULL);
    if (messages >= 0 && pipe2(ends, O_CLOEXEC) == 0)
        pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (seconds == 0 && passes != 0)
            protect();
        if (getppid() != parent) /* it died before prctl */
            _exit(127);
        alarm(seconds); /* exec keeps it */
        become(path, words, ends[1], messages);
    }
    int number = errno;
    close(ends[1]);
    if (pid > 0) {
        if (seconds == 0)
            pass_to(pid);
        *status = attend(pid, ends[0], each, arg);
        read_why(why, messages);
    } else {
        close(ends[0]);
    }
    close(messages);
    return pid > 0 ? PW_OK : pw_fail(err, PW_EIO, "no child process: %s", strerror(number));
}

enum pw_code pw_child_run(const char *const *args, void (*each)(void *arg, const char *line), void *arg,
                          int *status, char *why, struct pw_err *err)
{
    const char *words[MAX_WORDS + 1], prefix[] = "pewter: ";
    size_t n = sizeof prefix - 1;
    name_first(words, args);
    enum pw_code code = run_program("/proc/self/exe", words, 0, each, arg, status, why, err);
    if (code == PW_OK && strncmp(why, prefix, n) == 0) /* the caller's message gets its own */
        memmove(why, why + n, strlen(why + n) + 1);
    return code;
}

/* Appends the path of a program in PATH. False: there is none. */
static bool find_program(struct pw_str *path, const char *name)
{
    const char *at = getenv("PATH");
    struct stat st;
    while (at != NULL && *at != '\0') {
        size_t n = strcspn(at, ":");
        pw_str_clear(path);
        if (n > 0)
            pw_str_add(path, "%.*s/%s", (int)n, at, name);
        if (n > 0 && stat(path->s, &st) == 0 && S_ISREG(st.st_mode) && access(path->s, X_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

bool pw_child_has(const char *name)
{
    struct pw_str path = {0};
    bool has = find_program(&path, name);
    pw_str_fini(&path);
    return has;
}

enum pw_code pw_child_program(const char *const *words, unsigned seconds,
                              void (*each)(void *arg, const char *line), void *arg, int *status, char *why,
                              struct pw_err *err)
{
    struct pw_str path = {0};
    enum pw_code code = find_program(&path, words[0])
                            ? run_program(path.s, words, seconds, each, arg, status, why, err)
                            : pw_fail(err, PW_EUSER, "no program '%s' in PATH", words[0]);
    pw_str_fini(&path);
    return code;
}

/* A process between the two ends at once, so that none waits for the last. */
enum pw_code pw_child_leave(const char *const *args, const char *log, struct pw_err *err)
{
    int to = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (to < 0)
        return pw_fail(err, PW_EIO, "%s: %s", log, strerror(errno));
    const char *words[MAX_WORDS + 1];
    name_first(words, args);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() != 0)
            _exit(0);
        setsid();
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        become("/proc/self/exe", words, to, to);
    }
    close(to);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 ? PW_OK : pw_fail(err, PW_EIO, "no child process: %s", strerror(errno));
}
