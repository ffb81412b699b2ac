// SPDX-License-Identifier: Apache-2.0

/// \file
/// The statistics of one policy on one job log.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "energy/power.h"
#include "experiment/failure_report.h"
#include "policy/composition.h"
#include "sim/simulation.h"
#include "trace/trace.h"

namespace almanac::fairness {
struct Dues;
}

namespace almanac::experiment {

/// A job that starts within this time of its start in the log counts as started as recorded.
inline constexpr Duration kSameStart = 10min;

/// See fairness::Owner.
struct TenantDue {
  std::string name{};  ///< "vision"
  double used_gpu_s = 0;
  double fair_share_gpu_s = 0;
};

/// Share that one tenant did not request, and another used beyond its own.
struct TenantLoan {
  std::string from{};  ///< "vision"; "others" = jobs of no tenant.
  std::string to{};
  double gpu_s = 0;
};

/// Rent of the GPUs of one type that jobs held.
struct GpuCost {
  std::string type{};
  double gpu_h = 0;
  double cost = 0;
  std::array<double, 24> by_hour{};  ///< `cost` by hour of the day, in UTC.
};

/// Over the jobs that finished and joined the queue after the warm-up, unless noted. *wait* is the
/// time not running between joining the queue (sim::joined) and the end; *jct* is all of that time.
/// Jobs withdrawn before they ran are excluded. NaN if there is nothing to average.
struct Summary {
  std::string policy;
  bool bound = false;                ///< Knows what no cluster can know (policy::is_bound).
  bool complete = true;              ///< False = interrupted; covers the jobs until then.
  bool recorded = false;             ///< The recorded outcome instead of a policy's.
  std::vector<std::string> needs{};  ///< See policy::needs_of().
  std::uint64_t jobs = 0;            ///< Simulated, finished or not, without those withdrawn.
  std::uint64_t withdrawn_jobs = 0;  ///< Never ran in the log, and left the queue without running.
  std::uint64_t finished = 0;
  std::uint64_t never_ended = 0;  ///< Submitted after the warm-up, in service, and without an end
                                  ///< when the simulation ended: in no average.
  std::uint64_t never_startable = 0;
  double avg_jct_s = 0;
  double p50_jct_s = 0;
  double p90_jct_s = 0;
  double p99_jct_s = 0;
  double avg_wait_s = 0;
  double p50_wait_s = 0;
  double p90_wait_s = 0;
  double p99_wait_s = 0;
  /// Fraction of the jobs that start within kSameStart of their recorded start; NaN if the log has
  /// none.
  double as_recorded = 0;
  std::uint64_t queued_jobs = 0;  ///< Jobs with wait > 0.
  double makespan_s = 0;          ///< First submission to last end.
  double gpu_occupancy = 0;       ///< GPUs allocated / GPUs in service, over the makespan, in which
                                  ///< the cluster empties after the last arrival.
  /// While jobs arrived (Window): computing GPUs, and allocated GPUs, relative to those in service;
  /// NaN if not simulated. Cores likewise. Tables show these.
  double gpu_utilization = 0;
  double gpu_allocation = 0;
  double cpu_allocation = 0;
  double avg_gpu_job_jct_s = 0;
  std::uint64_t cpu_jobs = 0;  ///< Finished jobs without a GPU.
  double avg_cpu_job_wait_s = 0;
  double p99_cpu_job_wait_s = 0;
  double avg_bounded_slowdown = 0;  ///< Mean of max(1, jct / max(run, 10 s)); Feitelson & Rudolph
                                    ///< 1998.
  std::uint64_t preemptions = 0;
  /// Preemptions of jobs without a checkpoint interval: the job is assumed to lose no work.
  std::uint64_t lossless_preemptions = 0;
  std::uint64_t failed_runs = 0;    ///< Runs that ended because a node failed.
  std::uint64_t deadline_jobs = 0;  ///< Jobs with a deadline, finished or not.
  double guarantee = 0;             ///< Fraction of those that ended by it.
  double avg_tardiness_s = 0;       ///< max(0, end - deadline), of those that finished.
  double p99_tardiness_s = 0;
  double value_earned = 0;        ///< Of jobs with a deadline (trace/value.h).
  double value_possible = 0;      ///< If each had ended in time.
  double jain_user_slowdown = 0;  ///< Jain's index of the users' mean bounded slowdown; 1 = all
                                  ///< alike.
  double worst_user_avg_wait_s = 0;
  double worst_vc_avg_wait_s = 0;
  /// Owners are tenants, otherwise users (experiment/dues.h). NaN and "" unless there are two.
  double share_error = std::numeric_limits<double>::quiet_NaN();      ///< Unfairly distributed
                                                                      ///< fraction of the GPU time.
  double jain_fair_share = std::numeric_limits<double>::quiet_NaN();  ///< Jain's index of usage /
                                                                      ///< fair share.
  std::string worst_owner{};  ///< The owner with the smallest fraction of its fair share: "tenant
                              ///< vision".
  double worst_fair_share = std::numeric_limits<double>::quiet_NaN();  ///< That fraction.
  double avg_finish_time_ratio = std::numeric_limits<double>::quiet_NaN();
  double unfair_jobs = std::numeric_limits<double>::quiet_NaN();  ///< Fraction of jobs with a
                                                                  ///< finish-time ratio above 1.05.
  /// Usage against fair share of each tenant, in order of its first job; empty without tenants.
  std::vector<TenantDue> tenants{};
  std::vector<TenantLoan> loans{};  ///< The largest first.
  double nodes_asleep = 0;          ///< Mean.
  double wake_ups_a_day = 0;        ///< Times at which nodes were woken, per day.
  double nodes_woken_a_day = 0;
  std::uint64_t jobs_held_back = 0;  ///< Would have started earlier if no node had slept.
  double avg_hold_s = 0;             ///< Mean delay of those; NaN without any.
  double energy_j = 0;               ///< Of the nodes, with GPUs in use at full use.
  double energy_saved_j = 0;         ///< Compared to nodes that idle instead of sleeping.
  /// Minimum for the same schedule with a known future: nodes sleep if that pays, and no job is
  /// delayed.
  double energy_bound_j = 0;
  double facility_kwh = 0;  ///< Including cooling and losses.
  /// Cost of the facility's power, in the currency of the power model: at the price (signal
  /// `price`) and carbon (signal `carbon`) of each time, otherwise at the power model's constants.
  double cost = 0;
  double kg_co2 = 0;
  /// The part of those that GPUs in use add to idle nodes. Only this part depends on when jobs run,
  /// so it compares policies whose runs end at different times.
  double jobs_kwh = 0;
  double jobs_cost = 0;
  double jobs_kg_co2 = 0;
  /// Rent of the GPUs that jobs held, by the signals `price/TYPE` (a GPU-hour); NaN without them.
  double gpu_cost = std::numeric_limits<double>::quiet_NaN();
  std::vector<GpuCost> gpu_costs{};  ///< `gpu_cost` by GPU type, in order of the signals.
  FailureReport failures{};          ///< Empty unless failures were simulated.
  std::uint64_t events = 0;
  double engine_wall_s = 0;
  std::uint64_t signature = 0;
};

/// Cost: linear in jobs.
Summary summarize(const policy::Composition& policy, const trace::Trace& trace,
                  const sim::Schedule& schedule, const energy::PowerModel& power);

/// Adds the fairness between owners and the usage and fair share of each tenant.
void add_dues(Summary& summary, const fairness::Dues& dues);

/// Returns the recorded outcome as a row next to policies, over the same jobs: those that ran,
/// without those that can `never` start on `cluster`. Nothing if fewer than 95 % of them have a
/// recorded start; those without one are left out. What a log does not contain (energy,
/// preemptions, sleep) is NaN or 0; so is occupancy if the cluster was inferred from the log or
/// changes.
std::optional<Summary> summarize_recorded(const trace::Trace& trace,
                                          const cluster::Cluster& cluster, Duration warm_up,
                                          std::span<const JobId> never);
inline constexpr const char* kAsRecorded = "as recorded";

/// Returns "easy", "srtf (oracle)", "easy (interrupted)": a policy's name in comparisons.
std::string marked_name(const Summary& summary);

/// Returns the power of all nodes at a sample in W, with the GPUs in use at full use. The power of
/// a node with another number of GPUs than the model's is scaled.
double power_w(const sim::Sample& sample, const energy::PowerModel& power);

/// The columns of a summary in CSV, and one summary under them, without an end of line.
std::string summary_csv_header();
std::string to_csv_row(const Summary& summary);

}  // namespace almanac::experiment
