// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shockwave's workloads, jobs whose batch grows, played under the policies there are.
///
/// Source   Zheng et al., NSDI'23 (Shockwave), section 8, and its published program.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gavel/engine.h"
#include "gavel/regimes.h"
#include "reproduce/bench.h"
#include "rules/fairness/shares.h"

namespace almanac::reproduce {

inline constexpr const char* kShockwaveTraces = "data/elastic/shockwave/traces*.csv";
inline constexpr const char* kShockwaveSpeeds = "data/elastic/shockwave/throughputs_v100.csv";
inline constexpr const char* kShockwavePatterns = "data/elastic/shockwave/gns_patterns.csv";
inline constexpr const char* kShockwaveJobs = "golden/elastic/shockwave/*jobs.csv";
inline constexpr const char* kShockwaveFrom = "Zheng et al., NSDI'23, program of the paper (MIT)";

struct Workload {
  std::vector<gavel::Job> jobs;
  std::map<int, gavel::RegimeJob> regimes;
};

/// "tacc_32gpus", "scale64_gandiva_fair_rounds": which jobs on how many GPUs.
struct Set {
  std::string family{};
  int gpus = 0;
  std::string name() const;
};
/// Malformed where the text tells no number of GPUs.
Set set_of(std::string_view text);

class ShockwaveRuns {
 public:
  /// Columns table, model, batch_size, scale_factor, steps_per_s.
  void read_speeds(const File& file);
  /// Columns model, batch_size, scale_factor, batch_size_by_epoch_of_760.
  void read_patterns(const File& file);
  /// Columns set, job, model, batch_size, total_steps, scale_factor, mode, priority, arrival_s,
  /// exclusive_s; after the speeds.
  void read_traces(const File& file);

  /// As published: rounds of 120 s on V100. Null: there is no such policy here, or no such set.
  const gavel::Course* play(const Set& set, const std::string& policy,
                            double lateness_power = fairness::kLatenessPower);

  const std::map<std::string, Workload>& workloads() const { return workloads_; }
  const Workload& workload(const Set& set) const { return workloads_.at(set.name()); }

 private:
  struct Table {
    gavel::Speeds speeds;
    gavel::RegimeTables regimes;
  };

  /// A family has its own speeds, or those called wisr.
  const Table& table_of(const Set& set) const;

  std::map<std::string, Table> tables_;
  std::map<std::tuple<std::string, int, int>, std::vector<int>> patterns_;
  std::map<std::string, Workload> workloads_;
  std::map<std::tuple<std::string, std::string, double>, gavel::Course> courses_;
};

/// Finish-time fairness of a job as the paper's summaries have it: against a part of the cluster
/// for each of all jobs of the set.
double static_fairness(double jct_s, double alone_s, std::size_t jobs, int gpus);

}  // namespace almanac::reproduce
