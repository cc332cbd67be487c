#include "manual.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

void pw_manual_print(const struct pw_commands *all)
{
    struct pw_str s = {0};
    pw_command_manual(all, &s);
    printf(".TH PEWTER 1 \"\" \"pewter " PEWTER_VERSION "\"\n.SH NAME\n"
           "pewter \\- a terminal workbench for positional encodings\n.SH SYNOPSIS\n.nf\n       %s.fi\n%s"
           ".SH FILES\n.TP\n$XDG_CONFIG_HOME/pewter/pewterrc, else ~/.config/pewter/pewterrc\n"
           "commands of the workbench, run when it begins; `config save` writes it\n"
           ".TP\n$XDG_STATE_HOME/pewter/sessions, else ~/.local/state/pewter/sessions\n"
           "what was recorded\n"
           ".TP\n$XDG_STATE_HOME/pewter/history, else ~/.local/state/pewter/history\n"
           "the lines that were typed\n"
           ".SH KEYS\n? in the workbench lists keys and commands, and narrows as one types.\n"
           ".SH ENVIRONMENT\n.TP\nPEWTER_ISA\nscalar, avx2 or avx512: the best that the cpu backend may "
           "use; the bits don't depend on it\n"
           ".TP\nPEWTER_BACKEND_DIR\nthe folder of libpewter_cuda.so, else beside the program and in its "
           "library folder\n"
           ".TP\nNO_COLOR, COLORTERM, COLORFGBG, TERM\nwhat colours the terminal has; set color and set "
           "theme say otherwise\n"
           ".SH EXIT STATUS\n0 all well, 1 a command failed, or not all is on record, 2 usage, 3 a verified "
           "session has other bits; after a signal 128 and its number.\n",
           pw_usage + strlen("usage: "), pw_str_text(&s));
    pw_str_fini(&s);
}
