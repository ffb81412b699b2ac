// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plays a recorded scenario through slurmctld::Priorities: what the controller computed when.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "reproduce/bench.h"
#include "reproduce/slurm_scenario.h"
#include "slurmctld/priority/priority.h"

namespace almanac::reproduce {

class Rows;

class PriorityReplay {
 public:
  /// Both must outlive it. Reads when the decay passes ran (decay_passes.csv), when a priority was
  /// computed (priority_log.csv) and what backfill planned for a job (plans.csv).
  PriorityReplay(const Bench& bench, const SlurmScenario& scenario);

  /// Plays everything that happened up to and including `until`.
  void advance(Time until);
  const slurmctld::Priorities& priorities() const { return *priorities_; }
  /// The priority and factors as last computed; nothing: no such job yet.
  const slurmctld::Score* score(std::uint32_t number) const;
  /// When decay passes ran, the first included.
  const std::vector<Time>& passes() const { return passes_; }
  /// Classic: sshare makes the controller evaluate all users. Does nothing if the log has when.
  void judge_users();
  /// Classic: the last time after `from`, up to `until`, at which a user was evaluated.
  std::optional<Time> last_judged(Time from, Time until) const;
  const SlurmScenario& scenario() const { return scenario_; }

 private:
  /// In the order in which they happen at the same instant.
  enum class Kind : std::uint8_t {
    end,
    configure,
    accounts,
    submit,
    release,
    update,
    plan,
    queue,
    start,
    pass,
    judge,
  };
  struct Event {
    Time at{};
    Kind kind{};
    std::size_t index = 0;
  };

  void read_instants(const Bench& bench);
  void read_plan(const Rows& rows);
  void schedule_run(std::size_t index);
  void schedule_changes();
  void play(const Event& event);
  void submit(const SlurmRun& run, Time at);
  Time eligible(const SlurmRun& run) const;

  const SlurmScenario& scenario_;
  std::unique_ptr<slurmctld::Priorities> priorities_;
  std::vector<Time> passes_;
  /// Rows of priority_log.csv outside of passes, and the job of each.
  std::vector<std::pair<Time, std::uint32_t>> computed_;
  std::vector<bool> is_submission_;  // of computed_
  struct Plan {
    Time at{};
    std::uint32_t number = 0;
    std::uint32_t cpus = 0;
  };
  std::vector<Plan> plans_;
  std::vector<site::PrioritySettings> settings_;  // after each reconfiguration
  std::deque<site::Site> sites_;                  // after each change of accounts
  std::map<std::string, Time, std::less<>> array_eligible_;
  std::map<std::uint32_t, Time> left_;  // when the run of a number that is known so far ended
  std::vector<Event> events_;
  std::size_t next_ = 0;
};

/// How long after the instant of a sample the controller may have answered: the command was started
/// then.
inline constexpr Duration kSampleTakes = 700ms;

/// Returns the table `name` of a scenario, or nothing.
std::optional<File> find_table(const Bench& bench, const SlurmScenario& scenario,
                               std::string_view name);

/// The factors of a row, by the name of a column.
struct FactorColumn {
  const char* column;  ///< In priority_log.csv.
  const char* brief;   ///< In sprio.csv, before "_n" and "_w".
  double slurmctld::Factors::*factor;
  std::uint32_t site::PrioritySettings::*weight;
};
inline constexpr FactorColumn kFactorColumns[] = {
    {"age", "age", &slurmctld::Factors::age, &site::PrioritySettings::weight_age},
    {"assoc", "assoc", &slurmctld::Factors::association, &site::PrioritySettings::weight_assoc},
    {"fairshare", "fs", &slurmctld::Factors::fair_share,
     &site::PrioritySettings::weight_fair_share},
    {"jobsize", "size", &slurmctld::Factors::size, &site::PrioritySettings::weight_job_size},
    {"partition", "part", &slurmctld::Factors::partition,
     &site::PrioritySettings::weight_partition},
    {"qos", "qos", &slurmctld::Factors::qos, &site::PrioritySettings::weight_qos},
};

}  // namespace almanac::reproduce
