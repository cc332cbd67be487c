/* pack.h - convert a session between a folder and a single file, for archiving or sharing. The file is the
 * session's database with its files stored in rows.
 *
 * pw_record_open reads a packed session directly; to continue one it must be unpacked. Neither function
 * overwrites anything, and a failure leaves nothing behind. A process that is killed while it packs leaves
 * nothing either; one that is killed while it unpacks leaves a folder NAME.tmp-XXXXXX, which the next unpack
 * of NAME removes. Both block until finished. Codes: PW_EUSER, PW_EIO, PW_ENOMEM. */
#ifndef PW_PACK_H
#define PW_PACK_H
#include "base/err.h"

/* Pack the session in a folder into a new file. Another process may be recording it; the current state is
 * packed. */
enum pw_code pw_session_pack(const char *folder, const char *file, struct pw_err *err);
/* Unpack a file into a new folder. The whole file is checked first (pw_record_check), because it may come
 * from an untrusted source. No text in it is used as a path. */
enum pw_code pw_session_unpack(const char *file, const char *folder, struct pw_err *err);

#endif
