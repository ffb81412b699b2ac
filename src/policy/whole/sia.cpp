// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sia: chooses the GPU type and number of GPUs of each elastic job by an integer program over
/// configurations, so that goodputs are large and fair (rules/elastic/typed_program.h). A
/// configuration is a power of two of GPUs on one node, or whole nodes, of one type. A job may have
/// twice the most GPUs that it has reported on, and one until its first report. A change costs a
/// young job more.
///
/// A job with a parallel plan (Request::plan_gpus; the paper's hybrid-parallel jobs) scales by
/// whole copies of its model, and one with NVLink groups by whole groups (trace/sizes.h): of these
/// configurations it may have the multiples, and also a power of two of copies. Until its first
/// report it has one copy, or its minimum.
///
/// The price of a waiting job grows: from its submission if it has never run, otherwise after ten
/// minutes. So each job gets its turn.
///
/// On a type without reports, a job's goodput is that on a type with reports, times the estimated
/// ratio of speeds (Allocator::rate_on_type()).
///
/// Source   Jayaram Subramanya et al., SOSP'23 (Sia), section 3.
/// Differs  Jobs are not profiled on one GPU of each type before they start. A copy of a model has
///          the same number of GPUs on each type. The published price of
///          a waiting job is constant, a tenth more than the cost of one GPU, so a job with four
///          GPUs never gives two of them to a new job. A job whose restart would cost more than ten
///          minutes keeps its GPUs until it has gained that much; otherwise waiting jobs could stop
///          each other without end.
/// Cost     CBC, some ms for 50 jobs and 20 configurations, and a fit per new report
#include <algorithm>
#include <cmath>
#include <set>

#include "policy/kit/elastic_allocator.h"
#include "policy/kit/gain.h"
#include "policy/registry.h"
#include "rules/elastic/typed_program.h"
#include "trace/sizes.h"

namespace almanac::policy::whole {
namespace {

constexpr double kCannotUse = 1e-4;
constexpr Duration kPatience = 10min;  // of a waiting job that has run before

class Sia final : public ElasticAllocator {
 public:
  Sia(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job),
        terms_{.fairness = told.number("fairness"), .idle_price = told.number("idle_price")} {}

 private:
  /// GPUs of a type, on a number of its nodes.
  struct Choice {
    std::uint64_t type = 0;
    int gpus = 0;
    int nodes = 0;
    int plan = 0;  ///< Only for jobs with this plan; 0 = for all.
  };

  bool deals_all_types() const override { return true; }
  void deal(std::span<const Elastic>, const Room&, const View&, std::vector<Wish>&) override {}

  void deal_types(VcId vc, std::span<const Elastic> jobs, std::span<const Room> rooms,
                  const View& view, const cluster::Ledger& ledger,
                  std::vector<Wish>& wishes) override {
    std::vector<elastic::TypedConfiguration> configurations;
    std::vector<Choice> choices;
    std::vector<int> gpus;
    std::set<int> plans;
    for (const Elastic& job : jobs) plans.insert(plan_of(job.job, view));
    for (const Room& room : rooms) {
      const auto offer = [&](int count, int plan) {
        configurations.push_back({.type = gpus.size(), .gpus = count});
        choices.push_back({room.type, count, room.nodes_of(count), plan});
      };
      const std::vector<int> counts = counts_of(room);
      for (const int count : counts) offer(count, 0);
      for (const int plan : plans) {
        for (int count = plan; plan > 0 && count <= room.gpus; count *= 2) {
          if (std::find(counts.begin(), counts.end(), count) == counts.end()) offer(count, plan);
        }
      }
      gpus.push_back(room.gpus);
    }
    const auto rate = [&](const Elastic& job, std::uint64_t type) {
      return rate_on_type(job.job, type, vc, view, ledger, 1);
    };
    std::vector<elastic::TypedJob> rows;
    for (const Elastic& job : jobs) rows.push_back(row_of(job, choices, rate, view));
    auto choice = elastic::choose_types(configurations, gpus, rows, terms_);
    if (!choice) {  // Others now need GPUs that jobs would keep.
      for (elastic::TypedJob& row : rows) row.is_frozen = false;
      choice = elastic::choose_types(configurations, gpus, rows, terms_);
    }
    std::vector<Wish> dealt;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      const auto chosen = choice->chosen[at];
      if (chosen) dealt.push_back(typed_wish(jobs[at], choices[*chosen]));
    }
    // Time changes nothing for jobs that fit nowhere, unless others hold what they need.
    bool is_held =
        std::any_of(jobs.begin(), jobs.end(), [](const Elastic& job) { return job.held_gpus > 0; });
    for (std::size_t at = 0; at < jobs.size() && !is_held; ++at) {
      const auto chosen = choice->chosen[at];
      is_held = chosen && choices[*chosen].gpus >= jobs[at].least;
    }
    if (is_held && dealt.size() < jobs.size()) deal_by(view.now + every(), view);
    std::stable_sort(dealt.begin(), dealt.end(),
                     [](const Wish& a, const Wish& b) { return a.gpus > b.gpus; });
    wishes.insert(wishes.end(), dealt.begin(), dealt.end());
  }

  /// Returns the GPUs of which the job gets multiples; 0 for any number.
  static int plan_of(JobId job, const View& view) {
    const int step = trace::size_step(view.request(job));
    return step > 1 ? step : 0;
  }

  /// Returns the numbers of GPUs of a type that a job may have.
  static std::vector<int> counts_of(const Room& room) {
    std::vector<int> made;
    for (int gpus = 1; gpus < room.per_node && gpus <= room.gpus; gpus *= 2) made.push_back(gpus);
    for (int gpus = room.per_node; gpus <= room.gpus; gpus += room.per_node) made.push_back(gpus);
    return made;
  }

  /// Returns the factor by which a waiting job counts as faster.
  double eagerness(JobId job, const View& view) const {
    const Progress& state = view.progress(job);
    if (state.phase != Phase::waiting) return 1;
    const Duration patient = state.start == kNoTime ? Duration{0} : kPatience;
    const double beyond_s = std::max(0.0, seconds(view.now - state.since - patient));
    return std::pow(1 + beyond_s / seconds(kPatience) * 10, -1 / terms_.fairness);
  }

  /// `rate` returns the estimated speed of a job on a type, relative to others.
  template <typename Rate>
  elastic::TypedJob row_of(const Elastic& job, const std::vector<Choice>& choices, Rate rate,
                           const View& view) {
    const int known = speeds.knows(job.job) ? 2 * speeds.most_gpus(job.job) : 1;
    const int plan = plan_of(job.job, view);
    const int most = std::min(job.most, std::max(known, plan > 0 ? job.least : 1));
    const double age_s = seconds(view.now - view.request(job.job).submit);
    const double lost_s = job.restart_s * view.progress(job.job).preemptions;
    elastic::TypedJob row;
    // A waiting job would otherwise have its GPUs before the restart has paid off.
    row.is_frozen =
        job.held_gpus > 0 && view.cost(job.job, {}) > kPatience && !has_repaid(job.job, view);
    if (age_s >= job.restart_s && age_s > 0) {
      row.restart_factor = std::max(age_s - lost_s, 0.0) / (age_s + job.restart_s);
    }
    double least = 0;
    for (std::size_t at = 0; at < choices.size(); ++at) {
      const Choice& each = choices[at];
      const bool is_copies = plan == 0 || each.gpus % plan == 0;
      const bool is_usable = each.gpus <= most && (each.type & job.types) != 0 && is_copies &&
                             (each.plan == 0 || each.plan == plan);
      const double goodput = is_usable ? goodput_on(job, each, rate) : 0;
      row.goodputs.push_back(goodput);
      if (goodput > 0 && (least == 0 || goodput < least)) least = goodput;
      if (each.gpus == job.held_gpus && each.type == job.held_type) row.present = at;
    }
    const double eager = eagerness(job.job, view);
    for (double& each : row.goodputs) each = each > 0 ? eager * each / least : kCannotUse;
    return row;
  }

  template <typename Rate>
  double goodput_on(const Elastic& job, const Choice& choice, Rate rate) {
    const std::uint64_t told = reported_type(job, choice.type);
    if (told == 0) {
      return speed_on(job, choice.nodes, choice.gpus) * rate(job, choice.type);
    }
    const double there = speeds.best_on(job.job, told, choice.nodes, choice.gpus).value;
    if (told == choice.type) return there;
    const double slower = rate(job, told);
    return slower > 0 ? there * rate(job, choice.type) / slower : 0;
  }

  /// Returns the type whose reports determine a job's speed on `type`: that type, or else the first
  /// with reports; 0 if there are none.
  std::uint64_t reported_type(const Elastic& job, std::uint64_t type) const {
    const std::vector<std::uint64_t> told = speeds.types(job.job);
    if (told.empty()) return 0;
    return std::find(told.begin(), told.end(), type) == told.end() ? told.front() : type;
  }

  /// Returns a wish with the best batch there, or the job's own batch until its first report.
  Wish typed_wish(const Elastic& job, const Choice& choice) {
    Wish wish{.job = job.job, .gpus = choice.gpus, .gpu_types = choice.type};
    const std::uint64_t told = reported_type(job, choice.type);
    if (told == 0) return wish;
    const bool stays = choice.gpus == job.held_gpus && choice.type == job.held_type;
    const int nodes = stays ? job.held_nodes : choice.nodes;
    wish.config.batch =
        choice.gpus * speeds.best_on(job.job, told, nodes, choice.gpus).split.local_batch();
    return wish;
  }

  elastic::TypedTerms terms_;
};

}  // namespace

void register_sia(Registry& registry) {
  registry.wholes.add(
      {.name = "sia",
       .summary = "elastic: GPU types and counts by an integer program, for high and fair goodput",
       .source = "Jayaram Subramanya et al. SOSP'23",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("fairness", "exponent of a job's goodput in the objective", -0.5, -10,
                             -0.01),
                      number("idle_price", "penalty of a job without GPUs", 1.1, 1, 1e6),
                      number("every_s", "shortest time between two reallocations", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Sia>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
