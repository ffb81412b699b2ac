// SPDX-License-Identifier: Apache-2.0

/// \file
/// What simulated failures cost, by cause and by size of job, and the checkpoint interval that
/// would have cost least.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faults/log.h"
#include "faults/model.h"

namespace almanac::experiment {

/// GPU time in hours. All parts lie between a job's first start and its end.
///
/// Effective training time is useful / (useful + writing checkpoints + repeated + restarting +
/// waiting after failures). Time in which a policy has stopped a job is in neither part.
///
/// Source   Llama Team, "The Llama 3 Herd of Models", 2024, section 3.3.4 (effective training
/// time);
///          Kokolis et al., HPCA'25, section II-D (ETTR).
/// Differs  Both count all time of a run; their runs are not preempted.
struct FailureReport {
  struct Cause {
    std::string name{};
    std::uint64_t interruptions = 0;  ///< Jobs that it stopped.
    std::uint64_t outages = 0;        ///< Nodes that it took out of service.
    double lost_gpu_h = 0;            ///< Work since the last checkpoint, repeated.
    double restart_gpu_h = 0;         ///< Restarts.
    double waited_gpu_h = 0;          ///< From a failure until the job runs again.
    double out_gpu_h = 0;             ///< GPUs of nodes under repair.
  };
  /// Jobs of `from` to `to` GPUs.
  struct Size {
    int from = 0;
    int to = 0;
    std::uint64_t jobs = 0;
    std::uint64_t interruptions = 0;
    double held_gpu_h = 0;
    double useful_gpu_h = 0;
    double written_gpu_h = 0;  ///< Writing checkpoints.
    double lost_gpu_h = 0;     ///< These three as in Cause.
    double restart_gpu_h = 0;
    double waited_gpu_h = 0;
    double ettr = 0;    ///< Effective training time.
    double mttf_h = 0;  ///< Time on GPUs per interruption; NaN without any.
    /// For the mean number of GPUs of these jobs, weighted by GPU time, at the model's rates.
    double expected_mttf_h = 0;
    double interval_s = 0;       ///< Mean interval that they used; NaN if they needed none.
    double best_interval_s = 0;  ///< NaN if nothing stops them.
    double ettr_expected = 0;    ///< At `interval_s`, without waits (faults/checkpoint.h).
    double ettr_best = 0;        ///< At `best_interval_s`.
  };

  std::vector<Cause> causes{};  ///< In order of GPU time lost, waits included.
  std::vector<Size> sizes{};
  double ettr = 0;  ///< Of all jobs.
  double useful_gpu_h = 0;
  double written_gpu_h = 0;
  double stopped_gpu_h = 0;   ///< Stopped by the policy, until jobs run again.
  std::uint64_t gave_up = 0;  ///< Jobs that failed too often.
  std::uint64_t lemons = 0;   ///< Lemon nodes at the beginning.
  std::uint64_t lemons_found = 0;
  std::uint64_t lemons_mistaken = 0;  ///< Ordinary nodes that the test took for lemons.

  bool empty() const { return causes.empty(); }
};

/// Summarizes `log`. `intervals_s` are the checkpoint intervals of its jobs, in their order; NaN
/// for a job without. `finish` is the end of the simulation.
FailureReport report_failures(const faults::Log& log, const faults::Model& model,
                              const std::vector<double>& intervals_s, int gpus_per_node,
                              Time finish);

/// Returns what a reader must know about the failures of a policy's run, over several lines.
std::string in_words(const FailureReport& report);

}  // namespace almanac::experiment
