// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference model: what Almanac understands of a model.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/figure_rows.h"
#include "cli/list_options.h"
#include "figure/rows_json.h"
#include "inference/profile/model.h"

namespace almanac::cli {

void register_inference_model(Program& program);

namespace {

using inference::Layers;
using inference::Mixer;
using inference::Model;

struct ModelOptions {
  std::string model;
  ListOptions list;
};

const char* attention_of(const Model& model, const Layers& layers) {
  switch (layers.mixer) {
    case Mixer::latent:
      return "MLA";
    case Mixer::recurrent:
      return "recurrent";
    case Mixer::none:
      return "none";
    case Mixer::heads:
      break;
  }
  return layers.kv_parts == model.heads ? "MHA" : layers.kv_parts == 1 ? "MQA" : "GQA";
}

std::int64_t whole(double value) { return std::llround(value); }

Answer answer_of(const Model& model) {
  std::set<std::string> kinds;
  std::int64_t kv_heads = 0, experts = 0, chosen = 0, with_experts = 0, window = 0;
  double shared = 0;
  for (const Layers& each : model.layers) {
    if (each.mixer != Mixer::none) kinds.insert(attention_of(model, each));
    if (each.mixer == Mixer::heads) kv_heads = std::max<std::int64_t>(kv_heads, each.kv_parts);
    window = std::max(window, each.window);
    if (each.experts == 0) continue;
    experts = each.experts;
    chosen = each.chosen;
    with_experts += each.count;
    shared = each.expert > 0 ? each.dense / each.expert : 0;
  }
  const figure::Cell none;
  return {{"model", model.name},
          {"model_type", model.type},
          {"parameters", whole(model.weights())},
          {"active_parameters", whole(model.active_weights())},
          {"weight_bytes", whole(model.bytes())},
          {"kv_bytes_per_token", whole(model.kv_bytes())},
          {"state_bytes", whole(model.state_bytes())},
          {"layers", model.layer_count()},
          {"hidden_size", model.hidden},
          {"attention", fmt::format("{}", fmt::join(kinds, ", "))},
          {"attention_heads", model.heads},
          {"kv_heads", kv_heads > 0 ? figure::Cell(kv_heads) : none},
          {"sliding_window", window > 0 ? figure::Cell(window) : none},
          {"experts", experts},
          {"experts_per_token", chosen},
          {"shared_experts", shared},
          {"layers_with_experts", with_experts},
          {"tied_embeddings", model.head == 0},
          {"bytes_per_weight", model.bytes() / model.weights()},
          {"bytes_per_kv_value", model.kv_number_bytes}};
}

/// Layers of the same shape, a row each.
figure::Listing groups_of(const Model& model) {
  figure::Rows rows(model.layers);
  rows.add("layers", &Layers::count);
  rows.add("attention", [&](const Layers& each) { return attention_of(model, each); });
  rows.add("window", [](const Layers& each) {
    return each.window > 0 ? figure::Cell(each.window) : figure::Cell();
  });
  rows.add("attention_parameters", [](const Layers& each) { return whole(each.attention); });
  rows.add("dense_parameters", [](const Layers& each) { return whole(each.dense); });
  rows.add("experts", &Layers::experts);
  rows.add("expert_parameters", [](const Layers& each) { return whole(each.expert); });
  rows.add("kv_bytes_per_token",
           [&](const Layers& each) { return model.kv_number_bytes * each.kv; });
  return rows;
}

Result<int> show_model(const ModelOptions& options) {
  const auto model = inference::load_model(options.model);
  if (!model) return tl::unexpected(model.error());
  const Answer answer = answer_of(*model);
  if (options.list.wants_document()) {
    nlohmann::ordered_json made;
    for (const auto& [name, value] : answer) made[name] = figure::to_value(value);
    made["layer_groups"] = figure::to_array(groups_of(*model));
    fmt::print("{}\n", made.dump(2));
    return kDone;
  }
  const auto shown = show_answer(options.list, answer);
  if (shown && options.list.explains()) {
    fmt::print("\nOne layer of each kind:\n{}", groups_of(*model).table(table_form()));
  }
  return shown;
}

}  // namespace

void register_inference_model(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("model", "Show weights, KV cache and layers of a model");
  const auto options = std::make_shared<ModelOptions>();
  command
      .add_option("MODEL", options->model,
                  "A name such as llama-3.1-8b, a config.json, or a model file (TOML)")
      ->required();
  options->list.add_to(command);
  add_example(command, "almanac inference model config.json -o json");
  program.on(command, [options] { return show_model(*options); });
}

}  // namespace almanac::cli
