// SPDX-License-Identifier: Apache-2.0

/// \file
/// What becomes of a job whose process has gone: all that can be wanted of it, against all that a
/// shepherd can say.
#include "live/ends.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::live {
namespace {

using shepherd::Cause;
using shepherd::Outcome;
using trace::JobState;

Outcome exited(Cause cause, process::Ending ending = {}) {
  return {.kind = Outcome::Kind::ended, .exit = shepherd::Exit{.ending = ending, .cause = cause}};
}

std::vector<Outcome> outcomes() {
  return {{.kind = Outcome::Kind::lost, .why = "lost"},
          {.kind = Outcome::Kind::corrupt, .why = "corrupt"},
          {.kind = Outcome::Kind::never_started, .why = "never started"},
          exited(Cause::by_itself),
          exited(Cause::by_itself, {.status = 3}),
          exited(Cause::told, {.signal = 15}),
          exited(Cause::time_limit, {.signal = 15}),
          exited(Cause::memory, {.signal = 9}),
          exited(Cause::cannot_start)};
}

char letter(const Next& next) {
  static const std::map<JobState, char> kEnds{{JobState::completed, 'C'},
                                              {JobState::failed, 'F'},
                                              {JobState::timeout, 'T'},
                                              {JobState::cancelled, 'X'},
                                              {JobState::node_fail, 'N'}};
  switch (next.kind) {
    case Next::Kind::nothing:
      return '.';
    case Next::Kind::waits:
      return 'W';
    case Next::Kind::begins_again:
      return 'A';
    case Next::Kind::tries_again:
      return 'R';
    case Next::Kind::ends:
      return kEnds.at(next.state);
  }
  return '?';
}

/// `bits`: makes room, to end, again, --requeue, killed past its shepherd.
Intent intent(const std::string& bits, bool has_ended) {
  return {.has_ended = has_ended,
          .makes_room = bits[0] == '1',
          .to_end = bits[1] == '1' ? "cancelled by ann" : "",
          .again = bits[2] == '1',
          .is_late = bits[4] == '1',
          .may_run_again = bits[3] == '1'};
}

TEST(Next, IsToldOfEveryPair) {
  // Columns: lost, corrupt, never started; exited well, badly; told to, over its time, over its
  // memory, could not start.
  const std::vector<std::pair<std::string, std::string>> table{
      {"00000", "NNACFNTFF"}, {"00010", "AAACFATFF"}, {"00100", "AAAAAAAAA"},
      {"00110", "AAAAAAAAA"}, {"01000", "XXXCFXTFF"}, {"01010", "XXXCFXTFF"},
      {"01100", "XXXAAAAAA"}, {"01110", "XXXAAAAAA"}, {"10000", "WWWCFWTFF"},
      {"10010", "WWWCFWTFF"}, {"10100", "AAAAAAAAA"}, {"10110", "AAAAAAAAA"},
      {"11000", "XXXCFXTFF"}, {"11010", "XXXCFXTFF"}, {"11100", "XXXAAAAAA"},
      {"11110", "XXXAAAAAA"}, {"00001", "TTTCFNTFF"}, {"00011", "TTTCFATFF"},
      {"00101", "AAAAAAAAA"}, {"00111", "AAAAAAAAA"}, {"01001", "XXXCFXTFF"},
      {"01011", "XXXCFXTFF"}, {"01101", "XXXAAAAAA"}, {"01111", "XXXAAAAAA"},
      {"10001", "WWWCFWTFF"}, {"10011", "WWWCFWTFF"}, {"10101", "AAAAAAAAA"},
      {"10111", "AAAAAAAAA"}, {"11001", "XXXCFXTFF"}, {"11011", "XXXCFXTFF"},
      {"11101", "XXXAAAAAA"}, {"11111", "XXXAAAAAA"}};
  const std::vector<Outcome> all = outcomes();
  for (const auto& [bits, expected] : table) {
    std::string made;
    std::string made_of_ended;
    for (const Outcome& how : all) {
      made += letter(next(intent(bits, false), how));
      made_of_ended += letter(next(intent(bits, true), how));
    }
    EXPECT_EQ(made, expected) << bits;
    EXPECT_EQ(made_of_ended, ".........") << bits;
  }
}

TEST(Next, SaysWhy) {
  const std::vector<Outcome> all = outcomes();
  EXPECT_EQ(next({}, all[0]).why, "lost");
  EXPECT_EQ(next({}, all[4]).why, to_string(process::Ending{.status = 3}));
  EXPECT_EQ(next({}, all[5]).why, "ended from outside");
  EXPECT_EQ(next({.to_end = "cancelled by ann"}, all[5]).why, "cancelled by ann");
  EXPECT_EQ(next({.to_end = "cancelled by ann"}, all[6]).why, "over its time limit");
}

TEST(Next, TriesAgainWhatFailedButNothingElse) {
  std::string told;
  for (const Outcome& how : outcomes()) told += letter(next({.retries = 1}, how));
  EXPECT_EQ(told, "NNACRNTRF") << "of a lost one it is not known how it ended";
}

}  // namespace
}  // namespace almanac::live
