// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/model.h"

#include <algorithm>
#include <numeric>

#include "inference/profile/named.h"

namespace almanac::inference {
namespace {

template <typename Of>
double sum(const std::vector<Layers>& all, const Of& of) {
  return std::accumulate(all.begin(), all.end(), 0.0, [&](double so_far, const Layers& each) {
    return so_far + each.count * of(each);
  });
}

struct Preset {
  std::string name;
  std::vector<std::string> aliases;
  const char* config;
};

/// Every name under which a checkpoint is published that is no other model: its owner's, and the
/// one tuned to follow instructions.
const std::vector<Preset>& presets() {
  static const std::vector<Preset> made{
      {"llama-2-7b",
       {"meta-llama/llama-2-7b-hf", "meta-llama/llama-2-7b-chat-hf", "llama-2-7b-hf",
        "llama-2-7b-chat"},
       R"({"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,
           "num_attention_heads":32,"intermediate_size":11008,"vocab_size":32000})"},
      {"llama-2-70b",
       {"meta-llama/llama-2-70b-hf", "meta-llama/llama-2-70b-chat-hf", "llama-2-70b-hf",
        "llama-2-70b-chat"},
       R"({"model_type":"llama","num_hidden_layers":80,"hidden_size":8192,
           "num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,
           "vocab_size":32000})"},
      {"codellama-34b",
       {"codellama/codellama-34b-instruct-hf", "codellama-34b-instruct",
        "codellama-34b-instruct-hf"},
       R"({"model_type":"llama","num_hidden_layers":48,"hidden_size":8192,
           "num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":22016,
           "vocab_size":32000})"},
      {"llama-3.1-8b",
       {"meta-llama/llama-3.1-8b", "meta-llama/llama-3.1-8b-instruct", "llama-3.1-8b-instruct",
        "meta-llama/meta-llama-3.1-8b-instruct"},
       R"({"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,
           "num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,
           "vocab_size":128256})"},
      {"llama-3.1-70b",
       {"meta-llama/llama-3.1-70b", "meta-llama/llama-3.1-70b-instruct", "llama-3.1-70b-instruct",
        "meta-llama/meta-llama-3.1-70b-instruct", "llama-3.3-70b", "llama-3.3-70b-instruct",
        "meta-llama/llama-3.3-70b-instruct"},
       R"({"model_type":"llama","num_hidden_layers":80,"hidden_size":8192,
           "num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,
           "vocab_size":128256})"},
      {"llama-3.1-405b",
       {"meta-llama/llama-3.1-405b", "meta-llama/llama-3.1-405b-instruct",
        "llama-3.1-405b-instruct"},
       R"({"model_type":"llama","num_hidden_layers":126,"hidden_size":16384,
           "num_attention_heads":128,"num_key_value_heads":8,"intermediate_size":53248,
           "vocab_size":128256})"},
      {"llama-3.2-3b",
       {"meta-llama/llama-3.2-3b", "meta-llama/llama-3.2-3b-instruct", "llama-3.2-3b-instruct"},
       R"({"model_type":"llama","num_hidden_layers":28,"hidden_size":3072,
           "num_attention_heads":24,"num_key_value_heads":8,"intermediate_size":8192,
           "vocab_size":128256,"tie_word_embeddings":true})"},
      {"llama-4-scout",
       {"meta-llama/llama-4-scout-17b-16e", "meta-llama/llama-4-scout-17b-16e-instruct",
        "llama-4-scout-17b-16e", "llama-4-scout-17b-16e-instruct"},
       R"({"model_type":"llama4_text","num_hidden_layers":48,"hidden_size":5120,
           "num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,
           "intermediate_size":8192,"intermediate_size_mlp":16384,"num_local_experts":16,
           "num_experts_per_tok":1,"interleave_moe_layer_step":1,"attention_chunk_size":8192,
           "vocab_size":202048})"},
      {"qwen2.5-7b",
       {"qwen/qwen2.5-7b", "qwen/qwen2.5-7b-instruct", "qwen2.5-7b-instruct"},
       R"({"model_type":"qwen2","num_hidden_layers":28,"hidden_size":3584,
           "num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,
           "vocab_size":152064})"},
      {"qwen2.5-32b",
       {"qwen/qwen2.5-32b", "qwen/qwen2.5-32b-instruct", "qwen2.5-32b-instruct"},
       R"({"model_type":"qwen2","num_hidden_layers":64,"hidden_size":5120,
           "num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":27648,
           "vocab_size":152064})"},
      {"qwen3-8b",
       {"qwen/qwen3-8b"},
       R"({"model_type":"qwen3","num_hidden_layers":36,"hidden_size":4096,"head_dim":128,
           "num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":12288,
           "vocab_size":151936})"},
      {"qwen3-14b",
       {"qwen/qwen3-14b"},
       R"({"model_type":"qwen3","num_hidden_layers":40,"hidden_size":5120,"head_dim":128,
           "num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":17408,
           "vocab_size":151936})"},
      {"qwen3-32b",
       {"qwen/qwen3-32b"},
       R"({"model_type":"qwen3","num_hidden_layers":64,"hidden_size":5120,"head_dim":128,
           "num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":25600,
           "vocab_size":151936})"},
      {"qwen3-30b-a3b",
       {"qwen/qwen3-30b-a3b"},
       R"({"model_type":"qwen3_moe","num_hidden_layers":48,"hidden_size":2048,"head_dim":128,
           "num_attention_heads":32,"num_key_value_heads":4,"intermediate_size":6144,
           "num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":768,
           "decoder_sparse_step":1,"vocab_size":151936})"},
      {"yi-34b",
       {"01-ai/yi-34b", "01-ai/yi-34b-chat", "yi-34b-chat"},
       R"({"model_type":"llama","num_hidden_layers":60,"hidden_size":7168,
           "num_attention_heads":56,"num_key_value_heads":8,"intermediate_size":20480,
           "vocab_size":64000})"},
      {"mistral-7b",
       {"mistralai/mistral-7b-v0.3", "mistralai/mistral-7b-instruct-v0.3", "mistral-7b-v0.3",
        "mistral-7b-instruct-v0.3"},
       R"({"model_type":"mistral","num_hidden_layers":32,"hidden_size":4096,
           "num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,
           "vocab_size":32768})"},
      {"mistral-nemo",
       {"mistralai/mistral-nemo-base-2407", "mistralai/mistral-nemo-instruct-2407",
        "mistral-nemo-12b", "mistral-nemo-instruct-2407"},
       R"({"model_type":"mistral","num_hidden_layers":40,"hidden_size":5120,"head_dim":128,
           "num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,
           "vocab_size":131072})"},
      {"mixtral-8x7b",
       {"mistralai/mixtral-8x7b-v0.1", "mistralai/mixtral-8x7b-instruct-v0.1", "mixtral-8x7b-v0.1",
        "mixtral-8x7b-instruct-v0.1"},
       R"({"model_type":"mixtral","num_hidden_layers":32,"hidden_size":4096,
           "num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,
           "num_local_experts":8,"num_experts_per_tok":2,"vocab_size":32000})"},
      {"mixtral-8x22b",
       {"mistralai/mixtral-8x22b-v0.1", "mistralai/mixtral-8x22b-instruct-v0.1",
        "mixtral-8x22b-v0.1", "mixtral-8x22b-instruct-v0.1"},
       R"({"model_type":"mixtral","num_hidden_layers":56,"hidden_size":6144,
           "num_attention_heads":48,"num_key_value_heads":8,"intermediate_size":16384,
           "num_local_experts":8,"num_experts_per_tok":2,"vocab_size":32000})"},
      {"deepseek-v3",
       {"deepseek-ai/deepseek-v3", "deepseek-r1", "deepseek-ai/deepseek-r1"},
       R"({"model_type":"deepseek_v3","num_hidden_layers":61,"hidden_size":7168,
           "num_attention_heads":128,"num_key_value_heads":128,"intermediate_size":18432,
           "n_routed_experts":256,"num_experts_per_tok":8,"moe_intermediate_size":2048,
           "n_shared_experts":1,"first_k_dense_replace":3,"kv_lora_rank":512,"q_lora_rank":1536,
           "qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"vocab_size":129280,
           "quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}})"},
      {"gpt-oss-120b",
       {"openai/gpt-oss-120b"},
       R"({"model_type":"gpt_oss","num_hidden_layers":36,"hidden_size":2880,"head_dim":64,
           "num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":2880,
           "num_local_experts":128,"num_experts_per_tok":4,"sliding_window":128,
           "vocab_size":201088,"quantization_config":{"quant_method":"mxfp4"}})"},
  };
  return made;
}

}  // namespace

int Model::layer_count() const {
  return static_cast<int>(sum(layers, [](const Layers&) { return 1.0; }));
}

bool Model::has_experts() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](const Layers& each) { return each.experts > 0; });
}

double Model::weights() const {
  return embedding + head + rest + sum(layers, [](const Layers& each) {
           return each.attention + each.dense + each.router + each.small +
                  each.experts * each.expert;
         });
}

double Model::active_weights() const {
  return weights() -
         sum(layers, [](const Layers& each) { return (each.experts - each.chosen) * each.expert; });
}

double Model::bytes() const {
  return 2 * (embedding + head + rest) + sum(layers, [&](const Layers& each) {
           return attention.bytes * each.attention + dense.bytes * each.dense +
                  2 * (each.router + each.small) + experts.bytes * each.experts * each.expert;
         });
}

double Model::kv_bytes(int gpus) const {
  return kv_number_bytes * sum(layers, [&](const Layers& each) {
           const int copies_of = (each.kv_parts + gpus - 1) / gpus * gpus;
           return each.kv * copies_of / each.kv_parts;
         });
}

double Model::state_bytes() const {
  return sum(layers, [](const Layers& each) { return each.state_bytes; });
}

Result<Model> find_model(std::string_view name) {
  const auto found = find_named(presets(), name);
  if (!found) {
    return no_such("model", name, presets(), "any other model: --model PATH/config.json");
  }
  return parse_model((*found)->config, (*found)->name);
}

}  // namespace almanac::inference
