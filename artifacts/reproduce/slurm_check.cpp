// SPDX-License-Identifier: Apache-2.0
#include "reproduce/slurm_check.h"

namespace almanac::reproduce {

void register_slurm_check(SlurmChecks& registry);

const SlurmChecks& slurm_checks() {
  static const SlurmChecks checks = [] {
    SlurmChecks all;
    register_slurm_check(all);
    return all;
  }();
  return checks;
}

}  // namespace almanac::reproduce
