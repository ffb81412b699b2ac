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
  Fitted(Line prefill, Line few, Line many, int stages, Micros hop = kHop)
      : prefill_(prefill), few_(few), many_(many), stages_(stages), hop_(hop) {}
  /// Of a table with the columns engine, model, tp, phase (prefill, decode_lt95, decode_ge95),
  /// intercept_ms, per_token_ms, third. Fails with not_found, invalid.
  static Result<Fitted> read(const std::string& path, const std::string& engine,
                             const std::string& model, int gpus, int stages);

  /// Of such a table with one engine, model and tp, as `almanac inference profile` writes it. Fails
  /// also with invalid where there are several.
  static Result<Fitted> read(const std::string& path);
  static constexpr Micros kHop = 1e3;  ///< Where a table has no column stage_ms.

  /// Prefills, then decodes where the batch has both: the fit knows no mixed ones.
  Micros operator()(const Batch& batch) const override;

 private:
  Line prefill_, few_, many_;
  double stages_;
  Micros hop_;
};

}  // namespace almanac::inference
