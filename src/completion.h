/* completion.h - completion of the command line by a shell. Main thread. */
#ifndef PW_COMPLETION_H
#define PW_COMPLETION_H

/* Prints the script that completes pewter's command line, made from the tables of options.h. shell: "bash",
 * "zsh" or "fish". */
void pw_completion_print(const char *shell);

#endif
