// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the request of a batch script: its `#ALMANAC` lines, and Slurm's `#SBATCH` lines.
///
/// Source: sbatch(1) of Slurm 23.02, and its parsing of such lines: they end at the first command,
/// words are separated by blanks, quotes and backslashes join them, `#` starts a comment.
/// `#ALMANAC` takes precedence over `#SBATCH`, in any order, so a script can serve both. Differs:
/// notes report Slurm's options that we do not support.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/job.h"

namespace almanac::submission {

struct Script {
  store::Submission asked{};
  /// "train.sh:4: --mail-user is not done here", one line each.
  std::vector<std::string> notes{};
  int nodes = 1;  ///< That `#SBATCH --nodes` requests; its totals are in `asked`.
};

/// Returns the request in the lines of `text`, on top of `base`, which has user, directory and
/// environment. `file` names the script in errors, and the job unless a line does; `now` is the
/// base of `--begin=now+1hour`. Fails with `invalid` or `unsupported`, naming file and line.
Result<Script> read_script(std::string_view text, const std::string& file, store::Submission base,
                           Time now);

}  // namespace almanac::submission
