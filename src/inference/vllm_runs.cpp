// SPDX-License-Identifier: Apache-2.0

#include "inference/vllm_runs.h"

#include <algorithm>

#include <fmt/format.h>

namespace almanac::inference {
namespace {

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

const CheckedModel* runs_of(const Service& service) {
  const auto& all = service.board.checked_models;
  const auto found = std::find_if(all.begin(), all.end(), [&](const CheckedModel& each) {
    return each.model == service.model.name &&
           std::find(each.gpus.begin(), each.gpus.end(), service.gpus) != each.gpus.end();
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::optional<MeasuredRuns> measured_runs(const Service& service) {
  const Board& board = service.board;
  const MeasuredRuns of_board{board.checked_runs, board.end_to_end_error};
  if (!is_built_in(board) || service.model.layer_count() == 0) {
    return of_board.count > 0 ? std::optional(of_board) : std::nullopt;
  }
  const CheckedModel* const runs = runs_of(service);
  if (runs == nullptr || !is_built_in(service.model)) return std::nullopt;
  return runs->runs > 0 ? MeasuredRuns{runs->runs, runs->end_to_end_error} : of_board;
}

std::vector<std::string> unmeasured_options(const Service& service) {
  std::vector<std::string> made;
  const CheckedModel* const runs = runs_of(service);
  if (service.speculation.drafts > 0) made.emplace_back("drafts");
  if (service.stages > 1) made.emplace_back("pipeline stages");
  if (service.prefill > 0) made.emplace_back("prefill-only replicas");
  if (service.data_attention && (runs == nullptr || !runs->data_attention)) {
    made.emplace_back("data-parallel attention");
  }
  if (service.adapters > 0) made.emplace_back("adapters");
  if (service.swap_gib > 0) made.emplace_back("swapping");
  if (service.former != "chunked") made.push_back(fmt::format("batches of {}", service.former));
  return made;
}

}  // namespace almanac::inference
