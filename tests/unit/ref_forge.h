/* ref_forge.h - forges sessions that attack a reader: their checksums are right. */
#ifndef PW_TESTS_REF_FORGE_H
#define PW_TESTS_REF_FORGE_H
#include <stdbool.h>

/* Runs sql on the database of a session, a folder or a packed file. sums: also recomputes the chain of every
 * row, as an attacker can. */
void forge(const char *path, const char *sql, bool sums);

#endif
