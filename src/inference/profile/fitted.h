// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times as straight lines fitted to measurements.
#pragma once

#include <string>

#include "base/result.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// Coefficients in microseconds: per iteration, per token, and per squared prompt length (prefill)
/// or per sequence (decode).
///
/// Source   Zhong et al., OSDI'24 (DistServe), the latency model of its simulator.
class Fitted final : public StepTime {
 public:
  struct Line {
    double iteration = 0, token = 0, third = 0;
  };
  static constexpr std::int64_t kManyDecodes = 95;

  /// `many` applies to batches of at least kManyDecodes sequences. `stages` share the layers
  /// (pipeline parallelism), and the result is the time of one stage. A prefill spends `hop` before
  /// the first stage and between stages. With `one_step`, prefill and decode tokens of a batch
  /// share the fixed cost of an iteration.
  Fitted(Line prefill, Line few, Line many, int stages, Micros hop = kHop, bool one_step = false)
      : prefill_(prefill),
        few_(few),
        many_(many),
        stages_(stages),
        hop_(hop),
        one_step_(one_step) {}
  /// Reads a table with the columns engine, model, tp, phase (prefill, decode_lt95, decode_ge95),
  /// intercept_ms, per_token_ms and third; optionally stage_ms and one_step (1). Fails with
  /// `not_found`, `invalid`.
  static Result<Fitted> read(const std::string& path, const std::string& engine,
                             const std::string& model, int gpus, int stages);
  static constexpr Micros kHop = 1e3;  ///< Default without a column stage_ms.

  /// Adds up prefills and decodes if the batch has both, unless one_step.
  Micros operator()(const Batch& batch) const override;

 private:
  Line prefill_, few_, many_;
  double stages_;
  Micros hop_;
  bool one_step_;
};

}  // namespace almanac::inference
