// SPDX-License-Identifier: Apache-2.0

/// \file
/// MIG: all states of each card, those that nothing can be added to, and sequences of operations.
#include "inference/published/mig.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/recipe/json_lines.h"
#include "inference/recipe/recipes.h"
#include "inference/recipe/sheet.h"

namespace almanac::inference {
namespace {

using nlohmann::json;
using State = std::vector<MigGpu::Instance>;  // ascending
using Kinds = std::vector<int>;               // instances of each profile

bool is_wide(const MigProfile& profile) { return profile.compute == 1 && profile.memory > 1; }
bool is_extra(const MigProfile& profile) { return profile.name.ends_with("+me"); }

/// The profiles that `used` ("base", "base+wide", "all") names.
MigCard restricted(const MigCard& card, const std::string& used) {
  MigCard made{.name = card.name};
  for (const MigProfile& each : card.profiles) {
    if (is_extra(each) && used != "all") continue;
    if (is_wide(each) && used == "base") continue;
    made.profiles.push_back(each);
  }
  return made;
}

struct States {
  std::set<State> valid{}, maximal{};
  std::set<Kinds> kinds{}, maximal_kinds{};
  int outermost = 0;  // kinds that are in no larger kinds
  int most_compute = 0;
};

void visit(const MigCard& card, const MigGpu& gpu, States& states) {
  State state = gpu.instances();
  std::sort(state.begin(), state.end());
  if (!states.valid.insert(state).second) return;
  bool maximal = true;
  for (int profile = 0; profile < static_cast<int>(card.profiles.size()); ++profile) {
    for (const int start : card.profiles[static_cast<std::size_t>(profile)].starts) {
      MigGpu next = gpu;
      if (next.create(profile, start) != MigRefusal::none) continue;
      maximal = false;
      visit(card, next, states);
    }
  }
  Kinds kinds(card.profiles.size());
  int compute = 0;
  for (const MigGpu::Instance& each : state) {
    ++kinds[static_cast<std::size_t>(each.profile)];
    compute += card.profiles[static_cast<std::size_t>(each.profile)].compute;
  }
  states.most_compute = std::max(states.most_compute, compute);
  states.kinds.insert(kinds);
  if (!maximal) return;
  states.maximal.insert(std::move(state));
  states.maximal_kinds.insert(std::move(kinds));
}

States states_of(const MigCard& card) {
  States states;
  visit(card, MigGpu(card), states);
  for (const Kinds& kinds : states.kinds) {
    states.outermost +=
        std::none_of(states.kinds.begin(), states.kinds.end(), [&](const Kinds& other) {
          return other != kinds && std::equal(kinds.begin(), kinds.end(), other.begin(),
                                              [](int a, int b) { return a <= b; });
        });
  }
  return states;
}

/// "1g.5gb@0 2g.10gb@2", ascending by start.
std::string name_of(const MigCard& card, State state) {
  std::sort(state.begin(), state.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
  std::string name;
  for (const MigGpu::Instance& each : state) {
    name += fmt::format("{}{}@{}", name.empty() ? "" : " ",
                        card.profiles[static_cast<std::size_t>(each.profile)].name, each.start);
  }
  return name;
}

class Cards {
 public:
  explicit Cards(std::vector<MigCard> cards) : cards_(std::move(cards)) {}
  const MigCard* find(const std::string& name) const {
    for (const MigCard& each : cards_) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  /// Null = no card has that name.
  const std::pair<MigCard, States>* states(const std::string& name, const std::string& used) {
    const auto found = states_.find({name, used});
    if (found != states_.end()) return &found->second;
    const MigCard* const card = find(name);
    if (card == nullptr) return nullptr;
    MigCard made = restricted(*card, used);
    States states = states_of(made);
    return &states_.emplace(std::pair(name, used), std::pair(std::move(made), std::move(states)))
                .first->second;
  }

 private:
  std::vector<MigCard> cards_;
  std::map<std::pair<std::string, std::string>, std::pair<MigCard, States>> states_;
};

tl::unexpected<Error> no_card(const std::string& path, const std::string& name) {
  return fail(Code::not_found, fmt::format("no card is called {}", name), {.file = path});
}

Result<void> compare_counts(const std::string& path, Cards& cards, Comparison& made) {
  const auto sheet = Sheet::read(path, {"gpu", "profiles_used"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const auto* const found =
        cards.states(sheet->text("gpu", row), sheet->text("profiles_used", row));
    if (found == nullptr) return no_card(path, sheet->text("gpu", row));
    const States& states = found->second;
    const std::map<std::string, double, std::less<>> ours{
        {"valid_states_incl_empty", static_cast<double>(states.valid.size())},
        {"maximal_states", static_cast<double>(states.maximal.size())},
        {"distinct_multisets", static_cast<double>(states.kinds.size())},
        {"distinct_maximal_multisets", static_cast<double>(states.maximal_kinds.size())},
        {"multisets_not_inside_a_larger_one", static_cast<double>(states.outermost)},
        {"largest_compute_slice_sum", static_cast<double>(states.most_compute)}};
    for (const auto& [name, value] : ours) {
      if (!sheet->has(name)) continue;
      const auto published = sheet->number(name, row);
      if (!published) return tl::unexpected(published.error());
      made.add(fmt::format("{} {}: {}", sheet->text("gpu", row), sheet->text("profiles_used", row),
                           name),
               *published, value);
    }
  }
  return {};
}

Result<void> compare_maximal(const std::string& path, Cards& cards, Comparison& made) {
  const auto sheet = Sheet::read(
      path, {"gpu", "profiles_used", "placements", "compute_slices", "memory_slices", "sm"});
  if (!sheet) return tl::unexpected(sheet.error());
  std::map<std::pair<std::string, std::string>, std::set<std::string>> published;
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    published[{sheet->text("gpu", row), sheet->text("profiles_used", row)}].insert(fmt::format(
        "{} {} {} {}", sheet->text("placements", row), sheet->text("compute_slices", row),
        sheet->text("memory_slices", row), sheet->text("sm", row)));
  }
  for (const auto& [key, theirs] : published) {
    const auto* const found = cards.states(key.first, key.second);
    if (found == nullptr) return no_card(path, key.first);
    const auto& [card, states] = *found;
    std::set<std::string> ours;
    for (const State& state : states.maximal) {
      int compute = 0, memory = 0, sm = 0;
      for (const MigGpu::Instance& each : state) {
        const MigProfile& profile = card.profiles[static_cast<std::size_t>(each.profile)];
        compute += profile.compute;
        memory += profile.memory;
        sm += profile.sm;
      }
      ours.insert(fmt::format("{} {} {} {}", name_of(card, state), compute, memory, sm));
    }
    std::vector<std::string> differ;
    std::set_symmetric_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(),
                                  std::back_inserter(differ));
    made.add_mismatches(
        fmt::format("{} {}: states that nothing can be added to", key.first, key.second),
        differ.size());
  }
  return {};
}

/// How many operations of one sequence ended otherwise, or left other room. Throws where the card
/// does not have what they name.
std::size_t replay(const json& sequence, const MigCard& card) {
  MigGpu gpu(card);
  std::map<int, MigGpu::Instance> instances;
  int created = 0;
  std::size_t differ = 0;
  for (const json& op : sequence.at("ops")) {
    const bool ok = op.at("ok").get<bool>();
    bool same = true;
    if (op.at("op") == "create") {
      const int profile = card.find(op.at("profile").get<std::string>());
      require(profile >= 0,
              fmt::format("{} has no profile {}", card.name, op.at("profile").get<std::string>()));
      const int start = op.at("start").get<int>();
      const MigRefusal refused = gpu.create(profile, start);
      same = (refused == MigRefusal::none) == ok;
      if (refused == MigRefusal::none) {
        same = same && op.at("instance").get<int>() == created;
        instances[created++] = {profile, start};
      } else {
        same = same && op.value("reason", "") == to_string(refused);
      }
    } else {
      const auto found = instances.find(op.at("instance").get<int>());
      same = (found != instances.end()) == ok;
      if (found != instances.end()) {
        gpu.destroy(found->second);
        instances.erase(found);
      }
    }
    for (const auto& [name, room] : op.at("free").items()) {
      const int profile = card.find(name);
      same = same && profile >= 0 && gpu.room(profile) == room.get<int>();
    }
    differ += !same;
  }
  return differ;
}

void compare_sequence(const json& sequence, const Cards& cards, Comparison& made) {
  const auto name = sequence.at("gpu").get<std::string>();
  const MigCard* const card = cards.find(name);
  require(card != nullptr, "no card is called " + name);
  made.add_mismatches(fmt::format("sequence {}: operations", sequence.at("id").get<std::string>()),
                      replay(sequence, *card));
}

}  // namespace

Result<Comparison> compare_mig(const Shared& shared) {
  auto read = read_mig_cards(shared.data + "/mig/profiles.csv");
  if (!read) return tl::unexpected(read.error());
  Cards cards(std::move(*read));
  const std::string folder = shared.golden + "/mig";
  Comparison made;
  each_file(folder, "counts", ".csv", made,
            [&](const std::string& path) { return compare_counts(path, cards, made); });
  each_file(folder, "maximal_states", ".csv", made,
            [&](const std::string& path) { return compare_maximal(path, cards, made); });
  each_file(folder, "sequences", ".jsonl", made, [&](const std::string& path) {
    return each_json(path, made, [&](const json& told) { compare_sequence(told, cards, made); });
  });
  return made;
}

}  // namespace almanac::inference
