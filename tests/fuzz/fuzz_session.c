/* fuzz_session.c - fuzz target of session files: arbitrary bytes are opened as a packed session, checked,
 * read through and searched.
 *
 * SQLite is the system's library, without coverage. The target tests what pewter's own code does with data
 * that SQLite accepts. Random bytes are hardly ever a database, so mutations change parts of a valid one. One
 * mutation in four keeps the size and overwrites up to eight bytes in one to four places, like a forged file.
 *
 * cmake -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DPEWTER_FUZZ=ON && ninja -C build/fuzz fuzz_session
 * && build/fuzz/tests/fuzz/fuzz_session -max_len=200000 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/ref_codec.h"
#include "sessions/pack.h"
#include "sessions/record.h"
#include "sessions/store.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static char file[64];
static uint8_t *sound; /* [n_sound] a valid packed session */
static size_t n_sound;

static void must(enum pw_code code, const struct pw_err *err)
{
    if (code == PW_OK)
        return;
    fprintf(stderr, "%s\n", err->msg);
    abort();
}

static void record(const char *folder)
{
    struct pw_err err;
    struct pw_store *s;
    struct pw_store_config cfg = {
        .folder = folder,
        .create = true,
        .env = {.pewter = "fuzz", .bits = "portable", .device = "none", .isa = "none"},
        .budget = 1 << 30};
    uint64_t rng = 1;
    must(pw_store_open(&s, &cfg, &err), &err);
    for (uint64_t seq = 1; seq <= PW_EV_KINDS; seq++) {
        struct pw_event *e = codec_random((enum pw_event_kind)(seq % PW_EV_KINDS), &rng);
        e->seq = seq;
        e->arm = 1;
        e->replica = 1;
        pw_store_put(s, e);
        pw_event_free(e);
    }
    pw_store_close(s, "quit");
}

static void clean(void)
{
    *strrchr(file, '/') = '\0';
    pw_session_remove(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char dir[] = "/dev/shm/pewter-fuzz-XXXXXX", folder[64];
    struct pw_err err;
    (void)argc, (void)argv;
    if (mkdtemp(dir) == NULL)
        abort();
    snprintf(folder, sizeof folder, "%s/s.pewter", dir);
    snprintf(file, sizeof file, "%s/packed", dir);
    record(folder);
    must(pw_session_pack(folder, file, &err), &err);
    pw_session_remove(folder);
    FILE *f = fopen(file, "rb");
    sound = malloc(1 << 22);
    n_sound = f != NULL ? fread(sound, 1, 1 << 22, f) : 0;
    if (n_sound == 0)
        abort();
    fclose(f);
    atexit(clean);
    return 0;
}

static bool each(void *arg, struct pw_event *e)
{
    uint64_t *before = arg;
    if (e->seq <= *before || !pw_event_placed(e))
        abort();
    *before = e->seq;
    return true;
}

static void read_all(struct pw_record *r)
{
    struct pw_record_info info;
    struct pw_err err = {.msg = ""};
    uint64_t intact, before = 0;
    pw_record_info(r, &info);
    pw_record_events(r, 1, UINT64_MAX, each, &before, &err);
    for (int kind = 0; kind < PW_EV_KINDS; kind++)
        pw_event_free(pw_record_last(r, (enum pw_event_kind)kind, 1, 1, before));
    if (pw_record_check(r, &intact, &err) != PW_OK && (err.msg[0] == '\0' || strchr(err.msg, '\n') != NULL))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pw_record *r;
    struct pw_err err = {.msg = ""};
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    if (pw_record_open(&r, file, &err) != PW_OK) {
        if (err.msg[0] == '\0' || strchr(err.msg, '\n') != NULL)
            abort();
        return 0;
    }
    read_all(r);
    pw_record_close(r);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t rng = seed;
    if (size < 512 && most >= n_sound) {
        memcpy(data, sound, n_sound);
        return n_sound;
    }
    if (codec_next(&rng) % 4 != 0 || size < 16)
        return LLVMFuzzerMutate(data, size, most);
    for (uint64_t i = codec_next(&rng) % 4; i < 4; i++) {
        uint64_t at = codec_next(&rng) % (size - 8), value = codec_next(&rng) >> codec_next(&rng) % 64;
        memcpy(data + at, &value, 1 + codec_next(&rng) % 8);
    }
    return size;
}
