/* pack.h - a session as one file, to be kept or handed on: its database, with its files in rows.
 *
 * pw_record_open reads it as it is; to go on with it takes a folder again. Neither call replaces anything,
 * and one that fails leaves nothing. A process that is killed while it packs leaves nothing, either; while it
 * unpacks, a folder NAME.tmp-XXXXXX, which the next unpack of NAME removes. */
#ifndef PW_PACK_H
#define PW_PACK_H
#include "base/err.h"

/* The session in a folder (somebody may be recording it: as it is now) into a file that isn't there yet. */
enum pw_code pw_session_pack(const char *folder, const char *file, struct pw_err *err);
/* Back into a folder that isn't there yet. All of it is checked first (pw_record_check): a packed file may
 * come from anybody, and nothing in it is taken for a path. */
enum pw_code pw_session_unpack(const char *file, const char *folder, struct pw_err *err);

#endif
