// SPDX-License-Identifier: Apache-2.0
#include "steer/ours.h"

#include <algorithm>
#include <utility>

#include "steer/mark.h"
#include "steer/node_weight.h"
#include "steer/shards.h"
#include "text/host_list.h"

namespace almanac::steer {
namespace {

/// Keeps what is there; takes what is missing.
template <typename Value>
void keep_first(std::optional<Value>& kept, const std::optional<Value>& other) {
  if (!kept) kept = other;
}

template <typename Value>
void keep_last(std::optional<Value>& kept, const std::optional<Value>& other) {
  if (other) kept = other;
}

/// The number that orders it, of those that `becomes` sets; nothing = none.
std::optional<std::int64_t> number_of(const slurm::Job& job, const slurm::JobChange& becomes) {
  if (becomes.site_factor) return job.site_factor;
  if (becomes.priority) return job.priority;
  return std::nullopt;
}

void add_numbers(std::set<std::int64_t>& numbers, const slurm::JobChange& change) {
  if (change.site_factor) numbers.insert(*change.site_factor);
  if (change.priority) numbers.insert(*change.priority);
}

/// `was` where `present` is still what it became.
template <typename Value>
void bring_back(std::optional<Value>& back, const std::optional<Value>& was,
                const std::optional<Value>& became, const Value& present) {
  if (was && became == present && was != became) back = was;
}

/// Slurm writes the same nodes in other ways: "n1,n2", "n[1-2]".
bool same_nodes(const std::string& a, const std::string& b) {
  if (a == b) return true;
  auto one = text::expand_hosts(a);
  auto other = text::expand_hosts(b);
  if (!one || !other) return false;
  std::sort(one->begin(), one->end());
  std::sort(other->begin(), other->end());
  return *one == *other;
}

/// How long Slurm may take to show that a node powers down.
constexpr Duration kPowerDownShows = 2min;

bool is_off(slurm::Power power) {
  return power == slurm::Power::off || power == slurm::Power::powering_down ||
         power == slurm::Power::to_power_down;
}

bool is_empty(const slurm::JobChange& change) {
  return change == slurm::JobChange{.job = change.job};
}

}  // namespace

slurm::JobChange as_it_is(const slurm::Job& job, const slurm::JobChange& change,
                          bool priority_is_basic) {
  slurm::JobChange made{.job = job.number};
  if (change.site_factor) made.site_factor = job.site_factor;
  // What a plugin works out again and again is brought back by letting it.
  if (change.priority) {
    made.priority = priority_is_basic ? job.priority : slurm::JobChange::kUsual;
  }
  // What the mark stands for is ours, also where the plugin set it.
  const bool ours = is_marked(job);
  if (change.held) made.held = job.held && !is_held_by_us(job);
  if (change.required_nodes) made.required_nodes = ours ? "" : job.required_nodes;
  if (change.comment) made.comment = ours ? "" : job.comment;
  if (change.shards) made.shards = shards_of_a_node(job);
  return made;
}

void Ours::take(const Entry& entry, const Failure& failed) {
  const bool is_known = failed.has_value();
  if (is_known ? !failed->empty() : entry.lever == kUndo) return;
  if (const auto* const nodes = std::get_if<OfNodes>(&entry.what)) {
    for (const std::string& node : nodes->nodes) {
      if (!nodes->on) {
        nodes_off_[node] = {.off = entry.at};
      } else if (const auto found = nodes_off_.find(node); found != nodes_off_.end()) {
        found->second.on = entry.at;
      }
    }
    return;
  }
  if (const auto* const weighed = std::get_if<OfWeight>(&entry.what)) {
    // What stands of it is seen at the node.
    if (entry.lever == kUndo) weighed_back_.insert(weighed->nodes.begin(), weighed->nodes.end());
    return;
  }
  if (const auto* const run = std::get_if<OfRun>(&entry.what)) {
    if (run->fate == slurm::Fate::suspend) {
      suspended_[run->job] = entry.at;
    } else if (is_known) {
      suspended_.erase(run->job);
    }
    return;
  }
  if (const auto* const held = std::get_if<OfCores>(&entry.what)) {
    cores_.erase(held->job);
    if (!held->cores.empty()) cores_.emplace(held->job, held->cores);
    return;
  }
  const auto& job = std::get<OfJob>(entry.what);
  if (entry.lever == kUndo) {
    jobs_.erase(job.becomes.job);
    undone_.insert(job.becomes.job);
    return;
  }
  Standing& standing = jobs_[job.becomes.job];
  keep_first(standing.was.site_factor, job.was.site_factor);
  keep_first(standing.was.priority, job.was.priority);
  keep_first(standing.was.held, job.was.held);
  keep_first(standing.was.required_nodes, job.was.required_nodes);
  keep_first(standing.was.comment, job.was.comment);
  keep_first(standing.was.shards, job.was.shards);
  keep_last(standing.becomes.site_factor, job.becomes.site_factor);
  keep_last(standing.becomes.priority, job.becomes.priority);
  keep_last(standing.becomes.held, job.becomes.held);
  keep_last(standing.becomes.required_nodes, job.becomes.required_nodes);
  keep_last(standing.becomes.comment, job.becomes.comment);
  keep_last(standing.becomes.shards, job.becomes.shards);
  standing.was.job = standing.becomes.job = job.becomes.job;
  add_numbers(standing.numbers, job.was);
  add_numbers(standing.numbers, job.becomes);
  if (job.becomes.required_nodes) standing.nodes.insert(*job.becomes.required_nodes);
}

void Ours::forget_gone(const Mirror& mirror) {
  undone_.clear();
  weighed_back_.clear();
  std::erase_if(jobs_, [&](const auto& each) { return mirror.find(each.first) == nullptr; });
  std::erase_if(suspended_, [&](const auto& each) {
    const slurm::Job* const job = mirror.find(each.first);
    return job == nullptr || job->state != slurm::State::suspended;
  });
  std::erase_if(cores_, [&](const auto& each) {
    const slurm::Job* const job = mirror.find(each.first);
    return job == nullptr || !holds_nodes(*job);
  });
  // A command to power up may be lost: a node is not ours any more when it is seen to be on.
  std::erase_if(nodes_off_, [&](const auto& each) {
    const auto found = mirror.nodes().find(each.first);
    if (found == mirror.nodes().end()) return true;
    if (is_off(found->second.power)) return false;
    return each.second.on != kNoTime || mirror.at() > each.second.off + kPowerDownShows;
  });
}

std::vector<std::string> Ours::asleep(const Mirror& mirror) const {
  std::vector<std::string> made;
  for (const auto& [name, times] : nodes_off_) {
    const auto found = mirror.nodes().find(name);
    if (found != mirror.nodes().end() && is_off(found->second.power)) made.push_back(name);
  }
  return made;
}

Time Ours::suspended_at(slurm::JobNumber job) const {
  const auto found = suspended_.find(job);
  return found == suspended_.end() ? kNoTime : found->second;
}

bool Ours::chose_nodes_of(const slurm::Job& job) const {
  const auto found = jobs_.find(job.number);
  // A job that has only been ordered may have been placed before the journal began.
  const bool is_told =
      found != jobs_.end() && (found->second.becomes.held || found->second.becomes.comment ||
                               found->second.becomes.required_nodes);
  if (!is_told) return !is_held_by_us(job);
  const std::set<std::string>& chosen = found->second.nodes;
  return std::any_of(chosen.begin(), chosen.end(),
                     [&](const std::string& each) { return same_nodes(each, job.required_nodes); });
}

std::optional<slurm::JobChange> Ours::without_mark(const slurm::Job& job) const {
  if (!is_marked(job)) return std::nullopt;
  slurm::JobChange made{.job = job.number};
  if (is_held_by_us(job)) made.held = false;
  if (!job.required_nodes.empty() && chose_nodes_of(job)) made.required_nodes = "";
  made.comment = "";
  return made;
}

bool Ours::has_own_priority(const slurm::Job& job) const {
  if (!job.own_priority) return false;
  const auto found = jobs_.find(job.number);
  return found == jobs_.end() || !found->second.becomes.priority ||
         !found->second.numbers.contains(job.priority);
}

int Ours::asked_shards(const slurm::Job& job) const {
  const int present = shards_of_a_node(job);
  const auto found = jobs_.find(job.number);
  if (found == jobs_.end() || found->second.becomes.shards != present) return present;
  return found->second.was.shards.value_or(present);
}

std::vector<slurm::JobNumber> Ours::taken_over(const Mirror& mirror) {
  std::vector<slurm::JobNumber> made;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const auto each = at++;
    const slurm::Job* const job = mirror.find(each->first);
    if (job == nullptr || !waits(*job) || job->held) continue;
    const auto number = number_of(*job, each->second.becomes);
    // A controller that was killed comes back with what it last wrote to its disk.
    const bool is_ours = !number || *number == 0 || each->second.numbers.contains(*number);
    if (is_ours && !has_own_priority(*job)) continue;
    made.push_back(each->first);
    jobs_.erase(each);
  }
  return made;
}

std::vector<Entry> Ours::undoing(const Mirror& mirror) const {
  std::vector<Entry> made;
  const auto add = [&](auto what) {
    made.push_back({.at = mirror.at(),
                    .lever = std::string(kUndo),
                    .what = std::move(what),
                    .why = "as it was before Almanac"});
  };
  for (const auto& [number, standing] : jobs_) {
    const slurm::Job* const job = mirror.find(number);
    if (job == nullptr || !waits(*job)) continue;
    const slurm::JobChange& was = standing.was;
    const slurm::JobChange& now = standing.becomes;
    slurm::JobChange back{.job = number};
    bring_back(back.site_factor, was.site_factor, now.site_factor, job->site_factor);
    bring_back(back.priority, was.priority, now.priority, job->priority);
    bring_back(back.shards, was.shards, now.shards, shards_of_a_node(*job));
    if (const auto unmarked = without_mark(*job)) {
      back.held = unmarked->held;
      back.required_nodes = unmarked->required_nodes;
      back.comment = unmarked->comment;
    } else {
      // A hold without our mark is a user's or an operator's by now.
      bring_back(back.comment, was.comment, now.comment, job->comment);
      if (was.required_nodes && now.required_nodes && *was.required_nodes != *now.required_nodes &&
          same_nodes(*now.required_nodes, job->required_nodes)) {
        back.required_nodes = was.required_nodes;
      }
    }
    if (!is_empty(back)) add(OfJob{.was = now, .becomes = back});
  }
  for (const auto& [number, job] : mirror.jobs()) {
    if (!waits(job) || jobs_.contains(number) || undone_.contains(number)) continue;
    // The plugin held this job, and nothing has been done to it since.
    if (const auto unmarked = without_mark(job)) {
      add(OfJob{.was = as_it_is(job, *unmarked, false), .becomes = *unmarked});
    }
  }
  for (const auto& [job, since] : suspended_) {
    const slurm::Job* const found = mirror.find(job);
    if (found != nullptr && found->state == slurm::State::suspended) {
      add(OfRun{job, slurm::Fate::resume});
    }
  }
  for (const auto& [job, cores] : cores_) add(OfCores{job, {}});
  for (auto& [weight, nodes] : usual_weights(mirror.nodes())) {
    std::erase_if(nodes, [&](const std::string& each) { return weighed_back_.contains(each); });
    if (!nodes.empty()) add(OfWeight{std::move(nodes), weight});
  }
  std::vector<std::string> off = asleep(mirror);
  // Not twice before there is news.
  std::erase_if(off,
                [&](const std::string& node) { return nodes_off_.at(node).on == mirror.at(); });
  if (!off.empty()) add(OfNodes{std::move(off), true});
  return made;
}

std::vector<Entry> Ours::standing(Time at) const {
  std::vector<Entry> made;
  const auto add = [&](Time when, auto what) {
    made.push_back({.at = when, .lever = "kept", .what = std::move(what), .why = "still stands"});
  };
  for (const auto& [number, standing] : jobs_) {
    add(at, OfJob{.was = standing.was, .becomes = standing.becomes});
  }
  for (const auto& [job, since] : suspended_) add(since, OfRun{job, slurm::Fate::suspend});
  for (const auto& [job, cores] : cores_) add(at, OfCores{job, cores});
  for (const auto& [node, sleep] : nodes_off_) {
    add(sleep.off, OfNodes{{node}, false});
    if (sleep.on != kNoTime) add(sleep.on, OfNodes{{node}, true});
  }
  return made;
}

}  // namespace almanac::steer
