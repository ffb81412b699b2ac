// SPDX-License-Identifier: Apache-2.0

/// \file
/// Allocates cache and remote storage bandwidth to the jobs that read their data sets from there,
/// whenever one starts or ends.
///
///   greedy   A GB of cache goes where it saves the most remote reading: to the data sets of which
///            jobs read the largest fraction per second. Remote bandwidth is shared equally.
///   fair     Jobs have the largest speeds relative to those with an equal share of cache and
///            bandwidth, the smallest ratio first. Cache goes where it saves most at these speeds,
///            and each job reads remotely what it needs for its own.
///
/// Source   Zhao et al., EuroSys'23 (SiloD), sections 5 and 6: the policies on top of SiloDPerf, as
///          the project's survey restates them.
/// Differs  The order and the pass allocate GPUs first, not the same program. All GPUs of a job
///          read at the same rate. Filling and emptying a cache takes no time here.
/// Cost     O(readers log readers) per start or end of a reader, times 50 under `fair`
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "perf/remote_input.h"
#include "policy/kit/desk.h"
#include "policy/registry.h"

namespace almanac::policy::throttle {
namespace {

/// Stands for 0, because 0 means not set.
constexpr double kNextToNothing = 1e-9;

struct Reads {
  JobId job{};
  Reading reading;
  double gbs = 0;
};

/// What the policy gives to each data set and each reader.
struct Dealt {
  std::map<NameId, double> cached_gb;
  std::vector<double> remote_gbs;
};

class Silod final : public Throttle {
 public:
  explicit Silod(bool fair) : fair_(fair) {}

  void started(JobId job, const Desk& desk) override {
    const Speeds* const speeds = desk.view().speeds;
    if (speeds == nullptr) return;
    const auto reading = speeds->reading(job);
    if (!reading) return;
    readers_[job] = {job, *reading, reading->gbs * speeds->rate(job, desk.grants(job))};
    changed_ = true;
  }
  void ended(JobId job, const Desk&) override { changed_ = readers_.erase(job) > 0 || changed_; }
  void follow(Desk& desk) override {
    if (!changed_) return;
    changed_ = false;
    std::vector<Reads> all;
    for (const auto& [job, reads] : readers_) all.push_back(reads);
    const cluster::Storage& storage = desk.view().cluster.storage;
    const Dealt dealt = fair_ ? fairly(all, storage) : greedily(all, storage);
    for (std::size_t at = 0; at < all.size(); ++at) {
      const JobId job = all[at].job;
      const Config before = desk.starts(job) ? Config{} : desk.view().config(job);
      Config config = before;
      const double cached = dealt.cached_gb.at(all[at].reading.data_set);
      config.cache_gb = static_cast<float>(std::max(kNextToNothing, cached));
      if (fair_) {
        config.remote_gbs = static_cast<float>(std::max(kNextToNothing, dealt.remote_gbs[at]));
      }
      if (config == before) continue;
      const auto held = desk.grants(job);
      const std::vector<cluster::Grant> grants(held.begin(), held.end());
      desk.plan().set(job, {.grants = grants, .config = config});
    }
  }

 private:
  /// Fills the cache where it saves most if readers run at `speeds` of their full speed.
  static std::map<NameId, double> fill(const std::vector<Reads>& all,
                                       const std::vector<double>& speeds, double cache_gb) {
    struct Data {
      double gb = 0;
      double read_gbs = 0;
    };
    std::map<NameId, Data> data_sets;
    for (std::size_t at = 0; at < all.size(); ++at) {
      Data& data = data_sets[all[at].reading.data_set];
      data.gb = std::max(data.gb, all[at].reading.data_gb);
      data.read_gbs += speeds[at] * all[at].gbs;
    }
    std::vector<std::pair<NameId, Data>> order(data_sets.begin(), data_sets.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.second.read_gbs * b.second.gb > b.second.read_gbs * a.second.gb;
    });
    std::map<NameId, double> cached;
    for (const auto& [name, data] : order) {
      cached[name] = std::min(data.gb, cache_gb);
      cache_gb -= cached[name];
    }
    return cached;
  }

  static Dealt greedily(const std::vector<Reads>& all, const cluster::Storage& storage) {
    return {fill(all, std::vector<double>(all.size(), 1), storage.cache_gb), {}};
  }

  static Dealt fairly(const std::vector<Reads>& all, const cluster::Storage& storage) {
    const auto jobs = static_cast<double>(all.size());
    std::vector<double> evenly;
    for (const Reads& each : all) {
      const double cached = std::min(each.reading.data_gb, storage.cache_gb / jobs);
      const double need = perf::remote_need(each.gbs, each.reading.data_gb, cached);
      evenly.push_back(need > 0 ? std::min(1.0, storage.remote_gbs / jobs / need) : 1);
    }
    Dealt dealt;
    const auto deal = [&](double level) {
      std::vector<double> speeds;
      for (const double even : evenly) speeds.push_back(std::min(1.0, level * even));
      dealt.cached_gb = fill(all, speeds, storage.cache_gb);
      dealt.remote_gbs.clear();
      double sum = 0;
      for (std::size_t at = 0; at < all.size(); ++at) {
        const Reading& reading = all[at].reading;
        const double cached = dealt.cached_gb.at(reading.data_set);
        dealt.remote_gbs.push_back(speeds[at] *
                                   perf::remote_need(all[at].gbs, reading.data_gb, cached));
        sum += dealt.remote_gbs.back();
      }
      return sum;
    };
    double low = 1;
    double high = 1;
    for (const double even : evenly) high = std::max(high, 1 / even);
    constexpr int kHalvings = 50;
    if (deal(high) > storage.remote_gbs) {
      for (int halving = 0; halving < kHalvings; ++halving) {
        const double middle = (low + high) / 2;
        (deal(middle) > storage.remote_gbs ? high : low) = middle;
      }
      deal(low);
    }
    return dealt;
  }

  bool fair_;
  bool changed_ = false;
  std::map<JobId, Reads> readers_;
};

}  // namespace

void register_silod(Registry& registry) {
  registry.throttles.add(
      {"silod",
       "allocates cache to the jobs for which it saves most remote reads",
       "Zhao et al. EuroSys'23 (SiloD)",
       {.has = {Trait::reads_speeds, Trait::paces_traffic}},
       {word("aim", "fewest remote reads, or the same gain for every job over an equal share",
             {"greedy", "fair"})}},
      [](const Parameters& told) { return std::make_unique<Silod>(told.word("aim") == "fair"); });
}

}  // namespace almanac::policy::throttle
