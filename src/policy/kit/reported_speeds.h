// SPDX-License-Identifier: Apache-2.0

/// \file
/// Estimated training speeds of jobs on other GPUs and with other batches, only from their reports
/// (View::training). Reports under a power limit that a policy set are corrected to the speed
/// without it by the limit's model (View::speeds).
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 4.1, for the model and its fit. Sharing reports
///          among jobs of one model is our own.
/// Cost     a fit after new reports: some ms with 150 reports
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "policy/contract/contract.h"
#include "rules/elastic/goodput.h"
#include "rules/elastic/step_fit.h"

namespace almanac::policy {

class ReportedSpeeds {
 public:
  enum class Pool {
    of_job,    ///< Reports count for that job alone.
    of_model,  ///< Reports count for all jobs of the same model.
  };
  explicit ReportedSpeeds(Pool pool) : pool_(pool) {}

  /// Reads what a job has reported since the last call. `type` is the GPU type on which it ran, one
  /// bit, for an estimate of its own; 0 for any GPUs.
  void hear(JobId job, const Training& told, const View& view, std::uint64_t type = 0);
  /// Forgets a job that will not be queried again.
  void forget(JobId job) { pages_.erase(job); }

  /// Whether there were any reports; queries below require that.
  bool knows(JobId job) const;
  /// Returns the GPU types, one bit each, on which the job itself has reported, as passed to
  /// hear().
  std::vector<std::uint64_t> types(JobId job) const;
  /// Returns the most GPUs on which steps were reported; 0 if none were.
  int most_gpus(JobId job) const;
  /// Returns the best goodput on `gpus` GPUs of `nodes` nodes, in samples of the initial batch per
  /// second.
  elastic::Goodput best(JobId job, int nodes, int gpus);
  /// Returns the same from the job's reports on GPUs of a type, one of types().
  elastic::Goodput best_on(JobId job, std::uint64_t type, int nodes, int gpus);
  /// Returns the seconds of a step with this split.
  double step_s(JobId job, int nodes, int gpus, elastic::Split split) const;
  /// Returns the same for a step of `batch` samples over all GPUs, however many these are.
  double batch_step_s(JobId job, int nodes, int gpus, int batch) const;
  /// Returns how much faster the reported steps on these GPUs were than in the model; 1 without
  /// reports.
  double correction(JobId job, int nodes, int gpus) const;
  /// Returns the noise that the job reported last, or else the first noise reported by jobs of its
  /// model.
  elastic::Gradient gradient(JobId job) const;

 private:
  struct Lore {
    std::vector<elastic::Observation> seen;
    elastic::StepModel model{};
    std::uint64_t fit = 0;      // number of the fit
    elastic::Gradient first{};  // gradient at the earliest point of training
    double first_at = 2;        // that point, as a fraction of a job's training
  };
  struct Page {
    Lore own;
    std::map<std::uint64_t, Lore> on_type;  // its own reports, by GPU type
    NameId model = kNoName;
    std::size_t read = 0;  // number of reports read
    elastic::BatchLimits batches{};
    std::optional<elastic::Gradient> gradient;
  };
  // Number of the fit, noise and batches, and the numbers of nodes and GPUs.
  using Asked = std::tuple<std::uint64_t, double, double, std::array<int, 4>, int, int>;

  const Lore& lore(const Page& page) const {
    return pool_ == Pool::of_job || page.model == kNoName ? page.own : lores_.at(page.model);
  }
  const Page& page(JobId job) const { return pages_.at(job); }
  /// Adds a report; returns false if equal steps are already known.
  static bool add(Lore& lore, const elastic::Observation& report);
  void fit(Lore& lore);
  elastic::Goodput best_by(const Lore& lore, JobId job, int nodes, int gpus);

  Pool pool_;
  std::map<JobId, Page> pages_;
  std::map<NameId, Lore> lores_;
  std::uint64_t fits_ = 0;
  std::map<Asked, elastic::Goodput> known_;
};

}  // namespace almanac::policy
