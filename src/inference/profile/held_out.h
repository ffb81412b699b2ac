// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tests fitted coefficients on held-out requests: compares the measured latencies of a server with
/// simulated ones.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "inference/profile/fit.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

/// Requests of several lengths at random times, and when a server answered them.
struct MixedLoad {
  Requests requests{};
  std::vector<Outcome> outcomes{};  ///< First token, finish and longest gap are set.
};

struct Tested {
  static constexpr double kMeanBound = 0.25, kTailBound = 0.5;
  /// One metric, measured and simulated, in milliseconds.
  struct Figure {
    std::string name{};  ///< "TTFT mean"
    double measured_ms = 0, simulated_ms = 0;
    double bound = 0;
    /// Returns the error relative to the measurement.
    double off() const;
  };
  std::vector<Figure> figures{};  ///< Mean and p99 of TTFT, TPOT and time to the last token.
  /// See Measured: empty if every figure is within its tolerance.
  std::string warning{};
};

/// Returns the request rate per second at which an engine with `lines` is busy half of the time, if
/// it computes `together` requests at once, or as many as it has slots. `prompt` and `output` are
/// mean lengths in tokens.
double half_load(const FittedLines& lines, int together, double prompt, double output);

/// Returns whether the server computes prefills and decodes in one step: whichever value of
/// FittedLines::one_step matches the measured end-to-end times better on average.
bool one_step(const FittedLines& lines, const MixedLoad& load);

/// Simulates the held-out requests with `lines` and compares. The warning names the likely causes
/// that `probes` and the requests show. O(requests' tokens).
Tested test(const FittedLines& lines, std::span<const Probe> probes, const MixedLoad& held_out);

}  // namespace almanac::inference
