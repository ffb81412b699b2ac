// SPDX-License-Identifier: Apache-2.0
#include "reproduce/hived_sequences.h"

#include <algorithm>
#include <regex>
#include <utility>

#include <fmt/format.h>

namespace almanac::reproduce::hived {
namespace {

using What = cells::Decision::What;

bool is_node(const cells::Cell& cell) {
  return cell.spans_node && !cell.children.front()->spans_node;
}

/// Whether all virtual nodes of the virtual clusters in the chain, or the free ones, are bad, or
/// none.
bool nodes_are(const cells::Cluster& cluster, const std::vector<std::string>& vcs,
               const std::string& chain, bool bad, bool only_free) {
  for (const cells::VirtualCluster& vc : cluster.vcs) {
    if (!vcs.empty() && std::find(vcs.begin(), vcs.end(), vc.name) == vcs.end()) continue;
    for (const auto& [number, levels] : vc.cells) {
      if (cluster.chains[static_cast<std::size_t>(number)].name != chain) continue;
      for (const auto& level : levels) {
        for (const cells::Cell* cell : level) {
          if (!is_node(*cell) || (only_free && cell->priority >= cells::kLeastGuaranteed)) continue;
          if ((cell->bound != nullptr && !cell->bound->healthy) != bad) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

const PodRequest& Play::request(const std::string& pod) const {
  const auto found = pods_.find(pod);
  require(found != pods_.end(), fmt::format("no request of pod '{}' in data/hived", pod));
  return found->second;
}

cells::Nodes Play::suggested(const std::string& text) const {
  const std::string_view except = "all except ";
  const bool all = text.empty() || text == "all" || text.starts_with(except);
  cells::Nodes nodes(scheduler_->cluster().nodes.size(), all);
  if (text.empty() || text == "all") return nodes;
  for (const std::string& name : parts(all ? text.substr(except.size()) : text, ";")) {
    const int node = scheduler_->cluster().find_node(name);
    require(node >= 0, fmt::format("there is no node '{}'", name));
    nodes[static_cast<std::size_t>(node)] = !all;
  }
  return nodes;
}

void Play::build() {
  if (scheduler_ || !refused_.empty()) return;
  Result<cells::Cluster> cluster = cells::build(layout_);
  // The cluster was changed below jobs that run, and owners have lost what it has too little for:
  // the steps do not say which cells, and the last share that helps is taken.
  for (auto share = layout_.shares.rbegin(); !bound_.empty() && !cluster; ++share) {
    if (share == layout_.shares.rend()) break;
    const int cells = std::exchange(share->cells, 0);
    cluster = cells::build(layout_);
    if (!cluster) share->cells = cells;
  }
  if (cluster) {
    scheduler_.emplace(std::move(*cluster));
    // The program takes nodes for bad until it hears of each: that orders its free lists.
    const auto nodes = static_cast<int>(scheduler_->cluster().nodes.size());
    for (const bool healthy : {false, true}) {
      for (int node = 0; node < nodes; ++node) scheduler_->set_healthy(node, healthy);
    }
  } else {
    refused_ = cluster.error().message;
  }
}

std::optional<bool> Play::step(const Step& step) {
  decision_ = {};
  place_.reset();
  victims_.clear();
  claimed_.clear();
  act(step);
  if (step.expected.empty()) return std::nullopt;
  bool so = true;
  for (const std::string& clause : parts(step.expected, ";")) so &= holds(clause);
  return so;
}

void Play::act(const Step& step) {
  if (step.action == "config") {
    edit(layout_, step.subject);
    scheduler_.reset();
    refused_.clear();
    return;
  }
  if (step.action == "run") return rerun(step.subject);
  build();
  if (step.action == "build") return;
  require(scheduler_.has_value(), refused_);
  if (step.action == "schedule" || step.action == "schedule_filtering_phase") {
    schedule(step);
  } else if (step.action == "delete") {
    remove(step.subject);
  } else if (step.action == "delete_unallocated") {
    give_up(step.subject);
  } else if (step.action == "delete_all_reverse") {
    while (!bound_.empty()) remove(std::string(bound_.back().pod));
    while (!preempting_.empty()) give_up(std::string(preempting_.back()));
  } else if (step.action == "bad" || step.action == "healthy") {
    const int node = scheduler_->cluster().find_node(step.subject);
    require(node >= 0, fmt::format("there is no node '{}'", step.subject));
    scheduler_->set_healthy(node, step.action == "healthy");
  } else if (step.action == "replay_allocated") {
    for (const Bound& bound : bound_) {
      const cells::Request& gang = request(bound.pod).gang;
      if (group(gang.group) == nullptr) scheduler_->allocate(gang, bound.decision);
    }
  } else {
    require(step.action == "check", fmt::format("action '{}' is not known", step.action));
  }
}

void Play::schedule(const Step& step) {
  const PodRequest& pod = request(step.subject);
  const auto of_size = [&](const auto& one) { return one.leaves == pod.leaves; };
  if (std::none_of(pod.gang.members.begin(), pod.gang.members.end(), of_size)) {
    decision_.what = What::refuse;
    return;
  }
  decision_ = scheduler_->decide(pod.gang, suggested(step.suggested), step.action == "schedule");
  if (says(What::bind)) {
    // Pods of equal size take the places of this size one after another.
    std::ptrdiff_t others = 0;
    for (const Bound& bound : bound_) {
      const PodRequest& other = request(bound.pod);
      if (other.gang.group == pod.gang.group && other.leaves == pod.leaves) ++others;
    }
    for (const cells::Pod& place : decision_.pods) {
      if (static_cast<int>(place.leaves.size()) == pod.leaves && others-- == 0) place_ = place;
    }
    if (!place_) {
      decision_.what = What::refuse;
    } else if (step.expected.find("not committed") == std::string::npos) {
      scheduler_->allocate(pod.gang, decision_);
      bound_.push_back({step.subject, decision_});
    }
  } else if (says(What::preempt)) {
    preempting_.push_back(step.subject);
    for (const Bound& bound : bound_) {
      const std::string& of = request(bound.pod).gang.group;
      const auto& groups = decision_.victims;
      if (std::find(groups.begin(), groups.end(), of) != groups.end())
        victims_.push_back(bound.pod);
    }
  }
}

/// The pod has gone; its group is released with the last one.
void Play::remove(const std::string& pod) {
  const auto found = std::find_if(bound_.begin(), bound_.end(),
                                  [&](const Bound& bound) { return bound.pod == pod; });
  require(found != bound_.end(), fmt::format("pod '{}' is not bound", pod));
  bound_.erase(found);
  const std::string& of = request(pod).gang.group;
  if (std::none_of(bound_.begin(), bound_.end(),
                   [&](const Bound& bound) { return request(bound.pod).gang.group == of; })) {
    scheduler_->release(of);
  }
}

void Play::give_up(const std::string& pod) {
  std::erase(preempting_, pod);
  const std::string& of = request(pod).gang.group;
  const cells::Group* const claimant = group(of);
  if (claimant == nullptr || !claimant->preempting) return;
  for (const auto& leaves : claimant->physical) {
    claimed_.insert(claimed_.end(), leaves.begin(), leaves.end());
  }
  if (std::none_of(preempting_.begin(), preempting_.end(),
                   [&](const std::string& other) { return request(other).gang.group == of; })) {
    scheduler_->release(of);
  }
}

/// "normal up to pod25 and keep the binds"
void Play::rerun(const std::string& subject) {
  static const std::regex form(R"((\S+) up to (\S+) and keep the binds)");
  std::smatch match;
  require(std::regex_match(subject, match, form),
          fmt::format("expected SEQUENCE up to POD and keep the binds, found: {}", subject));
  const auto sequence = sequences_.find(match[1]);
  require(sequence != sequences_.end(), fmt::format("there is no sequence {}", match[1].str()));
  for (const Step& step : sequence->second) {
    require(step.action != "run", "a sequence that is run again must not run others");
    act(step);
    if (step.action == "schedule" && step.subject == match[2]) break;
  }
}

bool Play::holds(const std::string& clause) {
  static const std::regex gone(R"((\S+)(?: and (\S+))? (?:gone|deleted|must not exist after))");
  static const std::regex preempting(R"((\S+) (?:in state )?Preempting)");
  static const std::regex allocated(R"((\S+)(?: and (\S+))? still Allocated(.*reverted.*)?)");
  static const std::regex returned(R"(its cells Used again at the priority of (\S+) or Free)");
  static const std::regex nodes(
      R"((no|every free|every) virtual node of (.+) in (?:chain (\S+)|that chain) is bad)");
  static const std::regex demoted(R"(lazily preempted groups are those of (.+))");
  std::smatch match;
  if (clause == "wait") return says(What::wait);
  if (clause == "user_error") return says(What::refuse);
  if (clause == "preempt") return says(What::preempt);
  if (clause == "no bind") return !says(What::bind);
  if (clause.starts_with("bind")) return says(What::bind);
  if (clause.starts_with("rejected: ")) {
    return refused_.find(clause.substr(clause.find(' ') + 1)) != std::string::npos;
  }
  require(scheduler_.has_value(), refused_);
  if (clause == "every group gone") {
    return std::all_of(pods_.begin(), pods_.end(),
                       [&](const auto& pod) { return group(pod.second.gang.group) == nullptr; });
  }
  if (std::regex_match(clause, match, gone)) {
    return group(match[1]) == nullptr && (!match[2].matched || group(match[2]) == nullptr);
  }
  if (std::regex_match(clause, match, preempting)) {
    return group(match[1]) != nullptr && group(match[1])->preempting;
  }
  if (std::regex_match(clause, match, allocated)) {
    const auto is = [&](const std::string& name) {
      const cells::Group* const found = group(name);
      return found && !found->preempting && !(match[3].matched && found->demoted);
    };
    return is(match[1]) && (!match[2].matched || is(match[2]));
  }
  if (std::regex_match(clause, match, returned)) {
    const int priority = request(match[1]).gang.priority;
    return std::all_of(claimed_.begin(), claimed_.end(), [&](const cells::Cell* leaf) {
      if (leaf->state == cells::State::free) return leaf->priority == cells::kFree;
      return leaf->state == cells::State::used && leaf->priority == priority;
    });
  }
  if (clause == "none bad") return nodes_are(scheduler_->cluster(), {}, chain_, false, false);
  if (std::regex_match(clause, match, nodes)) {
    if (match[3].matched) chain_ = match[3];
    std::vector<std::string> vcs;
    for (const std::string& part : parts(match[2].str(), " ")) {
      if (part != "and" && part != "or") vcs.push_back(part);
    }
    return nodes_are(scheduler_->cluster(), vcs, chain_, match[1] != "no",
                     match[1] == "every free");
  }
  require(std::regex_match(clause, match, demoted),
          fmt::format("expectation '{}' is not known", clause));
  std::vector<std::string> groups;
  for (const std::string& pod : parts(match[1].str(), " "))
    groups.push_back(request(pod).gang.group);
  return std::all_of(pods_.begin(), pods_.end(), [&](const auto& pod) {
    const std::string& name = pod.second.gang.group;
    const bool expected = std::find(groups.begin(), groups.end(), name) != groups.end();
    return (group(name) != nullptr && group(name)->demoted) == expected;
  });
}

}  // namespace almanac::reproduce::hived
