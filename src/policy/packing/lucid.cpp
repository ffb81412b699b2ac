// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job of up to 8 GPUs that would have to wait joins the first running job if both have low
/// sharing scores.
///
/// The score of a job is 0 if it and the models known so far keep 0.95 of their speed together on
/// average, 1 if they keep 0.85, else 2. Two jobs may share if their scores sum to at most
/// `most_score`, unless the guest's predicted run time exceeds twice the host's.
///
/// With `light`, sharing is off while at most that many jobs are expected in an hour: as many as
/// have come in the last one. Light load leaves room soon, so sharing would only slow jobs.
///
/// Source   Hu et al., ASPLOS'23 (Lucid), sections 3.3 and 3.4, and its published simulator, where
///          sharing is off while 2 jobs or fewer are expected.
/// Differs  The score comes from predicted pairs, not from a tree on utilization, and the expected
///          load from the last hour, not from a learned forecast. A job joins only if it finds no
///          place; only the pass (`profile_first`) measures it first.
/// Cost     as Grouping; with `light`, O(waiting jobs) per decision in addition
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "policy/kit/grouping.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

constexpr int kMostGpus = 8;
constexpr Duration kForecast = 1h;

class Lucid final : public Grouping {
 public:
  Lucid(Desk& desk, MayShare may_share, int most_score, int light)
      : Grouping(desk, std::move(may_share), 2),
        most_score_(most_score),
        light_(static_cast<std::size_t>(light)) {}

  /// Counts the jobs that came in the last hour.
  void review(std::span<VcState> vcs) override {
    if (light_ == 0) return;
    const auto note = [&](JobId job) {
      const Time submit = desk_.view().request(job).submit;
      if (submit > desk_.now() - kForecast) came_.emplace(submit, job);
    };
    // The queue is not in order of arrival, so each waiting job is looked at.
    for (const VcState& vc : vcs) {
      for (const WaitingQueue::Class& each : vc.waiting.classes()) {
        for (RankedQueue::Cursor at(each.jobs); at.get() != nullptr; at.advance()) {
          note(at.get()->job);
        }
      }
    }
    // Each other job has waited before; one that is adopted may run at the first decision.
    if (!std::exchange(has_begun_, true)) {
      for (std::size_t at = 0; at < desk_.view().num_jobs(); ++at) {
        const JobId job{static_cast<std::uint32_t>(at)};
        if (desk_.view().progress(job).phase == Phase::running) note(job);
      }
    }
    came_.erase(came_.begin(), came_.upper_bound({desk_.now() - kForecast, kNoJob}));
  }

 private:
  std::optional<double> merit(const Join& join) const override {
    if (light_ > 0 && came_.size() <= light_) return std::nullopt;
    const JobId host = join.hosts.front();
    if (desk_.demand(join.guest).gpus > kMostGpus) return std::nullopt;
    if (believed(join.guest) > 2 * believed(host)) return std::nullopt;
    if (score(join.guest, join.grants) + score(host, join.grants) > most_score_) {
      return std::nullopt;
    }
    return 0;  // the first host is good enough
  }

  Duration believed(JobId job) const { return desk_.candidate(job).believed; }

  /// Returns the score of a job on `held`.
  int score(JobId job, std::span<const cluster::Grant> held) const {
    const SpeedModelId model = desk_.view().speeds->model(job);
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const auto& each) { return each.first == model; });
    if (known == known_.end()) {
      known_.emplace_back(model, job);
      scores_.clear();
    }
    const std::uint32_t kind = desk_.view().cluster.nodes[index(held.front().node)].node_class;
    const auto [found, is_new] = scores_.try_emplace({model, kind}, 0);
    if (is_new) found->second = rated(mean_speed(job, held));
    return found->second;
  }

  static int rated(double speed) { return speed >= 0.95 ? 0 : speed >= 0.85 ? 1 : 2; }

  /// Returns the mean speed of the job and the known ones in pairs.
  double mean_speed(JobId job, std::span<const cluster::Grant> held) const {
    double sum = 0;
    for (const auto& [model, other] : known_) {
      sum += relative_speed(job, held, {&other, 1}) + relative_speed(other, held, {&job, 1});
    }
    return sum / 2 / static_cast<double>(known_.size());
  }

  int most_score_;
  std::size_t light_;
  std::set<std::pair<Time, JobId>> came_;  // in the last hour
  bool has_begun_ = false;                 // whether a decision has been reviewed
  /// A job of each model seen so far.
  mutable std::vector<std::pair<SpeedModelId, JobId>> known_;
  mutable std::map<std::pair<SpeedModelId, std::uint32_t>, int> scores_;
};

}  // namespace

void register_lucid(Registry& registry) {
  registry.packings.add(
      {.name = "lucid",
       .summary = "a waiting job shares GPUs if both jobs have low interference scores",
       .source = "Hu et al. ASPLOS'23 (Lucid) §3.3",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus},
                  .needs = {Trait::lets_join},
                  .bars = {Trait::chooses_gpus}},
       .parameters = {whole_number("most_score", "highest sum of both scores", 2, 0, 4),
                      whole_number("light",
                                   "jobs in an hour up to which none share; 0: sharing is always "
                                   "on",
                                   0, 0, 1'000'000)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Lucid>(desk, std::move(may_share), told.whole("most_score"),
                                       told.whole("light"));
      });
}

}  // namespace almanac::policy::packing
