// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sarathi-Serve: the objectives of tokens that it sets itself, from measured layers.
///
/// Source   Agrawal et al., OSDI'24, section 5: the 99th percentile between tokens is to be 5
///          times (strict) and 25 times (relaxed) the decode iteration of 32 sequences of 4k
///          tokens; for Mistral-7B on one A100 these are 0.1 s and 0.5 s. Layers as Vidur has
///          measured them; attention, which its table leaves out, reads the KV at the board's
///          bandwidth.
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "inference/profile/model.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_sarathi(Recipes& registry);

namespace sarathi_recipe {
namespace {

constexpr const char* kLayers = "data/profiles/llm/vidur_layer_ms*.csv*";
constexpr double kSequences = 32, kContext = 4096;

/// Milliseconds of one layer's measured operators, by tokens of the batch; the mean where a number
/// of tokens was measured more than once.
std::map<double, double> read_layer(const File& file, std::string_view gpu, std::string_view model,
                                    std::int64_t gpus) {
  Rows rows(file.path, {"gpu", "model", "tensor_parallel", "tokens"});
  std::map<double, std::pair<double, int>> sums;
  while (rows.next()) {
    if (rows.text("gpu") != gpu || rows.text("model") != model ||
        rows.whole("tensor_parallel") != gpus) {
      continue;
    }
    double sum = 0;
    for (const std::string& column : rows.header()) {
      if (!column.ends_with("_ms")) continue;
      const double each = rows.number(column);
      rows.require(each >= 0, "expected times of 0 or more");
      sum += each;
    }
    auto& [total, count] = sums[rows.number("tokens")];
    total += sum;
    ++count;
  }
  std::map<double, double> made;
  for (const auto& [tokens, sum] : sums) made[tokens] = sum.first / sum.second;
  return made;
}

void objectives(Bench& bench, const File& file) {
  // llama-3-8b has the layers of Mistral-7B: the same widths, heads and KV heads.
  const auto layer = read_layer(file, "a100", "llama-3-8b", 1);
  const auto at = layer.find(kSequences);
  if (at == layer.end()) {
    return bench.note(file.name + " has no layer of llama-3-8b on one a100 for 32 tokens");
  }
  const auto model = value_or_throw(inference::find_model("llama-3.1-8b"));
  const auto board = value_or_throw(inference::find_board("a100-sxm"));
  const double read_s = kSequences * kContext * model.kv_bytes() / board.bandwidth;
  const double iteration_s = model.layer_count() * at->second / 1e3 + read_s;
  for (const auto& [name, times, published] :
       {std::tuple{"strict", 5, 0.1}, std::tuple{"relaxed", 25, 0.5}}) {
    bench.add(std::string("Mistral-7B, one A100: ") + name + " objective between tokens", published,
              times * iteration_s, "s");
  }
}

}  // namespace
}  // namespace sarathi_recipe

void register_sarathi(Recipes& registry) {
  using namespace sarathi_recipe;
  registry.add({.name = "sarathi",
                .summary = "Objectives between tokens that Sarathi-Serve derives, from measured "
                           "layers; its runs are not in the public data",
                .paper = "Agrawal et al., OSDI'24 (Sarathi-Serve), section 5",
                .kind = Kind::figure,
                .needs = {{kLayers, "microsoft/vidur"}},
                .make = [](Bench& bench) {
                  bench.each(kLayers, [&](const File& file) { objectives(bench, file); });
                  bench.note(
                      "latencies and capacities of Sarathi-Serve's runs are not compared: the "
                      "public data have neither their requests nor their rates, and no measured "
                      "layers of Yi-34B, Falcon-180B or of LLaMA2-70B on A40");
                }});
}

}  // namespace almanac::reproduce
