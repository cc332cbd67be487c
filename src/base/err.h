/* err.h - how every fallible function reports a failure.
 *
 * A bug in the program fails an assertion. A failure that a user, a disk or a device can cause returns a code
 * and fills the caller's struct pw_err. Its message is one line that says what was wrong and what is allowed.
 * There is no global state, so any thread may call these functions. */
#ifndef PW_ERR_H
#define PW_ERR_H
#ifdef __cplusplus
extern "C" {
#endif

/* Result of a fallible function. EUSER: wrong input or use. ENOMEM: no memory. EIO: file system. EDEVICE:
 * device. ECANCEL: cancelled. EYIELD: not finished; call the function again to continue. EMISSING: a file
 * that a session refers to is missing or has other content. */
enum pw_code { PW_OK = 0, PW_EUSER, PW_ENOMEM, PW_EIO, PW_EDEVICE, PW_ECANCEL, PW_EYIELD, PW_EMISSING };

/* A failure: its code and its message. The caller owns it. */
struct pw_err {
    enum pw_code code;
    char msg[400]; /* one line of UTF-8, without a newline */
};

/* Fill *err (which may be NULL) and return code, as in `return pw_fail(err, PW_EUSER, "...");`. A control
 * character or an invalid byte that came in through an argument becomes '?'. An argument may be err->msg
 * itself. A message that is too long is cut at a code point. */
enum pw_code pw_fail(struct pw_err *err, enum pw_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "PLACE: " before the message of *err (which may be NULL); an empty place changes nothing. */
void pw_err_at(struct pw_err *err, const char *place);

#ifdef __cplusplus
}
#endif
#endif
