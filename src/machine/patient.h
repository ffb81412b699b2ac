// SPDX-License-Identifier: Apache-2.0

/// \file
/// A running job, as measurements see it.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/time.h"
#include "cluster/ledger.h"
#include "store/job.h"

namespace almanac::machine {

struct Patient {
  store::JobNumber job{};
  pid_t shepherd = -1;
  std::string folder{};  ///< The folder of its run.
  std::vector<cluster::Grant> held{};
  /// Whether it requests part of a GPU. If not, the policy makes it share.
  bool asks_part = false;
};

struct Patients {
  Time now{};
  std::vector<Patient> all{};
};

}  // namespace almanac::machine
