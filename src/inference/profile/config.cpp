// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a Model from a config.json of Hugging Face.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/profile/family.h"
#include "inference/profile/fields.h"
#include "inference/profile/model.h"
#include "inference/profile/quantization.h"
#include "inference/profile/recurrent.h"
#include "table/stream.h"

namespace almanac::inference {
namespace {

constexpr int kMostLayers = 10'000;

using nlohmann::json;

/// How the tokens of one layer are mixed.
enum class Mixing { attention, gated_delta, kimi_delta, mamba, mamba2, lightning, none };
struct LayerPlan {
  Mixing mixing = Mixing::attention;
  std::int64_t window = 0;
  bool feed_forward = true, experts = false;
  int kv_heads = 0, width = 0;  ///< Of this layer; 0 = as of all.
};

class Reader {
 public:
  Reader(const json& inner, const json& outer) : fields_(inner, outer) {
    type_ = fields_.text_or("model_type", "");
    if (type_.empty()) throw BadField("model_type: the field is missing");
    const Family* const known = find_family(type_);
    if (known == nullptr) {
      throw BadField(fmt::format("model_type: \"{}\" is not supported", type_));
    }
    family_ = *known;
    hidden_ = fields_.count({"hidden_size", "n_embd", "n_embed", "d_model"});
    count_ = fields_.count({"num_hidden_layers", "n_layer", "n_layers"});
    if (count_ > kMostLayers) {
      throw BadField(
          fmt::format("num_hidden_layers: expected at most {}, found {}", kMostLayers, count_));
    }
    heads_ = required({"num_attention_heads", "n_head", "n_heads"}, family_.heads);
    kv_heads_ =
        fields_.count_or({"num_key_value_heads", "n_head_kv", "num_kv_heads"}, family_.kv_heads);
    if (kv_heads_ == 0) kv_heads_ = heads_;
    if (fields_.flag_or("multi_query", family_.multi_query) &&
        !fields_.flag_or("new_decoder_architecture", false)) {
      kv_heads_ = 1;
    }
    if (heads_ % kv_heads_ != 0) {
      throw BadField(
          fmt::format("num_key_value_heads: expected a number that divides the {} heads, found {}",
                      heads_, kv_heads_));
    }
    head_ = fields_.count_or({"head_dim", "attention_head_dim"}, family_.head);
    if (head_ == 0) {
      if (hidden_ % heads_ != 0) {
        throw BadField(fmt::format(
            "num_attention_heads: {} do not divide hidden_size {}, and the file has no head_dim",
            heads_, hidden_));
      }
      head_ = hidden_ / heads_;
    }
    if (is("mpt") && fields_.find("attn_config") != nullptr) read_attention_of_mpt();
    blocks_ = is("nemotron-nas") ? fields_.find("block_configs") : nullptr;
    width_ = fields_.count_or({"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"}, 0);
    if (width_ == 0) {
      if (family_.gated && blocks_ == nullptr) {
        throw BadField("intermediate_size: the field is missing");
      }
      width_ = fields_.count_or({"expansion_ratio"}, 4) * hidden_;
    }
    read_experts();
    read_windows();
    read_biases();
  }

  void check_number_type() { inference::check_number_type(fields_); }

  Model model() {
    Model made;
    made.type = type_;
    made.hidden = hidden_;
    made.heads = heads_;
    made.positions = fields_.count_or({"max_position_embeddings", "n_positions", "max_seq_len"},
                                      family_.context);
    const double vocabulary = required({"vocab_size"}, family_.vocabulary);
    const double d = hidden_;
    made.embedding = vocabulary * d;
    const bool tied = fields_.flag_or("tie_word_embeddings", family_.tied);
    const bool head_bias = fields_.flag_or("lm_head_bias", family_.head_bias);
    made.head = tied ? 0 : vocabulary * (d + (head_bias ? 1 : 0));
    made.rest = family_.last_norm * d;
    if (!family_.positions.empty()) {
      made.rest += (fields_.count({std::string(family_.positions)}) + family_.more_positions) * d;
    }
    if (const int wide = fields_.count_or({"word_embed_proj_dim"}, 0);
        wide != 0 && wide != hidden_) {
      throw BadField(fmt::format(
          "word_embed_proj_dim: {} differs from hidden_size, which is not supported", wide));
    }
    for (int layer = 0; layer < count_; ++layer) {
      Layers one{.count = 1, .small = family_.norms * d};
      const LayerPlan plan = plan_of(layer);
      adapter_ = 0;
      add_mixer(plan, one);
      if (plan.feed_forward) add_feed_forward(plan, one);
      // What a layer leaves out has no norm either.
      if (blocks_ != nullptr && plan.mixing == Mixing::none) one.small -= d;
      if (blocks_ != nullptr && !plan.feed_forward) one.small -= d;
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
    for (const char* const harmless :
         {"num_nextn_predict_layers", "num_mtp_modules", "chunk_size", "mamba_chunk_size",
          "mamba_hidden_act", "mamba_conv_bias", "use_conv_bias", "mamba_proj_bias",
          "mamba_inner_layernorms", "mamba_expand", "use_mamba_kernels",
          "order_of_interleaved_layers", "shared_moe_mode"}) {
      fields_.find(harmless);
    }
    fields_.refuse_rest();
  }
  const json* quantization() { return fields_.find("quantization_config"); }

 private:
  bool is(std::string_view type) const { return type_ == type; }
  bool starts(std::string_view type) const { return type_.starts_with(type); }
  /// Returns a number that must be in the file unless its model type has a usual one.
  int required(const std::vector<std::string>& names, int usual) {
    const int found = usual > 0 ? fields_.count_or(names, usual) : 0;
    return found > 0 ? found : fields_.count(names);
  }

  /// Of the fields in attn_config, those that are known leave weights and KV as they are.
  void read_attention_of_mpt() {
    Fields own = fields_.inside("attn_config");
    const std::string type = own.text_or("attn_type", "multihead_attention");
    if (type != "multihead_attention") {
      throw BadField(fmt::format("attn_config.attn_type: \"{}\" is not supported", type));
    }
    refuse_unknown(*fields_.find("attn_config"), "attn_config",
                   {"attn_type", "model_type", "attn_impl", "attn_pdrop", "attn_uses_sequence_id",
                    "alibi", "alibi_bias_max", "clip_qkv", "prefix_lm", "softmax_scale"});
  }

  void read_experts() {
    experts_ = fields_.count_or(
        {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}, 0);
    chosen_ = fields_.count_or(
        {"num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_k", "moe_topk"},
        0);
    expert_width_ = fields_.count_or({"moe_intermediate_size", "expert_intermediate_size"}, width_);
    const int shared = fields_.count_or(
        {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"},
        0);
    shared_width_ = fields_.count_or({"shared_expert_intermediate_size", "shared_intermediate_size",
                                      "moe_shared_expert_intermediate_size"},
                                     shared * expert_width_);
    if (is("llama4_text")) shared_width_ = width_;
    dense_width_ =
        fields_.count_or({"intermediate_size_mlp"},
                         is("granitemoehybrid") && experts_ == 0 ? shared_width_ : width_);
    first_dense_ = fields_.count_or({"first_k_dense_replace", "moe_layer_start_index"}, 0);
    last_sparse_ = fields_.count_or({"moe_layer_end_index"}, count_);
    every_ = fields_.count_or(
        {"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"}, 1);
    period_ = fields_.count_or({"expert_layer_period"}, 1);
    offset_ = fields_.count_or({"expert_layer_offset"}, 0);
    frequency_ = fields_.find("moe_layer_freq");
    dense_layers_ = fields_.find("mlp_only_layers");
    sparse_layers_ = fields_.find("moe_layers");
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
    if (period_ == 0) throw BadField("expert_layer_period: expected at least 1, found 0");
    if (frequency_ != nullptr && !frequency_->is_array() &&
        (!frequency_->is_number_integer() || *frequency_ < 1)) {
      throw BadField(fmt::format("moe_layer_freq: {} is not supported", frequency_->dump()));
    }
    require_all_layers(frequency_ != nullptr && frequency_->is_array() ? frequency_ : nullptr,
                       "moe_layer_freq");
  }

  void read_windows() {
    const bool off = !fields_.flag_or("use_sliding_window", true);
    window_ = off ? 0 : fields_.count_or({"sliding_window"}, 0);
    fields_.find("sliding_window");
    chunk_ = fields_.count_or({"attention_chunk_size"}, 0);
    from_layer_ = fields_.count_or({"max_window_layers"}, 0);
    full_every_ = fields_.count_or({"full_attention_interval"},
                                   is("qwen3_next") || starts("qwen3_5") ? 4 : 0);
    attention_period_ = fields_.count_or({"attn_layer_period"}, 0);
    attention_offset_ = fields_.count_or({"attn_layer_offset"}, 0);
    types_ = fields_.find("layer_types");
    unroped_ = fields_.find("no_rope_layers");
    // As in "LLLG" of EXAONE: local or global.
    if (const json* const letters = fields_.find("sliding_window_pattern");
        letters != nullptr && letters->is_string()) {
      window_letters_ = letters->get<std::string>();
    } else {
      pattern_ = fields_.count_or({"sliding_window_pattern", "_sliding_window_pattern"}, 0);
    }
    mixers_ = fields_.text_or("hybrid_override_pattern", "");
    lightning_ = fields_.find("attn_type_list");
    if (is("kimi_linear")) {
      Fields own = fields_.inside("linear_attn_config");
      full_layers_ = own.find("full_attn_layers");
      if (full_layers_ == nullptr || !full_layers_->is_array()) {
        throw BadField("linear_attn_config: expected a list full_attn_layers");
      }
      refuse_unknown(
          *fields_.find("linear_attn_config"), "linear_attn_config",
          {"full_attn_layers", "kda_layers", "num_heads", "head_dim", "short_conv_kernel_size"});
    }
    require_all_layers(types_, "layer_types");
    require_all_layers(blocks_, "block_configs");
    require_all_layers(lightning_, "attn_type_list");
    if (is("nemotron_h") && mixers_.size() != static_cast<std::size_t>(count_)) {
      throw BadField(
          fmt::format("hybrid_override_pattern: expected a letter for each of {} layers", count_));
    }
  }

  void require_all_layers(const json* list, const char* field) const {
    if (list == nullptr || (list->is_array() && list->size() == static_cast<std::size_t>(count_))) {
      return;
    }
    throw BadField(fmt::format("{}: expected one for each of {} layers", field, count_));
  }

  void read_biases() {
    bias_ = family_.bias;
    for (const char* const field : {"qkv_bias", "use_qkv_bias"}) {
      if (fields_.find(field) == nullptr) continue;
      bias_ = fields_.flag_or(field, false) ? std::max(bias_, Bias::qkv) : Bias::none;
    }
    if (fields_.find("attention_bias") != nullptr) {
      bias_ = !fields_.flag_or("attention_bias", false) ? Bias::none
              : bias_ == Bias::none                     ? Bias::all
                                                        : bias_;
    }
    feed_forward_bias_ = fields_.flag_or("mlp_bias", family_.bias == Bias::all && !family_.gated);
    norm_ = family_.norm;
    // Llama 4 normalizes without weights.
    if (fields_.flag_or("use_qk_norm", false) && norm_ == QueryKeyNorm::none && !starts("llama4")) {
      norm_ = starts("cohere") ? QueryKeyNorm::over_heads : QueryKeyNorm::per_head;
    }
  }

  static bool lists(const json* list, int layer) {
    return list != nullptr && list->is_array() &&
           std::find(list->begin(), list->end(), layer) != list->end();
  }
  const json& of_layer(const json* list, int layer) const {
    return list->at(static_cast<std::size_t>(layer));
  }

  LayerPlan plan_of(int layer) const {
    LayerPlan plan;
    if (!mixers_.empty()) {
      const char letter = mixers_[static_cast<std::size_t>(layer)];
      if (letter != 'M' && letter != '*' && letter != '-' && letter != 'E') {
        throw BadField(fmt::format("hybrid_override_pattern: \"{}\" is not supported", letter));
      }
      plan.mixing = letter == 'M'   ? Mixing::mamba2
                    : letter == '*' ? Mixing::attention
                                    : Mixing::none;
      plan.feed_forward = letter == '-' || letter == 'E';
      plan.experts = letter == 'E';
      if (plan.experts && experts_ == 0) {
        throw BadField("hybrid_override_pattern: \"E\", but the file gives no number of experts");
      }
      return plan;
    }
    if (blocks_ != nullptr) return plan_of_block(of_layer(blocks_, layer));
    mix(layer, plan);
    plan.experts = has_experts(layer);
    return plan;
  }

  /// A layer of a model that was found by search, each of which differs.
  ///
  /// Source   modeling_decilm.py of Llama-Nemotron: a multiplier stands for two thirds of it in
  ///          model widths, rounded up to a multiple of 256.
  LayerPlan plan_of_block(const json& block) const {
    const auto part = [&](const char* name, const char* size) -> const json& {
      const auto found = block.find(name);
      if (found == block.end() || !found->is_object()) {
        throw BadField(fmt::format("block_configs: a layer has no {}", name));
      }
      refuse_unknown(*found, fmt::format("block_configs.{}", name), {"no_op", size});
      return *found;
    };
    const auto number = [](const json& in, const char* name) {
      const auto found = in.find(name);
      if (found == in.end() || !found->is_number() || *found <= 0) {
        throw BadField(fmt::format("block_configs: expected a number {} above 0", name));
      }
      return found->get<double>();
    };
    LayerPlan plan;
    const json& attention = part("attention", "n_heads_in_group");
    const json& feed_forward = part("ffn", "ffn_mult");
    refuse_unknown(block, "block_configs", {"attention", "ffn"});
    const auto is_left_out = [](const json& in) {
      const json no_op = in.value("no_op", json());
      if (no_op.is_null() || no_op.is_boolean()) return no_op == true;
      throw BadField("block_configs: no_op: expected true or false, found " + no_op.dump());
    };
    if (is_left_out(attention)) {
      plan.mixing = Mixing::none;
    } else {
      const double kv_heads = heads_ / number(attention, "n_heads_in_group");
      if (kv_heads < 1 || kv_heads != std::floor(kv_heads)) {
        throw BadField(
            fmt::format("block_configs: expected n_heads_in_group to divide the {} heads, found {}",
                        heads_, attention.at("n_heads_in_group").dump()));
      }
      plan.kv_heads = static_cast<int>(kv_heads);
    }
    plan.feed_forward = !is_left_out(feed_forward);
    if (plan.feed_forward) {
      constexpr int kMultiple = 256;
      const auto width = static_cast<int>(2 * number(feed_forward, "ffn_mult") * hidden_ / 3);
      plan.width = (width + kMultiple - 1) / kMultiple * kMultiple;
    }
    return plan;
  }

  bool has_experts(int layer) const {
    if (experts_ == 0 || layer < first_dense_ || layer > last_sparse_) return false;
    if (lists(dense_layers_, layer) || (layer + 1) % every_ != 0) return false;
    if (sparse_layers_ != nullptr) return lists(sparse_layers_, layer);
    if (frequency_ != nullptr) {
      return frequency_->is_array() ? of_layer(frequency_, layer) == 1
                                    : layer % frequency_->get<int>() == 0;
    }
    return layer % period_ == offset_;
  }

  void mix(int layer, LayerPlan& plan) const {
    const auto linear = starts("minimax") ? Mixing::lightning : Mixing::gated_delta;
    if (types_ != nullptr) {
      const json& type = of_layer(types_, layer);
      if (type == "full_attention" || type == "attention") return;
      if (type == "linear_attention") {
        plan.mixing = linear;
      } else if (type == "mamba") {
        plan.mixing = Mixing::mamba2;
      } else if (type == "sliding_attention" && window_ > 0) {
        plan.window = window_;
      } else if (type == "chunked_attention" && chunk_ > 0) {
        plan.window = chunk_;
      } else {
        throw BadField(fmt::format("layer_types: {} is not supported", type.dump()));
      }
      return;
    }
    if (lightning_ != nullptr) {
      if (of_layer(lightning_, layer) == 0) plan.mixing = Mixing::lightning;
    } else if (attention_period_ > 0) {
      if (layer % attention_period_ != attention_offset_) plan.mixing = Mixing::mamba;
    } else if (full_layers_ != nullptr) {
      if (!lists(full_layers_, layer + 1)) plan.mixing = Mixing::kimi_delta;
    } else if (full_every_ > 0) {
      if ((layer + 1) % full_every_ != 0) plan.mixing = linear;
    } else {
      plan.window = window_of(layer);
    }
  }

  /// The tokens that a token of this layer looks back at; 0 for all.
  std::int64_t window_of(int layer) const {
    const auto each = [&](int n) { return n > 0 && (layer + 1) % n == 0; };
    if (!window_letters_.empty()) {
      const auto at = static_cast<std::size_t>(layer) % window_letters_.size();
      return window_letters_[at] == 'L' ? window_ : 0;
    }
    if (is("llama4_text")) {
      const bool full = unroped_ != nullptr && unroped_->is_array() &&
                                unroped_->size() == static_cast<std::size_t>(count_)
                            ? of_layer(unroped_, layer) == 0
                            : each(4);
      return full ? 0 : chunk_;
    }
    if (is("gemma2") || is("gpt_oss")) return layer % 2 == 0 ? window_ : 0;
    if (is("gemma3_text")) return each(pattern_ > 0 ? pattern_ : 6) ? 0 : window_;
    if (is("cohere2")) return each(pattern_ > 0 ? pattern_ : 4) ? 0 : window_;
    if (is("olmo3")) return each(4) ? 0 : window_;
    if (starts("qwen")) return layer >= from_layer_ ? window_ : 0;
    return window_;
  }

  void add_mixer(const LayerPlan& plan, Layers& one) {
    switch (plan.mixing) {
      case Mixing::attention:
        one.window = plan.window;
        if (fields_.find("kv_lora_rank") != nullptr) return add_latent_attention(one);
        return add_attention(plan.kv_heads > 0 ? plan.kv_heads : kv_heads_, one);
      case Mixing::gated_delta:
        return add_gated_delta(fields_, hidden_, one);
      case Mixing::kimi_delta:
        return add_kimi_delta(fields_, hidden_, one);
      case Mixing::mamba:
        return add_mamba(fields_, hidden_, one);
      case Mixing::mamba2:
        return add_mamba2(fields_, hidden_, one);
      case Mixing::lightning:
        return add_lightning(hidden_, heads_, head_, one);
      case Mixing::none:
        one.mixer = Mixer::none;
    }
  }

  void add_attention(int kv_heads, Layers& one) {
    const double d = hidden_, heads = heads_;
    const double head = head_, query = heads * head, kv = kv_heads * head;
    const bool gate = fields_.flag_or("attn_output_gate", family_.gated_output);
    one.attention = d * query * (gate ? 2 : 1) + 2 * d * kv + query * d;
    adapter_ = (d + query) * 2 + (d + kv) * 2;
    one.look_prefill = one.look_decode = 4 * query;
    one.kv = 2 * kv;
    one.kv_parts = one.kv_heads = kv_heads;
    one.head_size = head_;
    one.head_norms = norm_ != QueryKeyNorm::none;
    if (bias_ != Bias::none) one.small += query + 2 * kv + (bias_ == Bias::all ? d : 0);
    if (is("gpt_oss")) one.small += heads;  // sinks
    if (norm_ == QueryKeyNorm::per_head) one.small += 2 * head;
    if (norm_ == QueryKeyNorm::over_heads) one.small += query + kv;
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
    one.mixer = Mixer::latent;
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

  void add_feed_forward(const LayerPlan& plan, Layers& one) const {
    const double d = hidden_;
    const int matrices = family_.gated ? 3 : 2;
    if (!plan.experts) {
      const int width = plan.width > 0 ? plan.width : dense_width_;
      one.dense = matrices * d * width;
      one.width = width;
      if (feed_forward_bias_) one.small += (matrices - 1) * width + d;
      return;
    }
    one.experts = experts_;
    one.chosen = chosen_;
    one.expert = matrices * d * expert_width_;
    if (is("gpt_oss")) one.expert += 2 * expert_width_ + d;
    one.router = d * experts_ + (family_.router_bias ? experts_ : 0);
    one.dense = matrices * d * shared_width_;
    one.width = shared_width_;
    one.expert_width = expert_width_;
    if (family_.shared_gate) one.router += d;
  }

  Fields fields_;
  std::string type_;
  Family family_{};
  int hidden_ = 0, count_ = 0, heads_ = 0, kv_heads_ = 0, head_ = 0, width_ = 0;
  int experts_ = 0, chosen_ = 0, expert_width_ = 0, shared_width_ = 0, dense_width_ = 0;
  int first_dense_ = 0, last_sparse_ = 0, every_ = 1, period_ = 1, offset_ = 0;
  int window_ = 0, chunk_ = 0, pattern_ = 0, from_layer_ = 0, full_every_ = 0;
  int attention_period_ = 0, attention_offset_ = 0;
  std::string window_letters_, mixers_;
  Bias bias_ = Bias::none;
  QueryKeyNorm norm_ = QueryKeyNorm::none;
  bool feed_forward_bias_ = false;
  const json *dense_layers_ = nullptr, *sparse_layers_ = nullptr, *frequency_ = nullptr;
  const json *types_ = nullptr, *unroped_ = nullptr, *lightning_ = nullptr, *full_layers_ = nullptr,
             *blocks_ = nullptr;
  double adapter_ = 0;  // numbers of an adapter of rank 1, of the last layer
};

Model model_of(const json& config, const json* quantization) {
  const auto inner = config.find("text_config");
  Reader reader(inner != config.end() && inner->is_object() ? *inner : config, config);
  Model made = reader.model();
  const json* const own = reader.quantization();
  reader.finish();
  if (own != nullptr || quantization != nullptr) {
    quantize(own ? *own : *quantization, made);
  } else {
    reader.check_number_type();
  }
  return made;
}

Result<Model> parse(std::string_view text, const json* quantization, const std::string& name) try {
  const Result<json> config = parse_object(text, name);
  if (!config) return tl::unexpected(config.error());
  Model made = model_of(*config, quantization);
  made.name = name;
  return made;
} catch (const BadField& wrong) {
  return fail(Code::invalid, wrong.what(), {.file = name}, kGiveConfig);
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
