// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gavel's published simulator: rounds in which jobs run where they have least of what they are to
/// have. Its faults are repeated, and each is named in engine.cpp where it acts.
///
/// Source   Narayanan et al., OSDI'20, section 5, and its published program in simulation mode;
///          Zheng et al., NSDI'23 (Shockwave), whose program is the same with jobs that change and
///          restarts.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gavel/rule.h"
#include "gavel/training.h"

namespace almanac::gavel {

/// Types in alphabetical order.
struct Cluster {
  std::vector<std::string> types{};
  std::vector<int> gpus{};
};

/// Steps per second of kinds of jobs: a model, its batch, its number of GPUs.
struct Speeds {
  std::vector<std::vector<double>> alone{};  ///< [kind][type]; 0 = does not run there.
  /// Of both jobs of a pair on a type; unset where nothing is known of pairs.
  std::function<std::array<double, 2>(std::size_t type, std::size_t one, std::size_t other)>
      beside{};
};

struct Job {
  int number = 0;
  std::size_t kind = 0;
  int gpus = 1;
  double weight = 1;
  double steps = 0;  ///< Need not be whole.
  double arrival_s = 0;
  double profiled_s = 0;  ///< Run time alone, where a profile tells; 0 = steps and rates are all.
};

struct Settings {
  double round_s = 360;
  double reset_s = 1920;  ///< At least so far apart are two allocations.
  /// Work lost by a job that did not run in the round before, where it would run for longer than
  /// restart_beyond_s.
  double restart_s = 0;
  double restart_beyond_s = 0;
  /// A run is a failure only where it has neither steps nor time.
  bool fails_late = false;
  std::uint32_t seed = 0;
  bool keeps_rounds = false;
  /// The run ends when the jobs of these numbers, first to before last, have ended.
  int measured_from = 0;
  int measured_until = std::numeric_limits<int>::max();
};

struct Ended {
  int number = 0;
  double arrival_s = 0;
  double jct_s = 0;
  double mean_active = 0;  ///< Jobs there were, over the rounds that it was there.
};

/// A job that ran in a round, with the numbers of its GPUs from 0 within its type.
struct Ran {
  int round = 0;
  int number = 0;
  std::size_t type = 0;
  std::vector<int> gpus{};
};

struct Course {
  std::vector<Ended> ended{};  ///< By number.
  std::vector<Ran> ran{};      ///< Where kept.
  double end_s = 0;
  double utilisation = 0;  ///< GPU time in rounds / GPU time there was.
  int rounds = 0;
};

/// Plays `jobs`, in order of arrival, under `rule`; null = jobs stay as they are. Cost: a sort of
/// jobs x types a round.
Course play(const Cluster& cluster, const Speeds& speeds, const std::vector<Job>& jobs, Rule& rule,
            const Settings& settings, Training* training = nullptr);

}  // namespace almanac::gavel
