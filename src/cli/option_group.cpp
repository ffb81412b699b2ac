// SPDX-License-Identifier: Apache-2.0
#include "cli/option_group.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace almanac::cli {
namespace {

constexpr std::array<const char*, 18> kGroupNames{"Options",
                                                  "Input",
                                                  "Job",
                                                  "Resources",
                                                  "Time",
                                                  "Dependencies",
                                                  "Cluster",
                                                  "Slurm",
                                                  "Policies",
                                                  "Model and GPUs",
                                                  "Batching and routing",
                                                  "Objective",
                                                  "Inference service",
                                                  "Simulation",
                                                  "Limits",
                                                  "Output",
                                                  "Connection",
                                                  "General"};

}  // namespace

const char* heading(Group group) { return kGroupNames[static_cast<std::size_t>(group)]; }

std::size_t group_order(const std::string& heading) {
  const auto* const found = std::find_if(kGroupNames.begin(), kGroupNames.end(),
                                         [&](std::string_view name) { return name == heading; });
  return static_cast<std::size_t>(found - kGroupNames.begin());
}

void begin_group(CLI::App& command, Group group) {
  command.option_defaults()->group(heading(group));
}

InGroup::InGroup(CLI::App& command, Group group)
    : command_(command), before_(command.option_defaults()->get_group()) {
  begin_group(command, group);
}

InGroup::~InGroup() { command_.option_defaults()->group(before_); }

}  // namespace almanac::cli
