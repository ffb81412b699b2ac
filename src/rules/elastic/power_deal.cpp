// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/power_deal.h"

#include <algorithm>
#include <limits>

namespace almanac::elastic {
namespace {

constexpr std::size_t kExchanges = 4;  // for each job, at most
constexpr double kNearly = 1e-9;       // of seconds and of the budget: what rounding leaves

/// What a step up is paid with.
enum class Price { energy, watts, gpus };

class PowerDeal {
 public:
  PowerDeal(std::span<const std::vector<PowerWay>> jobs, int gpus, double watts, Price price)
      : jobs_(jobs), gpus_(gpus), watts_(watts + kNearly), price_(price), has_(jobs.size(), -1) {
    for (std::size_t job = 0; job < jobs_.size(); ++job) begin(job);
    while (rise()) {
    }
    for (std::size_t left = kExchanges * jobs_.size(); left > 0 && exchange(); --left) {
    }
  }

  const std::vector<int>& ways() const { return has_; }
  /// Returns the sum of the times until the running jobs end.
  double left_s() const {
    double sum = 0;
    for (std::size_t job = 0; job < jobs_.size(); ++job) sum += has_[job] < 0 ? 0 : now(job).left_s;
    return sum;
  }

 private:
  double price(const PowerWay& from, const PowerWay& to) const {
    if (price_ == Price::watts) return to.watts - from.watts;
    if (price_ == Price::gpus) return to.gpus - from.gpus;
    return to.energy_j() - from.energy_j();
  }
  const PowerWay& now(std::size_t job) const {
    return jobs_[job][static_cast<std::size_t>(has_[job])];
  }
  void give(std::size_t job, std::size_t way, int sign = +1) {
    gpus_ -= sign * jobs_[job][way].gpus;
    watts_ -= sign * jobs_[job][way].watts;
  }
  void change(std::size_t job, std::size_t way) {
    give(job, static_cast<std::size_t>(has_[job]), -1);
    give(job, way);
    has_[job] = static_cast<int>(way);
  }

  /// On the fewest GPUs, with the limit that takes least energy of those that fit.
  void begin(std::size_t job) {
    const std::vector<PowerWay>& ways = jobs_[job];
    if (ways.empty() || ways[0].gpus > gpus_) return;
    if (job == 0) has_[job] = 0;
    for (std::size_t way = 0; way < ways.size() && ways[way].gpus == ways[0].gpus; ++way) {
      if (ways[way].watts > watts_) continue;
      if (has_[job] < 0 || ways[way].energy_j() < now(job).energy_j()) {
        has_[job] = static_cast<int>(way);
      }
    }
    if (has_[job] >= 0) give(job, static_cast<std::size_t>(has_[job]));
  }

  /// The step up that brings an end nearest for its energy; false = none is left that fits.
  bool rise() {
    double best = 0;
    std::size_t who = 0;
    std::size_t to = 0;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (has_[job] < 0) continue;
      const PowerWay& from = now(job);
      for (std::size_t way = 0; way < jobs_[job].size(); ++way) {
        const PowerWay& next = jobs_[job][way];
        const double gain = from.left_s - next.left_s;
        if (!(gain > kNearly) || next.gpus - from.gpus > gpus_ ||
            next.watts - from.watts > watts_) {
          continue;
        }
        const double cost = price(from, next);
        const double worth = cost > 0 ? gain / cost : std::numeric_limits<double>::infinity();
        if (worth <= best) continue;
        best = worth;
        who = job;
        to = way;
      }
    }
    if (best > 0) change(who, to);
    return best > 0;
  }

  /// Returns the way with which the job ends soonest, within the free GPUs and power and its own.
  std::size_t soonest(std::size_t job, int gpus, double watts) const {
    auto best = static_cast<std::size_t>(has_[job]);
    const PowerWay from = now(job);
    for (std::size_t way = 0; way < jobs_[job].size(); ++way) {
      const PowerWay& next = jobs_[job][way];
      if (next.gpus - from.gpus > gpus || next.watts - from.watts > watts) continue;
      if (next.left_s < jobs_[job][best].left_s) best = way;
    }
    return best;
  }

  /// Makes one job step back and another step forward with what that frees. Returns false if no
  /// pair gains.
  bool exchange() {
    double best = kNearly;
    std::size_t giver = 0;
    std::size_t taker = 0;
    std::size_t back = 0;
    std::size_t on = 0;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (has_[job] < 0) continue;
      for (std::size_t way = 0; way < jobs_[job].size(); ++way) {
        const PowerWay& less = jobs_[job][way];
        const double loss = less.left_s - now(job).left_s;
        if (loss <= 0) continue;
        const int gpus = gpus_ + now(job).gpus - less.gpus;
        const double watts = watts_ + now(job).watts - less.watts;
        if (gpus < 0 || watts < 0) continue;
        for (std::size_t other = 0; other < jobs_.size(); ++other) {
          if (other == job || has_[other] < 0) continue;
          const std::size_t next = soonest(other, gpus, watts);
          const double gain = now(other).left_s - jobs_[other][next].left_s - loss;
          if (gain <= best) continue;
          best = gain;
          giver = job;
          taker = other;
          back = way;
          on = next;
        }
      }
    }
    if (best <= kNearly) return false;
    change(giver, back);
    change(taker, on);
    return true;
  }

  std::span<const std::vector<PowerWay>> jobs_;
  int gpus_;      // left
  double watts_;  // left
  Price price_;
  std::vector<int> has_;
};

}  // namespace

std::vector<int> deal_power(std::span<const std::vector<PowerWay>> jobs, int gpus, double watts) {
  PowerDeal best(jobs, gpus, watts, Price::energy);
  for (const Price other : {Price::watts, Price::gpus}) {
    PowerDeal deal(jobs, gpus, watts, other);
    if (deal.left_s() < best.left_s() - kNearly) best = std::move(deal);
  }
  return best.ways();
}

}  // namespace almanac::elastic
