// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job's life: all that a job can be, against all that can happen to it.
#include "machine/life.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::machine {
namespace {

using shepherd::Cause;
using shepherd::Outcome;
using store::Intent;
using store::Job;
using trace::JobState;

constexpr Time kGoneAt{500s};

Outcome exited(Cause cause, process::Ending ending = {}) {
  return {.kind = Outcome::Kind::ended, .exit = shepherd::Exit{.ending = ending, .cause = cause}};
}

std::vector<life::Event> all_outcomes(bool is_late = false) {
  std::vector<life::Event> made;
  for (const Outcome& how :
       {Outcome{.kind = Outcome::Kind::lost, .why = "lost"},
        Outcome{.kind = Outcome::Kind::corrupt, .why = "corrupt"},
        Outcome{.kind = Outcome::Kind::never_started, .why = "never started"},
        exited(Cause::by_itself), exited(Cause::by_itself, {.status = 3}),
        exited(Cause::told, {.signal = 15}), exited(Cause::time_limit, {.signal = 15}),
        exited(Cause::memory, {.signal = 9}), exited(Cause::cannot_start)}) {
    made.push_back(life::Gone{.how = how, .at = kGoneAt, .is_late = is_late});
  }
  return made;
}

/// That began its second run 100 s ago, or is about to.
Job job(JobState state, Intent intent = Intent::none) {
  Job made{.number = store::JobNumber{7}};
  made.state = state;
  made.intent = intent;
  made.since = kGoneAt - 100s;
  made.start = Time(10s);
  made.attained = 60s;
  made.attempts = 2;
  if (intent == Intent::end || intent == Intent::end_at_once) made.reason = "cancelled by ann";
  return made;
}

/// Its state (w = waits, s = starts, r = runs, C F T X N = how it ended), its process (' = a former
/// one), what is wanted of that (e = to end, E = at once, a = to run again), whether it is told now
/// (!), whether it is held (h), and whether all before counts no more (*).
std::string shown(const Job& job, Process process) {
  static const std::map<JobState, char> kStates{
      {JobState::pending, 'w'},  {JobState::running, 'r'}, {JobState::completed, 'C'},
      {JobState::failed, 'F'},   {JobState::timeout, 'T'}, {JobState::cancelled, 'X'},
      {JobState::node_fail, 'N'}};
  std::string made(1, starts(job, process) ? 's' : kStates.at(job.state));
  if (process == Process::former) made += '\'';
  if (job.held && job.state == JobState::pending) made += 'h';
  if (job.intent != Intent::none) made += " eEa"[static_cast<std::size_t>(job.intent)];
  return made;
}

std::string shown(const std::optional<Next>& next) {
  if (!next) return ".";
  return shown(next->job, next->process) + (next->is_told ? "!" : "") + (next->is_anew ? "*" : "");
}

struct LifeState {
  Job job;
  Process process = Process::none;
};

std::vector<LifeState> life_states() {
  std::vector<LifeState> made{
      {job(JobState::pending)}, {job(JobState::pending)}, {job(JobState::running)}};
  made[1].job.held = true;
  for (const auto& [state, process] : {std::pair(JobState::pending, Process::former),
                                       std::pair(JobState::running, Process::former),
                                       std::pair(JobState::running, Process::own)}) {
    for (const Intent intent :
         {Intent::none, Intent::end, Intent::end_at_once, Intent::run_again}) {
      made.push_back({job(state, intent), process});
    }
  }
  made.push_back({job(JobState::completed), Process::former});
  made.push_back({job(JobState::completed), Process::none});
  return made;
}

std::string row(const LifeState& of, const std::vector<life::Event>& events) {
  std::string made;
  for (const life::Event& each : events) {
    if (!made.empty()) made += ' ';
    made += shown(next(of.job, of.process, each, kGoneAt));
  }
  return made;
}

using Table = std::vector<std::pair<std::string, std::string>>;

void expect(const Table& table, const std::vector<life::Event>& events) {
  const std::vector<LifeState> all = life_states();
  ASSERT_EQ(table.size(), all.size());
  for (std::size_t at = 0; at < all.size(); ++at) {
    const auto& [state, expected] = table[at];
    EXPECT_EQ(shown(all[at].job, all[at].process), state);
    EXPECT_EQ(row(all[at], events), expected) << "of " << state;
  }
}

TEST(Life, OfEachStateAndWhatIsWanted) {
  // Cancelled; at once; held; released; run again; another service has begun.
  expect({{"w", "X X wh . . ."},
          {"wh", "X X wh w . ."},
          {"s", "X X . . w* w"},
          {"w'", "w'e! w'E! w'h . . w'!"},
          {"w'e", "w'e! w'E! w'he . w'a! w'e!"},
          {"w'E", "w'E! w'E! w'hE . w'a! w'E!"},
          {"w'a", "w'e! w'E! w'ha . . w'a!"},
          {"s'", "s'e! s'E! . . s'a! w'!"},
          {"s'e", "s'e! s'E! . . s'a! w'e!"},
          {"s'E", "s'E! s'E! . . s'a! w'E!"},
          {"s'a", "s'e! s'E! . . . w'a!"},
          {"r", "re! rE! . . ra! ."},
          {"re", "re! rE! . . ra! re!"},
          {"rE", "rE! rE! . . ra! rE!"},
          {"ra", "re! rE! . . . ra!"},
          {"C'", ". . . . . ."},
          {"C", ". . . . w* ."}},
         {life::Cancelled{"cancelled by ann"}, life::Cancelled{"cancelled by ann", true},
          life::Held{}, life::Released{}, life::Requeued{}, life::TakenOver{}});
}

TEST(Life, OfEachStateAndDecision) {
  // Started; stopped; no longer wanted; begun again on its GPUs; ended without a process.
  expect({{"w", "s . X . F"},
          {"wh", "s . X . F"},
          {"s", ". w X . F"},
          {"w'", "s' . w'e! . F'"},
          {"w'e", "s'e . w'e! . F'"},
          {"w'E", "s'E . w'E! . F'"},
          {"w'a", "s'a . w'e! . F'"},
          {"s'", ". w' w'e! . F'"},
          {"s'e", ". w'e w'e! . F'"},
          {"s'E", ". w'E w'E! . F'"},
          {"s'a", ". w'a w'e! . F'"},
          {"r", ". w'! w'e! s'! ."},
          {"re", ". w'e! w'e! s'e! ."},
          {"rE", ". w'E! w'E! s'E! ."},
          {"ra", ". w'a! w'e! s'a! ."},
          {"C'", ". . . . ."},
          {"C", ". . . . ."}},
         {life::Started{}, life::Stopped{80s}, life::Dismissed{"ended by the policy"},
          life::Renewed{}, life::Ended{JobState::failed, "no room"}});
}

TEST(Life, OfEachStateAndHowItsProcessWent) {
  // Lost; its last word makes no sense; never started; ended well; badly; as it was told; over its
  // time; over its memory; could not start.
  const std::string nothing = ". . . . . . . . .";
  const std::string as_wanted = "X X X C F X T F F";
  const std::string again = "w* w* w* w* w* w* w* w* w*";
  expect({{"w", nothing},
          {"wh", nothing},
          {"s", nothing},
          {"w'", "w w w C F w T F F"},
          {"w'e", as_wanted},
          {"w'E", as_wanted},
          {"w'a", again},
          {"s'", "s s s C F s T F F"},
          {"s'e", as_wanted},
          {"s'E", as_wanted},
          {"s'a", again},
          {"r", "N N w* C F N T F F"},
          {"re", as_wanted},
          {"rE", as_wanted},
          {"ra", again},
          {"C'", "C C C C C C C C C"},
          {"C", nothing}},
         all_outcomes());
}

TEST(Life, OfAJobThatIsToRunAgainWhenTheMachineFailsIt) {
  LifeState runs{job(JobState::running), Process::own};
  runs.job.asked.change().requeue = trace::Requeue::yes;
  EXPECT_EQ(row(runs, all_outcomes()), "w* N w* C F w* T F F")
      << "one whose last word is damaged has ended, and may have done all that it was to do";
  const LifeState stopped{runs.job, Process::former};
  EXPECT_EQ(row(stopped, all_outcomes()), "s s s C F s T F F");
}

TEST(Life, OfAProcessThatWasKilledPastItsShepherd) {
  const auto late = all_outcomes(true);
  EXPECT_EQ(row({job(JobState::running), Process::own}, late), "T T T C F N T F F");
  EXPECT_EQ(row({job(JobState::running, Intent::end), Process::own}, late), "X X X C F X T F F");
  EXPECT_EQ(row({job(JobState::running, Intent::run_again), Process::own}, late),
            "w* w* w* w* w* w* w* w* w*");
  EXPECT_EQ(row({job(JobState::pending), Process::former}, late), "w w w C F w T F F");
}

TEST(Life, TriesAgainWhatFailedButNothingElse) {
  LifeState runs{job(JobState::running), Process::own};
  runs.job.asked.change().retries = 2;
  EXPECT_EQ(row(runs, all_outcomes()), "N N w* C w* N T w* F")
      << "of a lost one it is not known how it ended";
  const life::Gone badly{
      .how = exited(Cause::by_itself, {.status = 3}), .at = kGoneAt, .retry_pause = 10s};
  Next first = *next(runs.job, Process::own, badly, kGoneAt);
  EXPECT_EQ(first.job.failures, 1);
  EXPECT_EQ(first.job.again_at, kGoneAt + 10s);
  EXPECT_EQ(first.detail, "retry 1 of 2: " + to_string(process::Ending{.status = 3}));
  first.job.state = JobState::running;
  Next second = *next(first.job, Process::own, badly, kGoneAt);
  EXPECT_EQ(second.job.again_at, kGoneAt + 20s);
  second.job.state = JobState::running;
  EXPECT_EQ(shown(next(second.job, Process::own, badly, kGoneAt)), "F");
}

TEST(Life, IsPutOffWhenItCannotBeStarted) {
  const life::NotStarted later{.why = "no user", .again_at = kGoneAt + 4s};
  const Next made = *next(job(JobState::running), Process::none, later, kGoneAt);
  EXPECT_EQ(made.job.state, JobState::pending);
  EXPECT_EQ(made.job.attempts, 1) << "it was none";
  EXPECT_EQ(made.job.again_at, kGoneAt + 4s);
  EXPECT_TRUE(made.is_anew);
  const life::NotStarted never{.why = "no user", .gives_up = true};
  const Next given_up = *next(job(JobState::running), Process::none, never, kGoneAt);
  EXPECT_EQ(given_up.job.state, JobState::failed);
  EXPECT_EQ(given_up.job.reason, "cannot start: no user");
  EXPECT_FALSE(next(job(JobState::running), Process::own, later, kGoneAt)) << "it runs";
  EXPECT_FALSE(next(job(JobState::pending), Process::none, later, kGoneAt));

  life::Gone gone{.how = {.kind = Outcome::Kind::never_started, .why = "no word"},
                  .at = kGoneAt,
                  .trouble = later};
  EXPECT_EQ(next(job(JobState::running), Process::own, gone, kGoneAt)->job.again_at, kGoneAt + 4s);
  gone.trouble = never;
  EXPECT_EQ(shown(next(job(JobState::running), Process::own, gone, kGoneAt)), "F");
  EXPECT_EQ(shown(next(job(JobState::running, Intent::end), Process::own, gone, kGoneAt)), "X");
}

TEST(Life, CountsNoAttemptOfWhatOnlyWasToStart) {
  for (const life::Event& each : {life::Event(life::Cancelled{"cancelled by ann"}),
                                  life::Event(life::Requeued{}), life::Event(life::Stopped{80s}),
                                  life::Event(life::Dismissed{}), life::Event(life::TakenOver{})}) {
    Job starts = job(JobState::running);
    EXPECT_EQ(next(starts, Process::none, each, kGoneAt)->job.attempts, 1);
    starts.annulled = 1;
    const Job made = next(starts, Process::none, each, kGoneAt)->job;
    EXPECT_EQ(made.start, kNoTime) << "what ran before counts no more";
    EXPECT_EQ(made.attained, 0s);
  }
  const life::Gone untried{.how = {.kind = Outcome::Kind::never_started}, .at = kGoneAt};
  EXPECT_EQ(next(job(JobState::running), Process::own, untried, kGoneAt)->job.attempts, 1);
}

TEST(Life, CountsHowLongAJobRan) {
  const life::Gone well{.how = exited(Cause::by_itself), .at = kGoneAt - 1s};
  EXPECT_EQ(next(job(JobState::running), Process::own, well, kGoneAt)->job.attained, 159s);
  EXPECT_EQ(next(job(JobState::running), Process::former, well, kGoneAt)->job.attained, 60s)
      << "the run that was to come has not begun";
  EXPECT_EQ(next(job(JobState::running), Process::own, life::Stopped{150s}, kGoneAt)->job.attained,
            150s);
}

TEST(Life, SaysWhy) {
  const auto says = [](Intent intent, const Outcome& how) {
    return next(job(JobState::running, intent), Process::own, life::Gone{.how = how, .at = kGoneAt},
                kGoneAt)
        ->job.reason;
  };
  const Outcome told = exited(Cause::told, {.signal = 15});
  EXPECT_EQ(says(Intent::none, {.kind = Outcome::Kind::lost, .why = "lost"}), "lost");
  EXPECT_EQ(says(Intent::none, exited(Cause::by_itself, {.status = 3})),
            to_string(process::Ending{.status = 3}));
  EXPECT_EQ(says(Intent::none, told), "ended from outside");
  EXPECT_EQ(says(Intent::end, told), "cancelled by ann");
  EXPECT_EQ(says(Intent::end, exited(Cause::time_limit)), "over its time limit");
  EXPECT_EQ(says(Intent::end, exited(Cause::by_itself)), "") << "it was there first";
}

TEST(Life, CountsTheOutputThatEachRunLost) {
  Outcome lost = exited(Cause::by_itself, {.status = 3});
  lost.exit->log_dropped = 9994;
  store::Job runs = job(JobState::running);
  runs.lost_output = 6;
  const Next made = *next(runs, Process::own, life::Gone{.how = lost, .at = kGoneAt}, kGoneAt);
  EXPECT_EQ(made.job.lost_output, 10'000);
  EXPECT_TRUE(made.detail.ends_with("; 9,994 bytes of output lost")) << made.detail;
}

constexpr Time kAtNoon{Duration{1'700'000'000'000}};

TEST(EndedAt, IsWhatTheShepherdCountedThoughTheWallWasSet) {
  shepherd::Exit exit{.start = kAtNoon, .end = kAtNoon + 48h + 12s, .ran = 12s};
  EXPECT_EQ(ended_at(exit, kAtNoon, kAtNoon + 48h + 12s, kAtNoon + 48h + 12s), kAtNoon + 12s);
  exit.end = kAtNoon + 12s;
  EXPECT_EQ(ended_at(exit, kAtNoon, kAtNoon + 12s, kAtNoon + 12s), kAtNoon + 12s);
  EXPECT_EQ(ended_at(exit, kAtNoon, kAtNoon + 3h, kAtNoon + 3h), kAtNoon + 12s) << "nobody looked";
  EXPECT_EQ(ended_at(exit, kAtNoon + 1h, kAtNoon + 1h + 12s, kAtNoon + 12s), kAtNoon + 1h + 12s)
      << "the service is ahead of the wall";
}

}  // namespace
}  // namespace almanac::machine
