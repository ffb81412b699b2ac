// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads what a job would take instead of what it asks: "gpu:v100:4@0.8|cpu:32@0.1".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace almanac::trace {

/// So many GPUs, or so many cores and no GPU.
struct Alternative {
  int gpus = 0;                 ///< 0 = cores alone.
  std::string_view gpu_type{};  ///< "" = any; part of the text that was read.
  float cpus = 0;               ///< Of one without GPUs; above 0.
  double rate = 1;              ///< The job's speed there, beside that on what it asks; above 0.
};

/// Best first, separated by `|`, each `gpu:[TYPE:]N` or `cpu:N` with `@RATE` where the job is not
/// as fast there. Nothing where the text is not like that.
std::optional<std::vector<Alternative>> parse_alternatives(std::string_view text);

}  // namespace almanac::trace
