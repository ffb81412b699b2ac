// SPDX-License-Identifier: Apache-2.0

/// \file
/// A recorded scenario of a real Slurm: its site, its jobs as accounting has them, what was done
/// when, and what only the controller's log tells.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "reproduce/bench.h"
#include "site/site.h"

namespace almanac::reproduce {

/// One run of a job: a row of sacct.txt.
struct SlurmRun {
  std::uint32_t number = 0;  ///< JobIDRaw.
  std::string id{};          ///< JobID: "51_3" for a task of an array.
  std::string name{};
  std::string user{};
  std::string account{};
  std::string qos{};
  std::string state{};
  std::string partition{};                ///< That it ran in; a list if it never ran.
  std::vector<std::string> partitions{};  ///< As requested.
  Time submit{};
  std::optional<Time> eligible{};
  std::optional<Time> start{};
  std::optional<Time> end{};
  std::optional<std::uint32_t> limit_min{};  ///< Nothing: that of the partition.
  std::int64_t priority = 0;
  site::TresCounts requested{};
  site::TresCounts held{};
  std::string nodes{};
  std::string submit_line{};
  std::int64_t nice = 0;

  bool is_held_at_submission() const;
  bool is_exclusive() const;
  /// The number of the array that the task is of; its own otherwise.
  std::string_view array() const { return std::string_view(id).substr(0, id.find('_')); }
};

struct SlurmCommand {
  Time at{};
  std::string text{};
  std::string output{};
  bool is_refused = false;
};

/// Instants to the millisecond, from slurmctld's log: accounting has whole seconds, which do not
/// tell the order of a job's end and a decay pass in the same second.
struct SlurmLog {
  using Instants = std::multimap<std::uint32_t, Time>;  ///< By the number of the job.

  Instants submitted{};
  Instants started{};
  Instants ended{};
  std::vector<Time> queues{};  ///< When a scheduler built its queue.
  /// Classic fair share: when a user's effective usage was asked for first after a pass.
  std::vector<std::pair<Time, std::pair<std::string, std::string>>> judged{};

  /// Returns the instant of the job in the second of `second`, or nothing.
  static std::optional<Time> find(const Instants& instants, std::uint32_t number, Time second);
};

struct SlurmScenario {
  std::string name{};  ///< "p01_fairtree_all_factors".
  File file{};         ///< Its scenario.json.
  site::Site site{};   ///< As it was at the start.
  std::vector<SlurmRun> runs{};
  std::vector<SlurmCommand> commands{};
  SlurmLog log{};
};

/// Reads the folder of `file`, a scenario.json.
SlurmScenario read_slurm_scenario(const Bench& bench, const File& file);

/// Parses "1795729269.547", seconds since 1970.
Time parse_epoch(std::string_view text);

/// Parses "billing=24,cpu=8,gres/gpu:a100=4,mem=4000M". Resources that `site` lacks are left out.
site::TresCounts parse_tres(std::string_view text, const site::Site& site);

/// Counts rows of a recorded table that are right.
class RowTally {
 public:
  /// `what` names the first row that is wrong.
  void count(bool is_right, const std::string& what);
  /// A row that the second of its instant does not decide: seen between two states.
  void leave_undecided() { ++undecided_; }
  /// Adds "NAME: WHAT", rows decided against rows right. Nothing if there were none.
  void add_to(Bench& bench, const SlurmScenario& scenario, const std::string& what,
              const std::string& undecided_because = "") const;

 private:
  std::int64_t rows_ = 0;
  std::int64_t right_ = 0;
  std::int64_t undecided_ = 0;
  std::string first_wrong_{};
};

}  // namespace almanac::reproduce
