// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times from first principles: an iteration takes the longer of its arithmetic and its memory
/// traffic, plus launch overhead.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "inference/profile/board.h"
#include "inference/profile/model.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// GPUs assumed to be on one node.
inline constexpr int kNodeGpus = 8;

/// Time of an iteration beyond arithmetic and memory: kernel launches per layer, and the engine's
/// work between iterations.
///
/// Source   fitted like the utilizations of Board (docs/guide/inference.md#the-roofline).
struct Launch {
  Micros layer = 49, iteration = 830, sequence = 18;
};

/// Minimum work of an iteration, on one of the GPUs that compute each layer together.
struct Work {
  /// Operations, by Arithmetic.
  std::array<double, 5> flops{};
  double bytes = 0;  ///< Read from or written to memory.
};

/// An iteration reads each weight once: all matrices that every token uses, the experts that its
/// tokens select (the expected number if each token selects uniformly), and the output head if it
/// produces a token. It reads the KV cache of attended tokens once, and writes that of new tokens.
/// With windows, the KV cache of decodes counts as if all contexts had the same length.
///
/// GPUs that compute a layer together exchange two sums per layer (ring all-reduce: 2 (n - 1) / n
/// of the activations over the slowest link, Thakur et al. 2005). Link latency is part of Launch.
///
/// Source   the roofline model (Williams et al., CACM 2009); utilizations as in Board.
class Roofline final : public StepTime {
 public:
  /// `gpus` compute each layer together (tensor parallelism), on nodes of kNodeGpus with
  /// `node_link` bytes per second between nodes; links of 0 take no time. Layers are split into
  /// `stages`, each on its own GPUs; activations pass from stage to stage.
  Roofline(const Model& model, Board board, int gpus, double node_link = 0, int stages = 1,
           Launch launch = {});
  /// Returns whole microseconds, never less than the board's limits allow.
  Micros operator()(const Batch& batch) const override;
  /// O(prefills).
  Work work(const Batch& batch) const;

 private:
  /// Layers with the same attention window.
  struct Look {
    double prefill = 0, decode = 0;  // operations per token and token attended to
    double window = 0;               // most tokens; infinite for all
    double kv_bytes = 0;             // per token
  };
  struct Mixture {
    double bytes = 0;  // of all experts of these layers
    double idle = 0;   // probability that a token does not select an expert
  };
  double links_s(double tokens) const;

  Board board_;
  double gpus_;
  int stages_, layers_;
  double hidden_;
  Launch launch_;
  // bytes per second of the slowest link among GPUs of a stage, and between stages; 0 for no time
  double sum_link_ = 0, stage_link_ = 0;
  std::array<double, 5> token_flops_{};
  double head_flops_ = 0, head_bytes_ = 0, weight_bytes_ = 0, state_bytes_ = 0, kv_bytes_ = 0;
  std::vector<Look> looks_;
  std::vector<Mixture> mixtures_;
};

}  // namespace almanac::inference
