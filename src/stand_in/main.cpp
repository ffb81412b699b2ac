// SPDX-License-Identifier: Apache-2.0

/// \file
/// srun for batch scripts on machines without Slurm: runs a command on the GPUs of the job.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "stand_in/gpus.h"
#include "stand_in/step.h"

namespace {

int give_up(const almanac::Error& why) {
  fmt::print(stderr, "srun: error: {}\n", almanac::to_string(why));
  return 1;  // as Slurm's own
}

}  // namespace

int main(int count, char** words) {
  using namespace almanac::stand_in;
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) variables.emplace_back(*each);
  const auto step = read_step({words + 1, words + count}, variables);
  if (!step) return give_up(step.error());
  for (const std::string& each : step->notes) fmt::print(stderr, "srun: note: {}\n", each);
  const auto gpus = take_gpus(held_gpus(value_of(variables, "CUDA_VISIBLE_DEVICES")), step->gpus,
                              value_of(variables, "ALMANAC_PROGRESS"), step->immediate);
  if (!gpus) return give_up(gpus.error());
  const auto status = run_step(*step, *gpus, variables);
  return status ? *status : give_up(status.error());
}
