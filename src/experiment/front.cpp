// SPDX-License-Identifier: Apache-2.0
#include "experiment/front.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/experiment.h"
#include "policy/registry.h"
#include "text/nearest.h"

namespace almanac::experiment {
namespace {

double share(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? std::numeric_limits<double>::quiet_NaN()
                 : static_cast<double>(part) / static_cast<double>(of);
}

constexpr std::array kObjectives{
    Objective{"wait", "mean wait", true, [](const Summary& of) { return of.avg_wait_s; }},
    Objective{"p99_wait", "p99 wait", true, [](const Summary& of) { return of.p99_wait_s; }},
    Objective{"completion", "mean completion time", true,
              [](const Summary& of) { return of.avg_jct_s; }},
    Objective{"slowdown", "mean slowdown", false,
              [](const Summary& of) { return of.avg_bounded_slowdown; }},
    Objective{"worst_user", "worst user's mean wait", true,
              [](const Summary& of) { return of.worst_user_avg_wait_s; }},
    Objective{"stops", "stops per job", false,
              [](const Summary& of) { return share(of.preemptions, of.jobs); }},
    Objective{"deadlines", "missed deadlines", false,
              [](const Summary& of) {
                return of.deadline_jobs == 0 ? std::numeric_limits<double>::quiet_NaN()
                                             : 1 - of.guarantee;
              }},
    Objective{"energy", "energy (kWh)", false, [](const Summary& of) { return of.facility_kwh; }},
    // Of jobs: idle nodes draw power until the last job ends, which a policy that waits for clean
    // hours delays.
    Objective{"cost", "cost of jobs' power", false, [](const Summary& of) { return of.jobs_cost; }},
    Objective{"carbon", "CO2 of jobs (kg)", false,
              [](const Summary& of) { return of.jobs_kg_co2; }}};

using policy::Choice;
using policy::Composition;
using policy::Trait;

/// How users write a composed policy: the named policy that differs in the fewest slots, and these.
/// Equal policies have equal texts.
std::string text_of(const Composition& policy) {
  std::string best;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  const bool reads_estimate = policy::registry().traits(policy).has(Trait::reads_run_times);
  for (const std::string& name : all_policies()) {
    const Composition base = policy::registry().compose(name).value();
    if (!base.whole.name.empty()) continue;
    std::string text = name;
    std::size_t different = 0;
    for (const auto& slot : policy::registry().slots()) {
      const Choice& choice = policy.*slot.choice;
      const bool is_read = slot.name() != "estimate" || reads_estimate;
      if (!is_read || base.*slot.choice == choice) continue;
      ++different;
      text += "+" + to_string(choice, slot.choices->at(choice).parameters);
    }
    if (different < fewest) {
      fewest = different;
      best = std::move(text);
    }
  }
  return best;
}

/// Values that a parameter might have instead.
std::vector<policy::Values> others_of(const policy::Parameter& parameter,
                                      const policy::Values& now) {
  std::vector<policy::Values> made;
  if (parameter.is_list) return made;
  const auto add = [&](double value) {
    value =
        std::clamp(parameter.is_whole ? std::round(value) : value, parameter.least, parameter.most);
    if (value != now.front()) made.push_back({value});
  };
  if (!parameter.words.empty()) {
    for (std::size_t word = 0; word < parameter.words.size(); ++word) {
      if (static_cast<double>(word) != now.front()) made.push_back({static_cast<double>(word)});
    }
    return made;
  }
  add(now.front() / 2);
  add(now.front() * 2);
  return made;
}

/// The choices that differ from `now` in one parameter, or are others without parameters.
std::vector<Choice> others_of(const policy::Choices& choices, const Choice& now) {
  std::vector<Choice> made;
  for (const policy::Entry& entry : choices.entries()) {
    if (now == entry.name) {
      for (const policy::Parameter& parameter : entry.parameters) {
        const auto told = now.told.find(parameter.name);
        const policy::Values& values = told == now.told.end() ? parameter.usual : told->second;
        for (policy::Values& value : others_of(parameter, values)) {
          made.push_back(now);
          made.back().told[parameter.name] = std::move(value);
        }
      }
    } else {
      made.emplace_back(entry.name);
    }
  }
  return made;
}

constexpr std::array kData{Trait::reads_predictions, Trait::reads_deadlines, Trait::reads_tenants,
                           Trait::reads_speeds,      Trait::reads_training,  Trait::reads_groups,
                           Trait::reads_signals,     Trait::told_truth};

/// The data that those policies read.
policy::TraitSet data_of(const std::vector<std::string>& policies) {
  policy::TraitSet made;
  for (const std::string& each : policies) {
    const auto composition = policy::registry().compose(each);
    if (!composition) continue;
    const policy::TraitSet traits = policy::registry().traits(*composition);
    for (const Trait trait : kData) {
      if (traits.has(trait)) made.add({trait});
    }
  }
  made.remove({Trait::told_truth});
  return made;
}

/// Marks the members, and finds the knee.
void close(Front& front) {
  std::vector<Tried>& tried = front.tried;
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (const Tried& each : tried) fewest = std::min(fewest, each.unended);
  for (Tried& each : tried) {
    // Among equal ones the first is a member.
    each.is_on_front =
        each.unended == fewest && std::none_of(tried.begin(), tried.end(), [&](const Tried& other) {
          if (other.unended != fewest) return false;
          return dominates(other.values, each.values) ||
                 (&other < &each && other.values == each.values);
        });
  }
  front.members.clear();
  for (std::size_t at = 0; at < tried.size(); ++at) {
    if (tried[at].is_on_front) front.members.push_back(at);
  }
  std::stable_sort(front.members.begin(), front.members.end(),
                   [&](std::size_t a, std::size_t b) { return tried[a].values < tried[b].values; });
  front.knee.reset();
  constexpr double kMostGivenUp = 0.75;
  double nearest = std::numeric_limits<double>::infinity();
  for (const std::size_t member : front.members) {
    double distance = 0;
    double most = 0;
    for (std::size_t objective = 0; objective < tried[member].values.size(); ++objective) {
      const auto value = [&](std::size_t at) { return tried[at].values[objective]; };
      double low = value(member);
      double high = low;
      for (const std::size_t other : front.members) {
        low = std::min(low, value(other));
        high = std::max(high, value(other));
      }
      // An objective in which all are alike decides nothing.
      const bool differs = high > low + kAlike * std::abs(low);
      const double part = differs ? (value(member) - low) / (high - low) : 0;
      distance += part * part;
      most = std::max(most, part);
    }
    if (distance < nearest && most <= kMostGivenUp) {
      nearest = distance;
      front.knee = member;
    }
  }
}

}  // namespace

std::span<const Objective> objectives() { return kObjectives; }

Result<std::vector<Objective>> parse_objectives(std::string_view text) {
  std::vector<std::string> known;
  for (const Objective& each : kObjectives) known.emplace_back(each.name);
  std::vector<Objective> made;
  for (const std::string& name : parse_policies(std::string(text))) {
    const auto found = std::find_if(kObjectives.begin(), kObjectives.end(),
                                    [&](const Objective& each) { return each.name == name; });
    if (found == kObjectives.end()) {
      std::string hint = text::did_you_mean(name, known);
      if (hint.empty()) hint = fmt::format("objectives: {}", fmt::join(known, ", "));
      return fail(Code::usage, fmt::format("--pareto: \"{}\" is not an objective", name), {}, hint);
    }
    const bool is_twice = std::any_of(made.begin(), made.end(),
                                      [&](const Objective& each) { return each.name == name; });
    if (is_twice) return fail(Code::usage, fmt::format("--pareto names {} twice", name));
    made.push_back(*found);
  }
  if (made.size() < 2) {
    return fail(Code::usage, "--pareto needs two objectives or more", {},
                fmt::format("objectives: {}", fmt::join(known, ", ")));
  }
  return made;
}

bool dominates(std::span<const double> a, std::span<const double> b) {
  bool is_below = false;
  for (std::size_t at = 0; at < a.size(); ++at) {
    if (a[at] > b[at]) return false;
    is_below = is_below || a[at] < b[at];
  }
  return is_below;
}

std::vector<std::size_t> representatives(const Front& front) {
  std::vector<std::size_t> made;
  const auto consider = [&](std::size_t member) {
    const std::vector<double>& own = front.tried[member].values;
    const bool is_shown = std::any_of(made.begin(), made.end(), [&](std::size_t other) {
      const std::vector<double>& values = front.tried[other].values;
      return std::equal(values.begin(), values.end(), own.begin(),
                        [&](double a, double b) { return a <= b + kAlike * std::abs(b); });
    });
    if (!is_shown) made.push_back(member);
  };
  if (front.knee) consider(*front.knee);
  for (const std::size_t member : front.members) consider(member);
  std::vector<std::size_t> sorted;
  for (const std::size_t member : front.members) {
    if (std::find(made.begin(), made.end(), member) != made.end()) sorted.push_back(member);
  }
  return sorted;
}

Result<Front> search_front(const std::vector<std::string>& start, const Evaluate& evaluate,
                           const Neighbours& neighbours, std::size_t budget) {
  Front front;
  std::set<std::string> seen(start.begin(), start.end());
  std::set<std::string> expanded;
  std::vector<std::string> next = start;
  while (!next.empty()) {
    const auto values = evaluate(next);
    if (!values) return tl::unexpected(values.error());
    for (std::size_t at = 0; at < next.size(); ++at) {
      if (const auto& judged = (*values)[at]) {
        front.tried.push_back(
            {.policy = next[at], .values = judged->values, .unended = judged->unended});
      }
    }
    close(front);
    next.clear();
    front.is_exhausted = true;
    for (const std::size_t member : front.members) {
      const std::string& policy = front.tried[member].policy;
      if (expanded.contains(policy)) continue;
      for (const std::string& each : neighbours(policy)) {
        if (seen.contains(each)) continue;
        front.is_exhausted = front.is_exhausted && budget > 0;
        if (budget == 0) break;
        --budget;
        seen.insert(each);
        next.push_back(each);
      }
      if (budget > 0) expanded.insert(policy);
    }
  }
  if (front.tried.empty()) return fail(Code::unavailable, "no policy can run on this log");
  return front;
}

std::vector<std::string> neighbours_of(const std::string& policy,
                                       const std::vector<std::string>& start) {
  std::vector<std::string> made;
  const policy::Registry& registry = policy::registry();
  const auto now = registry.compose(policy);
  if (!now || !now->whole.name.empty() || now->scripted) return made;
  const policy::TraitSet known = data_of(start);
  for (const auto& slot : registry.slots()) {
    if (slot.name() == "division") continue;
    for (Choice& other : others_of(*slot.choices, *now.*slot.choice)) {
      Composition changed = *now;
      changed.*slot.choice = std::move(other);
      // What reads no run times has any estimate; a choice that does needs one that can be had.
      if (registry.traits(changed).has(Trait::told_truth) &&
          changed.estimate == Composition().estimate) {
        changed.estimate = "limit";
      }
      std::string text = text_of(changed);
      // It is only one if its text means it: a choice may not fit the others.
      const auto read = registry.compose(text);
      if (!read) continue;
      policy::TraitSet data;
      for (const Trait trait : kData) {
        if (registry.traits(*read).has(trait)) data.add({trait});
      }
      data.remove(known);
      if (data.empty()) made.push_back(std::move(text));
    }
  }
  return made;
}

}  // namespace almanac::experiment
