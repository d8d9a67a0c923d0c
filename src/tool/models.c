/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations of some public models: the keys of their config.json that concern rotations and
 * heads.  Source: the file in the repository of that name on Hugging Face. */
#include "models.h"
#include <string.h>

static const struct tool_known models[] = {
    {"llama-3.1-8b", "meta-llama/Llama-3.1-8B",
     "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 32, \"max_position_embeddings\": 131072, \"num_key_value_heads\": 8, "
     "\"rope_theta\": 500000.0, \"rope_scaling\": {\"factor\": 8.0, \"high_freq_factor\": 4.0, "
     "\"low_freq_factor\": 1.0, \"original_max_position_embeddings\": 8192, \"rope_type\": "
     "\"llama3\"}}"},
    {"qwen2-vl-7b", "Qwen/Qwen2-VL-7B-Instruct",
     "{\"model_type\": \"qwen2_vl\", \"hidden_size\": 3584, \"num_attention_heads\": 28, "
     "\"num_key_value_heads\": 4, \"num_hidden_layers\": 28, \"max_position_embeddings\": 32768, "
     "\"rope_theta\": 1000000.0, \"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [16, "
     "24, "
     "24]}, \"vision_config\": {\"depth\": 32, \"embed_dim\": 1280, \"mlp_ratio\": 4, "
     "\"num_heads\": 16, "
     "\"hidden_size\": 3584, \"patch_size\": 14, \"spatial_merge_size\": 2, "
     "\"temporal_patch_size\": "
     "2}}"},
    {"gemma-3-4b", "google/gemma-3-4b-it, its text_config",
     "{\"model_type\": \"gemma3_text\", \"hidden_size\": 2560, \"num_attention_heads\": 8, "
     "\"num_hidden_layers\": 34, \"max_position_embeddings\": 131072, \"num_key_value_heads\": 4, "
     "\"head_dim\": 256, \"rope_theta\": 1000000.0, \"rope_local_base_freq\": 10000.0, "
     "\"sliding_window\": 1024, \"sliding_window_pattern\": 6, \"rope_scaling\": {\"factor\": 8.0, "
     "\"rope_type\": \"linear\"}}"},
    {"deepseek-v3", "deepseek-ai/DeepSeek-V3",
     "{\"model_type\": \"deepseek_v3\", \"hidden_size\": 7168, \"num_attention_heads\": 128, "
     "\"num_hidden_layers\": 61, \"max_position_embeddings\": 163840, \"num_key_value_heads\": "
     "128, "
     "\"q_lora_rank\": 1536, \"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, "
     "\"qk_rope_head_dim\": "
     "64, \"v_head_dim\": 128, \"rope_theta\": 10000, \"rope_scaling\": {\"beta_fast\": 32, "
     "\"beta_slow\": 1, \"factor\": 40, \"mscale\": 1.0, \"mscale_all_dim\": 1.0, "
     "\"original_max_position_embeddings\": 4096, \"type\": \"yarn\"}}"},
    {"gpt-oss-20b", "openai/gpt-oss-20b",
     "{\"model_type\": \"gpt_oss\", \"hidden_size\": 2880, \"num_attention_heads\": 64, "
     "\"num_hidden_layers\": 24, \"max_position_embeddings\": 131072, \"num_key_value_heads\": 8, "
     "\"head_dim\": 64, \"rope_theta\": 150000, \"rope_scaling\": {\"beta_fast\": 32.0, "
     "\"beta_slow\": "
     "1.0, \"factor\": 32.0, \"original_max_position_embeddings\": 4096, \"rope_type\": \"yarn\", "
     "\"truncate\": false}}"},
    {"phi-3-vision", "microsoft/Phi-3-vision-128k-instruct, its text part",
     "{\"model_type\": \"phi3\", \"hidden_size\": 3072, \"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 32, \"max_position_embeddings\": 131072, \"num_key_value_heads\": 32, "
     "\"original_max_position_embeddings\": 4096, \"rope_theta\": 10000.0, \"rope_scaling\": "
     "{\"long_factor\": [1.0299999713897705, 1.0499999523162842, 1.0499999523162842, "
     "1.0799999237060547, 1.2299998998641968, 1.2299998998641968, 1.2999999523162842, "
     "1.4499999284744263, 1.5999999046325684, 1.6499998569488525, 1.8999998569488525, "
     "2.859999895095825, 3.68999981880188, 5.419999599456787, 5.489999771118164, "
     "5.489999771118164, 9.09000015258789, 11.579999923706055, 15.65999984741211, "
     "15.769999504089355, 15.789999961853027, 18.360000610351562, 21.989999771118164, "
     "23.079999923706055, 30.009998321533203, 32.35000228881836, 32.590003967285156, "
     "35.56000518798828, 39.95000457763672, 53.840003967285156, 56.20000457763672, "
     "57.95000457763672, 59.29000473022461, 59.77000427246094, 59.920005798339844, "
     "61.190006256103516, 61.96000671386719, 62.50000762939453, 63.3700065612793, "
     "63.48000717163086, 63.48000717163086, 63.66000747680664, 63.850006103515625, "
     "64.08000946044922, 64.760009765625, 64.80001068115234, 64.81001281738281, "
     "64.81001281738281], \"short_factor\": [1.05, 1.05, 1.05, 1.1, 1.1, 1.1, "
     "1.2500000000000002, 1.2500000000000002, 1.4000000000000004, 1.4500000000000004, "
     "1.5500000000000005, 1.8500000000000008, 1.9000000000000008, 2.000000000000001, "
     "2.000000000000001, 2.000000000000001, 2.000000000000001, 2.000000000000001, "
     "2.000000000000001, 2.000000000000001, 2.000000000000001, 2.000000000000001, "
     "2.000000000000001, 2.000000000000001, 2.000000000000001, 2.000000000000001, "
     "2.000000000000001, 2.000000000000001, 2.000000000000001, 2.000000000000001, "
     "2.000000000000001, 2.000000000000001, 2.1000000000000005, 2.1000000000000005, 2.2, "
     "2.3499999999999996, 2.3499999999999996, 2.3499999999999996, 2.3499999999999996, "
     "2.3999999999999995, 2.3999999999999995, 2.6499999999999986, 2.6999999999999984, "
     "2.8999999999999977, 2.9499999999999975, 3.049999999999997, 3.049999999999997, "
     "3.049999999999997], \"type\": \"longrope\"}, \"sliding_window\": 131072}"},
    {"glm-4-9b", "zai-org/GLM-4-9B-0414",
     "{\"model_type\": \"glm4\", \"hidden_size\": 4096, \"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 40, \"max_position_embeddings\": 32768, \"num_key_value_heads\": 2, "
     "\"head_dim\": 128, \"partial_rotary_factor\": 0.5, \"rope_theta\": 10000.0, "
     "\"rope_scaling\": "
     "null}"},
    {"smollm3-3b", "HuggingFaceTB/SmolLM3-3B",
     "{\"model_type\": \"smollm3\", \"hidden_size\": 2048, \"num_attention_heads\": 16, "
     "\"num_hidden_layers\": 36, \"max_position_embeddings\": 65536, \"num_key_value_heads\": 4, "
     "\"rope_theta\": 5000000.0, \"rope_scaling\": null, \"no_rope_layer_interval\": 4}"},
};
enum { MODELS = sizeof models / sizeof *models };

const struct tool_known *tool_known_model(const char *name)
{
    for (size_t i = 0; i < MODELS; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

const struct tool_known *tool_known_models(size_t *count)
{
    *count = MODELS;
    return models;
}
