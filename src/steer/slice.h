// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes that are made together: planned and settled by the driver, and between the two carried
/// out, which alone talks to Slurm and to the disk. It may take seconds, and a request that comes
/// meanwhile need not wait.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "slurm/link.h"
#include "steer/journal.h"
#include "steer/lever.h"

namespace almanac::steer {

struct Slice {
  std::vector<Entry> entries{};
  std::vector<Lever*> levers{};                          // of each; null = an undo
  std::vector<Result<void>> results{};                   // of each, when it is done
  std::vector<Failure> failures{};                       // the same, as the journal has it
  std::size_t tried = 0;                                 // the first so many of them
  std::optional<std::vector<Entry>> standing{};          // the journal is to begin anew with that
  std::optional<std::vector<slurm::JobNumber>> watch{};  // is to be said before all else
  Duration took{};
  std::string trouble{};  // of the journal, or of the watch over what is held
};

/// Does it, each change once the journal has it; ends early when that takes seconds, or the
/// controller does not answer.
void carry_out(Slice& slice, Journal& journal, slurm::Link& link);

/// Whether a change came too late: the job does not wait any more.
bool is_past(const Result<void>& result);

}  // namespace almanac::steer
