// SPDX-License-Identifier: Apache-2.0
#include "reproduce/kueue_scenario.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kueue/scheduler.h"

namespace almanac::reproduce {
namespace {

using kueue::Amount;

/// Empty = absent.
std::map<std::string, std::string> texts_of(const Json& spec, const char* key) {
  return spec.contains(key) ? spec[key].get<std::map<std::string, std::string>>()
                            : std::map<std::string, std::string>{};
}

Amount amount(const Json& text, const std::string& resource) {
  return value_or_throw(kueue::read_quantity(text.get<std::string>(), resource));
}

double weight(const Json& spec) {
  const std::string text = spec.value("weight", "");
  if (text.empty()) return 1;
  // Thousandths, as of a core.
  return static_cast<double>(value_or_throw(kueue::read_quantity(text, "cpu"))) / 1000.0;
}

/// Flavors with the same resources are one group.
std::vector<kueue::ResourceGroup> groups_of(const Json& spec) {
  std::vector<kueue::ResourceGroup> groups;
  for (const Json& each : spec.value("quotas", Json::array())) {
    kueue::FlavorQuotas made{.flavor = each.at("flavor")};
    std::vector<std::string> names;
    for (const auto& [resource, quota] : each.at("resources").items()) {
      kueue::ResourceQuota& of = made.resources[resource];
      of.nominal = amount(quota.at("nominal"), resource);
      if (quota.contains("borrowing")) of.borrowing_limit = amount(quota["borrowing"], resource);
      if (quota.contains("lending")) of.lending_limit = amount(quota["lending"], resource);
    }
    const auto has_the_same = [&](const kueue::ResourceGroup& group) {
      return std::equal(group.flavors.front().resources.begin(),
                        group.flavors.front().resources.end(), made.resources.begin(),
                        made.resources.end(),
                        [](const auto& a, const auto& b) { return a.first == b.first; });
    };
    const auto group = std::find_if(groups.begin(), groups.end(), has_the_same);
    if (group != groups.end()) {
      group->flavors.push_back(std::move(made));
    } else {
      groups.push_back({{std::move(made)}});
    }
  }
  return groups;
}

kueue::Preempts preempts(const Json& spec, const char* key) {
  const std::string word = spec.value(key, "Never");
  if (word == "Never") return kueue::Preempts::never;
  if (word == "LowerPriority") return kueue::Preempts::lower_priority;
  if (word == "LowerOrNewerEqualPriority") return kueue::Preempts::lower_or_newer_equal_priority;
  require(word == "Any",
          "a preemption policy is Never, LowerPriority, "
          "LowerOrNewerEqualPriority or Any");
  return kueue::Preempts::any;
}

kueue::Fungibility fungibility(const Json& spec, const char* key, kueue::Fungibility otherwise) {
  const std::string word = spec.value(key, "");
  if (word.empty()) return otherwise;
  require(word == "MayStopSearch" || word == "TryNextFlavor",
          "fungibility is MayStopSearch or TryNextFlavor");
  return word == "MayStopSearch" ? kueue::Fungibility::may_stop_search
                                 : kueue::Fungibility::try_next_flavor;
}

kueue::ClusterQueue queue_of(const Json& spec) {
  const Json preemption = spec.value("preemption", Json::object());
  const Json borrowing = preemption.value("borrowWithinCohort", Json::object());
  const Json fungible = spec.value("fungibility", Json::object());
  kueue::ClusterQueue made{
      .name = spec.at("name"),
      .cohort = spec.value("cohort", ""),
      .groups = groups_of(spec),
      .weight = weight(spec),
      .is_strict = spec.value("strategy", "") == "StrictFIFO",
      .within_queue = preempts(preemption, "withinClusterQueue"),
      .reclaim_within_cohort = preempts(preemption, "reclaimWithinCohort"),
      .preempts_while_borrowing = borrowing.value("policy", "Never") != "Never",
      .when_can_borrow =
          fungibility(fungible, "whenCanBorrow", kueue::Fungibility::may_stop_search),
      .when_can_preempt =
          fungibility(fungible, "whenCanPreempt", kueue::Fungibility::try_next_flavor),
      .prefers_preemption_over_borrowing =
          fungible.value("preference", "") == "PreemptionOverBorrowing"};
  if (borrowing.contains("maxPriorityThreshold")) {
    made.highest_preempted_while_borrowing = borrowing["maxPriorityThreshold"];
  }
  return made;
}

kueue::Setup setup_of(const Json& scenario) {
  const Json gates = scenario.value("gates", Json::object());
  kueue::Setup made{.is_fair = scenario.value("fair_sharing", false),
                    .has_boosts = gates.value("PriorityBoost", false),
                    .sets_shapes_aside = gates.value("SchedulingEquivalenceHashing", true)};
  for (const Json& each : scenario.at("flavors")) {
    kueue::Flavor& flavor = made.flavors.emplace_back();
    flavor.name = each.at("name");
    flavor.labels = texts_of(each, "labels");
    for (const Json& taint : each.value("taints", Json::array())) {
      flavor.taints.push_back({taint.at("key"), taint.value("value", ""), taint.at("effect")});
    }
  }
  for (const Json& each : scenario.value("cohorts", Json::array())) {
    made.cohorts.push_back({.name = each.at("name"),
                            .parent = each.value("parent", ""),
                            .groups = groups_of(each),
                            .weight = weight(each)});
  }
  for (const Json& each : scenario.at("cluster_queues")) made.queues.push_back(queue_of(each));
  return made;
}

kueue::Submission submission_of(const Json& spec) {
  kueue::Submission made{.name = spec.at("name"),
                         .queue = spec.at("queue"),
                         .created = spec.at("created"),
                         .priority = spec.value("priority", std::int64_t{0})};
  if (spec.contains("boost")) made.boost = std::stoll(spec["boost"].get<std::string>());
  for (const Json& each : spec.at("pod_sets")) {
    kueue::PodSet& pods = made.pod_sets.emplace_back();
    pods.name = each.at("name");
    pods.count = each.at("count");
    pods.min_count = each.value("min_count", 0);
    for (const auto& [resource, text] : each.at("requests").items()) {
      pods.requests.emplace(resource, amount(text, resource));
    }
    pods.selector = texts_of(each, "selector");
    for (const Json& toleration : each.value("tolerations", Json::array())) {
      pods.tolerations.push_back({.key = toleration.value("key", ""),
                                  .exists = toleration.value("operator", "Equal") == "Exists",
                                  .value = toleration.value("value", ""),
                                  .effect = toleration.value("effect", "")});
    }
  }
  return made;
}

void require_done(const Result<void>& done) {
  if (!done) throw Malformed{done.error()};
}

Json by_workload(Json list) {
  std::sort(list.begin(), list.end(),
            [](const Json& a, const Json& b) { return a.at("workload") < b.at("workload"); });
  return list;
}

/// A cycle in the form of the records.
Json json_of(const std::vector<std::string_view>& heads, const kueue::Cycle& cycle) {
  Json made{{"heads", heads}, {"admitted", Json::array()}, {"preempted", Json::array()}};
  for (const kueue::Admitted& each : cycle.admitted) {
    Json pod_sets = Json::object();
    for (const kueue::AdmittedPods& pods : each.pod_sets) {
      Json flavors = Json::object();
      for (const auto& [resource, flavor] : pods.flavors) flavors[resource] = flavor;
      pod_sets[pods.name] = {{"count", pods.count}, {"flavors", std::move(flavors)}};
    }
    made["admitted"].push_back({{"workload", each.workload}, {"pod_sets", std::move(pod_sets)}});
  }
  for (const kueue::Preempted& each : cycle.preempted) {
    made["preempted"].push_back(
        {{"workload", each.workload}, {"reason", kueue::name_of(each.reason)}});
  }
  return made;
}

class Player {
 public:
  explicit Player(const Json& scenario)
      : scenario_(scenario),
        scheduler_(value_or_throw(kueue::Scheduler::make(setup_of(scenario)))) {
    for (const Json& queue : scenario.at("cluster_queues")) {
      queues_.push_back(queue.at("name"));
    }
    for (const Json& each : scenario.at("workloads")) submit(each);
  }

  KueueRecords play() {
    int number = 0;
    for (const Json& step : scenario_.at("steps")) {
      const std::string kind = step.at("do");
      const std::string where = fmt::format("step {} ({})", ++number, kind);
      if (kind == "cycle" || kind == "cycles") {
        int cycle = 0;
        for (const Json& seen : step.value("cycles_seen", Json::array())) {
          play_cycle(seen, fmt::format("{}, cycle {}", where, ++cycle));
        }
      } else {
        change(kind, step);
      }
      compare(step.at("after"), state(), where);
    }
    return records_;
  }

 private:
  void submit(const Json& spec) {
    if (!spec.contains("admitted")) {
      require_done(scheduler_.submit(submission_of(spec)));
      return;
    }
    std::map<std::string, std::string> flavors;
    for (const auto& [resource, flavor] : spec["admitted"].at("flavors").items()) {
      flavors.emplace(resource, flavor);
    }
    require_done(
        scheduler_.submit_admitted(submission_of(spec), flavors, spec["admitted"].at("at")));
  }

  void play_cycle(const Json& seen, const std::string& where) {
    std::vector<std::string_view> heads = scheduler_.heads();
    std::sort(heads.begin(), heads.end());
    Json made = json_of(heads, scheduler_.cycle(clock_++));
    Json due{{"heads", seen.at("heads")},
             {"admitted", by_workload(seen.value("admitted", Json::array()))},
             {"preempted", by_workload(seen.value("preempted", Json::array()))}};
    for (const char* const key : {"admitted", "preempted"}) made[key] = by_workload(made[key]);
    hear_of_new_queues();
    compare(due, made, where);
  }

  void change(const std::string& kind, const Json& step) {
    if (kind == "finish") {
      scheduler_.remove(step.at("workload"));
      hear_of_new_queues();
    } else if (kind == "priority") {
      scheduler_.set_priority(step.at("workload"), step.value("value", std::int64_t{0}));
    } else if (kind == "boost") {
      const std::string boost = step.value("boost", "");
      scheduler_.set_boost(step.at("workload"), boost.empty() ? 0 : std::stoll(boost));
    } else if (kind == "submit") {
      submit(step.at("submit"));
    } else {
      throw Malformed{{Code::invalid, fmt::format("a step cannot do '{}'", kind), {}, {}}};
    }
  }

  /// The harness that recorded the scenarios made the queues just before them, which is a reason to
  /// try all again. Kueue heard of it after the first cycle or end.
  void hear_of_new_queues() {
    if (std::exchange(has_heard_, true)) return;
    for (const std::string& queue : queues_) scheduler_.retry(queue);
  }

  Json state() const {
    Json made{{"holding", scheduler_.holding()},
              {"order", Json::object()},
              {"inadmissible", Json::object()}};
    for (const std::string& queue : queues_) {
      if (const auto waiting = scheduler_.waiting(queue); !waiting.empty()) {
        made["order"][queue] = waiting;
      }
      if (const auto aside = scheduler_.aside(queue); !aside.empty()) {
        made["inadmissible"][queue] = aside;
      }
    }
    return made;
  }

  void compare(const Json& due, const Json& made, const std::string& where) {
    ++records_.recorded;
    if (due == made) {
      ++records_.equal;
    } else if (records_.first_difference.empty()) {
      records_.first_difference =
          fmt::format("{}: {} instead of {}", where, made.dump(), due.dump());
    }
  }

  const Json& scenario_;
  kueue::Scheduler scheduler_;
  std::vector<std::string> queues_{};
  bool has_heard_ = false;
  std::int64_t clock_ = 100'000;  // after all moments of the scenario
  KueueRecords records_{};
};

}  // namespace

KueueRecords play_kueue_scenario(const Json& scenario) { return Player(scenario).play(); }

}  // namespace almanac::reproduce
