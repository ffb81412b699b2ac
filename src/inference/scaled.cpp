// SPDX-License-Identifier: Apache-2.0

#include "inference/scaled.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "inference/registry.h"
#include "inference/simulation.h"
#include "text/nearest.h"

namespace almanac::inference {
namespace {

/// The replicas of a run that follows a scaler.
class Fleet {
 public:
  Fleet(const Parts& parts, const Requests& requests, Micros cold_start)
      : parts_(parts), simulation_(requests), cold_start_(cold_start) {}

  void begin_with(int replicas) {
    parts_.open(simulation_, replicas);
    for (int each = 0; each < replicas; ++each) {
      replicas_.push_back(static_cast<std::uint32_t>(each));
    }
  }
  void ask(Micros now) { starting_.push_back(now + cold_start_); }
  /// What is not ready yet goes first, then what has fewest requests.
  void let_go() {
    if (!starting_.empty()) return starting_.pop_back();
    std::size_t least = 0;
    for (std::size_t each = 1; each < replicas_.size(); ++each) {
      if (simulation_.requests_of(replicas_[each]) <= simulation_.requests_of(replicas_[least])) {
        least = each;
      }
    }
    simulation_.close(replicas_[least]);
    if (!simulation_.gone(replicas_[least])) draining_.push_back(replicas_[least]);
    replicas_.erase(replicas_.begin() + static_cast<std::ptrdiff_t>(least));
  }
  int present() const { return static_cast<int>(replicas_.size() + starting_.size()); }
  Load load() const {
    Load seen = simulation_.load();
    seen.starting = static_cast<int>(starting_.size());
    return seen;
  }
  /// Plays until then; replicas become ready on the way.
  void advance(Micros until) {
    while (!starting_.empty() && starting_.front() <= until) {
      const Micros at = starting_.front();
      starting_.pop_front();
      step(at);
      replicas_.push_back(simulation_.add(parts_.limits, *parts_.step, parts_.former()));
    }
    step(until);
  }
  const Simulation& simulation() const { return simulation_; }
  double replica_us() const { return replica_us_; }

 private:
  void step(Micros until) {
    // Draining replicas are counted to the end of the step in which they go.
    replica_us_ += (until - now_) * (present() + static_cast<double>(draining_.size()));
    simulation_.advance(until, *parts_.router);
    now_ = until;
    std::erase_if(draining_, [&](std::uint32_t each) { return simulation_.gone(each); });
  }

  const Parts& parts_;
  Simulation simulation_;
  Micros cold_start_;
  Micros now_ = 0;
  double replica_us_ = 0;
  std::vector<std::uint32_t> replicas_, draining_;
  std::deque<Micros> starting_;
};

}  // namespace

Result<std::unique_ptr<Scaler>> make_scaler(const std::string& name, const ScalerCase& told) {
  const auto& all = registry().scalers;
  const auto* const found = all.find(name);
  if (found == nullptr) {
    return fail(Code::not_found, fmt::format("no scaler is named \"{}\"", name), {},
                text::meant_or_known(name, all.names()));
  }
  if (found->make.needs_rate && told.replica_requests_per_s <= 0) {
    return fail(Code::usage,
                fmt::format("scaler {} needs to know how many requests a replica can answer", name),
                {}, "give an objective, or that rate");
  }
  return found->make.make(told);
}

Result<Scaled> play_scaled(const Service& service, const Requests& requests,
                           const Scaling& scaling) {
  const auto made = parts(service);
  if (!made) return tl::unexpected(made.error());
  const auto scaler = make_scaler(scaling.scaler, scaling.told);
  if (!scaler) return tl::unexpected(scaler.error());
  if (service.prefill > 0 && scaling.told.least != scaling.told.most) {
    return fail(Code::usage, "prefill-only replicas cannot be combined with a scaler", {},
                "give a fixed number of replicas");
  }
  Fleet fleet(*made, requests, scaling.told.cold_start);
  Scaled seen;
  const Micros begin = requests.size() > 0 ? requests.all.front().arrival : 0;
  fleet.advance(begin);
  fleet.begin_with(scaling.told.least);
  for (Micros now = begin;; now += (*scaler)->period()) {
    fleet.advance(now);
    const Load load = fleet.load();
    if (load.over) break;
    const int wanted = std::clamp((*scaler)->want(now - begin, load), scaling.told.least,
                                  std::max(1, scaling.told.most));
    seen.looks.push_back({now, load, wanted});
    while (fleet.present() < wanted) fleet.ask(now);
    while (fleet.present() > wanted) fleet.let_go();
  }
  seen.outcomes = fleet.simulation().outcomes();
  seen.replica_s = fleet.replica_us() / 1e6;
  seen.busy = fleet.simulation().busy();
  return seen;
}

Result<double> replica_rate(const Service& service, const Requests& requests,
                            const Objective& objective, double share) {
  constexpr std::size_t kSample = 2000;
  constexpr double kWithin = 1.02;
  if (requests.size() < 2)
    return fail(Code::invalid, "there are too few requests to estimate a rate");
  Requests sample = requests;
  sample.all.resize(std::min(kSample, requests.size()));
  const Micros first = sample.all.front().arrival;
  const double span_s = (sample.all.back().arrival - first) / 1e6;
  if (span_s <= 0) return fail(Code::invalid, "all requests arrive at the same instant");
  const double rate = static_cast<double>(sample.size() - 1) / span_s;
  Service one = service;
  one.replicas = 1;
  one.prefill = 0;
  const auto does = [&](double asked) -> Result<bool> {
    Requests faster = sample;
    for (Request& each : faster.all) each.arrival = (each.arrival - first) * (rate / asked);
    const auto outcomes = play(one, faster);
    if (!outcomes) return tl::unexpected(outcomes.error());
    return summarize(faster, *outcomes, objective).attainment() >= share;
  };
  double low = 0, high = rate;
  for (constexpr double kMost = 1e6; high < kMost; high *= 2) {
    const auto enough = does(high);
    if (!enough) return tl::unexpected(enough.error());
    if (!*enough) break;
    low = high;
  }
  constexpr double kLeast = 1e-4;
  while (high > kLeast && (low == 0 || high > kWithin * low)) {
    const double middle = low == 0 ? high / 2 : (low + high) / 2;
    const auto enough = does(middle);
    if (!enough) return tl::unexpected(enough.error());
    (*enough ? low : high) = middle;
  }
  if (low > 0) return low;
  return fail(Code::unavailable,
              "one replica does not meet the objective at any rate of these requests", {},
              "use a longer objective, or more GPUs per replica");
}

}  // namespace almanac::inference
