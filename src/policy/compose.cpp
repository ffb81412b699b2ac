// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns what a user writes - a name, a name with slots replaced, a TOML file - into a composition.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "policy/registry.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::policy {
namespace {

/// Names are written with '_' here and often with '-' by people.
std::string spelled(std::string_view text) {
  std::string name(text);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

bool contains(const std::vector<Entry>& entries, std::string_view name) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const Entry& entry) { return entry.name == name; });
}

std::string hint_for(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = text::did_you_mean(word, known);
  return fmt::format("{}{}known: {}", meant, meant.empty() ? "" : "; ", fmt::join(known, ", "));
}

std::optional<int> parse_reserve(std::string_view choice) {
  if (choice == "scan") return kNobodyHolds;
  if (choice == "strict") return 0;
  if (choice == "easy") return 1;
  if (choice == "conservative") return kEveryJob;
  if (!choice.starts_with("easy:")) return std::nullopt;
  const auto depth = text::parse_whole(choice.substr(5));
  if (!depth || *depth < 1 || *depth >= kEveryJob) return std::nullopt;
  return static_cast<int>(*depth);
}

/// "lease" is Synergy's 300 s; "lease:60".
std::optional<Duration> parse_lease(std::string_view choice) {
  if (choice == "lease") return kUsualLease;
  if (!choice.starts_with("lease:")) return std::nullopt;
  const auto length = text::parse_whole(choice.substr(6));
  constexpr std::int64_t kLongest = 1'000'000'000;
  if (!length || *length < 1 || *length > kLongest) return std::nullopt;
  return std::chrono::seconds(*length);
}

std::optional<Preempt> parse_preempt(std::string_view choice) {
  if (choice == "never") return Preempt::never;
  if (choice == "by_rank") return Preempt::by_rank;
  if (choice == "quota") return Preempt::quota;
  if (choice == "late") return Preempt::late;
  return std::nullopt;
}

std::optional<Share> parse_share(std::string_view choice) {
  if (choice == "queue") return Share::queue;
  if (choice == "users") return Share::users;
  if (choice == "arrays") return Share::arrays;
  if (choice == "models") return Share::models;
  return std::nullopt;
}

std::optional<Admit> parse_admit(std::string_view choice) {
  if (choice == "nobody") return Admit::nobody;
  if (choice == "leases") return Admit::leases;
  if (choice == "shares") return Admit::shares;
  if (choice == "cheapest") return Admit::cheapest;
  return std::nullopt;
}

std::optional<Colocate> parse_colocate(std::string_view choice) {
  if (choice == "alone") return Colocate::alone;
  if (choice == "harmless") return Colocate::harmless;
  return std::nullopt;
}

/// Reservations hold only if no running job is stopped; some choices need leases.
Result<Composition> checked(const Registry& registry, Composition composition) {
  const bool leased = composition.lease > Duration{0};
  if (leased && (composition.reserve != 0 || composition.preempt != Preempt::never ||
                 composition.share != Share::queue)) {
    return fail(Code::usage,
                fmt::format("policy {}: leases leave no room for reservations, for shares of users "
                            "or for another way to stop jobs",
                            composition.name),
                {}, "add +strict+never+queue, or leave the lease out");
  }
  const auto size = registry.make_size(composition);
  const bool deals_out = size != nullptr && size->deals_out();
  if (composition.admit != Admit::nobody &&
      (!leased || deals_out || composition.colocate != Colocate::alone)) {
    return fail(
        Code::usage,
        fmt::format("policy {}: {} promises GPUs of coming leases, and goes neither without "
                    "leases nor with a size or a neighbour that moves jobs",
                    composition.name, admit_name(composition.admit)),
        {}, "add +lease:1200, +asked or +alone, or +nobody");
  }
  if (!leased && (deals_out || registry.make_order(composition)->changes_while_waiting())) {
    return fail(
        Code::usage,
        fmt::format("policy {}: {} {} needs leases", composition.name, deals_out ? "size" : "order",
                    deals_out ? composition.size : composition.order),
        {}, "add +lease");
  }
  if (composition.reserve != 0 && composition.preempt != Preempt::never) {
    return fail(Code::usage,
                fmt::format("policy {}: {} needs preempt never", composition.name,
                            reserve_name(composition.reserve)),
                {}, "add +never, or leave the reservation out");
  }
  if (composition.share != Share::queue &&
      (composition.reserve != 0 || composition.preempt != Preempt::never)) {
    return fail(Code::usage,
                fmt::format("policy {}: {} goes with neither reservations nor another way to stop "
                            "jobs",
                            composition.name, share_name(composition.share)),
                {}, "add +strict+never, or +queue");
  }
  const auto shape = registry.make_shape(composition);
  const bool as_asked = composition.share == Share::users || composition.share == Share::arrays;
  if (shape != nullptr && (deals_out || as_asked)) {
    return fail(Code::usage,
                fmt::format("policy {}: shape {} does not go with {}, which counts GPUs as they "
                            "are asked",
                            composition.name, composition.shape,
                            deals_out ? "size " + composition.size
                                      : "share " + share_name(composition.share)),
                {}, "add +rigid, or leave the other out");
  }
  if (shape != nullptr && shape->changes_while_waiting() &&
      (leased || composition.share != Share::queue || composition.preempt == Preempt::by_rank ||
       composition.preempt == Preempt::quota)) {
    return fail(Code::usage,
                fmt::format("policy {}: shape {} changes while jobs wait, and goes with neither "
                            "leases, shares nor a way to stop jobs",
                            composition.name, composition.shape),
                {}, "add +never+queue, or another shape");
  }
  if (composition.preempt == Preempt::late && composition.order != "promise") {
    return fail(
        Code::usage,
        fmt::format("policy {}: preempt late needs order promise, which has who is late last",
                    composition.name),
        {}, "add +promise, or another preempt");
  }
  if (composition.order == "promise" && composition.share != Share::queue) {
    return fail(Code::usage,
                fmt::format("policy {}: order promise needs share queue", composition.name), {},
                "add +queue, or another order");
  }
  if (composition.colocate != Colocate::alone &&
      (composition.reserve != 0 || composition.preempt != Preempt::never ||
       composition.share == Share::models || shape != nullptr)) {
    return fail(Code::usage,
                fmt::format("policy {}: {} goes with strict order, users, arrays or leases, and "
                            "with rigid jobs",
                            composition.name, colocate_name(composition.colocate)),
                {}, "add +strict+never+queue+rigid, or +alone");
  }
  const auto throttle = registry.make_throttle(composition);
  const bool size_gives = size != nullptr && size->gives();
  const bool throttle_gives = throttle != nullptr && throttle->gives();
  if (composition.reserve > 0 && (size_gives || throttle_gives)) {
    return fail(Code::usage,
                fmt::format("policy {}: {} gives cores to running jobs, and reservations do not "
                            "hold then",
                            composition.name, size_gives ? composition.size : composition.throttle),
                {}, "add +strict, or leave it out");
  }
  return composition;
}

/// A key of a file that is a number.
struct Number {
  const char* key;
  double least;
  double most;
  const char* expected;
  void (*set)(Composition& composition, double value);
};

Duration milliseconds(double s) { return Duration{std::llround(s * 1e3)}; }

/// A length of 30 years is for ever; no infinity is one, nor a number that is none.
constexpr std::array kNumbers{
    Number{"harmless_rate", std::numeric_limits<double>::min(), 1, "a number above 0 and up to 1",
           [](Composition& made, double value) { made.harmless_rate = value; }},
    Number{"trial_s", 1, 1e9, "a number from 1 to 1e9",
           [](Composition& made, double value) { made.trial = milliseconds(value); }},
    Number{"lease_s", 0, 1e9, "a number from 0 to 1e9",
           [](Composition& made, double value) { made.lease = milliseconds(value); }},
    Number{"rank_delay_s", 0, 1e9, "a number from 0 to 1e9",
           [](Composition& made, double value) { made.rank_delay = milliseconds(value); }},
    Number{"las_threshold_gpu_s", 0, 1e15, "a number from 0 to 1e15",
           [](Composition& made, double value) { made.las_threshold_gpu_s = value; }},
    Number{"reserve_cpus", 0, 1e4, "a number from 0 to 1e4",
           [](Composition& made, double value) { made.reserve_cpus = value; }},
};

Error at(const toml::node& node, const std::string& file, std::string message,
         std::string hint = "") {
  return {Code::usage,
          std::move(message),
          {.file = file,
           .line = static_cast<std::int64_t>(node.source().begin.line),
           .column = static_cast<std::int64_t>(node.source().begin.column)},
          std::move(hint)};
}

}  // namespace

Result<void> Registry::replace_slot(Composition& composition, const std::string& choice) const {
  if (contains(orders_, choice)) {
    composition.order = choice;
  } else if (contains(placements_, choice)) {
    composition.placement = choice;
  } else if (contains(shapes_, choice)) {
    composition.shape = choice;
  } else if (contains(sizes_, choice)) {
    composition.size = choice;
  } else if (contains(capacities_, choice)) {
    composition.capacity = choice;
  } else if (contains(throttles_, choice)) {
    composition.throttle = choice;
  } else if (contains(estimates(), choice)) {
    composition.estimate = choice;
  } else if (const auto reserve = parse_reserve(choice)) {
    composition.reserve = *reserve;
  } else if (const auto preempt = parse_preempt(choice)) {
    composition.preempt = *preempt;
  } else if (const auto share = parse_share(choice)) {
    composition.share = *share;
  } else if (const auto admit = parse_admit(choice)) {
    composition.admit = *admit;
  } else if (const auto colocate = parse_colocate(choice)) {
    composition.colocate = *colocate;
  } else if (const auto lease = parse_lease(choice)) {
    composition.lease = *lease;
  } else {
    std::vector<std::string> known = names_of(orders_);
    for (const auto* entries :
         {&placements_, &shapes_, &sizes_, &capacities_, &throttles_, &estimates()}) {
      for (const Entry& entry : *entries) known.push_back(entry.name);
    }
    for (const char* fixed : {"scan", "strict", "easy:N", "conservative", "never", "by_rank",
                              "late", "quota", "queue", "users", "arrays", "models", "nobody",
                              "leases", "shares", "alone", "harmless", "lease:S"}) {
      known.emplace_back(fixed);
    }
    return fail(Code::usage, fmt::format("no slot has a choice called {}", choice), {},
                hint_for(choice, known));
  }
  return {};
}

static Result<Composition> load_composition(const Registry& registry, const std::string& path) {
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    const auto line = static_cast<std::int64_t>(error.source().begin.line);
    return fail(line > 0 ? Code::usage : Code::not_found, std::string(error.description()),
                {.file = path, .line = line});
  }
  Composition made;
  if (const toml::node* base = table.get("base")) {
    const auto text = base->value<std::string>();
    if (!text) return tl::unexpected(at(*base, path, "base must be the name of a policy"));
    Result<Composition> found = registry.compose(*text);
    if (!found) return found;
    made = *found;
  }
  made.name = table["name"].value_or(
      path.substr(path.rfind('/') + 1, path.rfind(".toml") - path.rfind('/') - 1));
  if (made.name.empty() || made.name.front() == '.' || made.name.find('/') != std::string::npos) {
    const toml::node* const name = table.get("name");
    return tl::unexpected(at(name != nullptr ? *name : table, path,
                             "name must not be empty, begin with a dot or contain a slash: it "
                             "names a folder of the run"));
  }
  made.summary = table["summary"].value_or(std::string("composed in ") + path);
  made.source = path;
  static const std::vector<std::string> kKeys = {"name",
                                                 "summary",
                                                 "base",
                                                 "estimate",
                                                 "order",
                                                 "placement",
                                                 "shape",
                                                 "size",
                                                 "capacity",
                                                 "reserve",
                                                 "preempt",
                                                 "rank_delay_s",
                                                 "las_threshold_gpu_s",
                                                 "throttle",
                                                 "share",
                                                 "reserve_cpus",
                                                 "trial_s",
                                                 "lease_s",
                                                 "admit",
                                                 "colocate",
                                                 "harmless_rate"};
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(kKeys.begin(), kKeys.end(), name) == kKeys.end()) {
      return tl::unexpected(
          at(node, path, fmt::format("unknown key {}", name), hint_for(name, kKeys)));
    }
    if (const auto* const number = std::find_if(
            kNumbers.begin(), kNumbers.end(), [&](const Number& each) { return each.key == name; });
        number != kNumbers.end()) {
      const auto value = node.value<double>();
      if (!value || !(*value >= number->least && *value <= number->most)) {
        return tl::unexpected(at(node, path, fmt::format("{} must be {}", name, number->expected)));
      }
      number->set(made, *value);
      continue;
    }
    const auto text = node.value<std::string>();
    if (!text) return tl::unexpected(at(node, path, fmt::format("{} must be a string", name)));
    if (name == "name" || name == "summary" || name == "base") continue;
    const std::string choice = spelled(*text);
    const bool known =
        (name == "estimate" && contains(Registry::estimates(), choice)) ||
        (name == "order" && contains(registry.orders(), choice)) ||
        (name == "placement" && contains(registry.placements(), choice)) ||
        (name == "shape" && contains(registry.shapes(), choice)) ||
        (name == "size" && contains(registry.sizes(), choice)) ||
        (name == "capacity" && contains(registry.capacities(), choice)) ||
        (name == "reserve" && parse_reserve(choice)) ||
        (name == "throttle" && contains(registry.throttles(), choice)) ||
        (name == "preempt" && parse_preempt(choice)) || (name == "share" && parse_share(choice)) ||
        (name == "admit" && parse_admit(choice)) || (name == "colocate" && parse_colocate(choice));
    if (!known) {
      return tl::unexpected(at(node, path, fmt::format("{} has no choice {}", name, *text),
                               "see almanac policy list"));
    }
    if (name == "estimate") made.estimate = choice;
    if (name == "order") made.order = choice;
    if (name == "placement") made.placement = choice;
    if (name == "shape") made.shape = choice;
    if (name == "size") made.size = choice;
    if (name == "capacity") made.capacity = choice;
    if (name == "reserve") made.reserve = *parse_reserve(choice);
    if (name == "throttle") made.throttle = choice;
    if (name == "preempt") made.preempt = *parse_preempt(choice);
    if (name == "share") made.share = *parse_share(choice);
    if (name == "admit") made.admit = *parse_admit(choice);
    if (name == "colocate") made.colocate = *parse_colocate(choice);
  }
  return made;
}

Result<Composition> Registry::compose(const std::string& text) const {
  if (text.ends_with(".toml")) {
    Result<Composition> loaded = load_composition(*this, text);
    if (!loaded) return loaded;
    return checked(*this, *loaded);
  }
  const std::size_t plus = text.find('+');
  const std::string base = spelled(text.substr(0, plus));
  const auto found = std::find_if(policies_.begin(), policies_.end(),
                                  [&](const Composition& known) { return known.name == base; });
  if (found == policies_.end()) {
    std::vector<std::string> known;
    for (const Composition& policy : policies_) known.push_back(policy.name);
    return fail(Code::usage, fmt::format("no policy is called {}", base), {},
                hint_for(base, known));
  }
  Composition made = *found;
  made.name = spelled(text);
  for (std::size_t from = plus; from != std::string::npos;) {
    const std::size_t next = text.find('+', from + 1);
    const std::string choice = spelled(text.substr(from + 1, next - from - 1));
    if (const auto replaced = replace_slot(made, choice); !replaced) {
      return tl::unexpected(replaced.error());
    }
    from = next;
  }
  return checked(*this, std::move(made));
}

}  // namespace almanac::policy
