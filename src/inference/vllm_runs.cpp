// SPDX-License-Identifier: Apache-2.0

#include "inference/vllm_runs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace almanac::inference {
namespace {

/// Runs of a model on a board, on these numbers of GPUs (0 = unused place).
struct Entry {
  std::string_view board, model;
  std::array<int, 4> gpus{};
  MeasuredRuns runs{};         ///< Count 0 = among the evaluation runs of the board.
  bool own_attention = false;  ///< Whether some runs have data-parallel attention.
};

/// Source   the evaluation runs of inference-sim, and InferenceX with the weights that the model
///          has by default: recipe `league`.
constexpr std::array kEntries{
    Entry{"h100", "llama-3.1-8b", {1, 2}},
    Entry{"h100", "qwen3-14b", {1}},
    Entry{"h100", "codellama-34b", {2}},
    Entry{"h100", "llama-2-70b", {4}},
    Entry{"h100", "mixtral-8x7b", {2, 4}},
    Entry{"h100", "mixtral-8x22b", {8}},
    Entry{"a100", "qwen3-14b", {1}},
    Entry{"a100", "codellama-34b", {2}},
    Entry{"a100", "llama-2-70b", {4}},
    Entry{"l40s", "llama-3.1-8b", {1}},
    Entry{"l40s", "qwen3-14b", {1}},
    Entry{"h100", "qwen3-32b", {2, 8}, {60, 0.136}},
    Entry{"h100", "gpt-oss-120b", {2, 4, 8}, {69, 0.248}},
    Entry{"h200", "gpt-oss-120b", {1, 2}, {37, 0.059}},
    Entry{"b200", "gpt-oss-120b", {1, 4, 8}, {58, 0.249}},
    Entry{"h100", "minimax-m2.5", {4}, {15, 0.215}},
    Entry{"h200", "minimax-m2.5", {4}, {30, 0.143}},
    Entry{"b200", "minimax-m2.5", {2, 4}, {122, 0.441}, true},
    Entry{"b300", "minimax-m2.5", {1, 2, 4}, {53, 0.162}, true},
};

/// Files may bear the name of a built-in board or model.
bool is_built_in(const Board& board) {
  const auto known = find_board(board.name);
  return known && known->name == board.name && known->bandwidth == board.bandwidth &&
         known->bf16_flops == board.bf16_flops;
}
bool is_built_in(const Model& model) {
  const auto known = find_model(model.name);
  return known && known->bytes() == model.bytes();
}

const Entry* entry_of(const Service& service) {
  const auto* const found = std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& each) {
    return each.board == service.board.name && each.model == service.model.name &&
           std::find(each.gpus.begin(), each.gpus.end(), service.gpus) != each.gpus.end();
  });
  return found == kEntries.end() ? nullptr : found;
}

}  // namespace

std::optional<MeasuredRuns> measured_runs(const Service& service) {
  const Board& board = service.board;
  const MeasuredRuns of_board{board.checked_runs, board.end_to_end_error};
  if (!is_built_in(board) || service.model.layer_count() == 0) {
    return of_board.count > 0 ? std::optional(of_board) : std::nullopt;
  }
  const Entry* const entry = entry_of(service);
  if (entry == nullptr || !is_built_in(service.model)) return std::nullopt;
  return entry->runs.count > 0 ? entry->runs : of_board;
}

std::vector<std::string> unmeasured_options(const Service& service) {
  std::vector<std::string> made;
  const Entry* const entry = entry_of(service);
  if (service.speculation.drafts > 0) made.emplace_back("drafts");
  if (service.stages > 1) made.emplace_back("pipeline stages");
  if (service.prefill > 0) made.emplace_back("prefill-only replicas");
  if (service.data_attention && (entry == nullptr || !entry->own_attention)) {
    made.emplace_back("data-parallel attention");
  }
  if (service.adapters > 0) made.emplace_back("adapters");
  if (service.swap_gib > 0) made.emplace_back("swapping");
  if (service.former != "chunked") made.push_back(fmt::format("batches of {}", service.former));
  return made;
}

}  // namespace almanac::inference
