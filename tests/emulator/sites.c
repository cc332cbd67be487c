/* sites.c - the barriers and fences of the kernels that have run, and the one that is left out.
 *
 * Left out, it still makes threads wait, but the check build takes it as if it weren't there. So whether a
 * barrier is needed, or is missed by the checker, can be asked without compiling anything. */
#include "emu_int.h"

#include <stdio.h>
#include <string.h>

enum { SITES = 256 };

static struct {
    struct pw_emu_site at;
    const char *what;
    uint64_t passed;
} sites[SITES];
static int n_sites, left_out = -1;

static int site_of(struct pw_emu_site at, const char *what)
{
    for (int i = 0; i < n_sites; i++)
        if (sites[i].at.line == at.line &&
            (sites[i].at.file == at.file || strcmp(sites[i].at.file, at.file) == 0))
            return i;
    if (n_sites == SITES) {
        pw_emu_report("barrier", "there are more than %d of them", SITES);
        return SITES - 1;
    }
    sites[n_sites].at = at;
    sites[n_sites].what = what;
    return n_sites++;
}

bool pw_emu_orders(struct pw_emu_site at, const char *what)
{
    int site = site_of(at, what);
    sites[site].passed++;
    return site != left_out;
}

int pw_emu_sites(void)
{
    return n_sites;
}

const char *pw_emu_site_name(int i)
{
    static char name[200];
    const char *slash = strrchr(sites[i].at.file, '/');
    snprintf(name, sizeof name, "%s:%d %s", slash != NULL ? slash + 1 : sites[i].at.file, sites[i].at.line,
             sites[i].what);
    return name;
}

uint64_t pw_emu_site_passed(int i)
{
    return sites[i].passed;
}

void pw_emu_leave_out(int site)
{
    left_out = site;
}
