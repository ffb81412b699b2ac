// SPDX-License-Identifier: Apache-2.0

/// \file
/// MIG: all states of each board, those that nothing can be added to, and sequences of operations.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "cluster/slices/lattice.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_mig(Recipes& registry);

namespace mig_recipe {
namespace {

constexpr const char* kProfiles = "data/mig/profiles.csv";
constexpr const char* kCounts = "golden/mig/counts*.csv";
constexpr const char* kMaximal = "golden/mig/maximal_states*.csv";
constexpr const char* kSequences = "golden/mig/sequences*.json";

using State = std::vector<slices::Instance>;  // ascending
using Kinds = std::vector<int>;               // instances of each profile

bool is_wide(const slices::Profile& profile) { return profile.compute == 1 && profile.memory > 1; }
bool is_extra(const slices::Profile& profile) { return profile.name.ends_with("+me"); }

/// The profiles that `used` ("base", "base+wide", "all") names.
slices::Board restricted(const slices::Board& board, const std::string& used) {
  slices::Board made{.name = board.name, .memory = board.memory};
  for (const slices::Profile& each : board.profiles) {
    if (is_extra(each) && used != "all") continue;
    if (is_wide(each) && used == "base") continue;
    made.profiles.push_back(each);
  }
  return made;
}

/// The boards of a table of profiles.
std::vector<slices::Board> read_boards(const File& file) {
  std::vector<slices::Board> boards;
  Rows rows(file.path, {"gpu", "profile", "max_instances", "profile_compute_slices",
                        "profile_memory_slices", "starts", "sm", "media"});
  while (rows.next()) {
    const auto number = [&](const char* column) { return static_cast<int>(rows.number(column)); };
    slices::Profile profile{.name = std::string(rows.text("profile")),
                            .most = number("max_instances"),
                            .compute = number("profile_compute_slices"),
                            .memory = number("profile_memory_slices"),
                            .sm = number("sm"),
                            .media = number("media") != 0};
    if (rows.has("memory_gib")) profile.memory_gib = rows.number("memory_gib");
    const std::string_view starts = rows.text("starts");
    for (std::size_t at = 0; at < starts.size();) {
      const std::size_t end = std::min(starts.find(' ', at), starts.size());
      const auto start = text::parse_whole(starts.substr(at, end - at));
      rows.require(start && *start >= 0 && *start + profile.memory <= 31,
                   fmt::format("starts: '{}' is no list of slices", starts));
      profile.starts |= slices::SliceMask{1} << *start;
      at = end + 1;
    }
    const std::string_view name = rows.text("gpu");
    auto board = std::find_if(boards.begin(), boards.end(),
                              [&](const slices::Board& each) { return each.name == name; });
    if (board == boards.end()) {
      board = boards.insert(boards.end(), slices::Board{.name = std::string(name)});
    }
    board->memory = std::max(board->memory, profile.memory);
    board->profiles.push_back(std::move(profile));
  }
  return boards;
}

struct States {
  std::set<State> valid{}, maximal{};
  std::set<Kinds> kinds{}, maximal_kinds{};
  int outermost = 0;  // kinds that are in no larger kinds
  int most_compute = 0;
};

void visit(const slices::Board& board, const slices::Layout& gpu, States& states) {
  State state = gpu.instances();
  std::sort(state.begin(), state.end());
  if (!states.valid.insert(state).second) return;
  bool maximal = true;
  for (int profile = 0; profile < static_cast<int>(board.profiles.size()); ++profile) {
    for (int start = 0; start < board.memory; ++start) {
      slices::Layout next = gpu;
      if (next.create({profile, start}) != slices::Refusal::none) continue;
      maximal = false;
      visit(board, next, states);
    }
  }
  Kinds kinds(board.profiles.size());
  int compute = 0;
  for (const slices::Instance& each : state) {
    ++kinds[static_cast<std::size_t>(each.profile)];
    compute += board[each.profile].compute;
  }
  states.most_compute = std::max(states.most_compute, compute);
  states.kinds.insert(kinds);
  if (!maximal) return;
  states.maximal.insert(std::move(state));
  states.maximal_kinds.insert(std::move(kinds));
}

States states_of(const slices::Board& board) {
  States states;
  visit(board, slices::Layout(board), states);
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
std::string name_of(const slices::Board& board, State state) {
  std::sort(state.begin(), state.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
  std::string name;
  for (const slices::Instance& each : state) {
    name += fmt::format("{}{}@{}", name.empty() ? "" : " ", board[each.profile].name, each.start);
  }
  return name;
}

class Boards {
 public:
  explicit Boards(std::vector<slices::Board> boards) : boards_(std::move(boards)) {}
  /// Throws Malformed if no board has that name.
  const slices::Board& board(const std::string& name) const {
    const auto found = std::find_if(boards_.begin(), boards_.end(),
                                    [&](const slices::Board& each) { return each.name == name; });
    require(found != boards_.end(), fmt::format("no board is called {}", name));
    return *found;
  }
  /// The profiles of a board that are used, and the states that they allow.
  const std::pair<slices::Board, States>& states(const std::string& name, const std::string& used) {
    const auto found = states_.find({name, used});
    if (found != states_.end()) return found->second;
    slices::Board made = restricted(board(name), used);
    States states = states_of(made);
    return states_.emplace(std::pair(name, used), std::pair(std::move(made), std::move(states)))
        .first->second;
  }

 private:
  std::vector<slices::Board> boards_;
  std::map<std::pair<std::string, std::string>, std::pair<slices::Board, States>> states_;
};

void compare_counts(Bench& bench, const File& file, Boards& boards) {
  Rows rows(file.path, {"gpu", "profiles_used"});
  while (rows.next()) {
    const std::string gpu(rows.text("gpu")), used(rows.text("profiles_used"));
    const States& states = boards.states(gpu, used).second;
    const std::map<std::string, double> ours{
        {"valid_states_incl_empty", static_cast<double>(states.valid.size())},
        {"maximal_states", static_cast<double>(states.maximal.size())},
        {"distinct_multisets", static_cast<double>(states.kinds.size())},
        {"distinct_maximal_multisets", static_cast<double>(states.maximal_kinds.size())},
        {"multisets_not_inside_a_larger_one", static_cast<double>(states.outermost)},
        {"largest_compute_slice_sum", static_cast<double>(states.most_compute)}};
    for (const auto& [name, value] : ours) {
      if (!rows.has(name)) continue;
      bench.add(fmt::format("{} {}: {}", gpu, used, name), rows.number(name), value);
    }
  }
}

void compare_maximal(Bench& bench, const File& file, Boards& boards) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> published;
  Rows rows(file.path,
            {"gpu", "profiles_used", "placements", "compute_slices", "memory_slices", "sm"});
  while (rows.next()) {
    published[{std::string(rows.text("gpu")), std::string(rows.text("profiles_used"))}].insert(
        fmt::format("{} {} {} {}", rows.text("placements"), rows.text("compute_slices"),
                    rows.text("memory_slices"), rows.text("sm")));
  }
  for (const auto& [key, theirs] : published) {
    const auto& [board, states] = boards.states(key.first, key.second);
    std::set<std::string> ours;
    for (const State& state : states.maximal) {
      int compute = 0, memory = 0, sm = 0;
      for (const slices::Instance& each : state) {
        const slices::Profile& profile = board[each.profile];
        compute += profile.compute;
        memory += profile.memory;
        sm += profile.sm;
      }
      ours.insert(fmt::format("{} {} {} {}", name_of(board, state), compute, memory, sm));
    }
    std::vector<std::string> differ;
    std::set_symmetric_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(),
                                  std::back_inserter(differ));
    bench.add_mismatches(
        fmt::format("{} {}: states that nothing can be added to", key.first, key.second),
        differ.size());
  }
}

/// Returns how many more instances of a profile could be created, if no other profile is added.
int room_for(int profile, slices::Layout gpu, const slices::Board& board) {
  int created = 0;
  for (auto rest = board[profile].starts; rest != 0; rest &= rest - 1) {
    const int start = std::countr_zero(rest);
    created += gpu.create({profile, start}) == slices::Refusal::none ? 1 : 0;
  }
  return created;
}

/// How many operations of one sequence ended otherwise, or left other room. Throws where the board
/// does not have what they name.
std::size_t replay(const Json& sequence, const slices::Board& board) {
  slices::Layout gpu(board);
  std::map<int, slices::Instance> instances;
  int created = 0;
  std::size_t differ = 0;
  for (const Json& op : sequence.at("ops")) {
    const bool ok = op.at("ok").get<bool>();
    bool same = true;
    if (op.at("op") == "create") {
      const int profile = board.find(op.at("profile").get<std::string>());
      require(profile >= 0,
              fmt::format("{} has no profile {}", board.name, op.at("profile").get<std::string>()));
      const int start = op.at("start").get<int>();
      const slices::Refusal refused = gpu.create({profile, start});
      same = (refused == slices::Refusal::none) == ok;
      if (refused == slices::Refusal::none) {
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
      const int profile = board.find(name);
      same = same && profile >= 0 && room_for(profile, gpu, board) == room.get<int>();
    }
    differ += !same;
  }
  return differ;
}

void compare_sequence(Bench& bench, const Json& sequence, const Boards& boards) {
  bench.add_mismatches(fmt::format("sequence {}: operations", sequence.at("id").get<std::string>()),
                       replay(sequence, boards.board(sequence.at("gpu").get<std::string>())));
}

/// Profiles of the table that the program knows otherwise.
std::size_t count_differences(const std::vector<slices::Board>& told) {
  std::size_t differ = 0;
  for (const slices::Board& ours : slices::boards()) {
    const auto theirs = std::find_if(told.begin(), told.end(),
                                     [&](const auto& each) { return each.name == ours.name; });
    if (theirs == told.end()) continue;
    const auto as_told = [](const slices::Profile& one, const slices::Profile& other) {
      return std::tie(one.name, one.most, one.compute, one.memory, one.starts, one.sm,
                      one.memory_gib, one.media) == std::tie(other.name, other.most, other.compute,
                                                             other.memory, other.starts, other.sm,
                                                             other.memory_gib, other.media);
    };
    for (const slices::Profile& each : theirs->profiles) {
      const int at = ours.find(each.name);
      differ += at < 0 || !as_told(ours[at], each) ? 1 : 0;
    }
  }
  return differ;
}

void make(Bench& bench) {
  std::optional<Boards> boards;
  bench.each(kProfiles, [&](const File& file) {
    std::vector<slices::Board> read = read_boards(file);
    bench.add_mismatches("profiles that simulations know, beside the table",
                         count_differences(read));
    boards.emplace(std::move(read));
  });
  if (!boards) return;
  bench.each(kCounts, [&](const File& file) { compare_counts(bench, file, *boards); });
  bench.each(kMaximal, [&](const File& file) { compare_maximal(bench, file, *boards); });
  bench.each(kSequences, [&](const File& file) {
    each_case(file, [&](const Json& told) { compare_sequence(bench, told, *boards); });
  });
}

}  // namespace
}  // namespace mig_recipe

void register_mig(Recipes& registry) {
  using namespace mig_recipe;
  constexpr const char* kEnumerated = "enumerated from the table, part of the shared data";
  registry.add({.name = "mig",
                .summary = "states of a GPU in instances, and operations on it",
                .paper = "NVIDIA's profile tables, enumerated",
                .kind = Kind::second,
                .needs = {{kProfiles, "NVIDIA's documentation and listings of its driver"},
                          {kCounts, kEnumerated},
                          {kMaximal, kEnumerated},
                          {kSequences, kEnumerated}},
                .make = make});
}

}  // namespace almanac::reproduce
