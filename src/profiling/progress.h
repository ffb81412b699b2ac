// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the progress of a training from a line of its output.
///
/// Named groups of a pattern: `step` (a counter of steps), `samples` (a counter of samples), `rate`
/// (steps per second), `step_s` (seconds per step), `sample_rate` (samples per second). `total`,
/// next to a counter, distinguishes progress bars.
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

/// The unit of a Progress.
enum class Told { steps, samples, steps_a_second, samples_a_second };

/// The progress in a line. Values are finite; a counter is >= 0, a rate > 0.
struct Progress {
  Told told = Told::steps;
  double value = 0;
  /// Index of the pattern that matched. Lines with the same pattern and total form one series.
  std::size_t pattern = 0;
  double total = 0;  ///< 0 = the line has none.
};

/// A group of programs whose lines of progress are known.
struct ProgressPreset {
  std::string_view name;
  std::string_view about;
  std::vector<std::string_view> patterns;
};
std::span<const ProgressPreset> progress_presets();

/// Recognizes lines of progress. Cost: linear in the length of a line for any pattern (RE2).
class ProgressReader {
 public:
  /// `how` is "auto" (all presets), the name of a preset, or a pattern with one of the groups.
  /// Fails with usage if it is none of these.
  static Result<ProgressReader> create(const std::string& how);
  ProgressReader(ProgressReader&&) noexcept;
  ProgressReader& operator=(ProgressReader&&) noexcept;
  ~ProgressReader();

  /// Returns the progress by the first pattern that matches `line`; nothing if none does.
  std::optional<Progress> read(std::string_view line) const;
  /// Returns the preset of a Progress::pattern; "pattern" for one that the user gave.
  std::string_view name(std::size_t pattern) const;

 private:
  struct Pattern;
  ProgressReader();
  Result<void> add(std::string_view name, const std::string& pattern);

  std::vector<std::unique_ptr<Pattern>> patterns_;
};

}  // namespace almanac::profiling
