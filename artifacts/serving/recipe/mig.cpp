// SPDX-License-Identifier: Apache-2.0

/// \file
/// MIG: all states of each board, those that nothing can be added to, and sequences of operations.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/slices/lattice.h"
#include "inference/profile/sheet.h"
#include "serving/recipe/json_lines.h"
#include "serving/recipe/recipes.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

using nlohmann::json;
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

/// Boards of a table of profiles. Fails with not_found, invalid.
Result<std::vector<slices::Board>> read_boards(const std::string& path) {
  const auto sheet = Sheet::read(path, {"gpu", "profile", "max_instances", "profile_compute_slices",
                                        "profile_memory_slices", "starts", "sm", "media"});
  if (!sheet) return tl::unexpected(sheet.error());
  std::vector<slices::Board> boards;
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    slices::Profile profile{.name = sheet->text("profile", row)};
    if (sheet->has("memory_gib")) {
      const auto memory = sheet->number("memory_gib", row);
      if (!memory) return tl::unexpected(memory.error());
      profile.memory_gib = *memory;
    }
    const auto read = [&](const char* column, auto& into) -> Result<void> {
      const auto value = sheet->number(column, row);
      if (!value) return tl::unexpected(value.error());
      into = static_cast<std::remove_reference_t<decltype(into)>>(*value);
      return {};
    };
    for (const auto& done :
         {read("max_instances", profile.most), read("profile_compute_slices", profile.compute),
          read("profile_memory_slices", profile.memory), read("sm", profile.sm),
          read("media", profile.media)}) {
      if (!done) return tl::unexpected(done.error());
    }
    const std::string& starts = sheet->text("starts", row);
    for (std::size_t at = 0; at < starts.size();) {
      const std::size_t end = std::min(starts.find(' ', at), starts.size());
      const auto start = text::parse_whole(std::string_view(starts).substr(at, end - at));
      if (!start || *start < 0 || *start + profile.memory > 31) {
        return fail(Code::invalid, fmt::format("starts: \"{}\" is no list of slices", starts),
                    {.file = path});
      }
      profile.starts |= slices::SliceMask{1} << *start;
      at = end + 1;
    }
    const std::string& name = sheet->text("gpu", row);
    auto board = std::find_if(boards.begin(), boards.end(),
                              [&](const slices::Board& each) { return each.name == name; });
    if (board == boards.end()) board = boards.insert(boards.end(), slices::Board{.name = name});
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
  const slices::Board* find(const std::string& name) const {
    for (const slices::Board& each : boards_) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  /// Null = no board has that name.
  const std::pair<slices::Board, States>* states(const std::string& name, const std::string& used) {
    const auto found = states_.find({name, used});
    if (found != states_.end()) return &found->second;
    const slices::Board* const board = find(name);
    if (board == nullptr) return nullptr;
    slices::Board made = restricted(*board, used);
    States states = states_of(made);
    return &states_.emplace(std::pair(name, used), std::pair(std::move(made), std::move(states)))
                .first->second;
  }

 private:
  std::vector<slices::Board> boards_;
  std::map<std::pair<std::string, std::string>, std::pair<slices::Board, States>> states_;
};

tl::unexpected<Error> no_board(const std::string& path, const std::string& name) {
  return fail(Code::not_found, fmt::format("no board is called {}", name), {.file = path});
}

Result<void> compare_counts(const std::string& path, Boards& boards, Comparison& made) {
  const auto sheet = Sheet::read(path, {"gpu", "profiles_used"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const auto* const found =
        boards.states(sheet->text("gpu", row), sheet->text("profiles_used", row));
    if (found == nullptr) return no_board(path, sheet->text("gpu", row));
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

Result<void> compare_maximal(const std::string& path, Boards& boards, Comparison& made) {
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
    const auto* const found = boards.states(key.first, key.second);
    if (found == nullptr) return no_board(path, key.first);
    const auto& [board, states] = *found;
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
    made.add_mismatches(
        fmt::format("{} {}: states that nothing can be added to", key.first, key.second),
        differ.size());
  }
  return {};
}

/// How many operations of one sequence ended otherwise, or left other room. Throws where the board
/// does not have what they name.
std::size_t replay(const json& sequence, const slices::Board& board) {
  slices::Layout gpu(board);
  std::map<int, slices::Instance> instances;
  int created = 0;
  std::size_t differ = 0;
  for (const json& op : sequence.at("ops")) {
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
      same = same && profile >= 0 && gpu.room(profile) == room.get<int>();
    }
    differ += !same;
  }
  return differ;
}

void compare_sequence(const json& sequence, const Boards& boards, Comparison& made) {
  const auto name = sequence.at("gpu").get<std::string>();
  const slices::Board* const board = boards.find(name);
  require(board != nullptr, "no board is called " + name);
  made.add_mismatches(fmt::format("sequence {}: operations", sequence.at("id").get<std::string>()),
                      replay(sequence, *board));
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

}  // namespace

Result<Comparison> compare_mig(const Shared& shared) {
  auto read = read_boards(shared.data + "/mig/profiles.csv");
  if (!read) return tl::unexpected(read.error());
  Comparison made;
  made.add_mismatches("profiles that simulations know, beside the table", count_differences(*read));
  Boards boards(std::move(*read));
  const std::string folder = shared.golden + "/mig";
  each_file(folder, "counts", ".csv", made,
            [&](const std::string& path) { return compare_counts(path, boards, made); });
  each_file(folder, "maximal_states", ".csv", made,
            [&](const std::string& path) { return compare_maximal(path, boards, made); });
  each_file(folder, "sequences", ".jsonl", made, [&](const std::string& path) {
    return each_json(path, made, [&](const json& told) { compare_sequence(told, boards, made); });
  });
  return made;
}

}  // namespace almanac::inference
