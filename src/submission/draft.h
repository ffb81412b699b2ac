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
  std::vector<std::string> notes{};  ///< Of the option that is read.

  // What Slurm says for each task, core, GPU or node.
  std::optional<std::int32_t> tasks{};
  std::optional<std::int32_t> tasks_per_node{};
  std::optional<std::int32_t> cpus_per_task{};
  std::optional<std::int32_t> cpus_per_gpu{};
  std::optional<std::int32_t> gpus_per_task{};
  std::optional<double> memory_gb_per_cpu{};
  std::optional<double> memory_gb_per_gpu{};

  /// Makes totals of these. Fails with invalid when they are more than there can be.
  Result<void> settle();
  /// What Slurm tells a script of what its lines ask for each task, as variables of the
  /// environment; those that are there from elsewhere go.
  void tell_as_slurm();
};

/// What an option may be followed by.
enum class Argument : std::uint8_t { none, needed, optional };

/// An option and what it does. Failing with invalid, it says what its argument must be ("a whole
/// number"), with another code what is wrong; the reader of the line says where and what was found.
struct Option {
  std::string_view name;
  char letter = '\0';  ///< '\0' = it has none.
  Argument argument = Argument::needed;
  std::function<Result<void>(Draft& draft, std::string_view argument)> apply{};
  std::string_view instead{};  ///< Of one without `apply`, which is known and not done: what does.
  std::string_view value{};    ///< What --help calls its argument.
  std::string help{};
};

/// Applies words as "--gpus 2 --time=1:00 -n4 -H" to `draft`. Fails with invalid, naming the
/// nearest option, or unsupported; `where` is the place of the words.
Result<void> apply_words(const std::vector<std::string>& words, const std::vector<Option>& options,
                         const Where& where, Draft& draft);

/// Those of `#ALMANAC` and of `almanac submit`: of the attributes in store/ask.h.
const std::vector<Option>& own_options();
/// Those of `#SBATCH`.
const std::vector<Option>& slurm_options();

}  // namespace almanac::submission
