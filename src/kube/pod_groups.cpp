// SPDX-License-Identifier: Apache-2.0
#include "kube/pod_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kube/collector.h"
#include "kube/picture_parts.h"
#include "kube/read_objects.h"
#include "text/human.h"

namespace almanac::kube {
namespace {

constexpr GangScheduler kSchedulers[] = {
    {"Volcano", "/apis/scheduling.volcano.sh", "/apis/scheduling.volcano.sh/v1beta1/podgroups",
     "/apis/scheduling.volcano.sh/v1beta1/queues", "scheduling.k8s.io/group-name",
     "Volcano looks the order of a PodGroup up by the name of a PriorityClass, so every rank would "
     "need a class"},
    {"KAI", "/apis/scheduling.run.ai", "/apis/scheduling.run.ai/v2alpha2/podgroups",
     "/apis/scheduling.run.ai/v2/queues", "pod-group-name",
     "KAI's pod grouper overwrites the priority class of each PodGroup, so no order would last"}};

using PodsByGroup = std::map<std::string, std::vector<Pod>>;  ///< By "namespace/name".

/// Whether a gang that does not run waits for its start. Without a phase, its pods say so.
bool is_pending(const PodGroup& group, const std::vector<Pod>& pods) {
  if (!group.phase.empty()) return group.phase == "Pending" || group.phase == "Inqueue";
  return !pods.empty() && std::ranges::none_of(pods, &Pod::is_over);
}

/// Sets what the pods of a gang say of it: GPUs, start and end. Returns false if it ran, or may
/// have run, and the pods that are left do not say when.
bool join(PodGroup& group, const std::vector<Pod>& pods) {
  Workload& made = group.workload;
  if (pods.empty()) return is_pending(group, pods);
  kueue::PodSet& set = made.pod_sets.front().pods;
  set.requests.clear();
  set.count = 1;
  int started = 0;
  bool is_over = true;
  for (const Pod& pod : pods) {
    for (const auto& [name, amount] : pod.requests) {
      kueue::Amount& sum = set.requests[name];
      sum = std::min(sum + amount, kueue::kMostAmount);
    }
    started += pod.started != kNoTime ? 1 : 0;
    made.has_failed = made.has_failed || pod.has_failed;
    is_over = is_over && pod.is_over;
  }
  if (started < std::max(1, group.min_member)) return is_pending(group, pods);
  for (const Pod& pod : pods) {
    if (pod.started != kNoTime) made.admitted = std::max(made.admitted, pod.started);
    if (pod.ended != kNoTime) made.finished = std::max(made.finished, pod.ended);
  }
  made.reserved = made.admitted;
  made.stage = is_over ? Stage::finished : Stage::admitted;
  if (!is_over) made.finished = kNoTime;
  return !is_over || made.finished != kNoTime;
}

}  // namespace

std::span<const GangScheduler> gang_schedulers() { return kSchedulers; }

bool has(Client& client, const GangScheduler& scheduler) {
  const auto answer = client.ask(scheduler.api);
  return answer && answer->good();
}

Result<Picture> take_picture(Client& client, const GangScheduler& scheduler,
                             const std::string& user_label) {
  Picture made{.scheduler = scheduler.name};
  auto groups = collect<PodGroup>(client, scheduler.pod_groups, made, [&](const auto& object) {
    return read_pod_group(object, user_label);
  });
  if (!groups) return tl::unexpected(groups.error());
  auto queues = collect<std::string>(client, scheduler.queues, made, read_name);
  if (!queues) return tl::unexpected(queues.error());
  auto pods = collect<Pod>(client, "/api/v1/pods", made, [&](const auto& object) {
    return read_pod(object, scheduler.annotation);
  });
  if (!pods) return tl::unexpected(pods.error());
  PodsByGroup by_group;
  for (Pod& each : *pods) {
    if (!each.group.empty())
      by_group[each.name_space + "/" + each.group].push_back(std::move(each));
  }
  std::set<std::string> names(queues->begin(), queues->end());
  std::uint64_t gone = 0;
  std::uint64_t unknown = 0;  // whether they wait or ran
  for (PodGroup& each : *groups) {
    if (!join(each, by_group[each.workload.full_name()])) {
      ++(each.phase.empty() ? unknown : gone);
      continue;
    }
    names.insert(each.workload.cluster_queue);
    made.workloads.push_back(std::move(each.workload));
  }
  for (const std::string& each : names) made.objects.setup.queues.push_back({.name = each});
  if (gone > 0) {
    made.notes.push_back(fmt::format(
        "{} left out: {} ran, and pods that would say for how long are gone",
        text::counted(gone, "PodGroup is", "PodGroups are"), gone == 1 ? "it" : "they"));
  }
  if (unknown > 0) {
    made.notes.push_back(fmt::format(
        "{} left out: {} no phase, and no pods that say whether {} or ran",
        text::counted(unknown, "PodGroup is", "PodGroups are"),
        unknown == 1 ? "it has" : "they have", unknown == 1 ? "it waits" : "they wait"));
  }
  made.notes.push_back(
      fmt::format("quotas and weights of {}'s queues are not read", scheduler.name));
  add_nodes(client, made);
  return made;
}

Result<Picture> take_picture_of_any(Client& client, const std::string& user_label) {
  auto of_kueue = take_picture(client, user_label);
  if (of_kueue || of_kueue.error().code != Code::not_found) return of_kueue;
  for (const GangScheduler& each : kSchedulers) {
    if (has(client, each)) return take_picture(client, each, user_label);
  }
  return of_kueue;
}

}  // namespace almanac::kube
