// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes that are made together. The driver plans and settles a slice. Only carrying it out talks
/// to the manager and the disk; this may take seconds, and needs no lock, so other requests need
/// not wait.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "manager/link.h"
#include "service/clock.h"
#include "steer/journal.h"
#include "steer/lever.h"
#include "steer/outcome.h"

namespace almanac::steer {

struct Slice {
  std::vector<Entry> seen{};  // changes by others, for the journal only
  std::vector<Entry> entries{};
  std::vector<Lever*> levers{};                  // of each entry; null for an undo
  std::vector<Outcome> outcomes{};               // of each entry, once carried out
  std::vector<Failure> failures{};               // the same, for the journal
  std::optional<std::vector<Entry>> standing{};  // the journal must start again with these
  std::vector<manager::JobChange> renewals{};    // of leases, made before all else
  std::vector<Outcome> renewed{};                // results of the first renewals
  Duration took{};
  std::string trouble{};  // of the journal
};

/// Carries out a slice, each change after the journal has it. Ends early after some seconds, or if
/// the controller does not answer.
void carry_out(Slice& slice, Journal& journal, manager::Link& link, const service::Clock& clock);

}  // namespace almanac::steer
