// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes of a Slurm site's settings: what users write, what they make of a site, and the lines
/// that make them on the real one.
///
///   PriorityWeightFairshare=20000, PriorityDecayHalfLife=7-0     slurm.conf
///   bf_max_job_test=500, bf_continue, bf_continue=no             a word of SchedulerParameters
///   qos.normal.MaxJobsPU=20, qos.normal.MaxTRESPU=gres/gpu=8     a limit of a QOS; -1 for none
///   partition.gpu.MaxTime=7-0                                    a limit of a partition
///
/// Names match in any case.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/site.h"

namespace almanac::advice {

struct Setting {
  enum class Place : std::uint8_t { config, scheduler, qos, partition };

  Place place = Place::config;
  std::string owner{};  ///< Name of the QOS or partition; "" otherwise.
  std::string name{};   ///< As Slurm spells it: "PriorityWeightAge", "bf_max_job_test".
  std::string value{};

  bool operator==(const Setting&) const = default;
};

/// A line that makes a change on the real site.
struct Line {
  std::string where{};  ///< "slurm.conf" or "shell".
  std::string text{};
};

/// Returns the name as users write it: "bf_max_job_test", "qos.normal.MaxJobsPU".
std::string name_of(const Setting& setting);

/// Reads settings between commas. Fails with usage for a name that Almanac does not simulate, with
/// the nearest ones, for a QOS, partition or resource that `site` does not have, for a number that
/// Slurm does not take as a word of SchedulerParameters, and for two values of one setting.
///
/// Source   slurm.conf(5), SchedulerParameters (ranges).
Result<std::vector<Setting>> parse_settings(std::string_view text, const site::Site& site);

/// Returns today's value of a setting, as Slurm writes it.
std::string value_of(const Setting& setting, const site::Site& site);

/// Returns the site with the settings changed. Fails with usage for a value that cannot be right.
Result<site::Site> changed(const site::Site& site, std::span<const Setting> settings);

/// Returns the lines for slurm.conf (scontrol reconfigure reads it) and the sacctmgr commands.
std::vector<Line> lines_for(const site::Site& site, std::span<const Setting> settings);

}  // namespace almanac::advice
