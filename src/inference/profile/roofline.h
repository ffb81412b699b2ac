// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times from first principles: each operation of an iteration takes the longer of its
/// arithmetic and its memory traffic, at the shares of the board's limits that kernels reach.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "inference/profile/board.h"
#include "inference/profile/model.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// GPUs assumed to be on one node.
inline constexpr int kNodeGpus = 8;

/// How the GPUs of a replica divide a model.
struct Layout {
  int gpus = 1;    ///< GPUs that compute each layer together.
  int stages = 1;  ///< Parts of the layers, each on its own `gpus`.
  /// Each GPU computes attention and dense layers for requests of its own; experts are divided
  /// (data-parallel attention with expert parallelism). Otherwise `gpus` divide every matrix.
  bool data_attention = false;
  double node_link = 0;  ///< Between nodes, bytes per second.
};

/// Time of an iteration beyond kernels.
///
/// Source   fitted to the 11 training stages that inference-sim published (vLLM 0.15.1, H100).
struct Launch {
  Micros iteration = 1000;  ///< The engine's work between iterations,
  Micros sequence = 20;     ///< and for each sequence.
  Micros layer = 4;         ///< Small kernels of a layer,
  double passes = 10;       ///< with this number of passes over its activations,
  double bandwidth = 0.8;   ///< at this share of the bandwidth.

  /// Returns the least that any engine needs: each layer reads and writes its activations.
  static Launch none() { return {0, 0, 0, 2, 1}; }
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
/// of the activations over the slowest link, Thakur et al. 2005). With data-parallel attention they
/// gather the tokens before each feed-forward block and scatter its sums after it.
///
/// Source   the roofline model (Williams et al., CACM 2009), by operation; shares as in Board.
class Roofline final : public StepTime {
 public:
  Roofline(const Model& model, Board board, Layout layout = {}, Launch launch = {});
  /// Returns whole microseconds, never less than the board's limits allow.
  Micros operator()(const Batch& batch) const override;
  /// O(prefills).
  Work work(const Batch& batch) const;

 private:
  struct Tokens;
  /// Matrices that are multiplied in one go: seconds, for one GPU.
  struct Matrices {
    double fixed_s = 0, bytes_s = 0, token_s = 0;
    double of(double tokens) const;
  };
  /// Layers of the same shape.
  struct Group {
    double count = 0;
    Matrices attention{}, dense{}, experts{};
    bool looks = false;
    double idle = 0;                             // probability that a token skips an expert
    double window = 0;                           // most tokens; infinite for all
    double prefill_flops = 0, decode_flops = 0;  // per token and token attended to, one GPU
    double kv_bytes = 0, state_bytes = 0;        // per token and per sequence, one GPU
    double exchanges = 0;                        // kernels of it, if GPUs compute together
    double gathered = 0;                         // times the activations that go over the link
    std::array<double, 5> flops{};               // per token
    double weight_bytes = 0, expert_bytes = 0;   // of one GPU
  };
  Matrices matrices(double weights, double uses, const Precision& precision, bool experts,
                    double kernels, double cut) const;
  double group_s(const Group& group, const Tokens& tokens) const;

  Board board_;
  Layout layout_;
  Launch launch_;
  Kernel prefill_, decode_, all_reduce_;
  double hidden_;
  double sum_link_ = 0, stage_link_ = 0;  // bytes per second; 0 for no time
  Matrices head_{};
  double head_weights_ = 0, head_bytes_ = 0;
  std::vector<Group> groups_;
};

}  // namespace almanac::inference
