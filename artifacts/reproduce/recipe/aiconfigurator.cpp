// SPDX-License-Identifier: Apache-2.0

/// \file
/// Outputs that AIConfigurator recorded for its own tests, next to the step times that --times
/// makes of the same kernel tables.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "inference/profile/kernel_tables.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_aiconfigurator(Recipes& registry);

namespace aiconfigurator_recipe {
namespace {

using namespace inference;

constexpr const char* kOutputs = "data/llm/measured/aic_golden_engine_step.csv";

/// As the program reads models with latent attention: the first, dense layers are like the others,
/// and models of 8 bits have a KV cache of 8 bits.
Model latent_model(Model model) {
  Layers all = model.layers.back();
  all.count = model.layer_count();
  model.layers = {all};
  if (model.experts.arithmetic == Arithmetic::fp8) model.kv_number_bytes = 1;
  return model;
}

/// The model of a case; nothing if tables of kernels do not describe its layers.
std::optional<Model> model_of(std::string_view path) {
  static const std::map<std::string, std::string, std::less<>> kNames{
      {"meta-llama/Meta-Llama-3.1-8B", "llama-3.1-8b"},
      {"meta-llama/Meta-Llama-3.1-70B", "llama-3.1-70b"},
      {"meta-llama/Meta-Llama-3.1-405B", "llama-3.1-405b"},
      {"Qwen/Qwen3-32B", "qwen3-32b"},
      {"Qwen/Qwen3-8B", "qwen3-8b"},
      {"Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b"},
      {"Qwen/Qwen3-235B-A22B", "qwen3-235b-a22b"},
      {"MiniMaxAI/MiniMax-M2.5", "minimax-m2.5"},
      {"MiniMaxAI/MiniMax-M2.7", "minimax-m2.5"}};  // the same sizes
  if (path == "deepseek-ai/DeepSeek-V3")
    return latent_model(value_or_throw(find_model("deepseek-v3")));
  if (path == "moonshotai/Kimi-K2.5") {
    // The sizes of K2, with experts of 4 bits.
    Model made = value_or_throw(find_model("kimi-k2"));
    made.attention = made.dense = {};
    made.experts = {.bytes = 0.5, .arithmetic = Arithmetic::weights_only};
    return latent_model(std::move(made));
  }
  const auto found = kNames.find(path);
  if (found == kNames.end()) return std::nullopt;
  return value_or_throw(find_model(found->second));
}

/// Milliseconds of a static batch: its prompts, and all tokens after the first. Positions are
/// sampled 32 apart, as the program does.
struct Static {
  double prompts = 0, tokens = 0;
};
Static play_static(const StepTime& step, std::int32_t batch, std::int32_t prompt,
                   std::int32_t output, std::int32_t cached) {
  constexpr std::int32_t kStride = 32;
  Batch first;
  for (std::int32_t each = 0; each < batch; ++each) {
    // It is not the last part of its prompt: the program counts no output head here.
    first.prefills.push_back({.done = cached, .fresh = prompt - cached, .prompt = prompt + 1});
  }
  Static made{.prompts = step(first) / 1e3};
  for (std::int32_t at = 0; at < output - 1; at += kStride) {
    const Micros one = step({.decodes = batch, .context = std::int64_t{batch} * (prompt + at)});
    made.tokens += std::min(kStride, output - 1 - at) * one / 1e3;
  }
  return made;
}

void compare(Bench& bench, const File& file) {
  Rows rows(file.path,
            {"model_path", "system_name", "backend_name", "backend_version", "batch_size", "isl",
             "osl", "prefix", "tp_size", "pp_size", "attention_dp_size", "moe_tp_size",
             "moe_quant_mode", "database_mode", "nextn", "static_ctx", "static_gen"});
  const std::string folder = file.path.substr(0, file.path.rfind('/') + 1);
  int all = 0, covered = 0, close = 0;
  double worst = 0;
  while (rows.next()) {
    if (rows.text("backend_name") != "vllm" || rows.text("backend_version") != "0.19.0" ||
        rows.text("database_mode") != "SILICON" || rows.text("static_ctx").empty()) {
      continue;
    }
    const std::string prefix = folder + std::string(rows.text("system_name"));
    if (find_kernel_tables(prefix).empty()) continue;
    ++all;
    const auto model = model_of(rows.text("model_path"));
    if (!model || rows.number("pp_size") != 1 || rows.number("attention_dp_size") != 1 ||
        rows.number("nextn") != 0 || !rows.text("moe_quant_mode").empty()) {
      continue;
    }
    const auto whole = [&](const char* column) {
      return static_cast<std::int32_t>(rows.number(column));
    };
    const Board board = value_or_throw(find_board(rows.text("system_name")));
    const int gpus = whole("tp_size");
    const Layout layout{.gpus = gpus, .whole_experts = whole("moe_tp_size") < gpus};
    const auto step = value_or_throw(
        read_kernel_tables(prefix, *model, board, layout, Launch{.iteration = 0, .sequence = 0}));
    const Static ours =
        play_static(*step, whole("batch_size"), whole("isl"), whole("osl"), whole("prefix"));
    ++covered;
    bool is_close = true;
    for (const auto& [what, theirs, made] :
         {std::tuple("prompts", rows.number("static_ctx"), ours.prompts),
          std::tuple("tokens", rows.number("static_gen"), ours.tokens)}) {
      constexpr double kClose = 3;
      const double off = 100 * std::abs(made / theirs - 1);
      worst = std::max(worst, off);
      is_close = is_close && off <= kClose;
      bench.add(fmt::format("{} on {} {}, batch of {}, {} in and {} out, {} cached: {}",
                            model->name, gpus, board.name, whole("batch_size"), whole("isl"),
                            whole("osl"), whole("prefix"), what),
                theirs, made, "ms");
    }
    close += is_close ? 1 : 0;
  }
  bench.add("cases within 3 %", covered, close, "cases");
  bench.add("largest difference", 0, worst, "%");
  bench.note(fmt::format(
      "Compared are the time of a static batch's prompts and of its other tokens, for {} of {} "
      "outputs by tables of vLLM 0.19.0. The others are models with sparse or windowed attention, "
      "recurrent layers or layers of several sizes, which tables do not describe here.",
      covered, all));
}

void make(Bench& bench) {
  bench.each(kOutputs, [&](const File& file) { compare(bench, file); });
}

}  // namespace
}  // namespace aiconfigurator_recipe

void register_aiconfigurator(Recipes& registry) {
  using namespace aiconfigurator_recipe;
  registry.add({.name = "aiconfigurator",
                .summary = "step times that AIConfigurator composes of its kernel tables",
                .paper = "AIConfigurator 0.11, recorded outputs of its tests",
                .kind = Kind::rerun,
                .needs = {{kOutputs, "github.com/ai-dynamo/aiconfigurator, its parity tests"}},
                .make = make});
}

}  // namespace almanac::reproduce
