// SPDX-License-Identifier: Apache-2.0
#include "machine/devices.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "machine/instances.h"

namespace almanac::machine {
namespace {

/// The instances of a GPU that a job can be given.
std::vector<Device> instances_of(const gpu::Driver& driver, int gpu,
                                 std::vector<std::string>& notes) {
  std::vector<Device> made;
  const auto found = driver.mig_instances(gpu);
  if (!found) {
    notes.push_back(
        fmt::format("GPU {} is partitioned (MIG), but the driver does not report the instances: {}",
                    gpu, found.error().message));
    return made;
  }
  const std::vector<gpu::MigProfile> profiles = driver.mig_profiles(gpu);
  for (const gpu::MigInstance& each : *found) {
    if (each.uuid.empty()) {
      notes.push_back(fmt::format(
          "instance {} of GPU {} does not have exactly one compute instance: no job can use it",
          each.id, gpu));
      continue;
    }
    const auto profile =
        std::find_if(profiles.begin(), profiles.end(),
                     [&](const gpu::MigProfile& one) { return one.id == each.profile; });
    made.push_back({.name = each.uuid,
                    .type = each.name,
                    .memory_gb = profile == profiles.end() ? 0 : profile->memory_gb});
  }
  if (found->empty()) {
    notes.push_back(
        fmt::format("GPU {} is in MIG mode but has no instances: nothing runs there", gpu));
  }
  return made;
}

}  // namespace

Devices find_devices(const profiling::Machine& machine, bool as_boards) {
  Devices made;
  std::vector<Device> all_instances;
  std::vector<std::string> unread;
  for (int gpu = 0; machine.driver && gpu < machine.driver->count(); ++gpu) {
    if (!machine.driver->is_cut(gpu).value_or(false)) continue;
    for (Device& each : instances_of(*machine.driver, gpu, unread)) {
      all_instances.push_back(std::move(each));
    }
  }
  for (const gpu::Visible& each : machine.gpus) {
    if (!each.gpu) {
      // An instance that we were given by name ourselves.
      const auto known =
          std::find_if(all_instances.begin(), all_instances.end(),
                       [&](const Device& instance) { return instance.name == each.name; });
      made.all.push_back(known == all_instances.end() ? Device{.name = each.name} : *known);
      continue;
    }
    if (machine.driver->is_cut(*each.gpu).value_or(false)) {
      const slices::Board* const board =
          as_boards ? board_of(machine.driver->mig_profiles(*each.gpu)) : nullptr;
      if (board != nullptr) {
        made.all.push_back(
            {each.name, each.gpu, machine.driver->name(*each.gpu), board->memory_gib, board});
        continue;
      }
      if (as_boards) {
        made.notes.push_back(fmt::format(
            "GPU {} is an unknown board: its existing instances are used as they are", *each.gpu));
      }
      for (Device& instance : instances_of(*machine.driver, *each.gpu, made.notes)) {
        made.all.push_back(std::move(instance));
      }
      continue;
    }
    made.all.push_back({each.name, each.gpu, machine.driver->name(*each.gpu),
                        machine.driver->memory_gb(*each.gpu).value_or(0)});
  }
  const auto key = [](const Device& of) {
    if (of.is_instance()) return std::pair(2, of.type);
    return of.board != nullptr ? std::pair(1, of.board->name) : std::pair(0, std::string());
  };
  std::stable_sort(made.all.begin(), made.all.end(),
                   [&](const Device& one, const Device& other) { return key(one) < key(other); });
  return made;
}

}  // namespace almanac::machine
