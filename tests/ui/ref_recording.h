/* ref_recording.h - a session on disk for tests that show one, written by the store. Two arms race for 60
 * steps at 10 a second. After 20 steps there is a mark and a gap of an hour. */
#ifndef REF_RECORDING_H
#define REF_RECORDING_H
#include <stdint.h>

enum { STEPS = 60, MARK_AT = 20, HOURS = 3600 };

/* Records the session into a new folder. */
void recording_make(const char *folder);
/* Records further steps of both arms, up to this one. */
void recording_extend(const char *folder, int step);
/* Records an evaluation of the first arm, with so many samples. Returns the event's number. */
uint64_t recording_evaluate(const char *folder, int samples);

#endif
