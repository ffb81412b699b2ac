// SPDX-License-Identifier: Apache-2.0
#include "trace/partitions.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/host_list.h"

namespace almanac::trace {

NameId Partitions::take(std::string_view partition, std::string_view nodes, Intake& intake) {
  if (const auto comma = partition.find(','); comma != std::string_view::npos) {
    partition = partition.substr(0, comma);
    intake.remark("jobs that name several partitions (counted in the first one)");
  }
  const NameId name = intake.trace().names.intern(partition);
  if (name == kNoName) return name;
  std::set<std::string>& known = nodes_[name];
  // "None assigned" of a job that never ran has a blank; no node's name has.
  if (nodes.empty() || nodes.find(' ') != std::string_view::npos) return name;
  if (!seen_.emplace(name, std::string(nodes)).second) return name;
  if (auto names = text::expand_hosts(nodes)) {
    known.insert(std::make_move_iterator(names->begin()), std::make_move_iterator(names->end()));
  }
  return name;
}

void Partitions::conclude(Intake& intake) {
  if (nodes_.size() < 2) return;
  Trace& trace = intake.trace();
  const bool told = std::any_of(nodes_.begin(), nodes_.end(),
                                [](const auto& each) { return !each.second.empty(); });
  if (!told) {
    trace.notes.push_back(
        fmt::format("{} partitions are assumed to share no node, because the log has no NodeList: "
                    "add it to sacct -o, or give the nodes with --cluster",
                    nodes_.size()));
    return;
  }
  std::map<std::string, NameId> by_name;
  for (const auto& [name, nodes] : nodes_) by_name.emplace(trace.names[name], name);
  std::map<NameId, std::string> group_of;
  std::map<std::string, std::string> first_on;  // node -> the group that it was seen in first
  for (const auto& [text, name] : by_name) group_of[name] = text;
  for (const auto& [text, name] : by_name) {
    for (const std::string& node : nodes_[name]) {
      const std::string own = group_of[name];
      const std::string other = first_on.emplace(node, own).first->second;
      if (other == own) continue;
      const std::string both = own < other ? own + "+" + other : other + "+" + own;
      for (auto& [each, group] : group_of) {
        if (group == own || group == other) group = both;
      }
      for (auto& [each, group] : first_on) {
        if (group == own || group == other) group = both;
      }
    }
  }
  std::map<std::string, std::vector<std::string>> members;
  for (const auto& [text, name] : by_name) members[group_of[name]].push_back(text);
  for (const auto& [group, partitions] : members) {
    if (partitions.size() < 2) continue;
    const NameId made = trace.names.intern(fmt::format("{}", fmt::join(partitions, "+")));
    for (const std::string& text : partitions) {
      const NameId was = by_name[text];
      for (Job& job : trace.jobs) {
        if (job.request.vc == was) job.request.vc = made;
      }
    }
    trace.notes.push_back(fmt::format("partitions {} share nodes, so they are treated as one",
                                      fmt::join(partitions, ", ")));
  }
}

void note_no_gpus(Intake& intake) {
  Trace& trace = intake.trace();
  const bool any = std::any_of(trace.jobs.begin(), trace.jobs.end(), [](const Job& job) {
    const Request& asked = job.request;
    return asked.gpus > 0 || asked.shards > 0 || asked.mps > 0;
  });
  if (any || trace.jobs.empty()) return;
  trace.notes.emplace_back(
      "no job has a GPU: Slurm records GPUs only if slurm.conf has AccountingStorageTRES=gres/gpu, "
      "and only for jobs submitted since then");
}

}  // namespace almanac::trace
