// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that runs, as what measures it sees it.
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
  std::string folder{};  ///< Of its run.
  std::vector<cluster::Grant> held{};
  bool asks_part = false;  ///< Of a GPU; else a part that it holds is the policy's doing.
};

struct Patients {
  Time now{};
  std::vector<Patient> all{};
};

}  // namespace almanac::machine
