/* ref_forge.h - sessions as somebody makes them who wants a reader to go wrong: their sums are right. */
#ifndef PW_TESTS_REF_FORGE_H
#define PW_TESTS_REF_FORGE_H
#include <stdbool.h>

/* Runs sql on the database of a session, a folder or a packed file. sums: then every row's chain is computed
 * anew, as whoever forges a session can. */
void forge(const char *path, const char *sql, bool sums);

#endif
