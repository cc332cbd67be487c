/* where.c - findings in words: the line of an access, the array that it went to or missed. */
#include "tests/emulator/check/check.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { SEEN = 256, NEAR = 512 };

/* ---- the source line, from addr2line; of inlined calls the first that isn't the emulator's own */

static void ask_line(char *out, size_t n, void *pc)
{
    Dl_info info;
    char command[700], line[200];
    snprintf(out, n, "pc %p", pc);
    if (dladdr(pc, &info) == 0 || info.dli_fname == NULL)
        return;
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%lx 2>/dev/null", info.dli_fname,
             (unsigned long)((char *)pc - (char *)info.dli_fbase - 1));
    FILE *f = popen(command, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, " \n")] = '\0';
        const char *slash = strrchr(line, '/');
        const char *name = slash != NULL ? slash + 1 : line;
        if (strncmp(name, "??", 2) == 0)
            continue;
        snprintf(out, n, "%s", name);
        if (strncmp(name, "pw_emu_", 7) != 0)
            break;
    }
    if (f != NULL)
        pclose(f);
}

/* The same, asked once for each place. */
static const char *source_line(void *pc)
{
    static struct {
        void *pc;
        char line[200];
    } known[SEEN];
    size_t i = (uintptr_t)pc / 4 % SEEN;
    if (known[i].pc != pc) {
        ask_line(known[i].line, sizeof known[i].line, pc);
        known[i].pc = pc;
    }
    return known[i].line;
}

/* ---- what lies there */

static void array_name(char *out, size_t n, const char *p)
{
    size_t offset = pw_emu_shared_offset(p);
    if (offset < PW_EMU_SHARED_SPACE) {
        const struct pw_emu_array *a = pw_emu_shared_find(p, 16);
        if (a != NULL)
            snprintf(out, n, "byte %ld of %zu of shared %s", (long)offset - (long)a->offset, a->size,
                     a->name);
        else
            snprintf(out, n, "shared memory that belongs to no array");
        return;
    }
    if (!pw_emu_is_device(p)) {
        snprintf(out, n, "host memory at %p", (const void *)p);
        return;
    }
    const struct pw_emu_allocation *a = pw_emu_allocation_of(p);
    for (long by = 1; a == NULL && by <= NEAR; by++) {
        a = pw_emu_allocation_of(p - by);
        if (a == NULL)
            a = pw_emu_allocation_of(p + by);
    }
    if (a != NULL)
        snprintf(out, n, "byte %ld of %zu of allocation %u", (long)(p - a->p), a->n, a->id);
    else
        snprintf(out, n, "device memory that is not allocated");
}

static bool seen_before(const char *kind, const void *pc)
{
    static struct {
        const char *kind;
        const void *pc;
    } seen[SEEN];
    static int n_seen;
    if (pw_emu_findings() == 0)
        n_seen = 0;
    for (int i = 0; i < n_seen; i++)
        if (seen[i].kind == kind && seen[i].pc == pc)
            return true;
    if (n_seen < SEEN) {
        seen[n_seen].kind = kind;
        seen[n_seen++].pc = pc;
    }
    return false;
}

void pw_emu_check_report(const char *kind, const struct pw_emu_access *a, const char *more)
{
    char array[200];
    if (seen_before(kind, a->pc))
        return;
    array_name(array, sizeof array, a->p);
    pw_emu_report(kind, "%s of %u bytes at %s: %s, block %u,%u,%u thread %u%s", a->write ? "write" : "read",
                  a->size, source_line(a->pc), array, pw_emu_self.block.x, pw_emu_self.block.y,
                  pw_emu_self.block.z, pw_emu_self.linear, more != NULL ? more : "");
}

/* ---- constants of the kernels' own program or library */

struct image {
    const char *pc, *from, *to;
};

static int find_image(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct image *image = arg;
    const char *from = NULL, *to = NULL;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        const char *start = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (from == NULL)
            from = start;
        to = start + info->dlpi_phdr[i].p_memsz;
    }
    if (image->pc < from || image->pc >= to)
        return 0;
    image->from = from;
    image->to = to;
    return 1;
}

bool pw_emu_in_image(const void *p, const void *pc)
{
    static struct image image;
    const char *at = p;
    if ((const char *)pc < image.from || (const char *)pc >= image.to) {
        image.pc = pc;
        dl_iterate_phdr(find_image, &image);
    }
    return at >= image.from && at < image.to;
}
