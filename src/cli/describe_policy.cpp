// SPDX-License-Identifier: Apache-2.0
#include "cli/describe_policy.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/terminal.h"
#include "policy/conduct.h"
#include "policy/kit/age_cap.h"
#include "policy/registry.h"
#include "service/policies.h"
#include "steer/policies.h"
#include "text/wrap.h"

namespace almanac::cli {
namespace {

using Json = nlohmann::ordered_json;
using Slot = policy::Registry::Slot;

struct Role {
  std::string_view slot;
  const char* words;
};

constexpr Role kRoles[] = {
    {"order", "which job is next"},
    {"placement", "on which GPUs a job runs"},
    {"estimate", "which run times the policy expects"},
    {"shape", "how many GPUs a job gets, if it leaves that open"},
    {"size", "how many cores and how much memory a job gets"},
    {"pass", "which waiting jobs may start, and which running jobs stop for them"},
    {"packing", "which jobs may share GPUs"},
    {"capacity", "which nodes are on"},
    {"throttle", "limits for jobs that share bandwidth"},
    {"division", "whether the nodes are split into parts with a policy each"}};

const char* role_of(const Slot& slot) {
  const auto* const found =
      std::find_if(std::begin(kRoles), std::end(kRoles),
                   [&](const Role& role) { return role.slot == slot.name(); });
  ALMANAC_CHECK(found != std::end(kRoles), "slot {} has no description", slot.name());
  return found->words;
}

/// A choice, with the values that a user gave, and the slot that it fills.
struct Part {
  Slot slot;
  const policy::Entry* entry;
  policy::Choice choice;
};

std::vector<Part> parts_named(std::string_view name) {
  std::vector<Part> made;
  for (const Slot& slot : policy::registry().slots()) {
    if (const policy::Entry* const entry = slot.choices->find(name); entry != nullptr)
      made.push_back({slot, entry, entry->name});
  }
  return made;
}

std::string text_of(const Slot& slot, const policy::Choice& choice) {
  return to_string(choice, slot.choices->at(choice).parameters);
}

/// What a policy is made of, without what it needs and does.
Json parts_json(const policy::Composition& composition) {
  Json made = {
      {"name", composition.name}, {"summary", composition.summary}, {"source", composition.source}};
  if (!composition.whole.name.empty()) {
    const policy::Entry& whole = policy::registry().wholes.at(composition.whole);
    made["whole"] = to_string(composition.whole, whole.parameters);
  }
  // A whole policy ignores the other parts, so that their defaults would say nothing of it.
  const policy::Composition untold;
  for (const Slot& slot : policy::registry().slots()) {
    const policy::Choice& choice = composition.*slot.choice;
    if (!composition.whole.name.empty() && choice == untold.*slot.choice) continue;
    made[slot.name()] = text_of(slot, choice);
  }
  return made;
}

/// Prints a comment of TOML, in lines that fit the terminal.
void print_comment(const std::string& text) {
  constexpr std::size_t kUsual = 100;
  constexpr std::size_t kLeast = 40;
  const std::size_t columns = terminal_columns() > 0 ? terminal_columns() : kUsual;
  std::string lead = "# ";
  for (const std::string& line : text::wrap(text, std::max(columns, kLeast) - 4)) {
    fmt::print("{}{}\n", lead, line);
    lead = "#   ";
  }
}

/// "relax_s: how long ...; a number of at least 0 (default 0)".
std::string told_of(const policy::Parameter& parameter) {
  const std::string usual = parameter.words.empty()
                                ? fmt::format("{}", fmt::join(parameter.usual, ":"))
                                : parameter.words.front();
  return fmt::format("{}: {}; {} (default {})", parameter.name, parameter.summary,
                     parameter.expected(), usual);
}

void print_policy(const policy::Composition& composition) {
  print_comment(fmt::format("{}: {}", composition.name, composition.summary));
  print_comment(fmt::format("Source: {}", composition.source));
  if (!composition.whole.name.empty()) {
    for (const policy::Parameter& each :
         policy::registry().wholes.at(composition.whole).parameters) {
      print_comment(fmt::format("Parameter {}", told_of(each)));
    }
  }
  for (const std::string& each : policy::sentences_of(composition)) print_comment(each);
  const auto live = service::compose(composition.name);
  const bool is_simulated_only =
      !live && live.error().code == Code::unsupported && !steer::compose(composition.name);
  print_comment(is_simulated_only ? fmt::format("Only for simulations: {}.", live.error().message)
                                  : policy::age_cap_sentence(policy::kAgeCap));
  for (const Part& part : parts_named(composition.name)) {
    fmt::print("# {0} also names a part of policies, the {1} {0}: almanac policy describe +{0}\n",
               composition.name, part.slot.name());
  }
  fmt::print("# As a file for --policy FILE.toml:\n");
  const Json parts = parts_json(composition);
  for (const auto& [key, value] : parts.items()) {
    if (key != "source") fmt::print("{} = {}\n", key, value.dump());
  }
}

/// "easy+proven replaces the estimate limit of easy".
std::string use_of(const Part& part) {
  std::string example = policy::example_with(part.entry->name);
  const std::string base = example.substr(0, example.rfind('+'));
  if (!part.choice.told.empty()) example = base + "+" + text_of(part.slot, part.choice);
  const auto before = policy::registry().compose(base);
  if (!before) return example;
  const std::string replaced = text_of(part.slot, *before.*part.slot.choice);
  if (replaced == part.entry->name)
    return fmt::format("it is the {} of {}", part.slot.name(), base);
  return fmt::format("{} replaces the {} {} of {}", example, part.slot.name(), replaced, base);
}

void print_part(const Part& part) {
  const policy::Entry& entry = *part.entry;
  fmt::print("{}: {}\n", text_of(part.slot, part.choice), entry.summary);
  fmt::print("  Part    {}: {}\n", part.slot.name(), role_of(part.slot));
  fmt::print("  Use     {}\n", use_of(part));
  for (const policy::Parameter& each : entry.parameters) {
    fmt::print("  Value   {}\n", told_of(each));
  }
  entry.traits.has.each([](policy::Trait trait) { fmt::print("  Does    {}\n", clause(trait)); });
  fmt::print("  Source  {}\n", entry.source);
}

void print_parts(const std::vector<Part>& parts, bool as_json) {
  Json made = Json::array();
  for (const Part& part : parts) {
    if (!as_json) print_part(part);
    Json each = {{"slot", part.slot.name()}, {"role", role_of(part.slot)}};
    each.update(part_json(*part.entry));
    made.push_back(std::move(each));
  }
  if (as_json) fmt::print("{}\n", made.dump(2));
}

}  // namespace

Json policy_json(const policy::Composition& composition) {
  const policy::TraitSet traits = policy::registry().traits(composition);
  Json made = parts_json(composition);
  made["bound"] = policy::is_bound(traits);
  made["needs"] = policy::needs_of(traits);
  made["does"] = Json::array();
  traits.each([&](policy::Trait trait) { made["does"].push_back(clause(trait)); });
  return made;
}

Json part_json(const policy::Entry& entry) {
  Json made = {{"name", entry.name}, {"summary", entry.summary}, {"source", entry.source}};
  entry.traits.has.each([&](policy::Trait trait) { made["does"].push_back(clause(trait)); });
  for (const policy::Parameter& each : entry.parameters) {
    Json parameter = {{"name", each.name}, {"summary", each.summary}};
    parameter["expected"] = each.expected();
    if (!each.words.empty()) {
      parameter["usual"] = each.words.front();
    } else if (each.is_list) {
      parameter["usual"] = each.usual;
    } else {
      parameter["usual"] = each.usual.front();
    }
    made["parameters"].push_back(std::move(parameter));
  }
  return made;
}

std::vector<std::string> policy_and_part_names() {
  std::vector<std::string> names;
  for (const policy::Composition& each : policy::registry().policies()) names.push_back(each.name);
  for (const Slot& slot : policy::registry().slots()) {
    for (const policy::Entry& each : slot.choices->entries()) names.push_back(each.name);
  }
  return names;
}

Result<int> describe_policy(const std::string& name, bool as_json) {
  const bool is_part = name.starts_with('+');
  const std::string part(name, is_part ? 1 : 0);
  std::string part_name = part.substr(0, part.find(':'));
  std::replace(part_name.begin(), part_name.end(), '-', '_');
  std::vector<Part> parts = parts_named(part_name);
  const auto composition = policy::registry().compose(name);
  if (!composition && part_name.size() < part.size()) {
    for (Part& each : parts) {
      auto values = policy::read_values(each.entry->parameters, part.substr(part_name.size() + 1));
      if (!values) {
        values.error().message = fmt::format("{}: {}", part_name, values.error().message);
        return tl::unexpected(values.error());
      }
      each.choice.told = *std::move(values);
    }
  }
  if (!parts.empty() && (is_part || !composition)) {
    print_parts(parts, as_json);
    return kDone;
  }
  if (!composition) return tl::unexpected(composition.error());
  if (!as_json) {
    print_policy(*composition);
    return kDone;
  }
  Json object = policy_json(*composition);
  object["age_cap_h"] = seconds(policy::kAgeCap) / 3600;
  fmt::print("{}\n", object.dump(2));
  return kDone;
}

}  // namespace almanac::cli
