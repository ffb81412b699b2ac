// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether what was fitted to measurements of a server describes it: requests that were held out,
/// as it answered them and as a simulation does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "inference/profile/fit.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

/// Requests of several lengths that came at random, and when a server answered them.
struct MixedLoad {
  Requests requests{};
  std::vector<Outcome> outcomes{};  ///< First token, finish and longest gap.
};

struct Tested {
  static constexpr double kMeanBound = 0.25, kTailBound = 0.5;
  /// One figure, measured and simulated, milliseconds.
  struct Figure {
    std::string name{};  ///< "TTFT mean"
    double measured_ms = 0, simulated_ms = 0;
    double bound = 0;
    /// Of what was measured.
    double off() const;
  };
  std::vector<Figure> figures{};  ///< Mean and p99 of TTFT, TPOT and time to the last token.
  std::string warning{};  ///< As Measured has it: empty where no figure is off by more than its
                          ///< bound.
};

/// Requests a second of which an engine of `lines` is busy for half of the time if it computes
/// `together` at once, or as many as it has slots. Their mean lengths are tokens.
double half_load(const FittedLines& lines, int together, double prompt, double output);

/// How the server computes prompts and tokens that are there together, by the end-to-end times of a
/// load that it answered: which of the two FittedLines::one_step is nearer on the mean.
bool one_step(const FittedLines& lines, const MixedLoad& load);

/// Plays the requests as they came, by `lines`, and compares. The likely reasons of a difference
/// are those that `probes` and the requests show. O(requests' tokens).
Tested test(const FittedLines& lines, std::span<const Probe> probes, const MixedLoad& held_out);

}  // namespace almanac::inference
