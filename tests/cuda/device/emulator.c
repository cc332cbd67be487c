/* emulator.c - replaces the emulator's controls in tests on a real device. They have no effect: the device
 * chooses the order of threads. */
#include "tests/emulator/emulator.h"

void pw_emu_set_order(enum pw_emu_order order, uint64_t seed)
{
    (void)order, (void)seed;
}

void pw_emu_reset(void)
{
}
