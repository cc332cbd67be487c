/* families.h - the families of src/foreign/family, for their table. Constant. */
#ifndef PW_FAMILIES_H
#define PW_FAMILIES_H

struct pw_family;
extern const struct pw_family pw_family_bloom, pw_family_gemma, pw_family_gemma2, pw_family_gemma3,
    pw_family_gemma3_text, pw_family_gpt2, pw_family_gptj, pw_family_gpt_neox, pw_family_llama,
    pw_family_mistral, pw_family_mpt, pw_family_opt, pw_family_qwen2, pw_family_qwen3, pw_family_smollm3;

#endif
