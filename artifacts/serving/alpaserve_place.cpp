// SPDX-License-Identifier: Apache-2.0

/// \file
/// Where the models of AlpaServe go: the placement policies of its release.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "serving/alpaserve.h"

namespace almanac::serving {
namespace {

constexpr int kMostStages = 8, kMostWays = 4;
constexpr double kTiny = 1e-6;  // requests, which keep a share of none defined

bool holds(const AlpaGroup& group, int model) {
  return std::find(group.models.begin(), group.models.end(), model) != group.models.end();
}

/// Bytes on the fullest device of the group with its models.
double largest_weight(const AlpaTask& task, const AlpaCut& cut, int model) {
  const auto& weights = task.models[static_cast<std::size_t>(model)]->at(cut).weights;
  return *std::max_element(weights.begin(), weights.end());
}

bool fits(const AlpaTask& task, const AlpaGroup& group, int model) {
  if (!task.models[static_cast<std::size_t>(model)]->contains(group.cut)) return false;
  double bytes = largest_weight(task, group.cut, model);
  for (const int each : group.models) bytes += largest_weight(task, group.cut, each);
  return bytes <= task.memory;
}

void sort_groups(AlpaPlacement& placement) {
  for (AlpaGroup& group : placement) std::sort(group.models.begin(), group.models.end());
  std::stable_sort(placement.begin(), placement.end(),
                   [](const AlpaGroup& a, const AlpaGroup& b) { return a.models < b.models; });
}

/// Adds the replica that is missed most, where it is missed least to have, until none fits.
AlpaPlacement fill(const AlpaTask& task, AlpaPlacement placement) {
  const auto models = static_cast<int>(task.models.size());
  while (true) {
    const auto outcomes = simulate_alpa(placement, task.models, task.requests);
    std::vector<double> asked(task.models.size()), good(task.models.size()),
        unserved(task.models.size()), received(placement.size());
    for (std::size_t each = 0; each < outcomes.size(); ++each) {
      const auto model = static_cast<std::size_t>(task.requests[each].model);
      ++asked[model];
      good[model] += outcomes[each].good;
      if (outcomes[each].group >= 0) ++received[static_cast<std::size_t>(outcomes[each].group)];
    }
    for (std::size_t model = 0; model < unserved.size(); ++model) {
      // In this form, for its rounding is what orders models whose requests are all served.
      unserved[model] = asked[model] * (1 - good[model] / (asked[model] + kTiny));
    }
    std::vector<int> groups(placement.size()), wanted(task.models.size());
    std::iota(groups.begin(), groups.end(), 0);
    std::iota(wanted.begin(), wanted.end(), 0);
    std::stable_sort(groups.begin(), groups.end(), [&](int a, int b) {
      return received[static_cast<std::size_t>(a)] < received[static_cast<std::size_t>(b)];
    });
    // Of equals the last comes first.
    std::stable_sort(wanted.begin(), wanted.end(), [&](int a, int b) {
      return unserved[static_cast<std::size_t>(a)] < unserved[static_cast<std::size_t>(b)];
    });
    std::reverse(wanted.begin(), wanted.end());
    bool added = false;
    for (const int group : groups) {
      AlpaGroup& taker = placement[static_cast<std::size_t>(group)];
      for (const int model : wanted) {
        if (holds(taker, model) || !fits(task, taker, model)) continue;
        taker.models.push_back(model);
        added = true;
        break;
      }
      if (added) break;
    }
    if (!added || models == 0) return placement;
    sort_groups(placement);
  }
}

/// Groups of `cut`, and of what devices are left pipelines of powers of two.
AlpaPlacement empty_groups(const AlpaTask& task, const AlpaCut& cut) {
  AlpaPlacement placement(static_cast<std::size_t>(task.devices / cut.devices()),
                          AlpaGroup{.cut = cut});
  const int left = task.devices % cut.devices();
  for (int size = 1; size <= left; size *= 2) {
    if ((left & size) != 0) placement.push_back({.cut = {1, size}});
  }
  return placement;
}

}  // namespace

double alpa_score(const AlpaTask& task, const AlpaPlacement& placement) {
  constexpr double kLatency = 1e-4, kReplica = 1e-6;
  const auto outcomes = simulate_alpa(placement, task.models, task.requests);
  double good = 0, latency = 0, replicas = 0;
  for (std::size_t each = 0; each < outcomes.size(); ++each) {
    good += outcomes[each].good;
    latency += outcomes[each].finish - task.requests[each].arrival;
  }
  for (const AlpaGroup& group : placement) replicas += static_cast<double>(group.models.size());
  const auto count = static_cast<double>(outcomes.size());
  return good / count - latency / count * kLatency + replicas * kReplica;
}

AlpaPlacement place_alpa_replicas(const AlpaTask& task) {
  return fill(task, empty_groups(task, {}));
}

AlpaPlacement place_alpa_search(const AlpaTask& task) {
  AlpaPlacement best;
  double best_score = -1e9;
  for (int size = 1; size <= task.devices; size *= 2) {
    for (int op = 1; op <= std::min(size, kMostWays); op *= 2) {
      if (size / op > kMostStages) continue;
      AlpaPlacement placement = fill(task, empty_groups(task, {op, size / op}));
      const double score = alpa_score(task, placement);
      if (score <= best_score) continue;
      best_score = score;
      best = std::move(placement);
    }
  }
  return best;
}

AlpaPlacement place_alpa_round_robin(const AlpaTask& task) {
  constexpr int kStages = 4;
  AlpaPlacement placement = empty_groups(task, {1, kStages});
  std::size_t group = 0;
  for (bool added = true; added;) {
    added = false;
    for (int model = 0; model < static_cast<int>(task.models.size()); ++model) {
      AlpaGroup& taker = placement[group % placement.size()];
      if (holds(taker, model) || !fits(task, taker, model)) continue;
      taker.models.push_back(model);
      ++group;
      added = true;
    }
  }
  return placement;
}

namespace {

double solo(const AlpaTask& task, int model) {
  const auto& stages = task.models[static_cast<std::size_t>(model)]->at({}).latency.at(1);
  return std::accumulate(stages.begin(), stages.end(), 0.0);
}

std::vector<std::vector<int>> clusters(const AlpaTask& task) {
  constexpr double kAlike = 0.38;
  std::vector<std::vector<int>> made;
  for (int model = 0; model < static_cast<int>(task.models.size()); ++model) {
    const auto home = std::find_if(made.begin(), made.end(), [&](const auto& cluster) {
      const double first = solo(task, cluster.front());
      return std::abs(solo(task, model) - first) / first < kAlike;
    });
    if (home == made.end()) {
      made.push_back({model});
    } else {
      home->push_back(model);
    }
  }
  return made;
}

/// All ways to give each of `parts` at least one of `devices`.
void split(int devices, std::size_t parts, std::vector<int>& given,
           std::vector<std::vector<int>>& made) {
  if (given.size() + 1 == parts) {
    given.push_back(devices);
    made.push_back(given);
    given.pop_back();
    return;
  }
  const int others = static_cast<int>(parts - given.size()) - 1;
  for (int mine = 1; mine + others <= devices; ++mine) {
    given.push_back(mine);
    split(devices - mine, parts, given, made);
    given.pop_back();
  }
}

}  // namespace

AlpaPlacement place_alpa_search_apart(const AlpaTask& task) {
  AlpaPlacement best = place_alpa_search(task);
  double best_score = alpa_score(task, best);
  const auto groups = clusters(task);
  if (static_cast<int>(groups.size()) > task.devices) return best;
  std::vector<std::vector<int>> splits;
  std::vector<int> given;
  split(task.devices, groups.size(), given, splits);
  std::vector<double> rates(groups.size());
  double all_rates = 0;
  for (std::size_t each = 0; each < groups.size(); ++each) {
    for (const int model : groups[each]) rates[each] += task.rates[static_cast<std::size_t>(model)];
    all_rates += rates[each];
  }
  constexpr std::size_t kFewSplits = 100;
  for (const double near : {1.0, 0.5, 0.3, 0.2, 0.1}) {
    std::erase_if(splits, [&](const std::vector<int>& devices) {
      double all = 0;
      for (std::size_t each = 0; each < groups.size(); ++each) {
        all += devices[each] / solo(task, groups[each].front());
      }
      for (std::size_t each = 0; each < groups.size(); ++each) {
        const double share = devices[each] / solo(task, groups[each].front()) / all;
        if (std::abs(share - rates[each] / all_rates) > near) return true;
      }
      return false;
    });
    if (splits.size() < kFewSplits) break;
  }
  // A cluster alone on some devices comes up in many splits.
  std::map<std::pair<std::size_t, int>, AlpaPlacement> known;
  for (const std::vector<int>& devices : splits) {
    AlpaPlacement placement;
    for (std::size_t each = 0; each < groups.size(); ++each) {
      auto found = known.find({each, devices[each]});
      if (found == known.end()) {
        AlpaTask part{.devices = devices[each], .memory = task.memory};
        std::vector<int> position(task.models.size(), -1);
        for (const int model : groups[each]) {
          position[static_cast<std::size_t>(model)] = static_cast<int>(part.models.size());
          part.models.push_back(task.models[static_cast<std::size_t>(model)]);
          part.rates.push_back(task.rates[static_cast<std::size_t>(model)]);
        }
        for (AlpaRequest request : task.requests) {
          request.model = position[static_cast<std::size_t>(request.model)];
          if (request.model >= 0) part.requests.push_back(request);
        }
        AlpaPlacement placed = place_alpa_search(part);
        for (AlpaGroup& group : placed) {
          for (int& model : group.models) model = groups[each][static_cast<std::size_t>(model)];
        }
        found = known.emplace(std::pair(each, devices[each]), std::move(placed)).first;
      }
      placement.insert(placement.end(), found->second.begin(), found->second.end());
    }
    sort_groups(placement);
    const double score = alpa_score(task, placement);
    if (score <= best_score) continue;
    best_score = score;
    best = std::move(placement);
  }
  return best;
}

}  // namespace almanac::serving
