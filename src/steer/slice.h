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

#include "service/clock.h"
#include "slurm/link.h"
#include "steer/journal.h"
#include "steer/lever.h"
#include "steer/outcome.h"

namespace almanac::steer {

struct Slice {
  std::vector<Entry> seen{};  // what others did: for the journal alone
  std::vector<Entry> entries{};
  std::vector<Lever*> levers{};                  // of each; null = an undo
  std::vector<Outcome> outcomes{};               // of each, when it is done
  std::vector<Failure> failures{};               // the same, as the journal has it
  std::optional<std::vector<Entry>> standing{};  // the journal is to begin anew with that
  std::vector<slurm::JobChange> renewals{};      // of leases, before all else
  std::vector<Outcome> renewed{};                // the first so many of them
  Duration took{};
  std::string trouble{};  // of the journal
};

/// Does it, each change once the journal has it; ends early when that takes seconds, or the
/// controller does not answer.
void carry_out(Slice& slice, Journal& journal, slurm::Link& link, const service::Clock& clock);

}  // namespace almanac::steer
