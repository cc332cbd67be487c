/* ref_recording.h - a recording on disk for tests of what shows one, written by the store as any other: two
 * arms race for 60 steps at 10 a second; after 20 somebody makes a mark and sleeps for an hour. */
#ifndef REF_RECORDING_H
#define REF_RECORDING_H

enum { STEPS = 60, MARK_AT = 20, HOURS = 3600 };

void recording_make(const char *folder);

#endif
