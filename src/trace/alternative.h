// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses the alternatives that a job accepts: "gpu:v100:4@0.8|cpu:32@0.1".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace almanac::trace {

/// A number of GPUs, or a number of cores without GPUs.
struct Alternative {
  int gpus = 0;                 ///< 0 for cores only.
  std::string_view gpu_type{};  ///< "" for any; part of the parsed text.
  float cpus = 0;               ///< If without GPUs; above 0.
  double rate = 1;              ///< Speed of the job there, relative to its request; above 0.
};

/// Parses alternatives, best first, separated by `|`. Each is `gpu:[TYPE:]N` or `cpu:N`, with
/// `@RATE` if the job is slower there. Returns nothing if the text has another form.
std::optional<std::vector<Alternative>> parse_alternatives(std::string_view text);

}  // namespace almanac::trace
