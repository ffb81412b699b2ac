// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times as straight lines fitted to measurements.
#pragma once

#include <string>

#include "base/result.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// Coefficients, microseconds: of an iteration, of a token, and of a squared prompt length
/// (prefills) or of a sequence (decodes).
///
/// Source   Zhong et al., OSDI'24 (DistServe), the latency model of its simulator.
class Fitted final : public StepTime {
 public:
  struct Line {
    double iteration = 0, token = 0, third = 0;
  };
  static constexpr std::int64_t kManyDecodes = 95;

  /// `many` is for batches of kManyDecodes sequences or more; `stages` share the layers (pipeline
  /// parallel), and the time is that of one of them.
  /// Between stages, and before the first, a prefill spends `hop`.
  /// With `one_step` prompts and tokens of a batch share what an iteration takes by itself.
  Fitted(Line prefill, Line few, Line many, int stages, Micros hop = kHop, bool one_step = false)
      : prefill_(prefill),
        few_(few),
        many_(many),
        stages_(stages),
        hop_(hop),
        one_step_(one_step) {}
  /// Of a table with the columns engine, model, tp, phase (prefill, decode_lt95, decode_ge95),
  /// intercept_ms, per_token_ms, third, and where they are there stage_ms and one_step (1). Fails
  /// with not_found, invalid.
  static Result<Fitted> read(const std::string& path, const std::string& engine,
                             const std::string& model, int gpus, int stages);
  static constexpr Micros kHop = 1e3;  ///< Where a table has no column stage_ms.

  /// Prefills, then decodes where the batch has both, or both in one step.
  Micros operator()(const Batch& batch) const override;

 private:
  Line prefill_, few_, many_;
  double stages_;
  Micros hop_;
  bool one_step_;
};

}  // namespace almanac::inference
