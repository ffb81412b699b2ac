// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a batch script asks for: its `#ALMANAC` lines, and the `#SBATCH` ones of Slurm.
///
/// Source: sbatch(1) of Slurm 23.02, and its reading of such lines: they end at the first command,
/// words are split at blanks, quotes and backslashes hold them together, `#` begins a comment. What
/// `#ALMANAC` says counts before what `#SBATCH` says, wherever they stand: a script can be for
/// both. Differs: what Slurm knows and we do not do is told in a note, never passed over.
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
  std::vector<std::string> notes{};  ///< "train.sh:4: --mail-user is not done here". One line each.
};

/// What the lines of `text` ask for, on top of `base`, which has user, directory and environment.
/// `file` names the script in errors, and the job unless a line does; `now` is what
/// `--begin=now+1hour` counts from. Fails with invalid or unsupported, naming file and line.
Result<Script> read_script(std::string_view text, const std::string& file, store::Submission base,
                           Time now);

}  // namespace almanac::submission
