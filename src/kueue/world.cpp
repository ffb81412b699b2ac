// SPDX-License-Identifier: Apache-2.0
#include "kueue/world.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "kueue/multiply.h"

namespace almanac::kueue {
namespace {

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.exists) return true;
  return !toleration.key.empty() && toleration.value == taint.value;
}

/// All that makes the pods of two workloads alike, as one text.
std::string text_of(const std::vector<PodSet>& pod_sets) {
  std::string made;
  const auto put = [&](std::string_view text) { made.append(text).push_back('\0'); };
  for (const PodSet& each : pod_sets) {
    put(each.name);
    put(fmt::format("{} {} {} {} {} {}", each.count, each.min_count, each.requests.size(),
                    each.selector.size(), each.tolerations.size(), each.flavors.has_value()));
    for (const std::string& flavor : each.flavors.value_or(std::vector<std::string>())) put(flavor);
    put("");
    for (const auto& [resource, amount] : each.requests) {
      put(resource);
      put(fmt::format("{}", amount));
    }
    for (const auto& [key, value] : each.selector) {
      put(key);
      put(value);
    }
    for (const Toleration& toleration : each.tolerations) {
      put(toleration.key);
      put(toleration.exists ? "exists" : "equal");
      put(toleration.value);
      put(toleration.effect);
    }
  }
  return made;
}

/// A flavor and a resource belong to one group of a queue, and a flavor is in it once.
Result<void> check_groups(const std::vector<ResourceGroup>& groups, std::string_view of,
                          const std::set<std::string>& flavors) {
  std::set<std::string> used_flavors;
  std::set<std::string> used_resources;
  for (const ResourceGroup& group : groups) {
    for (const FlavorQuotas& flavor : group.flavors) {
      if (!flavors.contains(flavor.flavor)) {
        return fail(Code::not_found,
                    fmt::format("{}: flavor '{}' is not declared", of, flavor.flavor), {},
                    "save resourceflavors too");
      }
      if (!used_flavors.insert(flavor.flavor).second) {
        return fail(Code::invalid,
                    fmt::format("{}: flavor '{}' is listed twice", of, flavor.flavor));
      }
    }
    if (group.flavors.empty()) continue;
    for (const auto& [resource, quota] : group.flavors.front().resources) {
      if (!used_resources.insert(resource).second) {
        return fail(Code::invalid, fmt::format("{}: resource '{}' is in two groups", of, resource));
      }
    }
  }
  return {};
}

/// Sums of quotas must not overflow.
class Totals {
 public:
  Result<void> add(const std::vector<ResourceGroup>& groups) {
    for (const ResourceGroup& group : groups) {
      for (const FlavorQuotas& flavor : group.flavors) {
        for (const auto& [resource, quota] : flavor.resources) {
          Amount& total = totals_[resource];
          total += quota.nominal + quota.borrowing_limit.value_or(0);
          if (total > kMostAmount) {
            return fail(Code::invalid,
                        fmt::format("the quotas of {} add up to more than 2^60", resource));
          }
        }
      }
    }
    return {};
  }

 private:
  std::map<std::string, Amount> totals_;
};

}  // namespace

Fit Assignment::fit() const {
  if (pod_sets.empty()) return Fit::none;
  Fit worst = Fit::now;
  for (const PodSetChoice& each : pod_sets) {
    if (each.fits) continue;
    if (each.choices.empty()) return Fit::none;
    for (const Choice& choice : each.choices) {
      if (choice.fit == Fit::none) return Fit::none;
      if (choice.fit != Fit::now) worst = Fit::preempt;
    }
  }
  return worst;
}

bool Assignment::has_untried() const {
  return std::any_of(pod_sets.begin(), pod_sets.end(), [](const PodSetChoice& each) {
    return std::any_of(each.choices.begin(), each.choices.end(),
                       [](const Choice& choice) { return choice.tried != -1; });
  });
}

const Queue::Group* Queue::group_of(ResourceAt resource) const {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
    return resource < group.covers.size() && group.covers[resource];
  });
  return found != groups.end() ? &*found : nullptr;
}

bool may_preempt(Preempts policy, const Workload& preemptor, const Workload& other) {
  switch (policy) {
    case Preempts::never:
      return false;
    case Preempts::lower_priority:
      return preemptor.rank > other.rank;
    case Preempts::lower_or_newer_equal_priority:
      return preemptor.rank > other.rank ||
             (preemptor.rank == other.rank && preemptor.asked.created < other.asked.created);
    case Preempts::any:
      return true;
  }
  return false;
}

bool is_preempted_before(const Workload& a, const Workload& b) {
  if (a.rank != b.rank) return a.rank < b.rank;
  if (a.admission->reserved != b.admission->reserved) {
    return a.admission->reserved > b.admission->reserved;
  }
  return a.name() < b.name();
}

World::World(const Setup& setup) : setup(setup), tree(setup) {
  std::map<std::string, FlavorAt> flavors;
  for (std::size_t at = 0; at < setup.flavors.size(); ++at) {
    flavors.emplace(setup.flavors[at].name, static_cast<FlavorAt>(at));
  }
  for (std::size_t at = 0; at < setup.queues.size(); ++at) {
    const ClusterQueue& declared = setup.queues[at];
    queue_names_.emplace(declared.name, static_cast<QueueAt>(at));
    Queue& queue = queues.emplace_back();
    queue.declared = &declared;
    for (const ResourceGroup& group : declared.groups) {
      Queue::Group made{.covers = std::vector<bool>(tree.num_resources())};
      for (const FlavorQuotas& flavor : group.flavors) {
        made.flavors.push_back(flavors.at(flavor.flavor));
        for (const auto& [resource, quota] : flavor.resources) {
          made.covers[tree.resource(resource)] = true;
        }
      }
      queue.groups.push_back(std::move(made));
    }
  }
}

bool World::suits(const Flavor& flavor, const PodSet& pods) const {
  const bool is_allowed = !pods.flavors || std::find(pods.flavors->begin(), pods.flavors->end(),
                                                     flavor.name) != pods.flavors->end();
  if (!is_allowed) return false;
  for (const Taint& taint : flavor.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    const auto is_tolerated_by = [&](const std::vector<Toleration>& tolerations) {
      return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& toleration) {
        return tolerates(toleration, taint);
      });
    };
    if (!is_tolerated_by(pods.tolerations) && !is_tolerated_by(flavor.tolerations)) return false;
  }
  // Kueue looks only at the keys that the flavor has.
  return std::all_of(pods.selector.begin(), pods.selector.end(), [&](const auto& wanted) {
    const auto label = flavor.labels.find(wanted.first);
    return label == flavor.labels.end() || label->second == wanted.second;
  });
}

Result<Workload> World::resolve(Submission submission) {
  const auto queue = queue_names_.find(submission.queue);
  if (queue == queue_names_.end()) {
    return fail(Code::not_found, fmt::format("workload {}: no queue is called '{}'",
                                             submission.name, submission.queue));
  }
  Workload made;
  made.queue = queue->second;
  made.rank = submission.priority + (setup.has_boosts ? submission.boost : 0);
  const auto next = static_cast<std::uint32_t>(shapes_.size());
  made.pods_shape = shapes_.try_emplace(text_of(submission.pod_sets), next).first->second;
  for (const PodSet& each : submission.pod_sets) {
    Pods pods{.count = each.count, .spare = each.min_count > 0 ? each.count - each.min_count : 0};
    for (const auto& [name, amount] : each.requests) {
      const ResourceAt resource = tree.resource(name);
      if (resource == tree.num_resources()) {
        pods.asks_unknown = pods.asks_unknown || amount > 0;
      } else {
        pods.each.emplace_back(resource, amount);
      }
    }
    for (const Flavor& flavor : setup.flavors) pods.suits.push_back(suits(flavor, each));
    made.pod_sets.push_back(std::move(pods));
  }
  made.asked = std::move(submission);
  return made;
}

std::vector<std::pair<ResourceAt, Amount>> World::wants_of(const Pods& pods, int count) {
  std::vector<std::pair<ResourceAt, Amount>> made = pods.each;
  for (auto& [resource, amount] : made) {
    amount = times(amount, count);
  }
  return made;
}

Result<void> check_setup(const Setup& setup) {
  std::set<std::string> flavors;
  for (const Flavor& flavor : setup.flavors) {
    if (!flavors.insert(flavor.name).second) {
      return fail(Code::invalid, fmt::format("flavor '{}' is declared twice", flavor.name));
    }
  }
  Totals totals;
  std::map<std::string, std::string> parents;
  for (const Cohort& cohort : setup.cohorts) {
    if (!parents.emplace(cohort.name, cohort.parent).second) {
      return fail(Code::invalid, fmt::format("cohort '{}' is declared twice", cohort.name));
    }
    if (auto known = check_groups(cohort.groups, "cohort " + cohort.name, flavors); !known) {
      return known;
    }
    if (auto added = totals.add(cohort.groups); !added) return added;
  }
  for (const auto& [name, parent] : parents) {
    constexpr int kDeepest = 64;
    int steps = 0;
    for (auto up = parents.find(parent); up != parents.end(); up = parents.find(up->second)) {
      const bool is_circle = up->first == name;
      if (is_circle || ++steps > kDeepest) {
        return fail(Code::invalid,
                    is_circle
                        ? fmt::format("cohort '{}' is its own ancestor", name)
                        : fmt::format("cohort '{}' has more than {} ancestors", name, kDeepest),
                    {}, "change a parentName");
      }
    }
  }
  std::set<std::string> queues;
  for (const ClusterQueue& queue : setup.queues) {
    if (!queues.insert(queue.name).second) {
      return fail(Code::invalid, fmt::format("queue '{}' is declared twice", queue.name));
    }
    if (auto known = check_groups(queue.groups, "queue " + queue.name, flavors); !known) {
      return known;
    }
    if (auto added = totals.add(queue.groups); !added) return added;
  }
  return {};
}

}  // namespace almanac::kueue
