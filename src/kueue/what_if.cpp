// SPDX-License-Identifier: Apache-2.0
#include "kueue/what_if.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kueue/world.h"
#include "text/nearest.h"

namespace almanac::kueue {
namespace {

constexpr const char* kNone = "none";

const std::vector<std::string> kQuotaFields{"nominalQuota", "borrowingLimit", "lendingLimit"};
const std::vector<std::string> kQueueFields{"queueingStrategy", "weight", "cohort",
                                            "withinClusterQueue", "reclaimWithinCohort"};

tl::unexpected<Error> unknown(std::string_view what, std::string_view name,
                              const std::vector<std::string>& known) {
  // Queues have similar names, so a short list says more than the nearest name.
  constexpr std::size_t kFew = 12;
  return fail(Code::usage, fmt::format("no {} is called \"{}\"", what, name), {},
              known.size() <= kFew ? fmt::format("known: {}", fmt::join(known, ", "))
                                   : text::meant_or_known(name, known));
}

bool is_among(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A queue or a cohort, and the rest of the name that the user wrote after it.
struct Owner {
  std::string name{};
  std::vector<ResourceGroup>* groups = nullptr;
  ClusterQueue* queue = nullptr;  ///< Null for a cohort.
  double* weight = nullptr;
  std::string_view rest{};
};

/// Names may have dots, so the longest that fits counts.
Result<Owner> find_owner(Setup& setup, std::string_view text) {
  Owner best;
  std::vector<std::string> known;
  const auto meet = [&](const std::string& name, Owner owner) {
    known.push_back(name);
    const bool fits =
        text.size() > name.size() && text.starts_with(name) && text[name.size()] == '.';
    if (!fits || (best.groups != nullptr && name.size() <= best.name.size())) return;
    best = owner;
    best.name = name;
    best.rest = text.substr(name.size() + 1);
  };
  for (ClusterQueue& each : setup.queues) {
    meet(each.name, {.groups = &each.groups, .queue = &each, .weight = &each.weight});
  }
  for (Cohort& each : setup.cohorts) {
    meet(each.name, {.groups = &each.groups, .weight = &each.weight});
  }
  if (best.groups == nullptr) {
    const std::string_view first = text.substr(0, text.find('.'));
    const bool is_only_named =
        std::any_of(setup.queues.begin(), setup.queues.end(),
                    [&](const ClusterQueue& each) { return each.cohort == first; }) ||
        std::any_of(setup.cohorts.begin(), setup.cohorts.end(),
                    [&](const Cohort& each) { return each.parent == first; });
    if (is_only_named) {
      return fail(
          Code::usage,
          fmt::format("cohort {} has no Cohort object, and so no quota or weight to change", first),
          {}, "create a Cohort object with resourceGroups first");
    }
    return unknown("ClusterQueue or Cohort", text.substr(0, text.find('.')), known);
  }
  return best;
}

/// The quota that "FLAVOR.RESOURCE." names; both may be missing.
struct Found {
  ResourceQuota* quota = nullptr;
  std::string flavor{};
  std::string resource{};
};

Result<Found> find_quota(const Owner& owner, std::string_view name) {
  std::vector<Found> found;
  std::vector<std::string> known;
  for (ResourceGroup& group : *owner.groups) {
    for (FlavorQuotas& flavor : group.flavors) {
      for (auto& [resource, quota] : flavor.resources) {
        const std::string full = flavor.flavor + "." + resource;
        known.push_back(full);
        const bool is_named = name == full || (name == flavor.flavor && is_gpu(resource)) ||
                              (name.empty() && is_gpu(resource));
        if (is_named) found.push_back({&quota, flavor.flavor, resource});
      }
    }
  }
  if (found.size() == 1) return found.front();
  if (!found.empty()) {
    return fail(Code::usage, fmt::format("{} has several quotas of GPUs: name one", owner.name), {},
                fmt::format("known: {}", fmt::join(known, ", ")));
  }
  return unknown(fmt::format("quota of {}", owner.name), name, known);
}

/// Such a change would compare Kueue with itself.
tl::unexpected<Error> no_change(const Owner& owner, std::string_view what, std::string_view value) {
  return fail(Code::usage, fmt::format("{} of {} is {} already", what, owner.name, value));
}

std::string amount_of(const std::optional<Amount>& amount, std::string_view resource) {
  if (!amount) return kNone;
  return resource == "cpu" ? fmt::format("{}m", *amount) : fmt::format("{}", *amount);
}

Result<Changed> change_quota(const Owner& owner, std::string_view field, std::string_view named,
                             const std::string& value) {
  const auto found = find_quota(owner, named);
  if (!found) return tl::unexpected(found.error());
  const auto& [quota, flavor, resource] = *found;
  std::optional<Amount> amount;
  if (value != kNone || field == "nominalQuota") {
    const auto read = read_quantity(value, resource);
    if (!read) {
      return fail(Code::usage, fmt::format("{}: {}", field, read.error().message));
    }
    amount = *read;
  }
  Changed made{.what = fmt::format("{} of {} in flavor {}", field, resource, flavor), .to = value};
  if (field == "nominalQuota") {
    if (quota->nominal == *amount) return no_change(owner, made.what, value);
    made.from = amount_of(quota->nominal, resource);
    quota->nominal = *amount;
  } else {
    auto& limit = field == "borrowingLimit" ? quota->borrowing_limit : quota->lending_limit;
    if (limit == amount) return no_change(owner, made.what, value);
    made.from = amount_of(limit, resource);
    limit = amount;
  }
  return made;
}

/// Sets `into` to what `value` names among `words`, and returns the former word.
template <typename T>
Result<std::string> set_word(T& into, const std::string& value, std::string_view field,
                             std::initializer_list<std::pair<const char*, T>> words) {
  std::string from;
  std::vector<std::string> known;
  std::optional<T> to;
  for (const auto& [word, meaning] : words) {
    known.emplace_back(word);
    if (meaning == into) from = word;
    if (word == value) to = meaning;
  }
  if (!to) {
    return fail(Code::usage, fmt::format("{} must be one of {}, found \"{}\"", field,
                                         fmt::join(known, ", "), value));
  }
  into = *to;
  return from;
}

/// Where the field is in the spec of v1beta2.
std::string path_of(std::string_view field) {
  if (field == "weight") return "fairSharing.weight";
  if (field == "cohort") return "cohortName";
  if (field == "queueingStrategy") return std::string(field);
  return fmt::format("preemption.{}", field);
}

/// What Kueue's webhook refuses of a changed queue.
///
/// Source   Kueue, pkg/webhooks/clusterqueue_webhook.go and its test: limitIsEmptyErrorMsg,
///          lendingLimitErrorMsg.
Result<void> check_limits(const ClusterQueue& queue) {
  for (const ResourceGroup& group : queue.groups) {
    for (const FlavorQuotas& flavor : group.flavors) {
      for (const auto& [resource, quota] : flavor.resources) {
        if (queue.cohort.empty() && (quota.borrowing_limit || quota.lending_limit)) {
          return fail(Code::usage,
                      fmt::format("ClusterQueue {}: Kueue refuses borrowingLimit and lendingLimit "
                                  "of a queue without a cohort",
                                  queue.name));
        }
        if (quota.lending_limit && *quota.lending_limit > quota.nominal) {
          return fail(Code::usage, fmt::format("ClusterQueue {}: Kueue refuses a lendingLimit "
                                               "above nominalQuota ({} of {})",
                                               queue.name, resource, flavor.flavor));
        }
      }
    }
  }
  return {};
}

Result<Changed> change_field(const Owner& owner, std::string_view field, const std::string& value) {
  Changed made{.what = path_of(field), .to = value};
  Result<std::string> from;
  if (field == "weight") {
    // In thousandths, as a core.
    const auto weight = read_quantity(value, "cpu");
    if (!weight) return fail(Code::usage, fmt::format("weight: {}", weight.error().message));
    from = fmt::format("{:g}", *owner.weight);
    *owner.weight = static_cast<double>(*weight) / 1000.0;
  } else if (owner.queue == nullptr) {
    return fail(Code::usage, fmt::format("a Cohort has no {}", field));
  } else if (field == "cohort") {
    from = owner.queue->cohort.empty() ? kNone : owner.queue->cohort;
    owner.queue->cohort = value == kNone ? "" : value;
  } else if (field == "queueingStrategy") {
    from = set_word(owner.queue->is_strict, value, field,
                    {{"BestEffortFIFO", false}, {"StrictFIFO", true}});
  } else if (field == "withinClusterQueue") {
    from = set_word(owner.queue->within_queue, value, field,
                    {{"Never", Preempts::never},
                     {"LowerPriority", Preempts::lower_priority},
                     {"LowerOrNewerEqualPriority", Preempts::lower_or_newer_equal_priority}});
  } else {
    from = set_word(owner.queue->reclaim_within_cohort, value, field,
                    {{"Never", Preempts::never},
                     {"LowerPriority", Preempts::lower_priority},
                     {"Any", Preempts::any}});
  }
  if (!from) return tl::unexpected(from.error());
  if (*from == value) return no_change(owner, made.what, value);
  made.from = *from;
  return made;
}

Result<Changed> change_one(Setup& setup, std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos || equals + 1 == item.size()) {
    return fail(Code::usage, fmt::format("expected QUEUE.FIELD=VALUE, found \"{}\"", item), {},
                "such as team-a.nominalQuota=16");
  }
  const auto owner = find_owner(setup, item.substr(0, equals));
  if (!owner) return tl::unexpected(owner.error());
  const std::string value(item.substr(equals + 1));
  const std::size_t dot = owner->rest.rfind('.');
  const bool has_more = dot != std::string_view::npos;
  const std::string_view field = has_more ? owner->rest.substr(dot + 1) : owner->rest;
  const std::string_view named = has_more ? owner->rest.substr(0, dot) : std::string_view();
  Result<Changed> made;
  if (is_among(kQuotaFields, field)) {
    made = change_quota(*owner, field, named, value);
  } else if (is_among(kQueueFields, field) && !has_more) {
    made = change_field(*owner, field, value);
  } else {
    std::vector<std::string> known = kQuotaFields;
    known.insert(known.end(), kQueueFields.begin(), kQueueFields.end());
    return unknown("field that Almanac changes", owner->rest, known);
  }
  if (made) made->owner = (owner->queue != nullptr ? "ClusterQueue " : "Cohort ") + owner->name;
  return made;
}

}  // namespace

Result<std::vector<Changed>> change(Setup& setup, std::string_view text) {
  std::vector<Changed> made;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    std::string_view item = text.substr(from, comma - from);
    from = comma + 1;
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    auto one = change_one(setup, item);
    if (!one) return tl::unexpected(one.error());
    const auto is_same = [&](const Changed& each) {
      return each.owner == one->owner && each.what == one->what;
    };
    if (std::any_of(made.begin(), made.end(), is_same)) {
      return fail(Code::usage, fmt::format("{} of {} is changed twice", one->what, one->owner));
    }
    made.push_back(std::move(*one));
  }
  for (const ClusterQueue& queue : setup.queues) {
    const auto is_of = [&](const Changed& each) {
      return each.owner == "ClusterQueue " + queue.name;
    };
    if (std::none_of(made.begin(), made.end(), is_of)) continue;
    if (auto checked = check_limits(queue); !checked) return tl::unexpected(checked.error());
  }
  if (auto checked = check_setup(setup); !checked) {
    return fail(Code::usage, checked.error().message);
  }
  return made;
}

}  // namespace almanac::kueue
