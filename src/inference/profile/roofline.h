// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times from first principles: an iteration takes as long as its arithmetic or its traffic to
/// memory, whichever is longer.
#pragma once

#include "inference/profile/model.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// GPUs that are taken to be on one node.
inline constexpr int kNodeGpus = 8;

/// What GPUs that compute a layer together tell each other comes on top: after attention and after
/// the feed-forward part each has a sum of what all have (all-reduce in a ring: 2 (n - 1) / n of
/// the activations over the slowest link, Thakur et al. 2005). How long a link takes to begin is
/// not counted, which makes short iterations of large groups look better than they are.
///
/// Source   the roofline latency model of inference-sim (BLIS).
/// Differs  inference-sim counts nothing for links; with none told this is the same. Whole
///          microseconds, at least 1.
class Roofline final : public StepTime {
 public:
  /// `gpus` compute each layer together (tensor parallel), on nodes of kNodeGpus, between which
  /// there are `node_link` bytes a second; links of 0 take no time. Layers are in so many `stages`,
  /// each on GPUs of its own: activations go from one to the next.
  Roofline(Model model, Board board, int gpus, double node_link = 0, int stages = 1);
  Micros operator()(const Batch& batch) const override;

 private:
  double flops(double tokens, double token_contexts) const;
  double links_s(double tokens) const;

  Model model_;
  Board board_;
  int gpus_, stages_;
  double link_ = 0;  // bytes a second of the slowest; 0 = takes no time
  // Asked in each iteration.
  double head_size_, kv_, projections_, mlp_, dense_weights_, prefill_peak_, decode_peak_;
};

}  // namespace almanac::inference
