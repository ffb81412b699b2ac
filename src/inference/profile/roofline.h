// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times from first principles: each operation of an iteration takes the longer of its
/// arithmetic and its memory traffic, at the shares of the board's limits that kernels reach.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inference/profile/board.h"
#include "inference/profile/model.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// GPUs assumed to be on one node.
inline constexpr int kNodeGpus = 8;
/// Bytes of a number of activations.
inline constexpr double kActivationBytes = 2;

/// Speculative decoding: an iteration verifies `drafts` drafted tokens of each sequence at once.
struct Speculation {
  int drafts = 0;         ///< 0 = none.
  double acceptance = 0;  ///< Probability that a draft is right if those before it are.

  /// Returns the expected tokens per sequence and iteration.
  ///
  /// Source   Leviathan et al., ICML 2023, equation 1.
  double tokens() const;
};

/// How the GPUs of a replica divide a model.
struct Layout {
  int gpus = 1;    ///< GPUs that compute each layer together.
  int stages = 1;  ///< Parts of the layers, each on its own `gpus`.
  /// Each GPU computes attention and dense layers for requests of its own, and has whole experts
  /// (data-parallel attention with expert parallelism). Otherwise `gpus` divide every matrix.
  bool data_attention = false;
  /// Each GPU has whole experts instead of a part of each (expert parallelism).
  bool whole_experts = false;
  double node_link = 0;  ///< Between nodes, bytes per second.
  Speculation speculation{};
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
  /// A message from one node to another takes this and the time of its bytes (AIConfigurator).
  Micros message = 10;

  /// Returns the least that any engine needs: each layer reads and writes its activations.
  static Launch none() { return {0, 0, 0, 2, 1, 0}; }
};

/// An iteration reads each weight once: all matrices that every token uses, the experts that its
/// tokens select (the expected number if each token selects uniformly), and the output head if it
/// produces a token. It reads the KV cache of attended tokens once, and writes that of new tokens.
/// With windows, the KV cache of decodes counts as if all contexts had the same length.
///
/// GPUs that compute a layer together exchange two sums per layer (ring all-reduce: 2 (n - 1) / n
/// of the activations over the slowest link, Thakur et al. 2005). With data-parallel attention they
/// gather the tokens before each feed-forward block and scatter its sums after it. Across n nodes a
/// gathering or scattering needs ceil(log2 n) messages one after the other, a sum twice as many.
///
/// Other work is divided evenly among GPUs, except what cannot be: with data-parallel attention a
/// sequence is computed by one GPU, so a step waits for the GPU with the most sequences or with the
/// longest chunk; and if GPUs have whole experts, one of them reads at least its part of those of
/// one token, rounded up.
///
/// With speculation an iteration multiplies all drafted tokens, and reads weights and KV once. Each
/// draft is one pass of a small model: a layer and the output head (Li et al., 2024, EAGLE). The
/// simulation takes one token per iteration, so the time of decodes is divided by the expected
/// tokens.
///
/// Weights of 8 bits take the kernel of 8 bits. If that was not measured on the board itself, they
/// take the one of 16 bits where it is faster, which widens them as it reads them: an engine can
/// always do so (Frantar et al., 2024, Marlin), so only a measurement says that 8 bits are slower.
///
/// Source   the roofline model (Williams et al., CACM 2009), by operation; shares as in Board.
class Roofline final : public StepTime {
 public:
  Roofline(const Model& model, Board board, Layout layout = {}, Launch launch = {});
  /// Returns whole microseconds, never less than the board's limits allow.
  Micros operator()(const Batch& batch) const override;

 private:
  struct Tokens;
  /// A kernel for matrices that are multiplied in one go: seconds, for one GPU.
  struct Line {
    double fixed_s = 0, bytes_s = 0, token_s = 0;
    /// If it reads `share` of the bytes.
    double of(double tokens, double share) const;
  };
  /// Takes the faster of two kernels.
  struct Matrices {
    Line narrow{}, wide{};
    double of(double tokens, double share = 1) const;
  };
  /// Layers of the same shape.
  struct Group {
    double count = 0;
    double least_experts = 0;  // part of a GPU's experts that one of the GPUs reads at least
    Matrices attention{}, dense{}, router{}, experts{};
    bool has_experts = false, looks = false;
    double idle = 0;                             // probability that a token skips an expert
    double window = 0;                           // most tokens; infinite for all
    double prefill_flops = 0, decode_flops = 0;  // per token and token attended to, one GPU
    double kv_bytes = 0, state_bytes = 0;        // per token and per sequence, one GPU
    double exchanges = 0;                        // kernels of it, if GPUs compute together
    double gathered = 0;                         // times the activations that go over the link
    double messages = 0;                         // from node to node, one after the other
  };
  Matrices matrices(double weights, double uses, const Precision& precision, bool experts,
                    double kernels, double cut) const;
  double even(double sum, double largest) const;
  double even_decodes(const Tokens& tokens) const;
  double even_tokens(const Tokens& tokens) const;
  double group_s(const Group& group, const Tokens& tokens) const;
  double batch_s(const Tokens& tokens) const;
  double drafts_s(const Tokens& tokens) const;

  Board board_;
  Layout layout_;
  Launch launch_;
  Kernel prefill_, decode_, all_reduce_;
  double hidden_;
  double sum_link_ = 0, stage_link_ = 0;  // bytes per second; 0 for no time
  Matrices head_{};
  std::vector<Group> groups_;
};

/// Returns whether a token of one sequence takes at least 5 % longer than if all weights had 16
/// bits. Borrowed kernels of 8 bits never say so.
bool is_slower_than_16_bits(const Model& model, const Board& board, const Layout& layout);

}  // namespace almanac::inference
