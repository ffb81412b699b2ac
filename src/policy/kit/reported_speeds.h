// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast jobs are believed to train on other GPUs and with other batches: from what they have
/// reported (View::training), and nothing else. What was reported under a power limit that a policy
/// set is believed to be as much faster without as the limit's model says (View::speeds).
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 4.1, for the model and its fit. That jobs of one
///          model share what they report is ours.
/// Cost     A fit where something new was reported: some ms with 150 reports.
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
    of_job,    ///< What a job reports is believed of that job alone.
    of_model,  ///< It is believed of all jobs of its model.
  };
  explicit ReportedSpeeds(Pool pool) : pool_(pool) {}

  /// Takes in what a job has reported since it was last heard; `type`: of the GPUs on which it was,
  /// one bit, of which the job has a belief of its own then; 0 = of whatever GPUs.
  void hear(JobId job, const Training& told, const View& view, std::uint64_t type = 0);
  /// It will not be asked for again.
  void forget(JobId job) { pages_.erase(job); }

  /// Whether anything was reported; else there is nothing to ask for.
  bool knows(JobId job) const;
  /// The types of GPUs on which a job itself has reported anything, one bit each, as hear() was
  /// told.
  std::vector<std::uint64_t> types(JobId job) const;
  /// The most GPUs on which steps were reported; 0 = none were.
  int most_gpus(JobId job) const;
  /// The batch of the best goodput on `gpus` of `nodes`, in samples of the initial batch a second.
  elastic::Goodput best(JobId job, int nodes, int gpus);
  /// The same by what the job has reported on GPUs of a type, one of types().
  elastic::Goodput best_on(JobId job, std::uint64_t type, int nodes, int gpus);
  /// Seconds of a step that is split so.
  double step_s(JobId job, int nodes, int gpus, elastic::Split split) const;
  /// The same of a step of `batch` samples over all GPUs, however many these are.
  double batch_step_s(JobId job, int nodes, int gpus, int batch) const;
  /// How much faster the steps reported on these GPUs were than the model has them; 1 = none were.
  double correction(JobId job, int nodes, int gpus) const;
  /// The noise that the job has reported last, else what jobs of its model did first.
  elastic::Gradient gradient(JobId job) const;

 private:
  struct Lore {
    std::vector<elastic::Observation> seen;
    elastic::StepModel model{};
    std::uint64_t fit = 0;      // its number
    elastic::Gradient first{};  // the gradient reported at
    double first_at = 2;        // the least part of its training by a job
  };
  struct Page {
    Lore own;
    std::map<std::uint64_t, Lore> on_type;  // its own reports, by the type of its GPUs
    NameId model = kNoName;
    std::size_t read = 0;  // reports taken in
    elastic::BatchLimits batches{};
    std::optional<elastic::Gradient> gradient;
  };
  // With which fit, noise and batches, on how many nodes and GPUs.
  using Asked = std::tuple<std::uint64_t, double, double, std::array<int, 4>, int, int>;

  const Lore& lore(const Page& page) const {
    return pool_ == Pool::of_job || page.model == kNoName ? page.own : lores_.at(page.model);
  }
  const Page& page(JobId job) const { return pages_.at(job); }
  /// Adds a report; false = steps that are made so are known.
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
