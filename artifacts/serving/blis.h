// SPDX-License-Identifier: Apache-2.0

/// \file
/// The step times of inference-sim (BLIS), faults included: its reading of models and boards, its
/// roofline, and its trained model. Only its recipe may include this.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inference/step_time.h"

namespace almanac::serving {

/// A decoder as inference-sim reads its config.json. Faults: every head is hidden / heads wide, and
/// half of the layers of Llama 4 Scout are dense.
struct BlisModel {
  std::string name{};
  int layers = 0, hidden = 0, heads = 0, kv_heads = 0;
  int mlp = 0;  ///< Width of the feed-forward part of a dense layer.
  int moe_layers = 0, experts = 0, active_experts = 0, expert_mlp = 0;
  int weight_bytes = 2;

  int dense_layers() const { return layers - moe_layers; }
  double head_size() const { return static_cast<double>(hidden) / heads; }
  double kv_size() const { return kv_heads * head_size(); }
};

/// A GPU as inference-sim has it. Fault: the fp8 peak of the L40S is that of sparse matrices.
struct BlisBoard {
  std::string name{};
  double flops = 0, fp8_flops = 0;  ///< A second; fp8 0 = it has none.
  double bandwidth = 0;             ///< Bytes a second.
  double prefill_use = 0, decode_use = 0;

  double peak(int weight_bytes) const {
    return weight_bytes == 1 && fp8_flops > 0 ? fp8_flops : flops;
  }
};

/// Finds the one whose name begins `name`, after an owner and '/'; upper and lower case are the
/// same. Fail with not_found.
Result<BlisModel> find_blis_model(std::string_view name);
Result<BlisBoard> find_blis_board(std::string_view name);

/// An iteration takes as long as its arithmetic or its traffic to memory, whichever is longer;
/// whole microseconds, at least 1. Faults: two of the three matrices of feed-forward parts count,
/// and neither embedding nor head.
///
/// Source   the roofline latency model of inference-sim.
class BlisRoofline final : public inference::StepTime {
 public:
  BlisRoofline(BlisModel model, BlisBoard board, int gpus);
  inference::Micros operator()(const inference::Batch& batch) const override;

 private:
  double flops(double tokens, double token_contexts) const;

  BlisModel model_;
  int gpus_;
  double bandwidth_, head_size_, kv_, projections_, mlp_, dense_weights_;
  double prefill_peak_, decode_peak_;
};

/// Terms that come from physics, with weights that were fitted to measured runs.
///
/// Source   the trained latency model of inference-sim.
class BlisTrained final : public inference::StepTime {
 public:
  using Weights = std::array<double, 10>;
  BlisTrained(BlisModel model, BlisBoard board, int gpus, const Weights& weights);
  inference::Micros operator()(const inference::Batch& batch) const override;

 private:
  double ffn(double tokens) const;

  BlisModel model_;
  Weights b_;
  double gpus_;
  double flops_;      // a microsecond
  double bandwidth_;  // bytes a microsecond
};

}  // namespace almanac::serving
