/* alloc.h - memory allocation that cannot fail: for bookkeeping, events and the screen.
 *
 * If the system has no memory, the program prints one line on standard error, restores the terminal and ends
 * with status 1. Checking every small allocation would triple the code, and no caller could recover. Memory
 * whose size depends on a user's choice (models, batches, maps, files) is not allocated here: its owner
 * allocates it, and on failure returns PW_ENOMEM and continues. The caller owns each block and frees it with
 * free(). Any thread may call these functions. */
#ifndef PW_ALLOC_H
#define PW_ALLOC_H
#include <stddef.h>

/* Return a zeroed array of n entries of `size` bytes. The result is never NULL, not even for n = 0. */
void *pw_alloc(size_t n, size_t size);
/* Resize p (NULL: allocate) to n entries of `size` bytes, like realloc. New entries are not zeroed. */
void *pw_grow(void *p, size_t n, size_t size);
/* Return a copy of n entries of `size` bytes at p. Like pw_alloc it is never NULL; p may be NULL if n is 0.
 */
void *pw_copy(const void *p, size_t n, size_t size);
/* Return a copy of the string s. */
char *pw_text_dup(const char *s);

/* Limit the freed memory that the C library keeps for later blocks. Without a limit it is as much as the
 * largest block that was freed so far. The program calls it before its first large block. */
void pw_alloc_begin(void);
/* Return the freed memory between blocks to the system, after work that used many small blocks. */
void pw_alloc_trim(void);

/* Report that `bytes` more bytes could not be allocated, and end the program. */
_Noreturn void pw_exhausted(size_t bytes);
/* Register a function that pw_exhausted calls before it prints its message; NULL: none. The workbench
 * registers one that restores the terminal. The function must not allocate memory. */
void pw_on_exhausted(void (*first)(void));

#endif
