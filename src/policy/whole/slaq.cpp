// SPDX-License-Identifier: Apache-2.0

/// \file
/// SLAQ: GPUs go to the elastic jobs whose loss is expected to fall most until the next
/// reallocation. The loss is the metric that a job reports, with the sign changed. Curves fitted to
/// the reports predict how it falls (rules/elastic/loss_curve.h). A fall is measured relative to
/// the largest that the job has shown in the same time on one GPU, so that jobs with different
/// losses are comparable. Each job gets one GPU first, in order of arrival.
///
/// A job with too few reports counts as if its loss fell as fast as ever. `believes` chooses the
/// fall to use if it is uncertain: the expected one, the least, or the most that the reports allow.
/// With `most`, jobs with poorly known curves are tried.
///
/// Source   Zhang et al., SoCC'17 (SLAQ), sections 4 and 5.
/// Differs  The paper gives GPUs one by one to the largest fall. Here the sum of all falls is
///          largest (rules/elastic/best_deal.h), which is the same if each further GPU is worth
///          less. The paper has CPUs and Spark's steps; here steps are estimated for GPUs from
///          reports, and a job may have twice the most GPUs that it has reported on.
/// Cost     O(jobs x GPUs x most GPUs of a job) per reallocation, and a curve per job with new
///          reports
#include <algorithm>
#include <map>
#include <optional>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/best_deal.h"
#include "rules/elastic/loss_curve.h"

namespace almanac::policy::whole {
namespace {

/// Worth of a job that should get a GPU and has none.
constexpr double kMustHaveOne = -1e12;
constexpr std::size_t kMostReports = 200;  // of a job; the oldest are forgotten

class Slaq final : public ElasticAllocator {
 public:
  Slaq(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job),
        every_s_(told.number("every_s")),
        counts_(told.word("believes") == "expected" ? &elastic::LossDrop::expected
                : told.word("believes") == "least"  ? &elastic::LossDrop::least
                                                    : &elastic::LossDrop::most) {}

 private:
  struct Losses {
    std::vector<elastic::LossPoint> points;
    double fastest = 0;  // largest fall per step between two reports
    std::optional<elastic::LossCurve> curve;
  };

  void noted(JobId job, const Training& told, double metric) override {
    Losses& losses = losses_[job];
    const elastic::LossPoint now{.step = told.metric_at, .loss = -metric};
    if (!losses.points.empty()) {
      const elastic::LossPoint& last = losses.points.back();
      if (now.step <= last.step) return;
      losses.fastest = std::max(losses.fastest, (last.loss - now.loss) / (now.step - last.step));
    }
    losses.points.push_back(now);
    if (losses.points.size() > kMostReports) losses.points.erase(losses.points.begin());
    losses.curve.reset();
  }

  void forgotten(JobId job) override { losses_.erase(job); }

  void deal(std::span<const Elastic> jobs, const Room& room, const View&,
            std::vector<Wish>& wishes) override {
    const auto in_line = jobs.first(std::min(jobs.size(), static_cast<std::size_t>(room.gpus)));
    std::vector<std::vector<double>> worth;
    for (const Elastic& job : in_line) {
      std::vector<double>& own = worth.emplace_back(1, kMustHaveOne);
      const int known = speeds.knows(job.job) ? 2 * speeds.most_gpus(job.job) : 1;
      const int most = std::min({room.gpus, job.most, std::max(known, 1)});
      const double alone = speed_on(job, 1, 1);
      for (int gpus = 1; gpus <= most; ++gpus) {
        own.push_back(fall(job, speed_on(job, room.nodes_of(gpus), gpus), alone));
      }
    }
    const std::vector<int> gpus = elastic::best_deal(worth, room.gpus);
    for (std::size_t at = 0; at < in_line.size(); ++at) {
      if (gpus[at] > 0) wishes.push_back(wish_of(in_line[at], gpus[at], room));
    }
  }

  /// Returns the fall of a job's loss until the next reallocation at a speed, relative to the
  /// largest that it has shown in the same time at the speed of one GPU.
  double fall(const Elastic& job, double speed, double alone) {
    if (alone <= 0) return 0;
    const auto found = losses_.find(job.job);
    if (found == losses_.end()) return speed / alone;
    Losses& losses = found->second;
    if (losses.points.size() < elastic::LossCurve::kLeastPoints) return speed / alone;
    if (losses.fastest <= 0) return 0;
    if (!losses.curve) losses.curve.emplace(losses.points);
    const double steps_a_speed = every_s_ / job.told.batches.initial_batch;
    const double from = job.told.progress;
    const double to = std::min(from + speed * steps_a_speed, job.told.total);
    return losses.curve->drop(from, to).*counts_ / (losses.fastest * alone * steps_a_speed);
  }

  double every_s_;
  double elastic::LossDrop::*counts_;
  std::map<JobId, Losses> losses_;
};

}  // namespace

void register_slaq(Registry& registry) {
  registry.wholes.add(
      {.name = "slaq",
       .summary = "elastic: GPUs to the jobs whose loss is expected to fall most",
       .source = "Zhang et al. SoCC'17",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6),
                      word("believes", "weight of an uncertain fall in loss",
                           {"expected", "most", "least"})}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Slaq>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
