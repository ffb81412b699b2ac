// SPDX-License-Identifier: Apache-2.0

/// \file
/// For tests: a site of a few lines, a log of a few jobs, and what policy slurm makes of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.h"

namespace almanac {

/// The site has nodes g1 and g2 with 16 CPUs and 4 A100s each.
class PlayedSite {
 public:
  /// Midnight of the first day, from which minutes count.
  static constexpr std::int64_t kMidnight_s = 1'704'067'200;  // 2024-01-01

  /// `conf`: lines of slurm.conf after the nodes, with the partitions.
  explicit PlayedSite(const std::string& conf);

  /// Adds the output of a command to the site's folder.
  void add_file(const std::string& name, std::string_view text) { files_[name] = text; }
  /// A node fails and is back, in minutes since midnight.
  void fail_node(const std::string& node, double from_min, double to_min);
  /// Adds a job that runs for `run_min` minutes on one node. It asks for at most a minute more.
  struct Job {
    std::string id{};
    double submit_min = 0;
    double run_min = 0;
    int gpus = 1;
    std::string user = "ann";
    std::string account = "lab";
    std::string qos = "normal";
    std::string partition = "main";
    std::string reservation{};
  };
  void add(const Job& job) { jobs_.push_back(job); }

  /// Plays the log. Fails the test if that fails.
  void play(const std::string& policy = "slurm");
  /// Returns when a job started first, in minutes since midnight; -1 = never.
  double start_of(const std::string& job) const;
  double end_of(const std::string& job) const;
  int preemptions_of(const std::string& job) const;
  /// Returns why a job waited, each reason once, in order.
  std::vector<std::string> reasons_of(const std::string& job) const;
  /// Returns the names of the nodes that a job ran on last.
  std::vector<std::string> nodes_of(const std::string& job) const;
  const std::vector<std::string>& notes() const { return prepared_->notes; }

 private:
  std::size_t find(const std::string& job) const;

  std::map<std::string, std::string> files_;
  std::vector<Job> jobs_;
  std::string incidents_;  // rows
  std::optional<experiment::Prepared> prepared_;
  sim::Schedule schedule_;
};

}  // namespace almanac
