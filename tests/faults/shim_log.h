/* shim_log.h - the format in which shim_files.c logs a process's file operations. */
#ifndef PW_TESTS_SHIM_LOG_H
#define PW_TESTS_SHIM_LOG_H
#include <stdint.h>

enum {
    PW_LOG_CREATE = 'c', /* a new file */
    PW_LOG_FOLDER = 'm',
    PW_LOG_WRITE = 'w',    /* n bytes at offset `at`, which follow */
    PW_LOG_TRUNCATE = 't', /* to `at` bytes */
    PW_LOG_SYNC = 's',
    PW_LOG_SYNC_FOLDER = 'd',
    PW_LOG_RENAME = 'r',
    PW_LOG_UNLINK = 'u',
    PW_LOG_SAID = 'a' /* n bytes to standard output, which follow */
};

/* A record. Two paths follow, then the n bytes of WRITE and SAID. */
struct pw_log_op {
    int64_t at;
    uint64_t n;
    uint16_t n_path, n_to; /* lengths of the paths that follow */
    char what;
};

#endif
