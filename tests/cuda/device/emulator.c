/* emulator.c - what tests say to the emulator, where there is a device in its place: nothing. Threads run in
 * the order that the device chooses. */
#include "tests/emulator/emulator.h"

void pw_emu_set_order(enum pw_emu_order order, uint64_t seed)
{
    (void)order, (void)seed;
}

void pw_emu_reset(void)
{
}
