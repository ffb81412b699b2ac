// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/quantization.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "inference/profile/fields.h"
#include "inference/profile/named.h"

namespace almanac::inference {
namespace {

using nlohmann::json;

double number_or(const json& from, std::initializer_list<const char*> names, double otherwise) {
  for (const char* const name : names) {
    const auto found = from.find(name);
    if (found != from.end() && found->is_number()) return found->get<double>();
  }
  return otherwise;
}

std::string text_of(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_string() ? in_lower_case(found->get<std::string>()) : "";
}

[[noreturn]] void refuse(const std::string& what) {
  throw BadField(fmt::format("quantization_config: {} is not supported", what));
}

constexpr Precision kMxfp4{4.25 / 8, Arithmetic::fp4}, kNvfp4{4.5 / 8, Arithmetic::fp4};

/// Whole numbers of so many bits, in groups that share a 2-byte scale and a zero point.
Precision grouped(double bits, double group, bool weights_only) {
  if (bits < 2) refuse(fmt::format("weights of {} bits", bits));
  const double scales = group > 0 ? (2 + bits / 8) / group : 0;
  if (bits >= 16) return {};
  return {bits / 8 + scales,
          weights_only || bits < 8 ? Arithmetic::weights_only : Arithmetic::int8};
}

/// `weights` of a group of compressed-tensors.
Precision of_group(const json& group) {
  const auto weights = group.find("weights");
  if (weights == group.end() || !weights->is_object()) refuse("a group without weights");
  const double bits = number_or(*weights, {"num_bits"}, 0);
  const bool weights_only =
      !group.contains("input_activations") || group.at("input_activations").is_null();
  const double size = number_or(*weights, {"group_size"}, 0);
  const bool is_float = text_of(*weights, "type") == "float";
  if (is_float && bits == 8) {
    Precision made{1, weights_only ? Arithmetic::weights_only : Arithmetic::fp8};
    if (size > 0) made.bytes += 2 / size;
    return made;
  }
  if (is_float && bits == 4) {
    return size == 32 ? kMxfp4 : kNvfp4;
  }
  if (!is_float && (bits == 8 || bits == 4 || bits == 2 || bits == 3)) {
    return grouped(bits, size, weights_only);
  }
  refuse(fmt::format("weights of {} bits", bits));
}

std::optional<Precision> of_groups(const json& config) {
  const auto groups = config.find("config_groups");
  if (groups == config.end() || !groups->is_object() || groups->empty()) return std::nullopt;
  std::optional<Precision> made;
  for (const auto& [name, group] : groups->items()) {
    const Precision one = of_group(group);
    if (made && (made->bytes != one.bytes || made->arithmetic != one.arithmetic)) {
      refuse("config_groups of several formats");
    }
    made = one;
  }
  return made;
}

Precision of_method(const json& config) {
  std::string method = text_of(config, "quant_method");
  const std::string algorithm = text_of(config, "quant_algo");
  if (method.empty() || method == "modelopt") {
    if (algorithm == "fp8" || algorithm == "fp8_pb_wo" ||
        algorithm == "fp8_per_channel_per_token") {
      return {1, Arithmetic::fp8};
    }
    if (algorithm == "nvfp4" || algorithm == "nvfp4_awq") return kNvfp4;
    if (algorithm.starts_with("w4a16"))
      return grouped(4, number_or(config, {"group_size"}, 128), true);
    if (algorithm == "int8_sq" || algorithm == "w8a8") return {1, Arithmetic::int8};
    if (const auto groups = of_groups(config)) return *groups;
    refuse(fmt::format("quant_algo \"{}\"", algorithm));
  }
  if (method == "fp8" || method == "fbgemm_fp8") {
    Precision made{1, Arithmetic::fp8};
    const auto block = config.find("weight_block_size");
    if (block != config.end() && block->is_array() && block->size() == 2) {
      made.bytes += 4 / ((*block)[0].get<double>() * (*block)[1].get<double>());
    }
    return made;
  }
  if (method == "mxfp4") return kMxfp4;
  if (method == "awq" || method == "gptq" || method == "gptq_marlin" || method == "awq_marlin") {
    return grouped(number_or(config, {"bits", "w_bit"}, 4),
                   number_or(config, {"group_size", "q_group_size"}, 128), true);
  }
  if (method == "bitsandbytes") {
    const bool four = config.value("load_in_4bit", false) || config.value("_load_in_4bit", false);
    return four ? Precision{0.5 + 4.0 / 64, Arithmetic::weights_only}
                : Precision{1, Arithmetic::weights_only};
  }
  if (method == "compressed-tensors") {
    if (const auto groups = of_groups(config)) return *groups;
    refuse("compressed-tensors without config_groups");
  }
  refuse(fmt::format("quant_method \"{}\"", method));
}

/// What of the layers keeps 2 bytes: parts of all attention and of all feed-forward matrices.
struct Kept {
  double attention = 0, dense = 0, experts = 0;
};

bool has(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

/// Adds what a module that is not converted ("model.layers.3.self_attn.q_proj", "re:.*self_attn.*")
/// stands for. One of a single layer counts for that layer alone.
void keep(const std::string& module, int layers, Kept& kept) {
  if (has(module, {"lm_head", "embed", "norm", "router", "vision", "visual", "projector", "audio",
                   "e_score", "mtp", "indexer", "conv1d", "in_proj_a", "in_proj_b"})) {
    return;  // at 2 bytes anyway, or not counted
  }
  const bool gate =
      (module.ends_with("gate") || module.ends_with("gate$")) && !has(module, {"proj"});
  if (gate) return;
  const std::size_t dot = module.find("layers.");
  const bool of_one = dot != std::string::npos && dot + 7 < module.size() &&
                      module[dot + 7] >= '0' && module[dot + 7] <= '9';
  const bool projection = has(module, {"_proj"});
  const double part = (of_one ? 1.0 / layers : 1.0) / (!projection             ? 1
                                                       : has(module, {"attn"}) ? 4
                                                                               : 3);
  if (has(module, {"attn", "attention"})) {
    kept.attention += part;
  } else if (has(module, {"shared_expert"})) {
    kept.dense += part;
  } else if (has(module, {"experts"})) {
    kept.experts += part;
  } else if (has(module, {"mlp", "feed_forward"})) {
    kept.dense += part;
    if (of_one) kept.experts += part;
  } else if (of_one) {  // a whole layer
    kept.attention += part;
    kept.dense += part;
    kept.experts += part;
  } else {
    refuse(fmt::format("the unconverted module \"{}\"", module));
  }
}

void mix(Precision& precision, double kept) {
  kept = std::min(1.0, kept);
  precision.bytes = precision.bytes * (1 - kept) + 2 * kept;
  if (kept > 0.5) precision.arithmetic = Arithmetic::bf16;
}

}  // namespace

void quantize(const json& config, Model& model) {
  const Precision linear = of_method(config);
  model.experts = model.attention = model.dense = linear;
  if (text_of(config, "quant_method") == "mxfp4") model.attention = model.dense = {};
  Kept kept;
  for (const char* const name :
       {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers"}) {
    const auto found = config.find(name);
    if (found == config.end() || !found->is_array()) continue;
    for (const json& module : *found) {
      if (module.is_string()) keep(module.get<std::string>(), model.layer_count(), kept);
    }
  }
  mix(model.attention, kept.attention);
  mix(model.dense, kept.dense);
  mix(model.experts, kept.experts);
  const std::string kv = text_of(config, "kv_cache_quant_algo");
  const bool narrow_scheme = config.contains("kv_cache_scheme") &&
                             config.at("kv_cache_scheme").is_object() &&
                             number_or(config.at("kv_cache_scheme"), {"num_bits"}, 16) == 8;
  if (kv == "fp8" || kv == "int8" || narrow_scheme) model.kv_number_bytes = 1;
  if (kv == "nvfp4") model.kv_number_bytes = kNvfp4.bytes;
}

}  // namespace almanac::inference
