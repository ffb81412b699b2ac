// SPDX-License-Identifier: Apache-2.0

/// \file
/// A submission while its options are read: some say something only together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/job.h"

namespace almanac::submission {

struct Draft {
  store::Submission asked{};
  Time now{};
  std::vector<std::string> notes{};  ///< On the current option.

  // Slurm's options per task, core, GPU or node.
  std::optional<std::int32_t> nodes{};
  std::optional<std::int32_t> tasks{};
  std::optional<std::int32_t> tasks_per_node{};
  std::optional<std::int32_t> cpus_per_task{};
  std::optional<std::int32_t> cpus_per_gpu{};
  std::optional<std::int32_t> gpus_per_task{};
  std::optional<std::int32_t> gpus_per_node{};
  std::optional<std::int32_t> segment_nodes{};  ///< Nodes that must share a block.
  std::optional<double> memory_gb_per_node{};
  std::optional<double> memory_gb_per_cpu{};
  std::optional<double> memory_gb_per_gpu{};

  /// Makes totals of these. Fails with invalid when they are more than there can be.
  Result<void> settle();
  /// Sets the environment variables by which Slurm passes per-task options to a script; removes
  /// inherited ones.
  void tell_as_slurm();
};

/// Whether an option takes an argument.
enum class Argument : std::uint8_t { none, needed, optional };

/// An option and its effect. A failure with `invalid` says what the argument must be ("a whole
/// number"), other failures say what is wrong; the reader of the line adds where, and what was
/// found.
struct Option {
  std::string_view name;
  char letter = '\0';  ///< '\0' for none.
  Argument argument = Argument::needed;
  std::function<Result<void>(Draft& draft, std::string_view argument)> apply{};
  /// For an unsupported option, without `apply`: what to use instead.
  std::string_view instead{};
  std::string_view value{};  ///< Name of its argument in --help.
  std::string help{};
};

/// Applies words such as "--gpus 2 --time=1:00 -n4 -H" to `draft`. Fails with `invalid`, naming the
/// nearest option, or `unsupported`; `where` is the place of the words.
Result<void> apply_words(const std::vector<std::string>& words, const std::vector<Option>& options,
                         const Where& where, Draft& draft);

/// Options of `#ALMANAC` and of `almanac submit`: the attributes in store/ask.h.
const std::vector<Option>& own_options();
/// Options of `#SBATCH`.
const std::vector<Option>& slurm_options();

}  // namespace almanac::submission
