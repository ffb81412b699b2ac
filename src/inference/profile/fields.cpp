// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/fields.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace almanac::inference {
namespace {

/// In names of fields that change weights, KV cache or arithmetic.
constexpr std::string_view kMatters[] = {
    "expert",      "moe",     "lora",        "linear_",      "mamba",    "ssm",    "conv",
    "window",      "sliding", "chunk",       "head",         "index",    "latent", "shared",
    "quant",       "layers",  "hidden_size", "intermediate", "compress", "sparse", "kv_",
    "multi_query", "ffn",     "layer_types", "pattern",      "num_",     "hybrid", "interval",
    "use_cla",     "_dim",    "_rank",       "d_ff",         "d_kv",     "d_inner"};
/// In names of those that do not although they have one of the above: training, generation, drafts
/// of further tokens, other towers.
constexpr std::string_view kHarmless[] = {
    "loss",        "dropout",    "pdrop",       "dtype",        "init",          "mtp",
    "nextn",       "vision",     "image",       "video",        "audio",         "token_id",
    "token_index", "rope",       "rotary",      "summary",      "expert_bias",   "num_labels",
    "num_return",  "num_beam",   "processor",   "indexer_",     "output_hidden", "scal",
    "router",      "num_logits", "renormalize", "expert_group", "moe_capacity",  "moe_norm",
    "moe_use",     "moe_gate",   "layernorm"};

/// Objects whose fields are no part of the decoder.
constexpr std::string_view kHarmlessObjects[] = {
    "auto_map", "custom_pipelines",     "generation_config",     "id2label",
    "label2id", "task_specific_params", "transformers.js_config"};

template <std::size_t size>
bool has_any(std::string_view name, const std::string_view (&parts)[size]) {
  return std::any_of(std::begin(parts), std::end(parts), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

bool says_nothing(const nlohmann::json& value) {
  return value.is_null() || value == false || value == 0 ||
         (value.is_structured() && value.empty()) || value == "";
}

[[noreturn]] void refuse(const std::string& name, const nlohmann::json& value) {
  throw BadField(fmt::format("{}: {} is not supported, and may change weights or KV cache", name,
                             value.dump().substr(0, 60)));
}

bool may_matter(const std::string& name, const nlohmann::json& value) {
  if (has_any(name, kHarmless)) return false;
  if (has_any(name, kMatters)) return true;
  return value.is_object() && std::find(std::begin(kHarmlessObjects), std::end(kHarmlessObjects),
                                        name) == std::end(kHarmlessObjects);
}

/// Returns `text` with null for the numbers that Python writes and JSON does not have.
std::string without_infinity(std::string text) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"' && (at == 0 || text[at - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (text.compare(at, word.size(), word) == 0) text.replace(at, word.size(), "null");
    }
  }
  return text;
}

}  // namespace

Result<nlohmann::json> parse_object(std::string_view text, const std::string& file) {
  const std::string plain = without_infinity(std::string(text));
  try {
    nlohmann::json made = nlohmann::json::parse(plain);
    if (made.is_object()) return made;
    return fail(Code::invalid,
                fmt::format("expected a JSON object, found JSON of type {}", made.type_name()),
                {.file = file}, kGiveConfig);
  } catch (const nlohmann::json::parse_error& wrong) {
    const auto read = static_cast<std::ptrdiff_t>(std::min(wrong.byte, plain.size()));
    const auto lines = std::count(plain.begin(), plain.begin() + read, '\n');
    return fail(Code::invalid,
                plain.empty() || wrong.byte > plain.size()
                    ? "expected a JSON object, but the file ends too early"
                    : "expected a JSON object, found a mistake in this line",
                {.file = file, .line = lines + 1}, kGiveConfig);
  }
}

const nlohmann::json* Fields::find(const std::string& name) {
  read_.insert(name);
  for (const nlohmann::json* where : {&inner_, &outer_}) {
    const auto found = where->find(name);
    if (found != where->end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

int Fields::count_or(const std::vector<std::string>& names, int otherwise) {
  std::optional<int> made;
  for (const std::string& name : names) {
    const nlohmann::json* found = find(name);
    if (found == nullptr) continue;
    // A list with the same number for each layer.
    if (found->is_array() && !found->empty() &&
        std::all_of(found->begin(), found->end(),
                    [&](const nlohmann::json& each) { return each == found->front(); })) {
      found = &found->front();
    }
    if (!found->is_number_integer() || *found < 0 || *found > 100'000'000) {
      throw BadField(fmt::format("{}: expected a whole number up to 100,000,000, found {}", name,
                                 found->dump()));
    }
    if (!made) made = found->get<int>();
  }
  return made.value_or(otherwise);
}

int Fields::count(const std::vector<std::string>& names) {
  const int made = count_or(names, -1);
  if (made < 0) throw BadField(fmt::format("{}: the field is missing", fmt::join(names, " or ")));
  if (made == 0) throw BadField(fmt::format("{}: expected at least 1, found 0", names.front()));
  return made;
}

bool Fields::flag_or(const std::string& name, bool otherwise) {
  const nlohmann::json* const found = find(name);
  if (found == nullptr) return otherwise;
  if (!found->is_boolean()) {
    throw BadField(fmt::format("{}: expected true or false, found {}", name, found->dump()));
  }
  return found->get<bool>();
}

Fields Fields::inside(const std::string& name) {
  const nlohmann::json* const found = find(name);
  if (found == nullptr) throw BadField(fmt::format("{}: the field is missing", name));
  if (!found->is_object()) {
    throw BadField(fmt::format("{}: expected an object, found {}", name, found->dump()));
  }
  return {*found, *found};
}

std::string Fields::text_or(const std::string& name, const std::string& otherwise) {
  const nlohmann::json* const found = find(name);
  if (found == nullptr) return otherwise;
  if (!found->is_string()) {
    throw BadField(fmt::format("{}: expected a string, found {}", name, found->dump()));
  }
  return found->get<std::string>();
}

void Fields::refuse_rest() const {
  for (const auto& [name, value] : inner_.items()) {
    if (!read_.contains(name) && !says_nothing(value) && may_matter(name, value)) {
      refuse(name, value);
    }
  }
}

void refuse_unknown(const nlohmann::json& object, std::string_view within,
                    std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end() && !says_nothing(value)) {
      refuse(fmt::format("{}.{}", within, name), value);
    }
  }
}

void check_number_type(Fields& fields) {
  constexpr std::string_view kKnown[] = {"auto",  "bfloat16", "float16", "half",
                                         "float", "float32",  "double",  "float64"};
  constexpr std::string_view kModule = "torch.";
  for (const char* const name : {"torch_dtype", "dtype"}) {
    std::string type = fields.text_or(name, "auto");
    if (type.starts_with(kModule)) type.erase(0, kModule.size());
    if (std::find(std::begin(kKnown), std::end(kKnown), type) != std::end(kKnown)) continue;
    throw BadField(fmt::format(
        "{}: expected a floating-point type such as bfloat16, found \"{}\"; other types need a "
        "quantization_config",
        name, type));
  }
}

}  // namespace almanac::inference
