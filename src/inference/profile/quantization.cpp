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

[[noreturn]] void refuse(const std::string& what) {
  throw BadField(fmt::format("quantization_config: Almanac does not support {}", what));
}

/// Returns the field, or null if it is missing or null.
const json* value_of(const json& from, const char* name) {
  const auto found = from.find(name);
  return found == from.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void refuse_value(const char* name, const char* what, const json& found) {
  throw BadField(fmt::format("quantization_config: {}: expected {}, found {}", name, what,
                             found.dump().substr(0, 60)));
}

int count_of(const json& from, std::initializer_list<const char*> names, int otherwise) {
  for (const char* const name : names) {
    const json* const found = value_of(from, name);
    if (found == nullptr) continue;
    if (!found->is_number_integer() || *found < -1 || *found > 1'000'000) {
      refuse_value(name, "a whole number from -1 to 1,000,000", *found);
    }
    return found->get<int>();
  }
  return otherwise;
}

bool flag_of(const json& from, const char* name) {
  const json* const found = value_of(from, name);
  if (found == nullptr) return false;
  if (!found->is_boolean()) refuse_value(name, "true or false", *found);
  return found->get<bool>();
}

std::string text_of(const json& from, const char* name) {
  const json* const found = value_of(from, name);
  if (found == nullptr) return "";
  if (!found->is_string()) refuse_value(name, "a string", *found);
  return in_lower_case(found->get<std::string>());
}

constexpr Precision kMxfp4{4.25 / 8, Arithmetic::fp4}, kNvfp4{4.5 / 8, Arithmetic::fp4};

/// Whole numbers of `bits`, in groups of `group` that share a 2-byte scale and a zero point. A
/// group of -1 or 0 is a whole column, whose scale does not count.
Precision grouped(int bits, int group, bool weights_only) {
  if (bits == 16) return {};
  if (bits != 2 && bits != 3 && bits != 4 && bits != 8) {
    refuse(fmt::format("{}-bit quantization of weights", bits));
  }
  const double scales = group > 0 ? (2 + bits / 8.0) / group : 0;
  return {bits / 8.0 + scales,
          weights_only || bits < 8 ? Arithmetic::weights_only : Arithmetic::int8};
}

/// `weights` of a group of compressed-tensors.
Precision of_group(const json& group) {
  const auto weights = group.find("weights");
  if (weights == group.end() || !weights->is_object()) refuse("a group without weights");
  const int bits = count_of(*weights, {"num_bits"}, 8);
  const bool weights_only = value_of(group, "input_activations") == nullptr;
  const int size = count_of(*weights, {"group_size"}, 0);
  const bool is_float = text_of(*weights, "type") == "float";
  if (is_float && bits == 8) {
    Precision made{1, weights_only ? Arithmetic::weights_only : Arithmetic::fp8};
    if (size > 0) made.bytes += 2.0 / size;
    return made;
  }
  if (is_float && bits == 4) {
    return size == 32 ? kMxfp4 : kNvfp4;
  }
  if (is_float) refuse(fmt::format("{}-bit floating-point quantization of weights", bits));
  return grouped(bits, size, weights_only);
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
      return grouped(4, count_of(config, {"group_size"}, 128), true);
    if (algorithm == "int8_sq" || algorithm == "w8a8") return {1, Arithmetic::int8};
    if (const auto groups = of_groups(config)) return *groups;
    refuse(fmt::format("quant_algo \"{}\"", algorithm));
  }
  if (method == "fp8" || method == "fbgemm_fp8") {
    Precision made{1, Arithmetic::fp8};
    if (const json* const block = value_of(config, "weight_block_size")) {
      const bool is_size = block->is_array() && block->size() == 2 &&
                           std::all_of(block->begin(), block->end(), [](const json& each) {
                             return each.is_number_integer() && each >= 1;
                           });
      if (!is_size) refuse_value("weight_block_size", "two whole numbers of at least 1", *block);
      made.bytes += 4 / ((*block)[0].get<double>() * (*block)[1].get<double>());
    }
    return made;
  }
  if (method == "mxfp4") return kMxfp4;
  if (method == "awq" || method == "gptq" || method == "gptq_marlin" || method == "awq_marlin") {
    return grouped(count_of(config, {"bits", "w_bit"}, 4),
                   count_of(config, {"group_size", "q_group_size"}, 128), true);
  }
  if (method == "bitsandbytes") {
    if (flag_of(config, "load_in_4bit") || flag_of(config, "_load_in_4bit")) {
      return {0.5 + 4.0 / 64, Arithmetic::weights_only};
    }
    if (flag_of(config, "load_in_8bit") || flag_of(config, "_load_in_8bit")) {
      return {1, Arithmetic::weights_only};
    }
    refuse("bitsandbytes without load_in_4bit or load_in_8bit");
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

void set_kv_bytes(const json& config, Model& model) {
  const std::string kv = text_of(config, "kv_cache_quant_algo");
  if (kv == "fp8" || kv == "int8") {
    model.kv_number_bytes = 1;
  } else if (kv == "nvfp4") {
    model.kv_number_bytes = kNvfp4.bytes;
  } else if (!kv.empty() && kv != "none") {
    refuse(fmt::format("kv_cache_quant_algo \"{}\"", kv));
  }
  const json* const scheme = value_of(config, "kv_cache_scheme");
  if (scheme == nullptr) return;
  if (!scheme->is_object()) refuse_value("kv_cache_scheme", "an object", *scheme);
  const int bits = count_of(*scheme, {"num_bits"}, 8);
  if (bits != 8 && bits != 16) refuse(fmt::format("a KV cache of {} bits", bits));
  model.kv_number_bytes = bits / 8.0;
}

void mix(Precision& precision, double kept) {
  kept = std::min(1.0, kept);
  precision.bytes = precision.bytes * (1 - kept) + 2 * kept;
  if (kept > 0.5) precision.arithmetic = Arithmetic::bf16;
}

}  // namespace

void quantize(const json& config, Model& model) {
  if (!config.is_object()) {
    throw BadField(fmt::format("quantization_config: expected an object, found {}", config.dump()));
  }
  const Precision linear = of_method(config);
  model.experts = model.attention = model.dense = linear;
  if (text_of(config, "quant_method") == "mxfp4") model.attention = model.dense = {};
  Kept kept;
  for (const char* const name :
       {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers"}) {
    const json* const found = value_of(config, name);
    if (found == nullptr) continue;
    if (!found->is_array()) refuse_value(name, "a list of modules", *found);
    for (const json& module : *found) {
      if (!module.is_string()) refuse_value(name, "names of modules", module);
      keep(module.get<std::string>(), model.layer_count(), kept);
    }
  }
  mix(model.attention, kept.attention);
  mix(model.dense, kept.dense);
  mix(model.experts, kept.experts);
  set_kv_bytes(config, model);
}

}  // namespace almanac::inference
