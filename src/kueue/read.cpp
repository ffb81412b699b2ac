// SPDX-License-Identifier: Apache-2.0
#include "kueue/read.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kueue/world.h"
#include "table/stream.h"

namespace almanac::kueue {
namespace {

using Json = nlohmann::json;

/// A value that Kueue would refuse; becomes a Result in parse_objects().
struct Refused {
  std::string message;
};

/// A JSON object with its place, for messages: "ClusterQueue a: spec.preemption".
class Object {
 public:
  Object(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {
    if (!json.is_object() && !json.is_null()) wrong("expected an object");
  }

  bool has(const char* key) const { return find(key) != nullptr; }
  /// Empty if absent.
  Object object(const char* key) const {
    static const Json nothing = nullptr;
    const Json* const found = find(key);
    return {found != nullptr ? *found : nothing, place_of(key)};
  }
  std::vector<Object> objects(const char* key) const {
    std::vector<Object> made;
    const Json* const found = find(key);
    if (found == nullptr) return made;
    if (!found->is_array()) wrong_at(key, "expected a list");
    for (std::size_t at = 0; at < found->size(); ++at) {
      made.emplace_back((*found)[at], fmt::format("{}[{}]", place_of(key), at));
    }
    return made;
  }
  std::string text(const char* key, const std::string& otherwise = "") const {
    const Json* const found = find(key);
    if (found == nullptr) return otherwise;
    if (!found->is_string()) wrong_at(key, fmt::format("expected text, found {}", found->dump()));
    return *found;
  }
  /// One of the words.
  template <typename T>
  T word(const char* key, T otherwise,
         std::initializer_list<std::pair<std::string_view, T>> words) const {
    const std::string found = text(key);
    if (found.empty()) return otherwise;
    std::string known;
    for (const auto& [word, value] : words) {
      if (word == found) return value;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
    }
    wrong_at(key, fmt::format("expected one of {}, found '{}'", known, found));
  }
  std::map<std::string, std::string> texts(const char* key) const {
    std::map<std::string, std::string> made;
    const Object of = object(key);
    if (of.json_->is_null()) return made;
    for (const auto& [name, value] : of.json_->items()) {
      if (!value.is_string()) of.wrong_at(name, "expected text");
      made.emplace(name, value);
    }
    return made;
  }
  /// A quantity is text or a number.
  Amount quantity(const char* key, std::string_view resource) const {
    const Json* const found = find(key);
    if (found == nullptr) wrong(fmt::format("{} is missing", key));
    const auto read =
        read_quantity(found->is_string() ? found->get<std::string>() : found->dump(), resource);
    if (!read) wrong_at(key, read.error().message);
    return *read;
  }
  std::optional<Amount> optional_quantity(const char* key, std::string_view resource) const {
    if (!has(key)) return std::nullopt;
    return quantity(key, resource);
  }
  std::optional<std::int64_t> whole(const char* key) const {
    const Json* const found = find(key);
    if (found == nullptr) return std::nullopt;
    if (!found->is_number_integer()) wrong_at(key, "expected a whole number");
    return found->get<std::int64_t>();
  }
  /// Fields that are not among `known` and have a value.
  std::vector<std::string> others(std::initializer_list<std::string_view> known) const {
    std::vector<std::string> made;
    if (json_->is_null()) return made;
    for (const auto& [name, value] : json_->items()) {
      const bool is_empty = value.is_null() || (value.is_structured() && value.empty());
      if (!is_empty && std::find(known.begin(), known.end(), name) == known.end()) {
        made.push_back(name);
      }
    }
    return made;
  }
  [[noreturn]] void wrong(const std::string& message) const {
    throw Refused{fmt::format("{}: {}", place_, message)};
  }
  [[noreturn]] void wrong_at(std::string_view key, const std::string& message) const {
    throw Refused{fmt::format("{}: {}", place_of(key), message)};
  }

 private:
  const Json* find(std::string_view key) const {
    if (json_->is_null()) return nullptr;
    const auto found = json_->find(key);
    return found == json_->end() || found->is_null() ? nullptr : &*found;
  }
  std::string place_of(std::string_view key) const { return fmt::format("{}.{}", place_, key); }

  const Json* json_;
  std::string place_;
};

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
      note_others(place, spec,
                  {"cohortName", "cohort", "resourceGroups", "queueingStrategy",
                   "flavorFungibility", "preemption", "fairSharing", "stopPolicy"});
      if (spec.text("stopPolicy") == "HoldAndDrain") {
        objects_.not_modelled.push_back(place + ": stopPolicy HoldAndDrain is simulated as Hold");
      }
    }
  }

  static std::vector<Toleration> tolerations_of(const Object& spec) {
    std::vector<Toleration> made;
    for (const Object& each : spec.objects("tolerations")) {
      made.push_back({.key = each.text("key"),
                      .exists = each.word("operator", false, {{"Equal", false}, {"Exists", true}}),
                      .value = each.text("value"),
                      .effect = each.text("effect")});
    }
    return made;
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
