/* bits.c - compares the golden digests (tests/model/ref_digests.c) without a test library. bench/bits.sh can
 * therefore build it with any compiler and for other processors. Exit status 1 if any digest differs. */
#include "tests/model/ref_digests.h"

int main(void)
{
    return ref_digests_compare(stdout) != 0;
}
