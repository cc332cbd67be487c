/* pages.h - address space that takes memory page by page, as it is written, and can return it.
 *
 * Any thread may call these functions on its own memory. */
#ifndef PW_PAGES_H
#define PW_PAGES_H
#include <stddef.h>

/* Reserve `bytes` of address space, which reads as zeros; a page takes memory from its first write on. NULL:
 * the system refuses. pw_pages_free frees it; NULL is a no-op. */
void *pw_pages_reserve(size_t bytes);
void pw_pages_free(void *pages, size_t bytes);

/* Return the memory of the pages that lie in [from, from + bytes) as a whole. close also forbids access, so
 * that a stray read ends the program in place of giving zeros. open allows access again; the pages read as
 * zeros. */
void pw_pages_drop(void *from, size_t bytes);
void pw_pages_close(void *from, size_t bytes);
void pw_pages_open(void *from, size_t bytes);

/* Use huge pages, for memory that is written as a whole. */
void pw_pages_huge(void *from, size_t bytes);

/* Return a block of zeros, aligned to 64 bytes, of which most will be written. A large one has pages of its
 * own, so that none of it stays with the process after pw_block_free, which takes the same size. NULL: the
 * system has too little memory. NULL is a no-op for pw_block_free. */
void *pw_block_take(size_t bytes);
void pw_block_free(void *block, size_t bytes);

#endif
