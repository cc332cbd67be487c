/* err.h - how every fallible call reports failure.
 *
 * A bug asserts; what a user, a disk or a device can cause returns a code and fills the caller's
 * struct with one line that says what was wrong and what is allowed. No globals, any thread. */
#ifndef PW_ERR_H
#define PW_ERR_H
#ifdef __cplusplus
extern "C" {
#endif

enum pw_code { PW_OK = 0, PW_EUSER, PW_ENOMEM, PW_EIO, PW_EDEVICE, PW_ECANCEL, PW_EYIELD };

struct pw_err {
    enum pw_code code;
    char msg[400]; /* one line, no newline, UTF-8 */
};

/* Fills *err (which may be NULL) and returns code: `return pw_fail(err, PW_EUSER, "...");`
 * Control characters that came in through an argument are replaced by '?'. */
enum pw_code pw_fail(struct pw_err *err, enum pw_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "place: " before the message; with an empty place nothing. */
void pw_err_at(struct pw_err *err, const char *place);

#ifdef __cplusplus
}
#endif
#endif
