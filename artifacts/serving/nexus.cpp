// SPDX-License-Identifier: Apache-2.0

#include "serving/nexus.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace almanac::serving {
namespace {

constexpr double kNetwork = 2000;   // us, there and back
constexpr double kRounding = 1e-3;  // of a batch or a rate, that counts as none
constexpr double kSecond = 1e6;

}  // namespace

int NexusProfiles::largest(const std::string& model) const {
  return static_cast<int>(models_.at(model).mean.size());
}

double NexusProfiles::forward(const std::string& model, int batch, double multiplier) const {
  const NexusModel& it = models_.at(model);
  const auto at = static_cast<std::size_t>(batch - 1);
  return (it.mean[at] + it.deviation[at]) * multiplier;
}

double NexusProfiles::around(const std::string& model, double multiplier) const {
  const NexusModel& it = models_.at(model);
  return (it.pre_mean + it.pre_deviation) * multiplier +
         (it.post_mean + it.post_deviation) * multiplier;
}

int NexusProfiles::max_batch(const std::string& model, double slo, double multiplier) const {
  const double budget = (slo - kNetwork - around(model, multiplier)) / 2;
  int batch = 0;
  while (batch < largest(model) && forward(model, batch + 1, multiplier) <= budget) ++batch;
  return std::max(batch, 1);
}

std::optional<NexusShare> alone(const NexusProfiles& profiles, const NexusSession& session,
                                double multiplier) {
  NexusShare made{.session = session};
  made.max_batch = profiles.max_batch(session.model, session.slo, multiplier);
  const double most = profiles.forward(session.model, made.max_batch, multiplier);
  if (session.rate == 0 || session.rate >= made.max_batch * kSecond / most) {
    made.batch = made.max_batch;
    made.forward = made.max_duty = most;
    made.throughput = made.batch * kSecond / most;
    return made;
  }
  const double around = profiles.around(session.model, multiplier);
  for (int batch = 1; batch <= made.max_batch; ++batch) {
    const double forward = profiles.forward(session.model, batch, multiplier);
    if ((batch - 1) * kSecond / session.rate + forward + around > session.slo) break;
    made.batch = batch;
    made.forward = forward;
  }
  if (made.batch == 0) return std::nullopt;
  made.max_duty =
      std::min(session.slo - made.forward - around, made.batch * kSecond / session.rate);
  made.throughput = made.batch * kSecond / made.max_duty;
  return made;
}

std::optional<std::pair<NexusShare, double>> NexusNode::what_if(const NexusSession& session) const {
  NexusNode tried = *this;
  auto share = tried.add(session);
  if (!share) return std::nullopt;
  return std::pair(*share, tried.occupancy());
}

std::optional<NexusShare> NexusNode::add(const NexusSession& session) {
  auto share = alone(*profiles_, session, multiplier_);
  if (!share) return std::nullopt;
  if (shares_.empty()) {
    shares_.push_back(*share);
    execution_ = share->forward;
    duty_ = share->max_duty;
    return share;
  }
  if (occupancy() >= 1) return std::nullopt;
  const NexusNode before = *this;
  shares_.push_back(*share);
  settle();
  if (execution_ > duty_) {
    *this = before;
    return std::nullopt;
  }
  NexusShare& mine = shares_.back();
  if (mine.max_duty >= before.duty_) {
    mine.throughput = mine.batch * kSecond / duty_;
  } else {
    mine.batch = share->batch;
    mine.throughput = share->throughput;
  }
  return mine;
}

void NexusNode::settle() {
  duty_ = std::numeric_limits<double>::infinity();
  for (const NexusShare& each : shares_) duty_ = std::min(duty_, each.max_duty);
  execution_ = 0;
  for (NexusShare& each : shares_) {
    const double exact = duty_ * each.session.rate / kSecond;
    int batch = static_cast<int>(std::ceil(exact));
    if (batch > 1 && exact - std::floor(exact) < kRounding) {
      batch = static_cast<int>(std::floor(exact));
    }
    each.batch = std::max(batch, 1);
    if (each.batch > each.max_batch) {
      overloaded_ = true;
      execution_ += profiles_->forward(each.session.model, each.max_batch, multiplier_);
      each.batch = 0;
      continue;
    }
    execution_ += profiles_->forward(each.session.model, each.batch, multiplier_);
  }
}

std::vector<NexusPlacement> place_nexus(std::vector<NexusNode>& nodes,
                                        const std::vector<NexusSession>& sessions) {
  std::vector<std::size_t> order(sessions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sessions[a].rate > sessions[b].rate;
  });
  std::vector<NexusPlacement> made;
  for (const std::size_t which : order) {
    NexusSession rest = sessions[which];
    while (rest.rate > kRounding) {
      int best = -1;
      bool reaches = false;
      double throughput = 0, occupancy = 0;
      for (std::size_t node = 0; node < nodes.size(); ++node) {
        const auto tried = nodes[node].what_if(rest);
        if (!tried) continue;
        const bool enough = tried->first.throughput >= rest.rate - kRounding;
        const bool better = best < 0 || (enough && !reaches) ||
                            (enough == reaches && (enough ? tried->second > occupancy
                                                          : tried->first.throughput > throughput));
        if (!better) continue;
        best = static_cast<int>(node);
        reaches = enough;
        throughput = tried->first.throughput;
        occupancy = tried->second;
      }
      if (best < 0) {
        made.push_back({which, -1, 0, rest.rate});
        break;
      }
      const auto share = nodes[static_cast<std::size_t>(best)].add(rest);
      made.push_back({which, best, share->batch, share->throughput});
      rest.rate -= share->throughput;
    }
  }
  return made;
}

std::optional<NexusSplit> split_nexus(const NexusProfiles& profiles,
                                      const std::vector<NexusStage>& stages, double slo_ms,
                                      int segments, bool whole) {
  constexpr double kNo = std::numeric_limits<double>::infinity();
  const double segment = std::round(slo_ms * 1e3 / segments);
  const auto cost = [&](const NexusStage& stage, int count) {
    const int most = profiles.max_batch(stage.model, count * segment, 1);
    const double budget = (count * segment - kNetwork - profiles.around(stage.model, 1)) / 2;
    if (profiles.forward(stage.model, 1, 1) > budget) return kNo;
    double best = kNo;
    for (int batch = 1; batch <= most; ++batch) {
      best = std::min(best, stage.rate * profiles.forward(stage.model, batch, 1) / kSecond / batch);
    }
    return best;
  };
  const auto size = static_cast<std::size_t>(segments) + 1;
  std::vector<std::vector<double>> least(stages.size(), std::vector<double>(size, kNo));
  std::vector<std::vector<int>> own(stages.size(), std::vector<int>(size, 0));
  // Children stand behind their parents.
  for (std::size_t stage = stages.size(); stage-- > 0;) {
    std::vector<double> costs(size, kNo);
    for (int count = 1; count <= segments; ++count) {
      costs[static_cast<std::size_t>(count)] = cost(stages[stage], count);
    }
    for (int budget = 1; budget <= segments; ++budget) {
      for (int mine = 1; whole ? mine <= budget : mine < budget; ++mine) {
        double sum = costs[static_cast<std::size_t>(mine)];
        for (std::size_t child = stage + 1; child < stages.size(); ++child) {
          if (stages[child].parent != static_cast<int>(stage)) continue;
          sum += least[child][static_cast<std::size_t>(budget - mine)];
        }
        if (sum >= least[stage][static_cast<std::size_t>(budget)]) continue;
        least[stage][static_cast<std::size_t>(budget)] = sum;
        own[stage][static_cast<std::size_t>(budget)] = mine;
      }
    }
  }
  NexusSplit split{.gpus = least[0].back()};
  if (split.gpus == kNo) return std::nullopt;
  std::vector<int> budgets(stages.size(), segments);
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const int mine = own[stage][static_cast<std::size_t>(budgets[stage])];
    split.budgets_ms.push_back(std::round(mine * segment / 1e3));
    for (std::size_t child = stage + 1; child < stages.size(); ++child) {
      if (stages[child].parent == static_cast<int>(stage)) {
        budgets[child] = budgets[stage] - mine;
      }
    }
  }
  return split;
}

}  // namespace almanac::serving
