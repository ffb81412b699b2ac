// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a Model from a config.json of Hugging Face.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/profile/fields.h"
#include "inference/profile/model.h"
#include "inference/profile/quantization.h"
#include "table/stream.h"

namespace almanac::inference {
namespace {

using nlohmann::json;

enum class Bias { none, of_qkv, all };
enum class QueryKeyNorm { none, of_head, of_all };

/// What the type of a model says that its config.json does not.
struct Family {
  const char* type;
  bool gated = true;  ///< Three matrices in a feed-forward part, not two.
  bool tied = false;  ///< If the field is missing.
  Bias bias = Bias::none;
  QueryKeyNorm norm = QueryKeyNorm::none;
  int norms = 2;      ///< Vectors as wide as the model in the norms of a layer,
  int last_norm = 1;  ///< and in the one after all layers.
};

constexpr std::array kFamilies{
    Family{"llama"},
    Family{"mistral"},
    Family{"mistral3"},
    Family{"ministral3"},
    Family{"mixtral"},
    Family{"phi3"},
    Family{"internlm2"},
    Family{"mimo"},
    Family{"granite"},
    Family{"yi"},
    Family{"deepseek_v2"},
    Family{"deepseek_v3"},
    Family{"kimi_k2"},
    Family{"glm_moe_dsa"},
    Family{"deepseek_v32"},
    Family{"llama4_text"},
    Family{.type = "qwen2", .bias = Bias::of_qkv},
    Family{.type = "qwen2_moe", .bias = Bias::of_qkv},
    Family{.type = "glm4_moe", .bias = Bias::of_qkv},
    Family{.type = "qwen3", .norm = QueryKeyNorm::of_head},
    Family{.type = "qwen3_moe", .norm = QueryKeyNorm::of_head},
    Family{.type = "qwen3_next", .norm = QueryKeyNorm::of_head},
    Family{.type = "qwen3_5_text", .norm = QueryKeyNorm::of_head},
    Family{.type = "gpt_oss", .bias = Bias::all},
    Family{.type = "minimax_m2", .norm = QueryKeyNorm::of_all},
    Family{.type = "olmo2", .norm = QueryKeyNorm::of_all},
    Family{.type = "olmo3", .norm = QueryKeyNorm::of_all},
    Family{.type = "gemma", .tied = true},
    Family{.type = "gemma2", .tied = true, .norms = 4},
    Family{.type = "gemma3_text", .tied = true, .norm = QueryKeyNorm::of_head, .norms = 4},
    Family{.type = "cohere", .tied = true, .norms = 1},
    Family{
        .type = "opt", .gated = false, .tied = true, .bias = Bias::all, .norms = 4, .last_norm = 2},
    Family{.type = "gpt2",
           .gated = false,
           .tied = true,
           .bias = Bias::all,
           .norms = 4,
           .last_norm = 2},
    Family{.type = "gpt_neox", .gated = false, .bias = Bias::all, .norms = 4, .last_norm = 2},
    Family{.type = "falcon", .gated = false, .tied = true, .last_norm = 2},
    Family{.type = "phi-msft", .gated = false, .bias = Bias::all, .last_norm = 2},
    Family{.type = "phi", .gated = false, .bias = Bias::all, .last_norm = 2},
    Family{.type = "starcoder2",
           .gated = false,
           .tied = true,
           .bias = Bias::all,
           .norms = 4,
           .last_norm = 2},
};

class Reader {
 public:
  Reader(const json& inner, const json& outer) : fields_(inner, outer) {
    type_ = fields_.text_or("model_type", "");
    const auto known = std::find_if(kFamilies.begin(), kFamilies.end(),
                                    [&](const Family& each) { return type_ == each.type; });
    if (known != kFamilies.end()) {
      family_ = *known;
    } else {
      // As Llama, if nothing in the rest of the file says otherwise.
      const std::string act = fields_.text_or("hidden_act", "silu");
      if (act != "silu" && act != "swiglu") {
        throw BadField(
            fmt::format("model_type: \"{}\" is unknown, and with hidden_act \"{}\" a feed-forward "
                        "part may have two or three matrices",
                        type_, act));
      }
    }
    hidden_ = fields_.count({"hidden_size", "n_embd"});
    count_ = fields_.count({"num_hidden_layers", "n_layer"});
    heads_ = fields_.count({"num_attention_heads", "n_head"});
    kv_heads_ = fields_.count_or({"num_key_value_heads", "n_head_kv", "num_kv_heads"}, 0);
    if (kv_heads_ == 0) kv_heads_ = heads_;
    if (fields_.flag_or("multi_query", false) &&
        !fields_.flag_or("new_decoder_architecture", false)) {
      kv_heads_ = 1;
    }
    head_ = fields_.count_or({"head_dim"}, 0);
    if (head_ == 0) head_ = hidden_ / heads_;
    width_ = fields_.count_or({"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"}, 0);
    if (width_ == 0) {
      if (family_.gated) throw BadField("intermediate_size: the field is missing");
      width_ = 4 * hidden_;
    }
    read_experts();
    read_windows();
  }

  Model model() {
    Model made;
    made.hidden = hidden_;
    made.heads = heads_;
    const double vocabulary = fields_.count({"vocab_size"});
    const double d = hidden_;
    made.embedding = vocabulary * d;
    const bool tied = fields_.flag_or("tie_word_embeddings", family_.tied);
    made.head = tied ? 0 : vocabulary * d + (is("phi-msft") || is("phi") ? vocabulary : 0);
    made.rest = family_.last_norm * d;
    if (is("opt")) made.rest += (fields_.count({"max_position_embeddings"}) + 2) * d;
    if (is("gpt2")) made.rest += fields_.count({"n_positions"}) * d;
    if (const int wide = fields_.count_or({"word_embed_proj_dim"}, 0);
        wide != 0 && wide != hidden_) {
      throw BadField(fmt::format(
          "word_embed_proj_dim: {} differs from hidden_size, which is not supported", wide));
    }
    for (int layer = 0; layer < count_; ++layer) {
      Layers one{.count = 1, .small = family_.norms * d};
      add_attention(layer, one);
      add_feed_forward(layer, one);
      const auto alike =
          std::find_if(made.layers.begin(), made.layers.end(), [&](const Layers& each) {
            one.count = each.count;
            return each == one;
          });
      if (alike != made.layers.end()) {
        ++alike->count;
      } else {
        one.count = 1;
        made.layers.push_back(one);
      }
      made.adapter_numbers += adapter_;
    }
    return made;
  }
  /// What is left of the file must not matter.
  void finish() {
    for (const char* const harmless : {"num_nextn_predict_layers", "num_mtp_modules"}) {
      fields_.find(harmless);
    }
    fields_.refuse_rest();
  }
  const json* quantization() { return fields_.find("quantization_config"); }

 private:
  bool is(std::string_view type) const { return type_ == type; }

  void read_experts() {
    experts_ = fields_.count_or({"num_local_experts", "num_experts", "n_routed_experts"}, 0);
    chosen_ =
        fields_.count_or({"num_experts_per_tok", "experts_per_token", "num_experts_per_token"}, 0);
    expert_width_ = fields_.count_or({"moe_intermediate_size", "expert_intermediate_size"}, width_);
    const int shared = fields_.count_or({"n_shared_experts", "num_shared_experts"}, 0);
    shared_width_ = fields_.count_or({"shared_expert_intermediate_size", "shared_intermediate_size",
                                      "moe_shared_expert_intermediate_size"},
                                     shared * expert_width_);
    if (is("llama4_text")) shared_width_ = width_;
    first_dense_ = fields_.count_or({"first_k_dense_replace"}, 0);
    every_ = fields_.count_or({"decoder_sparse_step", "interleave_moe_layer_step"}, 1);
    dense_width_ = fields_.count_or({"intermediate_size_mlp"}, width_);
    if (const json* const frequency = fields_.find("moe_layer_freq");
        frequency != nullptr && *frequency != 1) {
      throw BadField(fmt::format("moe_layer_freq: {} is not supported", frequency->dump()));
    }
    dense_layers_ = fields_.find("mlp_only_layers");
    if (experts_ == 0) {
      for (const char* const field : {"moe_intermediate_size", "num_experts_per_tok",
                                      "n_shared_experts", "shared_expert_intermediate_size"}) {
        if (fields_.count_or({field}, 0) == 0) continue;
        throw BadField(fmt::format("{}: the file gives no number of experts", field));
      }
      return;
    }
    if (chosen_ == 0) throw BadField("num_experts_per_tok: the field is missing");
    if (chosen_ > experts_) {
      throw BadField(fmt::format("num_experts_per_tok: expected at most {} experts, found {}",
                                 experts_, chosen_));
    }
    if (every_ == 0) throw BadField("decoder_sparse_step: expected at least 1, found 0");
  }

  void read_windows() {
    const bool off = !fields_.flag_or("use_sliding_window", true);
    window_ = off ? 0 : fields_.count_or({"sliding_window"}, 0);
    fields_.count_or({"sliding_window"}, 0);
    chunk_ = fields_.count_or({"attention_chunk_size"}, 0);
    pattern_ = fields_.count_or({"sliding_window_pattern", "_sliding_window_pattern"}, 0);
    from_layer_ = fields_.count_or({"max_window_layers"}, 0);
    full_every_ = fields_.count_or({"full_attention_interval"}, 0);
    types_ = fields_.find("layer_types");
    unroped_ = fields_.find("no_rope_layers");
    if (types_ != nullptr &&
        (!types_->is_array() || types_->size() != static_cast<std::size_t>(count_))) {
      throw BadField(fmt::format("layer_types: expected one for each of {} layers", count_));
    }
  }

  /// The tokens that one of this layer looks back at, 0 = all; -1 = linear attention.
  std::int64_t window_of(int layer) const {
    if (types_ != nullptr) {
      const json& type = types_->at(static_cast<std::size_t>(layer));
      if (type == "full_attention") return 0;
      if (type == "linear_attention") return -1;
      if (type == "sliding_attention" && window_ > 0) return window_;
      if (type == "chunked_attention" && chunk_ > 0) return chunk_;
      throw BadField(fmt::format("layer_types: {} is not supported", type.dump()));
    }
    const auto each = [&](int n) { return n > 0 && (layer + 1) % n == 0; };
    if (full_every_ > 0) return each(full_every_) ? 0 : -1;
    if (is("llama4_text")) {
      const bool full = unroped_ != nullptr && unroped_->is_array() &&
                                unroped_->size() == static_cast<std::size_t>(count_)
                            ? unroped_->at(static_cast<std::size_t>(layer)) == 0
                            : each(4);
      return full ? 0 : chunk_;
    }
    if (is("gemma2") || is("gpt_oss")) return layer % 2 == 0 ? window_ : 0;
    if (is("gemma3_text")) return each(pattern_ > 0 ? pattern_ : 6) ? 0 : window_;
    if (is("olmo3")) return each(4) ? 0 : window_;
    if (is("qwen2") || is("qwen3") || is("qwen2_moe") || is("qwen3_moe")) {
      return layer >= from_layer_ ? window_ : 0;
    }
    return window_;
  }

  void add_attention(int layer, Layers& one) {
    const double d = hidden_, heads = heads_;
    const std::int64_t window = window_of(layer);
    if (window < 0) return add_linear_attention(one);
    one.window = window;
    if (fields_.find("kv_lora_rank") != nullptr) return add_latent_attention(one);
    const double head = head_, query = heads * head, kv = kv_heads_ * head;
    const bool gate =
        is("qwen3_next") || is("qwen3_5_text") || fields_.flag_or("attn_output_gate", false);
    one.attention = d * query * (gate ? 2 : 1) + 2 * d * kv + query * d;
    adapter_ = (d + query) * 2 + (d + kv) * 2;
    one.look_prefill = one.look_decode = 4 * query;
    one.kv = 2 * kv;
    one.kv_parts = kv_heads_;
    Bias bias = family_.bias;
    if (bias == Bias::none && fields_.flag_or("qkv_bias", false)) bias = Bias::of_qkv;
    if (bias == Bias::none && fields_.flag_or("attention_bias", false)) bias = Bias::all;
    if (bias != Bias::none) one.small += query + 2 * kv + (bias == Bias::all ? d : 0);
    if (is("gpt_oss")) one.small += heads;  // sinks
    const QueryKeyNorm norm = family_.norm == QueryKeyNorm::none && is("glm4_moe") &&
                                      fields_.flag_or("use_qk_norm", false)
                                  ? QueryKeyNorm::of_head
                                  : family_.norm;
    if (norm == QueryKeyNorm::of_head) one.small += 2 * head;
    if (norm == QueryKeyNorm::of_all) one.small += query + kv;
  }

  /// MLA: keys and values of all heads are made from one latent vector of a token. In a decode the
  /// queries are multiplied into its space, so that all heads read the same numbers.
  ///
  /// Source   DeepSeek-AI, 2024 (DeepSeek-V2), section 2.1.
  void add_latent_attention(Layers& one) {
    const double d = hidden_, heads = heads_;
    const double rank = fields_.count({"kv_lora_rank"});
    const double query_rank = fields_.count_or({"q_lora_rank"}, 0);
    const double plain = fields_.count({"qk_nope_head_dim"});
    const double roped = fields_.count({"qk_rope_head_dim"});
    const double value = fields_.count({"v_head_dim"});
    fields_.count_or({"qk_head_dim"}, 0);
    const double query = heads * (plain + roped);
    one.attention = (query_rank > 0 ? d * query_rank + query_rank * query : d * query) +
                    d * (rank + roped) + rank * heads * (plain + value) + heads * value * d;
    one.small += query_rank + rank;
    one.look_prefill = 2 * heads * (plain + roped + value);
    one.look_decode = 2 * heads * (2 * rank + roped);
    one.kv = rank + roped;
    one.kv_parts = 1;
    adapter_ =
        (d + query) + (d + rank + roped) + (rank + heads * (plain + value)) + (heads * value + d);
    if (const double indexers = fields_.count_or({"index_n_heads"}, 0); indexers > 0) {
      // A small attention chooses the tokens that this one looks at.
      const double wide = fields_.count({"index_head_dim"});
      one.attention += query_rank * indexers * wide + d * wide + d * indexers;
      one.small += 2 * wide;
      one.window = fields_.count({"index_topk"});
    }
  }

  /// A state of fixed size in place of KV (gated delta rule).
  void add_linear_attention(Layers& one) {
    const double d = hidden_;
    const double key_heads = fields_.count({"linear_num_key_heads"});
    const double value_heads = fields_.count({"linear_num_value_heads"});
    const double key = fields_.count({"linear_key_head_dim"});
    const double value = fields_.count({"linear_value_head_dim"});
    const double kernel = fields_.count({"linear_conv_kernel_dim"});
    const double keys = key_heads * key, values = value_heads * value;
    one.attention = d * (2 * keys + 2 * values) + d * 2 * value_heads + values * d;
    one.small += (2 * keys + values) * kernel + 2 * value_heads + value;
    one.state_bytes = 4 * value_heads * key * value + 2 * (2 * keys + values) * (kernel - 1);
    adapter_ = 0;
  }

  void add_feed_forward(int layer, Layers& one) {
    const double d = hidden_;
    const bool listed =
        dense_layers_ != nullptr && dense_layers_->is_array() &&
        std::find(dense_layers_->begin(), dense_layers_->end(), layer) != dense_layers_->end();
    const bool dense = experts_ == 0 || layer < first_dense_ || listed || (layer + 1) % every_ != 0;
    const int matrices = family_.gated ? 3 : 2;
    if (dense) {
      one.dense = matrices * d * dense_width_;
      if (family_.bias == Bias::all && !family_.gated) one.small += dense_width_ + d;
      return;
    }
    const bool has_bias = is("gpt_oss") || is("minimax_m2") || is("deepseek_v3") ||
                          is("glm4_moe") || is("glm_moe_dsa") || is("deepseek_v32");
    one.experts = experts_;
    one.chosen = chosen_;
    one.expert = matrices * d * expert_width_;
    if (is("gpt_oss")) one.expert += 2 * expert_width_ + d;
    one.router = d * experts_ + (has_bias ? experts_ : 0);
    one.dense = matrices * d * shared_width_;
    if (is("qwen2_moe") || is("qwen3_next")) one.router += d;
  }

  Fields fields_;
  std::string type_;
  Family family_{};
  int hidden_ = 0, count_ = 0, heads_ = 0, kv_heads_ = 0, head_ = 0, width_ = 0;
  int experts_ = 0, chosen_ = 0, expert_width_ = 0, shared_width_ = 0, dense_width_ = 0;
  int first_dense_ = 0, every_ = 1, window_ = 0, chunk_ = 0, pattern_ = 0, from_layer_ = 0;
  int full_every_ = 0;
  const json *dense_layers_ = nullptr, *types_ = nullptr, *unroped_ = nullptr;
  double adapter_ = 0;  // numbers of an adapter of rank 1, of the last layer
};

Model model_of(const json& config, const json* quantization) {
  const auto inner = config.find("text_config");
  Reader reader(inner != config.end() && inner->is_object() ? *inner : config, config);
  Model made = reader.model();
  const json* const own = reader.quantization();
  reader.finish();
  if (own != nullptr || quantization != nullptr) quantize(own ? *own : *quantization, made);
  return made;
}

Result<Model> parse(std::string_view text, const json* quantization, const std::string& name) try {
  const json config = json::parse(text, nullptr, false);
  if (!config.is_object()) return fail(Code::invalid, "expected a JSON object", {.file = name});
  Model made = model_of(config, quantization);
  made.name = name;
  return made;
} catch (const BadField& wrong) {
  return fail(Code::invalid, wrong.what(), {.file = name},
              "give the config.json of a decoder, or the name of a known model");
} catch (const json::exception& wrong) {
  return fail(Code::invalid, wrong.what(), {.file = name});
}

}  // namespace

Result<Model> parse_model(std::string_view config, const std::string& name) {
  return parse(config, nullptr, name);
}

Result<Model> read_model(const std::string& path) {
  const Result<std::string> content = table::read_text_file(path);
  if (!content) return tl::unexpected(content.error());
  const auto beside = std::filesystem::path(path).parent_path() / "hf_quant_config.json";
  json quantization;
  if (std::filesystem::exists(beside)) {
    const auto told = table::read_text_file(beside.string());
    if (!told) return tl::unexpected(told.error());
    quantization = json::parse(*told, nullptr, false);
    const auto inner =
        quantization.is_object() ? quantization.find("quantization") : quantization.end();
    if (!quantization.is_object() || inner == quantization.end()) {
      return fail(Code::invalid, "expected a JSON object with a field quantization",
                  {.file = beside.string()});
    }
    quantization = json(*inner);
  }
  return parse(*content, quantization.is_null() ? nullptr : &quantization, path);
}

}  // namespace almanac::inference
