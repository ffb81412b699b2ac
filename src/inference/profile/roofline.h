// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times from first principles: an iteration takes as long as its arithmetic or its traffic to
/// memory, whichever is longer, and the time to launch it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "inference/profile/board.h"
#include "inference/profile/model.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// GPUs that are taken to be on one node.
inline constexpr int kNodeGpus = 8;

/// Time that an iteration takes beyond arithmetic and memory: kernels that are launched layer by
/// layer, and the engine between two iterations.
///
/// Source   fitted as the shares of Board are (docs/guide/inference.md#the-roofline).
struct Launch {
  Micros layer = 49, iteration = 830, sequence = 18;
};

/// What an iteration cannot do without, on one of the GPUs that compute each layer together.
struct Work {
  /// Operations, by Arithmetic.
  std::array<double, 5> flops{};
  double bytes = 0;  ///< Read from memory or written there.
};

/// Weights are read once in an iteration: all matrices that every token passes, the experts that
/// its tokens choose (as many as there are on average if each token chooses evenly), and the output
/// head if a token is made. KV of tokens that are looked at is read once, that of new tokens
/// written. With windows the KV of decodes counts as if all contexts were alike.
///
/// GPUs that compute a layer together exchange two sums a layer (all-reduce in a ring: 2 (n - 1) /
/// n of the activations over the slowest link, Thakur et al. 2005). How long a link takes to begin
/// is part of Launch.
///
/// Source   the roofline model (Williams et al., CACM 2009); shares of the limits as Board has
/// them.
class Roofline final : public StepTime {
 public:
  /// `gpus` compute each layer together (tensor parallel), on nodes of kNodeGpus, between which
  /// there are `node_link` bytes a second; links of 0 take no time. Layers are in `stages` parts,
  /// each on GPUs of its own: activations go from one to the next.
  Roofline(const Model& model, Board board, int gpus, double node_link = 0, int stages = 1,
           Launch launch = {});
  /// Whole microseconds, never less than the work takes at the board's limits.
  Micros operator()(const Batch& batch) const override;
  /// O(prefills).
  Work work(const Batch& batch) const;

 private:
  /// Layers whose tokens look back equally far.
  struct Look {
    double prefill = 0, decode = 0;  // operations of a token for each token that it looks at
    double window = 0;               // tokens, at most; infinite = all
    double kv_bytes = 0;             // of a token
  };
  struct Mixture {
    double bytes = 0;  // of all experts of these layers
    double idle = 0;   // chance that a token does not choose an expert
  };
  double links_s(double tokens) const;

  Board board_;
  double gpus_;
  int stages_, layers_;
  double hidden_;
  Launch launch_;
  // Bytes a second of the slowest link among GPUs of a stage, and between stages; 0 = no time.
  double sum_link_ = 0, stage_link_ = 0;
  std::array<double, 5> token_flops_{};
  double head_flops_ = 0, head_bytes_ = 0, weight_bytes_ = 0, state_bytes_ = 0, kv_bytes_ = 0;
  std::vector<Look> looks_;
  std::vector<Mixture> mixtures_;
};

}  // namespace almanac::inference
