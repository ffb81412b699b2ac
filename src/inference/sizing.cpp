// SPDX-License-Identifier: Apache-2.0

#include "inference/sizing.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "inference/workload/workload.h"

namespace almanac::inference {
namespace {

constexpr int kDraws = 20;

/// A way to divide so many replicas, with which enough of the log's requests are served as asked.
struct Division {
  int prefill = 0;
  double attained = 0;
};

class Sizing {
 public:
  Sizing(Service service, const Requests& requests, const SizeQuestion& asked)
      : service_(std::move(service)), requests_(requests), asked_(asked) {}

  /// The fewest replicas for the log.
  Result<int> for_log() {
    int does = 0, fails = 0;
    for (int tried = 1; does == 0; tried = std::min(2 * tried, asked_.most)) {
      const auto found = divisions(tried);
      if (!found) return tl::unexpected(found.error());
      if (!(*found)->empty()) {
        does = tried;
      } else if (tried == asked_.most) {
        return too_few("the requests");
      } else {
        fails = tried;
      }
    }
    while (does - fails > 1) {
      const int middle = fails + (does - fails) / 2;
      const auto found = divisions(middle);
      if (!found) return tl::unexpected(found.error());
      ((*found)->empty() ? fails : does) = middle;
    }
    constexpr int kAllTried = 8, kBelow = 3;
    for (int fewer = does <= kAllTried ? 1 : does - kBelow; fewer < does; ++fewer) {
      const auto found = divisions(fewer);
      if (!found) return tl::unexpected(found.error());
      if (!(*found)->empty()) return fewer;
    }
    return does;
  }

  /// The fewest replicas, `least` or more, for the log and for what may follow it.
  Result<Size> for_following(int least) {
    const auto learnt = fit_workload(requests_);
    if (!learnt) {
      return fail(
          learnt.error().code,
          fmt::format("nothing can be said of what follows a log that {}", learnt.error().message),
          {}, "--confidence 0 looks at this log alone");
    }
    for (int draw = 1; draw <= kDraws; ++draw) {
      following_.push_back(following(*learnt, static_cast<std::uint64_t>(draw)));
    }
    // Those with most requests say soonest that a fleet is too small.
    seeds_.resize(following_.size());
    std::iota(seeds_.begin(), seeds_.end(), std::size_t{0});
    std::stable_sort(seeds_.begin(), seeds_.end(), [&](std::size_t a, std::size_t b) {
      return following_[a].requests > following_[b].requests;
    });
    for (int tried = least; tried <= asked_.most; ++tried) {
      const auto found = divisions(tried);
      if (!found) return tl::unexpected(found.error());
      for (const Division& each : **found) {
        const auto served = served_of_draws(tried, each.prefill);
        if (!served) return tl::unexpected(served.error());
        if (*served) {
          return Size{.replicas = tried,
                      .prefill = each.prefill,
                      .for_log = least,
                      .drawn = kDraws,
                      .served = **served};
        }
      }
    }
    return too_few("the requests of logs that may follow");
  }

  /// Those that serve the log as asked, the best first; none = none does.
  Result<const std::vector<Division>*> divisions(int replicas) {
    const auto known = divisions_.find(replicas);
    if (known != divisions_.end()) return &known->second;
    std::vector<Division> made;
    const int first = asked_.split ? 1 : 0, end = asked_.split ? replicas : 1;
    for (int prefill = first; prefill < end; ++prefill) {
      const auto attained = attained_of(replicas, prefill, requests_);
      if (!attained) return tl::unexpected(attained.error());
      if (*attained >= asked_.share) made.push_back({prefill, *attained});
    }
    std::stable_sort(made.begin(), made.end(),
                     [](const Division& a, const Division& b) { return a.attained > b.attained; });
    return &divisions_.emplace(replicas, std::move(made)).first->second;
  }

 private:
  tl::unexpected<Error> too_few(const char* what) const {
    return fail(Code::unavailable,
                fmt::format("{} replicas do not serve {:.4g} % of {} as asked", asked_.most,
                            100 * asked_.share, what),
                {}, "more replicas, GPUs of a replica, or time");
  }

  Result<double> attained_of(int replicas, int prefill, const Requests& requests) const {
    Service service = service_;
    service.replicas = replicas;
    service.prefill = prefill;
    const auto outcomes = play(service, requests);
    if (!outcomes) return tl::unexpected(outcomes.error());
    return summarize(requests, *outcomes, asked_.objective).attainment();
  }

  /// How many of the drawn logs are served as asked; nothing = too few.
  Result<std::optional<int>> served_of_draws(int replicas, int prefill) const {
    constexpr double kRounding = 1e-9;
    const int missed_at_most =
        static_cast<int>(std::floor((1 - asked_.confidence) * kDraws + kRounding));
    std::atomic<int> missed = 0;
    std::vector<Result<double>> attained(seeds_.size(), 1.0);
    tbb::parallel_for(std::size_t{0}, seeds_.size(), [&](std::size_t at) {
      if (missed > missed_at_most) return;
      const std::size_t draw = seeds_[at];
      attained[at] = attained_of(replicas, prefill, generate(following_[draw], draw + 1));
      if (attained[at] && *attained[at] < asked_.share) ++missed;
    });
    for (const auto& each : attained) {
      if (!each) return tl::unexpected(each.error());
    }
    if (missed > missed_at_most) return std::optional<int>();
    return std::optional<int>(kDraws - missed);
  }

  Service service_;
  const Requests& requests_;
  const SizeQuestion& asked_;
  std::map<int, std::vector<Division>> divisions_;
  std::vector<Workload> following_;
  std::vector<std::size_t> seeds_;
};

}  // namespace

Result<Size> size_fleet(Service service, const Requests& requests, const SizeQuestion& asked) {
  Sizing sizing(std::move(service), requests, asked);
  const auto least = sizing.for_log();
  if (!least) return tl::unexpected(least.error());
  if (asked.confidence > 0) return sizing.for_following(*least);
  const auto best = sizing.divisions(*least);
  if (!best) return tl::unexpected(best.error());
  return Size{.replicas = *least, .prefill = (*best)->front().prefill, .for_log = *least};
}

}  // namespace almanac::inference
