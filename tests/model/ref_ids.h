/* ref_ids.h - position ids of a text for tests: its tokens are its characters. */
#ifndef PW_REF_IDS_H
#define PW_REF_IDS_H
#include "model/pe.h"

/* Writes an id for each character of a text, in a model of context 128; '=' ends the prompt. train: in an
 * optimiser step, with the draws of this key. The encoding must make ids. */
void ref_ids(int *ids, const struct pw_pe_use_opts *use, const char *text, bool train, uint64_t key);

#endif
