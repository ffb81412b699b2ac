// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/model.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "table/stream.h"
#include "text/nearest.h"

namespace almanac::inference {
namespace {

const std::array kModels{
    Model{"llama-2-7b", 32, 4096, 32, 32, 11008},
    Model{"llama-2-70b", 80, 8192, 64, 8, 28672},
    Model{"llama-3.1-8b", 32, 4096, 32, 8, 14336},
    Model{"llama-3.1-70b", 80, 8192, 64, 8, 28672},
    Model{"qwen2.5-7b", 28, 3584, 28, 4, 18944},
    Model{"yi-34b", 60, 7168, 56, 8, 20480},
    Model{"mistral-7b", 32, 4096, 32, 8, 14336},
    Model{"mistral-nemo", 40, 5120, 32, 8, 14336},
    Model{"llama-4-scout", 48, 5120, 40, 8, 16384, 24, 16, 1, 8192, 1},
    Model{"mixtral-8x7b", 32, 4096, 32, 8, 14336, 32, 8, 2, 14336},
};

/// Source   power: Patel et al., ISCA'24 (Splitwise), simulator; of the L40S its limit, and the
/// rest in
///          the A100's proportions. Way to the host: data sheets, PCIe 5 and 4 with 16 lanes; to
///          other GPUs: data sheets, NVLink, and of the L40S, which has none, PCIe.
const std::array kBoards{
    Board{"h100", 989.5e12, 1979e12, 3.35e12, 0.45, 0.30, 80, 64e9, 75, 700, 380, 450e9},
    Board{"a100-sxm", 312e12, 0, 2.039e12, 0.38, 0.18, 80, 32e9, 63, 400, 250, 300e9},
    Board{"l40s", 362.05e12, 1466e12, 0.864e12, 0.32, 0.08, 48, 32e9, 55, 350, 219, 32e9},
};

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

template <typename Known>
Result<Known> find(const char* what, std::string_view name, std::span<const Known> all) {
  const std::string asked = lower(name.substr(name.rfind('/') + 1));
  std::vector<std::string> names;
  for (const Known& each : all) {
    if (asked.starts_with(each.name)) return each;
    names.push_back(each.name);
  }
  return fail(Code::not_found, fmt::format("no {} is called \"{}\"", what, name), {},
              text::meant_or_known(asked, names));
}

}  // namespace

double Model::bytes() const {
  const double attention = 2.0 * hidden * (hidden + kv_size());
  const double ffn = static_cast<double>(dense_layers()) * 3.0 * hidden * mlp +
                     static_cast<double>(moe_layers) * experts * 3.0 * hidden * expert_mlp;
  return weight_bytes * (layers * attention + ffn);
}

double Model::adapter_bytes(int rank) const {
  const double into_and_out = 2 * (hidden + hidden) + 2 * (hidden + kv_size());
  return 2.0 * layers * rank * into_and_out;
}

Result<Model> find_model(std::string_view name) { return find<Model>("model", name, kModels); }

Result<Board> find_board(std::string_view name) {
  if (lower(name) == "a100") name = "a100-sxm";
  return find<Board>("board", name, kBoards);
}

Result<Model> read_model(const std::string& path) {
  const Result<std::string> content = table::read_text_file(path);
  if (!content) return tl::unexpected(content.error());
  const nlohmann::json config = nlohmann::json::parse(*content, nullptr, false);
  if (!config.is_object()) {
    return fail(Code::invalid, "is no JSON object", {.file = path});
  }
  Model model{.name = path};
  const auto read = [&](const char* key, int& into, int otherwise) -> std::string {
    const auto found = config.find(key);
    if (found == config.end() || found->is_null()) {
      into = otherwise;
      return otherwise < 0 ? fmt::format("has no {}", key) : "";
    }
    if (!found->is_number_integer() || *found < 0 || *found > 10'000'000) {
      return fmt::format("{}: {} is no count", key, found->dump());
    }
    into = found->get<int>();
    return "";
  };
  for (const std::string& wrong :
       {read("num_hidden_layers", model.layers, -1), read("hidden_size", model.hidden, -1),
        read("num_attention_heads", model.heads, -1),
        read("num_key_value_heads", model.kv_heads, 0), read("intermediate_size", model.mlp, -1),
        read("num_local_experts", model.experts, 0),
        read("num_experts_per_tok", model.active_experts, 0)}) {
    if (!wrong.empty()) return fail(Code::invalid, wrong, {.file = path});
  }
  if (model.layers == 0 || model.hidden == 0 || model.heads == 0) {
    return fail(Code::invalid, "layers, hidden size and heads must be above 0", {.file = path});
  }
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  if (model.experts > 0) {
    model.moe_layers = model.layers;
    model.expert_mlp = model.mlp;
    if (model.active_experts == 0) model.active_experts = 1;
  }
  return model;
}

}  // namespace almanac::inference
