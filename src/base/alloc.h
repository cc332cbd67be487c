/* alloc.h - memory that the program can't go on without: bookkeeping, events, what is on the screen.
 *
 * Where there is none, the program says so in one line on standard error, gives the terminal back and ends
 * with status 1: checking a few hundred bytes everywhere would triple the code, and nobody could do better.
 * What a user's choice makes large (models, batches, maps, files) is allocated by its owner instead, who
 * reports PW_ENOMEM and goes on. Any thread. */
#ifndef PW_ALLOC_H
#define PW_ALLOC_H
#include <stddef.h>

void *pw_alloc(size_t n, size_t size);         /* n entries, zeroed; for none of them, too, never NULL */
void *pw_grow(void *p, size_t n, size_t size); /* p (or NULL) with room for n entries */
char *pw_text_dup(const char *s);

/* Ends the program for want of so many bytes. */
_Noreturn void pw_exhausted(size_t bytes);
/* What it does first; NULL: nothing. The workbench restores the terminal. */
void pw_on_exhausted(void (*first)(void));

#endif
