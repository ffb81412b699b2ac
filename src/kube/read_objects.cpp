// SPDX-License-Identifier: Apache-2.0
#include "kube/read_objects.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kube/plain.h"
#include "kueue/object.h"
#include "text/datetime.h"
#include "text/number.h"

namespace almanac::kube {
namespace {

using kueue::Amount;
using kueue::Object;
using nlohmann::json;

constexpr const char* kBoost = "kueue.x-k8s.io/priority-boost";
constexpr const char* kGatedBy = "kueue.x-k8s.io/admission-gated-by";
constexpr const char* kKueueGroup = "kueue.x-k8s.io";

std::string shown(const Object& of, const char* key) { return plain(of.text(key)); }

Time time_of(const Object& of, const char* key) {
  const std::string text = of.text(key);
  if (text.empty()) return kNoTime;
  const auto parsed = text::parse_datetime(text);
  if (!parsed) of.wrong_at(key, fmt::format("expected a time, found {}", plain(text)));
  return *parsed;
}

Duration seconds_of(const Object& of, const char* key) {
  const auto told = of.whole(key);
  return told ? Duration{std::chrono::seconds(*told)} : kNoDuration;
}

int count_of(const Object& of, const char* key, int otherwise) {
  const std::int64_t told = of.whole(key).value_or(otherwise);
  if (told < 0 || told > std::numeric_limits<std::int32_t>::max()) {
    of.wrong_at(key, fmt::format("expected a number of pods, found {}", told));
  }
  return static_cast<int>(told);
}

void add(std::map<std::string, Amount>& sums, const std::map<std::string, Amount>& more) {
  for (const auto& [name, amount] : more) {
    sums[name] = std::min(sums[name] + amount, kueue::kMostAmount);
  }
}

/// Requests; of a resource without one, its limit, as Kubernetes fills it in.
std::map<std::string, Amount> requests_of(const Object& container) {
  const Object resources = container.object("resources");
  std::map<std::string, Amount> made;
  for (const char* const kind : {"limits", "requests"}) {
    const Object of = resources.object(kind);
    for (const auto& [name, amount] : of.quantities()) {
      // Kubernetes has no parts of a GPU. Read as cores are, an amount is in thousandths.
      if (kueue::is_gpu(name) && of.quantity(name.c_str(), "cpu") % 1000 != 0) {
        of.wrong_at(name, "expected whole GPUs, found a fraction");
      }
      made[name] = amount;
    }
  }
  return made;
}

std::vector<std::vector<Requirement>> affinity_of(const Object& spec) {
  std::vector<std::vector<Requirement>> made;
  const Object required = spec.object("affinity")
                              .object("nodeAffinity")
                              .object("requiredDuringSchedulingIgnoredDuringExecution");
  for (const Object& term : required.objects("nodeSelectorTerms")) {
    std::vector<Requirement>& of = made.emplace_back();
    for (const Object& each : term.objects("matchExpressions")) {
      of.push_back({each.text("key"), each.text("operator"), each.words("values")});
    }
  }
  return made;
}

PodSet pod_set_of(const Object& of) {
  const Object spec = of.object("template").object("spec");
  PodSet made;
  made.pods.name = of.text("name", "main");
  made.pods.count = count_of(of, "count", 1);
  made.pods.min_count = of.has("minCount") ? count_of(of, "minCount", 0) : 0;
  made.pods.requests = requests_of_pod(spec);
  made.pods.selector = spec.texts("nodeSelector");
  made.affinity = affinity_of(spec);
  made.pods.tolerations = kueue::tolerations_of(spec);
  return made;
}

PodSet* find(Workload& workload, const std::string& pod_set) {
  const auto found = std::find_if(workload.pod_sets.begin(), workload.pod_sets.end(),
                                  [&](const PodSet& each) { return each.pods.name == pod_set; });
  return found == workload.pod_sets.end() ? nullptr : &*found;
}

/// What the queue counted of `count` pods, after the site's transformations, replaces what the pods
/// say.
void count_requests(const std::map<std::string, Amount>& counted, int count, PodSet& pods,
                    Workload& workload) {
  if (count == 0 || counted.empty()) return;
  for (const auto& [name, amount] : pods.pods.requests) {
    if (amount > 0 && !counted.contains(name)) workload.uncounted.insert(name);
  }
  pods.pods.requests.clear();
  for (const auto& [name, amount] : counted) {
    pods.pods.requests[name] = (amount + count - 1) / count;
  }
}

void read_counted_requests(const Object& status, Workload& workload) {
  for (const Object& each : status.objects("resourceRequests")) {
    if (PodSet* const pods = find(workload, each.text("name"))) {
      count_requests(each.object("resources").quantities(), pods->pods.count, *pods, workload);
    }
  }
}

void read_priority(const Object& spec, Workload& workload) {
  workload.priority = spec.whole("priority").value_or(0);
  const Object ref = spec.object("priorityClassRef");
  // v1beta1 has a name and a source.
  workload.priority_class = plain(ref.text("name", spec.text("priorityClassName")));
  workload.is_of_kueue_class =
      ref.text("group") == kKueueGroup ||
      spec.text("priorityClassSource") == "kueue.x-k8s.io/workloadpriorityclass";
}

void read_metadata(const Object& of, const std::string& user_label, Workload& workload) {
  const Object metadata = of.object("metadata");
  workload.name = shown(metadata, "name");
  workload.name_space = shown(metadata, "namespace");
  workload.uid = shown(metadata, "uid");
  if (workload.uid.empty()) metadata.wrong("uid is missing");
  workload.version = metadata.text("resourceVersion");
  workload.created = time_of(metadata, "creationTimestamp");
  if (workload.created == kNoTime) metadata.wrong("creationTimestamp is missing");
  workload.is_deleted = metadata.has("deletionTimestamp");
  for (const Object& owner : metadata.objects("ownerReferences")) {
    if (!owner.flag("controller") && !workload.owner.empty()) continue;
    workload.owner_kind = shown(owner, "kind");
    workload.owner = workload.owner_kind + " " + shown(owner, "name");
  }
  if (!user_label.empty()) {
    const auto labels = metadata.texts("labels");
    const auto found = labels.find(user_label);
    if (found != labels.end()) workload.user = plain(found->second);
  }
  const auto annotations = metadata.texts("annotations");
  if (const auto boost = annotations.find(kBoost); boost != annotations.end()) {
    workload.boost = text::parse_whole(boost->second);
    workload.has_boost_text = !boost->second.empty();
  }
  if (const auto mark = annotations.find(kMark); mark != annotations.end()) {
    workload.mark = parse_mark(mark->second);
  }
  for (const Object& each : metadata.objects("managedFields")) {
    const bool wrote = each.object("fieldsV1").object("f:spec").has("f:priority");
    if (wrote) workload.priority_writer = shown(each, "manager");
  }
  const auto gated = annotations.find(kGatedBy);
  workload.is_gated = gated != annotations.end() && !gated->second.empty();
}

void read_conditions(const Object& status, Workload& workload) {
  bool is_reserved = false;
  for (const Object& each : status.objects("conditions")) {
    const std::string type = each.text("type");
    const bool is_true = each.text("status") == "True";
    const Time since = time_of(each, "lastTransitionTime");
    if (type == "QuotaReserved" && is_true) {
      is_reserved = true;
      workload.reserved = since;
    } else if (type == "QuotaReserved") {
      workload.reason = shown(each, "reason");
      workload.message = shown(each, "message");
    } else if (type == "Admitted" && is_true) {
      workload.admitted = since;
    } else if (type == "Finished" && is_true) {
      workload.finished = since;
      workload.has_failed = each.text("reason") == "Failed";
    }
  }
  if (workload.finished != kNoTime) {
    workload.stage = Stage::finished;
  } else if (workload.admitted != kNoTime) {
    workload.stage = Stage::admitted;
  } else if (is_reserved) {
    workload.stage = Stage::reserved;
  }
}

void read_admission(const Object& status, Workload& workload) {
  const Object admission = status.object("admission");
  workload.cluster_queue = plain(admission.text("clusterQueue"));
  for (const Object& each : admission.objects("podSetAssignments")) {
    Assigned& made = workload.assigned.emplace_back();
    made.pod_set = each.text("name");
    made.count = count_of(each, "count", 0);
    made.flavors = each.texts("flavors");
    if (PodSet* const pods = find(workload, made.pod_set)) {
      count_requests(each.object("resourceUsage").quantities(), made.count, *pods, workload);
    }
  }
  for (const Object& each : status.objects("reclaimablePods")) {
    if (PodSet* const pods = find(workload, each.text("name"))) {
      pods->reclaimable = std::min(count_of(each, "count", 0), pods->pods.count);
    }
  }
}

template <typename T, typename Read>
Result<T> guarded(const json& object, const char* kind, const Read& read) {
  std::string place = kind;
  try {
    const Object metadata = Object(object, kind).object("metadata");
    place = fmt::format("{} {}{}{}", kind, plain(metadata.text("namespace")),
                        metadata.has("namespace") ? "/" : "", plain(metadata.text("name")));
    return read(Object(object, place));
  } catch (const kueue::Refused& refused) {
    return fail(Code::invalid, plain(refused.message));
  }
}

}  // namespace

std::map<std::string, Amount> requests_of_pod(const Object& spec) {
  std::map<std::string, Amount> made;
  for (const Object& each : spec.objects("containers")) add(made, requests_of(each));
  std::map<std::string, Amount> sidecars;
  std::map<std::string, Amount> peak;
  for (const Object& each : spec.objects("initContainers")) {
    std::map<std::string, Amount> now = requests_of(each);
    const bool is_sidecar = each.text("restartPolicy") == "Always";
    if (is_sidecar) add(made, now);
    add(now, sidecars);
    if (is_sidecar) sidecars = now;
    for (const auto& [name, amount] : now) peak[name] = std::max(peak[name], amount);
  }
  for (const auto& [name, amount] : peak) made[name] = std::max(made[name], amount);
  add(made, spec.object("overhead").quantities());
  return made;
}

std::string uid_of(const json& object) {
  try {
    return shown(Object(object, "an object").object("metadata"), "uid");
  } catch (const kueue::Refused&) {
    return "";
  }
}

Result<Workload> read_workload(const json& object, const std::string& user_label) {
  return guarded<Workload>(object, "Workload", [&](const Object& of) {
    Workload made;
    read_metadata(of, user_label, made);
    const Object spec = of.object("spec");
    made.local_queue = shown(spec, "queueName");
    made.is_active = spec.flag("active", true);
    made.limit = seconds_of(spec, "maximumExecutionTimeSeconds");
    read_priority(spec, made);
    for (const Object& each : spec.objects("podSets")) {
      made.pod_sets.push_back(pod_set_of(each));
      made.has_topology = made.has_topology || each.has("topologyRequest");
    }
    const Object status = of.object("status");
    read_counted_requests(status, made);
    read_conditions(status, made);
    read_admission(status, made);
    // v1beta1 spells it so.
    const Duration earlier = seconds_of(status, status.has("accumulatedPastExecutionTimeSeconds")
                                                    ? "accumulatedPastExecutionTimeSeconds"
                                                    : "accumulatedPastExexcutionTimeSeconds");
    made.earlier = earlier == kNoDuration ? Duration{0} : earlier;
    for (const Object& each : status.object("schedulingStats").objects("evictions")) {
      made.evictions += each.whole("count").value_or(0);
    }
    return made;
  });
}

Result<LocalQueue> read_local_queue(const json& object) {
  return guarded<LocalQueue>(object, "LocalQueue", [](const Object& of) {
    const Object metadata = of.object("metadata");
    const std::string stop = of.object("spec").text("stopPolicy");
    return LocalQueue{.name = shown(metadata, "name"),
                      .name_space = shown(metadata, "namespace"),
                      .cluster_queue = shown(of.object("spec"), "clusterQueue"),
                      .is_stopped = !stop.empty() && stop != "None"};
  });
}

Result<Node> read_node(const json& object) {
  return guarded<Node>(object, "Node", [](const Object& of) {
    Node made{.name = shown(of.object("metadata"), "name"),
              .labels = of.object("metadata").texts("labels"),
              .allocatable = of.object("status").object("allocatable").quantities(),
              .is_schedulable = !of.object("spec").flag("unschedulable")};
    for (const Object& each : of.object("status").objects("conditions")) {
      if (each.text("type") == "Ready") made.is_ready = each.text("status") == "True";
    }
    return made;
  });
}

Result<std::string> read_name(const json& object) {
  return guarded<std::string>(object, "Queue", [](const Object& of) -> Result<std::string> {
    return shown(of.object("metadata"), "name");
  });
}

Result<PodGroup> read_pod_group(const json& object, const std::string& user_label) {
  return guarded<PodGroup>(object, "PodGroup", [&](const Object& of) {
    PodGroup made;
    read_metadata(of, user_label, made.workload);
    const Object spec = of.object("spec");
    made.min_member = count_of(spec, "minMember", 0);
    made.workload.cluster_queue = plain(spec.text("queue", "default"));
    made.workload.local_queue = made.workload.cluster_queue;
    made.workload.priority_class = shown(spec, "priorityClassName");
    PodSet& pods = made.workload.pod_sets.emplace_back();
    pods.pods.name = "main";
    pods.pods.count = 1;
    pods.pods.requests = spec.object("minResources").quantities();
    made.phase = of.object("status").text("phase");
    return made;
  });
}

Result<Pod> read_pod(const json& object, const char* annotation) {
  return guarded<Pod>(object, "Pod", [&](const Object& of) {
    const Object metadata = of.object("metadata");
    const auto annotations = metadata.texts("annotations");
    const auto group = annotations.find(annotation);
    Pod made{.name_space = shown(metadata, "namespace")};
    if (group == annotations.end()) return made;
    made.group = plain(group->second);
    made.requests = requests_of_pod(of.object("spec"));
    const Object status = of.object("status");
    const std::string phase = status.text("phase");
    made.has_failed = phase == "Failed";
    made.is_over = made.has_failed || phase == "Succeeded";
    made.started = time_of(status, "startTime");
    for (const Object& each : status.objects("containerStatuses")) {
      made.ended =
          std::max(made.ended, time_of(each.object("state").object("terminated"), "finishedAt"));
    }
    return made;
  });
}

}  // namespace almanac::kube
