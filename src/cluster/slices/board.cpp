// SPDX-License-Identifier: Apache-2.0
#include "cluster/slices/board.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/check.h"

namespace almanac::slices {
namespace {

/// What differs between boards of seven compute slices, in the order 1g, wide 1g, 2g, 3g, 4g, 7g.
struct Figures {
  const char* name;
  int sm;
  double memory_gib;
  std::array<const char*, 6> profiles;
  std::array<int, 6> sms;
  std::array<double, 6> memories_gib;
};

Board with_seven(const Figures& told) {
  constexpr SliceMask kAny = 0b111'1111;
  constexpr SliceMask kEven = 0b101'0101;
  const auto profile = [&](std::size_t at, int most, int compute, int memory, SliceMask starts,
                           bool media = false) {
    return Profile{told.profiles[at],     most, compute, memory, starts, told.sms[at],
                   told.memories_gib[at], media};
  };
  Profile with_media = profile(0, 1, 1, 1, kAny, true);
  with_media.name += "+me";
  return {told.name,
          8,
          7,
          told.sm,
          told.memory_gib,
          {profile(0, 7, 1, 1, kAny), with_media, profile(1, 4, 1, 2, kEven),
           profile(2, 3, 2, 2, 0b1'0101), profile(3, 2, 3, 4, 0b1'0001), profile(4, 1, 4, 4, 1),
           profile(5, 1, 7, 8, 1, true)}};
}

Board a30() {
  return {"A30-24GB",
          4,
          4,
          56,
          24,
          {{"1g.6gb", 4, 1, 1, 0b1111, 14, 5.81, false},
           {"1g.6gb+me", 1, 1, 1, 0b1111, 14, 5.81, true},
           {"2g.12gb", 2, 2, 2, 0b101, 28, 11.69, false},
           {"2g.12gb+me", 1, 2, 2, 0b101, 28, 11.69, true},
           {"4g.24gb", 1, 4, 4, 1, 56, 23.44, true}}};
}

std::vector<Board> known() {
  return {with_seven({"A100-40GB",
                      108,
                      40,
                      {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"},
                      {14, 14, 28, 42, 56, 98},
                      {4.75, 9.625, 9.625, 19.5, 19.5, 39.25}}),
          with_seven({"A100-80GB",
                      108,
                      80,
                      {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"},
                      {14, 14, 28, 42, 56, 98},
                      {9.5, 19.5, 19.5, 39.25, 39.25, 79}}),
          with_seven({"H100-SXM-80GB",
                      132,
                      80,
                      {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"},
                      {16, 26, 32, 60, 64, 132},
                      {9.75, 19.62, 19.62, 39.5, 39.5, 79.25}}),
          with_seven({"H100-PCIe-80GB",
                      114,
                      80,
                      {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"},
                      {14, 14, 30, 46, 62, 114},
                      {9.75, 19.62, 19.62, 39.5, 39.5, 79.25}}),
          with_seven({"H200-141GB",
                      132,
                      141,
                      {"1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"},
                      {16, 26, 32, 60, 64, 132},
                      {16, 32.5, 32.5, 65, 65, 140}}),
          a30()};
}

/// Names of profiles by id, and where each board has them.
struct Index {
  std::vector<std::string> names{""};
  std::vector<std::vector<std::int8_t>> positions{};  // by board, then id

  Index() {
    for (const Board& board : boards()) {
      for (const Profile& each : board.profiles) {
        if (std::find(names.begin(), names.end(), each.name) == names.end()) {
          names.push_back(each.name);
        }
      }
    }
    for (const Board& board : boards()) {
      std::vector<std::int8_t>& own = positions.emplace_back();
      for (const std::string& name : names) {
        own.push_back(static_cast<std::int8_t>(board.find(name)));
      }
    }
  }
};

const Index& index() {
  static const Index made;
  return made;
}

}  // namespace

int Board::find(std::string_view profile) const {
  for (std::size_t each = 0; each < profiles.size(); ++each) {
    if (profiles[each].name == profile) return static_cast<int>(each);
  }
  return -1;
}

const std::vector<Board>& boards() {
  static const std::vector<Board> made = known();
  return made;
}

const Board* find_board(std::string_view name) {
  for (const Board& board : boards()) {
    if (board.name == name) return &board;
  }
  return nullptr;
}

int number(const Board& board) {
  for (std::size_t each = 0; each < boards().size(); ++each) {
    if (&boards()[each] == &board) return static_cast<int>(each);
  }
  return -1;
}

std::optional<ProfileId> profile_id(std::string_view name) {
  const std::vector<std::string>& names = index().names;
  const auto found = std::find(names.begin() + 1, names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<ProfileId>(found - names.begin());
}

std::string_view profile_name(ProfileId id) { return index().names[id]; }

int position(const Board& board, ProfileId id) {
  const int at = number(board);
  ALMANAC_CHECK(at >= 0, "board {} is not of the known ones", board.name);
  return index().positions[static_cast<std::size_t>(at)][id];
}

}  // namespace almanac::slices
