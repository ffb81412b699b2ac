// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sia: on how many GPUs each elastic job runs, by an integer program over configurations, so that
/// goodputs are large and fair (elastic/typed_program.h). A configuration is a power of two of GPUs
/// of one node, or whole nodes. A job may have twice the most GPUs that it has reported of; until
/// it has reported anything it has one. A change costs a job the more the younger it is.
///
/// Source   Jayaram Subramanya et al., SOSP'23 (Sia), section 3.
/// Differs  Elastic jobs of a virtual cluster have GPUs of one type, as the frame deals them, so
///          the program chooses among numbers of them only.
/// Cost     CBC, some ms for 50 jobs and 20 configurations, and a fit for each new report.
#include <algorithm>
#include <cmath>

#include "elastic/typed_program.h"
#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

constexpr double kCannotUse = 1e-4;

class Sia final : public ElasticAllocator {
 public:
  Sia(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job),
        terms_{.fairness = told.number("fairness"), .idle_price = told.number("idle_price")} {}

 private:
  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    const std::vector<elastic::TypedConfiguration> configurations = all_of(room);
    std::vector<elastic::TypedJob> rows;
    for (const Elastic& job : jobs) rows.push_back(row_of(job, configurations, room, view));
    const auto choice =
        elastic::choose_types(configurations, std::vector<int>{room.gpus}, rows, terms_);
    std::vector<Wish> dealt;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      const auto chosen = choice->chosen[at];
      if (chosen) dealt.push_back(wish_of(jobs[at], configurations[*chosen].gpus, room));
    }
    std::stable_sort(dealt.begin(), dealt.end(),
                     [](const Wish& a, const Wish& b) { return a.gpus > b.gpus; });
    wishes.insert(wishes.end(), dealt.begin(), dealt.end());
  }

  static std::vector<elastic::TypedConfiguration> all_of(const Room& room) {
    std::vector<elastic::TypedConfiguration> made;
    for (int gpus = 1; gpus < room.per_node && gpus <= room.gpus; gpus *= 2) {
      made.push_back({.gpus = gpus});
    }
    for (int gpus = room.per_node; gpus <= room.gpus; gpus += room.per_node) {
      made.push_back({.gpus = gpus});
    }
    return made;
  }

  elastic::TypedJob row_of(const Elastic& job,
                           const std::vector<elastic::TypedConfiguration>& configurations,
                           const Room& room, const View& view) {
    const int known = speeds.knows(job.job) ? 2 * speeds.most_gpus(job.job) : 1;
    const int most = std::min(job.most, std::max(known, 1));
    const double alone = speed_on(job, 1, 1);
    const double age_s = seconds(view.now - view.request(job.job).submit);
    const double lost_s = job.restart_s * view.progress(job.job).preemptions;
    elastic::TypedJob row;
    if (age_s >= job.restart_s && age_s > 0) {
      row.restart_factor = std::max(age_s - lost_s, 0.0) / (age_s + job.restart_s);
    }
    for (std::size_t at = 0; at < configurations.size(); ++at) {
      const int gpus = configurations[at].gpus;
      const bool is_usable = gpus <= most && alone > 0;
      row.goodputs.push_back(is_usable ? speed_on(job, room.nodes_of(gpus), gpus) / alone
                                       : kCannotUse);
      if (gpus == job.held_gpus) row.present = at;
    }
    return row;
  }

  elastic::TypedTerms terms_;
};

}  // namespace

void register_sia(Registry& registry) {
  registry.wholes.add(
      {.name = "sia",
       .summary =
           "numbers of GPUs of elastic jobs by an integer program, for large and fair goodputs",
       .source = "Jayaram Subramanya et al. SOSP'23",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("fairness", "power of a goodput in what is minimised", -0.5, -10,
                             -0.01),
                      number("idle_price", "of a job without GPUs", 1.1, 1, 1e6),
                      number("every_s", "two deals are at least so far apart", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Sia>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
