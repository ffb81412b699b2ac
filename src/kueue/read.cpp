// SPDX-License-Identifier: Apache-2.0
#include "kueue/read.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kueue/object.h"
#include "kueue/world.h"
#include "table/stream.h"

namespace almanac::kueue {
namespace {

std::vector<ResourceGroup> groups_of(const Object& spec) {
  std::vector<ResourceGroup> groups;
  for (const Object& group : spec.objects("resourceGroups")) {
    ResourceGroup& made = groups.emplace_back();
    for (const Object& flavor : group.objects("flavors")) {
      FlavorQuotas quotas{.flavor = flavor.text("name")};
      for (const Object& resource : flavor.objects("resources")) {
        const std::string name = resource.text("name");
        if (name.empty()) resource.wrong("name is missing");
        quotas.resources[name] = {resource.quantity("nominalQuota", name),
                                  resource.optional_quantity("borrowingLimit", name),
                                  resource.optional_quantity("lendingLimit", name)};
      }
      const auto has_same_resources = [&](const FlavorQuotas& other) {
        return std::equal(quotas.resources.begin(), quotas.resources.end(), other.resources.begin(),
                          other.resources.end(),
                          [](const auto& a, const auto& b) { return a.first == b.first; });
      };
      if (!made.flavors.empty() && !has_same_resources(made.flavors.front())) {
        flavor.wrong("all flavors of a group must have the same resources");
      }
      made.flavors.push_back(std::move(quotas));
    }
  }
  return groups;
}

double weight_of(const Object& spec) {
  const Object fair = spec.object("fairSharing");
  // In thousandths, as a core.
  return fair.has("weight") ? static_cast<double>(fair.quantity("weight", "cpu")) / 1000.0 : 1;
}

Preempts preempts(const Object& spec, const char* key) {
  return spec.word(key, Preempts::never,
                   {{"Never", Preempts::never},
                    {"LowerPriority", Preempts::lower_priority},
                    {"LowerOrNewerEqualPriority", Preempts::lower_or_newer_equal_priority},
                    {"Any", Preempts::any}});
}

/// v1beta1 calls the end of the search Borrow and Preempt.
Fungibility fungibility(const Object& spec, const char* key, Fungibility otherwise) {
  return spec.word(key, otherwise,
                   {{"MayStopSearch", Fungibility::may_stop_search},
                    {"Borrow", Fungibility::may_stop_search},
                    {"Preempt", Fungibility::may_stop_search},
                    {"TryNextFlavor", Fungibility::try_next_flavor}});
}

class Reader {
 public:
  void read(const Json& json) {
    if (json.is_object() && json.contains("items")) {
      if (!json["items"].is_array()) throw Refused{"items: expected a list"};
      for (const Json& item : json["items"]) read_object(item);
    } else {
      read_object(json);
    }
    if (objects_.setup.queues.empty()) {
      throw Refused{"expected ClusterQueues, found none"};
    }
  }
  Objects objects() && { return std::move(objects_); }

 private:
  void read_object(const Json& json) {
    if (!json.is_object()) {
      throw Refused{
          fmt::format("expected objects of Kueue, as kubectl get -o json prints them, found {}",
                      json.is_array() ? "a list" : json.dump())};
    }
    const Object bare(json, "an object");
    const std::string kind = bare.text("kind");
    const std::string name = bare.object("metadata").text("name");
    if (kind != "ResourceFlavor" && kind != "Cohort" && kind != "ClusterQueue") return;
    const std::string group = "kueue.x-k8s.io/";
    if (bare.text("apiVersion").rfind(group, 0) != 0) return;
    if (name.empty()) bare.wrong(fmt::format("a {} has no metadata.name", kind));
    const std::string place = fmt::format("{} {}", kind, name);
    const Object spec = Object(json, place).object("spec");
    if (kind == "ResourceFlavor") {
      read_flavor(name, spec);
    } else if (kind == "Cohort") {
      objects_.setup.cohorts.push_back({.name = name,
                                        .parent = spec.text("parentName", spec.text("parent")),
                                        .groups = groups_of(spec),
                                        .weight = weight_of(spec)});
      note_others(place, spec, {"parentName", "parent", "resourceGroups", "fairSharing"});
    } else {
      read_queue(name, spec);
      if (spec.has("admissionScope")) objects_.ordered_by_usage.insert(name);
      note_others(place, spec,
                  {"cohortName", "cohort", "resourceGroups", "queueingStrategy",
                   "flavorFungibility", "preemption", "fairSharing", "stopPolicy"});
      if (spec.text("stopPolicy") == "HoldAndDrain") {
        objects_.not_modelled.push_back(place + ": stopPolicy HoldAndDrain is simulated as Hold");
      }
    }
  }

  void read_flavor(const std::string& name, const Object& spec) {
    Flavor& made = objects_.setup.flavors.emplace_back();
    made.name = name;
    made.labels = spec.texts("nodeLabels");
    made.tolerations = tolerations_of(spec);
    for (const Object& taint : spec.objects("nodeTaints")) {
      made.taints.push_back({taint.text("key"), taint.text("value"), taint.text("effect")});
    }
    note_others("ResourceFlavor " + name, spec, {"nodeLabels", "nodeTaints", "tolerations"});
  }

  void read_queue(const std::string& name, const Object& spec) {
    const Object preemption = spec.object("preemption");
    const Object borrowing = preemption.object("borrowWithinCohort");
    const Object fungible = spec.object("flavorFungibility");
    objects_.setup.queues.push_back(
        {.name = name,
         .cohort = spec.text("cohortName", spec.text("cohort")),
         .groups = groups_of(spec),
         .weight = weight_of(spec),
         .is_strict = spec.word("queueingStrategy", false,
                                {{"BestEffortFIFO", false}, {"StrictFIFO", true}}),
         .is_stopped = spec.word("stopPolicy", false,
                                 {{"None", false}, {"Hold", true}, {"HoldAndDrain", true}}),
         .within_queue = preempts(preemption, "withinClusterQueue"),
         .reclaim_within_cohort = preempts(preemption, "reclaimWithinCohort"),
         .preempts_while_borrowing =
             borrowing.word("policy", false, {{"Never", false}, {"LowerPriority", true}}),
         .highest_preempted_while_borrowing = borrowing.whole("maxPriorityThreshold"),
         .when_can_borrow = fungibility(fungible, "whenCanBorrow", Fungibility::may_stop_search),
         .when_can_preempt = fungibility(fungible, "whenCanPreempt", Fungibility::try_next_flavor),
         .prefers_preemption_over_borrowing = fungible.word(
             "preference", false,
             {{"BorrowingOverPreemption", false}, {"PreemptionOverBorrowing", true}})});
  }

  void note_others(const std::string& place, const Object& spec,
                   std::initializer_list<std::string_view> known) {
    for (const std::string& field : spec.others(known)) {
      objects_.not_modelled.push_back(fmt::format("{}: {} is not modelled", place, field));
    }
  }

  Objects objects_{};
};

}  // namespace

Result<Objects> parse_objects(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) {
    return fail(Code::invalid, "expected JSON, as kubectl get -o json prints it");
  }
  try {
    Reader reader;
    reader.read(parsed);
    Objects objects = std::move(reader).objects();
    if (auto checked = check_setup(objects.setup); !checked) {
      return tl::unexpected(checked.error());
    }
    return objects;
  } catch (const Refused& refused) {
    return fail(Code::invalid, refused.message, {},
                "kubectl get clusterqueues,cohorts,resourceflavors -o json");
  }
}

Result<Objects> read_objects(const std::string& path) {
  const Result<std::string> text = table::read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto objects = parse_objects(*text);
  if (!objects) objects.error().where.file = path;
  return objects;
}

}  // namespace almanac::kueue
