// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads from a line of a program's output how far its training has come.
///
/// Named groups of a pattern: `step` (a counter of steps), `samples` (a counter of samples), `rate`
/// (steps a second), `step_s` (seconds a step), `sample_rate` (samples a second); `total`, beside a
/// counter, tells one bar from another.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::profiling {

enum class Told { steps, samples, steps_a_second, samples_a_second };

/// What a line tells. Finite; a counter is 0 or more, a rate above 0.
struct Progress {
  Told told = Told::steps;
  double value = 0;
  /// Lines of one series count the same thing: a pattern, and the total of its bar.
  std::size_t pattern = 0;
  double total = 0;  ///< 0 = not told.
};

/// Programs whose lines are known.
struct ProgressPreset {
  std::string_view name;
  std::string_view about;
  std::vector<std::string_view> patterns;
};
std::span<const ProgressPreset> progress_presets();

/// Patterns ready to be used. Linear in the length of a line, whatever the pattern (RE2).
class ProgressReader {
 public:
  /// `how` is "auto" (all presets), the name of a preset, or a pattern with one of the groups.
  /// Fails with usage: the pattern is none, or has no group that is known.
  static Result<ProgressReader> create(const std::string& how);
  ProgressReader(ProgressReader&&) noexcept;
  ProgressReader& operator=(ProgressReader&&) noexcept;
  ~ProgressReader();

  /// The first pattern that finds something.
  std::optional<Progress> read(std::string_view line) const;
  /// Which preset, or "pattern", a Progress::pattern is of.
  std::string_view name(std::size_t pattern) const;

 private:
  struct Pattern;
  ProgressReader();
  Result<void> add(std::string_view name, const std::string& pattern);

  std::vector<std::unique_ptr<Pattern>> patterns_;
};

}  // namespace almanac::profiling
