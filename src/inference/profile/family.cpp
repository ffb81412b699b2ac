// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/family.h"

#include <algorithm>
#include <iterator>

namespace almanac::inference {
namespace {

constexpr auto kPerHead = QueryKeyNorm::per_head;
constexpr auto kOverHeads = QueryKeyNorm::over_heads;

/// LayerNorm has a bias, so that each counts as two vectors.
constexpr Family kFamilies[] = {
    // The layout of Llama.
    {.type = "llama"},
    {.type = "mistral"},
    {.type = "mistral3"},
    {.type = "ministral"},
    {.type = "ministral3"},
    {.type = "mixtral"},
    {.type = "phi3"},
    {.type = "internlm2"},
    {.type = "internlm3"},
    {.type = "baichuan"},
    {.type = "yi"},
    {.type = "mimo", .bias = Bias::qkv},
    {.type = "seed_oss", .bias = Bias::qkv},
    {.type = "smollm3", .tied = true},
    {.type = "minicpm", .tied = true},
    {.type = "granite"},
    {.type = "granitemoe"},
    {.type = "granitemoeshared"},
    {.type = "granitemoehybrid"},
    {.type = "llama4_text"},
    {.type = "phimoe", .bias = Bias::all, .norms = 4, .last_norm = 2, .head_bias = true},
    {.type = "jamba"},
    {.type = "nemotron_h", .gated = false, .norms = 1, .router_bias = true},
    {.type = "minimax"},
    {.type = "minimax_text_01"},
    {.type = "minimax_m1"},
    {.type = "minimax_m2", .norm = kOverHeads, .router_bias = true},
    {.type = "gpt_oss", .bias = Bias::all, .router_bias = true},
    {.type = "ernie4_5", .tied = true},
    {.type = "ernie4_5_moe", .tied = true, .router_bias = true},
    {.type = "bailing_moe"},
    {.type = "bailing_moe_v2", .norm = kPerHead, .router_bias = true},
    {.type = "hunyuan_v1_dense"},
    {.type = "hunyuan_v1_moe"},
    {.type = "nemotron-nas"},
    {.type = "dots1", .norm = kPerHead, .router_bias = true},
    // Qwen.
    {.type = "qwen2", .bias = Bias::qkv},
    {.type = "qwen2_vl", .bias = Bias::qkv},
    {.type = "qwen2_vl_text", .bias = Bias::qkv},
    {.type = "qwen2_5_vl", .bias = Bias::qkv},
    {.type = "qwen2_5_vl_text", .bias = Bias::qkv},
    {.type = "qwen2_moe", .bias = Bias::qkv, .shared_gate = true},
    {.type = "qwen3", .norm = kPerHead},
    {.type = "qwen3_moe", .norm = kPerHead},
    {.type = "qwen3_vl_text", .norm = kPerHead},
    {.type = "qwen3_vl_moe_text", .norm = kPerHead},
    {.type = "qwen3_next", .norm = kPerHead, .gated_output = true, .shared_gate = true},
    {.type = "qwen3_5_text", .norm = kPerHead, .gated_output = true},
    {.type = "qwen3_5_moe_text", .norm = kPerHead, .gated_output = true, .shared_gate = true},
    // DeepSeek and what shares its layout.
    {.type = "deepseek"},
    {.type = "deepseek_v2"},
    {.type = "deepseek_v3", .router_bias = true},
    {.type = "deepseek_v32", .router_bias = true},
    {.type = "kimi_k2", .router_bias = true},
    {.type = "kimi_linear", .router_bias = true},
    {.type = "glm4", .bias = Bias::qkv, .norms = 4},
    {.type = "glm4_moe", .bias = Bias::qkv, .router_bias = true},
    {.type = "glm4v_moe_text", .bias = Bias::qkv, .router_bias = true},
    {.type = "glm4_moe_lite", .router_bias = true},
    {.type = "glm_moe_dsa", .router_bias = true},
    // Norms of their own.
    {.type = "olmo", .norms = 0, .last_norm = 0},
    {.type = "olmoe", .norm = kOverHeads},
    {.type = "olmo2", .norm = kOverHeads},
    {.type = "olmo3", .norm = kOverHeads},
    {.type = "gemma", .tied = true, .head = 256},
    {.type = "gemma2", .tied = true, .norms = 4, .head = 256},
    // Published files leave out what equals the defaults of Gemma3TextConfig.
    {.type = "gemma3_text",
     .tied = true,
     .norm = kPerHead,
     .norms = 4,
     .heads = 8,
     .kv_heads = 4,
     .head = 256,
     .vocabulary = 262'208,
     .context = 131'072},
    {.type = "exaone4", .norm = kPerHead},
    {.type = "cohere", .tied = true, .norms = 1},
    {.type = "cohere2", .tied = true, .norms = 1},
    {.type = "stablelm", .norms = 4, .last_norm = 2},
    // Feed-forward blocks of two matrices.
    {.type = "arcee", .gated = false},
    {.type = "apertus", .gated = false, .norm = kPerHead},
    {.type = "nemotron", .gated = false, .norms = 4, .last_norm = 2},
    {.type = "gpt2",
     .gated = false,
     .tied = true,
     .bias = Bias::all,
     .norms = 4,
     .last_norm = 2,
     .positions = "n_positions"},
    {.type = "gpt_bigcode",
     .gated = false,
     .tied = true,
     .bias = Bias::all,
     .norms = 4,
     .last_norm = 2,
     .multi_query = true,
     .positions = "n_positions"},
    {.type = "opt",
     .gated = false,
     .tied = true,
     .bias = Bias::all,
     .norms = 4,
     .last_norm = 2,
     .positions = "max_position_embeddings",
     .more_positions = 2},
    {.type = "bloom",
     .gated = false,
     .tied = true,
     .bias = Bias::all,
     .norms = 4,
     .last_norm = 4},  // with the norm of the input table
    {.type = "mpt", .gated = false, .tied = true},
    {.type = "gpt_neox", .gated = false, .bias = Bias::all, .norms = 4, .last_norm = 2},
    {.type = "falcon", .gated = false, .tied = true, .last_norm = 2, .multi_query = true},
    {.type = "phi", .gated = false, .bias = Bias::all, .last_norm = 2, .head_bias = true},
    {.type = "phi-msft", .gated = false, .bias = Bias::all, .last_norm = 2, .head_bias = true},
    {.type = "starcoder2",
     .gated = false,
     .tied = true,
     .bias = Bias::all,
     .norms = 4,
     .last_norm = 2},
};

}  // namespace

const Family* find_family(std::string_view type) {
  const auto* const found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                         [&](const Family& each) { return each.type == type; });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace almanac::inference
