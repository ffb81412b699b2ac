// SPDX-License-Identifier: Apache-2.0

/// \file
/// Stands between a host and a policy and writes down which job ran when and where, so that tests
/// can recount a simulation without trusting the engine's own books.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "policy/contract/contract.h"

namespace almanac {

/// One stretch of time in which a job ran.
struct Run {
  /// From then on it held other cores and memory.
  struct Resize {
    Time at{};
    std::vector<cluster::Grant> grants{};
  };
  JobId job{};
  Time start{};  ///< When it was given what it holds.
  Time begin{};  ///< When it began to run: later if it was bound to nodes that had to boot.
  Time end = kNever;
  bool stopped = false;                  ///< Ended by the policy or by its nodes, not by the job.
  bool failed = false;                   ///< By its nodes.
  std::vector<cluster::Grant> grants{};  ///< As it started.
  std::vector<Resize> resizes{};         ///< In order of time.

  /// What it held when it ended.
  const std::vector<cluster::Grant>& last() const {
    return resizes.empty() ? grants : resizes.back().grants;
  }
};

/// One stretch of time in which a node slept, until it was told to boot or was drained.
struct Sleep {
  NodeId node{};
  Time start{};
  Time end = kNever;
  bool drained = false;
};

/// What is free of a node; nothing of one that is drained or not on.
struct FreeRoom {
  std::vector<std::int32_t> gpu_milli{};  ///< Of each GPU.
  std::int32_t cpu_milli = 0;
  std::int32_t memory_mb = 0;

  bool operator==(const FreeRoom&) const = default;
};

class Witness final : public policy::Policy {
 public:
  explicit Witness(policy::Policy& watched) : watched_(watched) {}

  void decide(std::span<const policy::Event> events, const policy::View& view,
              policy::Plan& plan) override;
  policy::Reason why_waiting(JobId job, const policy::View& view,
                             cluster::Ledger& ledger) const override {
    return watched_.why_waiting(job, view, ledger);
  }
  void line_up(std::vector<JobId>& line) const override { watched_.line_up(line); }

  /// Every run, in order of start.
  const std::vector<Run>& runs() const { return runs_; }
  /// The runs of one job, in order of time.
  std::vector<Run> runs_of(JobId job) const;
  /// Every sleep, in order of start.
  const std::vector<Sleep>& sleeps() const { return sleeps_; }
  /// Rules of the contract that a plan broke, one sentence each.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  enum class Why { done, stopped, failed };
  void close(JobId job, Time now, Why why);
  void check_line(const policy::View& view, const policy::Plan& plan);
  void note_power(const policy::View& view, const policy::Plan& plan);
  void check_ledger(const std::vector<FreeRoom>& before, const policy::View& view,
                    const policy::Plan& plan);
  void fault(const policy::View& view, const std::string& sentence);

  policy::Policy& watched_;
  std::vector<Run> runs_;
  std::map<JobId, std::size_t> open_;  // position in runs_ of the run that goes on
  std::vector<Sleep> sleeps_;
  std::vector<std::string> faults_;
};

}  // namespace almanac
