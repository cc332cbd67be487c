/* bits.c - compares the golden digests (tests/model/ref_digests.c) without a test library. bench/bits.sh can
 * therefore build it with any compiler and for other processors. Exit status 1 if any digest differs.
 * usage: bits [every], for example 8: only every eighth model. */
#include <stdlib.h>

#include "tests/model/ref_digests.h"

int main(int argc, char **argv)
{
    int every = argc > 1 ? atoi(argv[1]) : 1;

    return ref_digests_compare(stdout, every > 0 ? every : 1) != 0;
}
