// SPDX-License-Identifier: Apache-2.0
#include "advice/search.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <tbb/parallel_for.h>

#include "advice/candidates.h"
#include "advice/knobs.h"
#include "advice/worth.h"

namespace almanac::advice {
namespace {

/// Parts of the weeks, and which fraction of the candidates each passes on.
constexpr double kParts[] = {0.125, 0.5};
constexpr double kPassedOn = 1.0 / 3;
constexpr std::size_t kFewestPassedOn = 6;
/// Between gains closer than this factor, the setting under which fewer lose is chosen.
constexpr double kSameGain = 1.02;

/// The part of the weeks with the longest waits today.
Play busiest(const Play& play, const std::vector<Lived>& today, double fraction) {
  std::vector<double> days(static_cast<std::size_t>((play.until() - play.since()) / 24h) + 1);
  for (std::size_t at = 0; at < play.size(); ++at) {
    days[static_cast<std::size_t>(play.day_of(at))] += today[at].wait_s;
  }
  const auto wanted = static_cast<std::size_t>(fraction * static_cast<double>(days.size()));
  const std::size_t length = std::clamp<std::size_t>(wanted, 1, days.size());
  std::size_t best = 0;
  double most = -1;
  for (std::size_t from = 0; from + length <= days.size(); ++from) {
    const double sum =
        std::accumulate(days.begin() + static_cast<std::ptrdiff_t>(from),
                        days.begin() + static_cast<std::ptrdiff_t>(from + length), 0.0);
    if (sum > most) {
      most = sum;
      best = from;
    }
  }
  const Time from = play.since() + 24h * static_cast<std::int64_t>(best);
  return play.part(from, from + 24h * static_cast<std::int64_t>(length));
}

class Search {
 public:
  Search(const Play& play, const std::vector<Lived>& today) : play_(play), today_(today) {
    left_ = knobs_of(*play.conditions().site, play.log());
    made_.candidates = left_.size();
    std::set<std::string> names;
    for (const Setting& each : left_) names.insert(name_of(each));
    made_.knobs = names.size();
  }

  Result<KnobSearch> run(bool has_parts) {
    for (const double fraction : kParts) {
      if (!has_parts || left_.size() <= kFewestPassedOn) break;
      const Play part = busiest(play_, today_, fraction);
      const auto today = part.under(slurm_today(part.log(), true));
      if (!today) return stopped();
      count(part);
      const auto changes = changes_on(part, *today);
      if (!changes) return tl::unexpected(changes.error());
      pass_on(*changes);
    }
    auto changes = changes_on(play_, today_);
    if (!changes) return tl::unexpected(changes.error());
    choose(std::move(*changes));
    if (auto added = add_together(); !added) return tl::unexpected(added.error());
    std::vector<Change*> valued;
    for (Change& each : made_.changes) valued.push_back(&each);
    if (made_.together) valued.push_back(&*made_.together);
    if (auto added = add_worth(play_, valued); !added) return tl::unexpected(added.error());
    return std::move(made_);
  }

 private:
  static tl::unexpected<Error> stopped() { return fail(Code::unavailable, "interrupted"); }

  void count(const Play& play) {
    ++made_.simulations;
    made_.jobs += static_cast<std::int64_t>(play.log().jobs.size());
  }

  Result<std::vector<Change>> changes_on(const Play& play, const std::vector<Lived>& today) {
    std::vector<Result<Change>> results(left_.size(), tl::unexpected(Error{}));
    tbb::parallel_for(std::size_t{0}, left_.size(), [&](std::size_t at) {
      results[at] = change_of(play, today, std::span(&left_[at], 1));
    });
    std::vector<Change> made;
    for (Result<Change>& each : results) {
      if (!each) return tl::unexpected(each.error());
      count(play);
      made.push_back(std::move(*each));
    }
    return made;
  }

  /// Leaves the candidates with the largest gains.
  void pass_on(const std::vector<Change>& changes) {
    std::vector<std::size_t> order(changes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return changes[a].users.times > changes[b].users.times;
    });
    const auto most = static_cast<std::size_t>(kPassedOn * static_cast<double>(order.size()));
    order.resize(std::min(order.size(), std::max(kFewestPassedOn, most)));
    std::sort(order.begin(), order.end());
    std::vector<Setting> left;
    for (const std::size_t at : order) left.push_back(left_[at]);
    left_ = std::move(left);
  }

  static bool is_worth(const Change& change) {
    return change.never == 0 && change.users.times >= KnobSearch::kWorth &&
           (!change.users.sure || change.users.sure->from > 1);
  }

  /// Sorts by gain; the order of knobs_of() and the number of losers decide between equals.
  void choose(std::vector<Change> changes) {
    std::erase_if(changes, [](const Change& each) { return !is_worth(each); });
    while (!changes.empty() && made_.changes.size() < KnobSearch::kMost) {
      const double most =
          std::max_element(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
            return a.users.times < b.users.times;
          })->users.times;
      auto best = changes.end();
      for (auto at = changes.begin(); at != changes.end(); ++at) {
        if (at->users.times * kSameGain < most) continue;
        if (best == changes.end() || at->losers.size() < best->losers.size()) best = at;
      }
      const std::string name = name_of(best->settings.front());
      made_.changes.push_back(std::move(*best));
      std::erase_if(changes, [&](const Change& each) {
        return each.settings.empty() || name_of(each.settings.front()) == name;
      });
    }
  }

  Result<void> add_together() {
    if (made_.changes.size() < 2) return {};
    std::vector<Setting> settings;
    for (const Change& each : made_.changes) settings.push_back(each.settings.front());
    auto change = change_of(play_, today_, settings);
    if (!change) return tl::unexpected(change.error());
    made_.together = std::move(*change);
    return {};
  }

  const Play& play_;
  const std::vector<Lived>& today_;
  std::vector<Setting> left_;
  KnobSearch made_;
};

}  // namespace

Result<KnobSearch> search_knobs(const Play& play, const std::vector<Lived>& today,
                                std::size_t few_jobs) {
  return Search(play, today).run(play.size() > few_jobs);
}

}  // namespace almanac::advice
