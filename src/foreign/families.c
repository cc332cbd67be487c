/* families.c - the table of families. A family is a file in family/ and a line here. */
#include <string.h>

#include "foreign/families.h"
#include "foreign/reader.h"

const struct pw_family *const pw_families[] = {
    &pw_family_bloom,       &pw_family_gemma,   &pw_family_gemma2,  &pw_family_gemma3,
    &pw_family_gemma3_text, &pw_family_gpt2,    &pw_family_gptj,    &pw_family_gpt_neox,
    &pw_family_llama,       &pw_family_mistral, &pw_family_mpt,     &pw_family_opt,
    &pw_family_qwen2,       &pw_family_qwen3,   &pw_family_smollm3, NULL,
};

const struct pw_family *pw_family_find(const char *type)
{
    for (int i = 0; pw_families[i] != NULL; i++)
        if (strcmp(pw_families[i]->type, type) == 0)
            return pw_families[i];
    return NULL;
}
