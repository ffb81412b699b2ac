// SPDX-License-Identifier: Apache-2.0

/// \file
/// What holds for every composition of slots, also for those without a name.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "passes/passes.h"
#include "policy/registry.h"
#include "support/draft.h"
#include "support/rules.h"

namespace almanac {
namespace {

using policy::Composition;
using policy::registry;

rc::Gen<std::string> names_of(const std::vector<policy::Entry>& entries) {
  std::vector<std::string> names;
  for (const policy::Entry& entry : entries) names.push_back(entry.name);
  return rc::gen::elementOf(names);
}

Composition random_composition() {
  passes::install();
  Composition made;
  made.estimate = *names_of(registry().estimates.entries());
  made.order = *names_of(registry().orders.entries());
  made.placement = *names_of(registry().placements.entries());
  made.size = *rc::gen::element<std::string>("asked", "proportional");
  made.pass = *rc::gen::element<std::string>("strict", "scan", "easy", "conservative", "by_rank",
                                             "helios_count", "helios_qssf");
  made.division = *rc::gen::element<std::string>("undivided", "pop");
  if (made.division == "pop") made.division.told["parts"] = {*rc::gen::element(2.0, 3.0, 4.0)};
  if (made.pass == "easy") made.pass.told["depth"] = {*rc::gen::element(1.0, 2.0, 3.0, 5.0)};
  if (made.order == "las") {
    made.order.told["queues_gpu_s"] = {*rc::gen::element(0.0, 20.0, 120.0)};
  }
  return made;
}

std::string describe(const Composition& made) {
  std::string text;
  for (const policy::Registry::Slot& slot : registry().slots()) {
    const policy::Choice& choice = made.*slot.choice;
    text += "+" + to_string(choice, slot.choices->at(choice).parameters);
  }
  return text;
}

std::string lines(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += "\n  " + sentence;
  return text;
}

const DraftLimits kInexact{.exact = false};
const DraftLimits kCores{.exact = false, .cores = true};
const DraftLimits kParts{.gpus = 4, .exact = false, .cores = true, .parts = true};

void keep_the_rules(const DraftLimits& limits) {
  const Composition composition = random_composition();
  RC_LOG() << describe(composition) << '\n';
  Case input = to_case(*drafts(limits), limits);
  input.options.restart.launch = *rc::gen::element(Duration{0}, Duration{1s});
  input.options.timeline_interval = 7s;
  const Result<Played> played = play(input, composition);
  RC_ASSERT(played.has_value());
  RC_ASSERT(lines(broken_rules(input, *played)) == "");
}

RC_GTEST_PROP(AnyComposition, KeepsTheRules, ()) { keep_the_rules(kInexact); }

RC_GTEST_PROP(AnyComposition, KeepsTheRulesWithCores, ()) { keep_the_rules(kCores); }

RC_GTEST_PROP(AnyComposition, KeepsTheRulesWithPartsOfGpus, ()) { keep_the_rules(kParts); }

RC_GTEST_PROP(AnyComposition, DecidesTheSameAgain, ()) {
  const Composition composition = random_composition();
  RC_LOG() << describe(composition) << '\n';
  const DraftLimits limits = *rc::gen::element(kInexact, kCores, kParts);
  const Case input = to_case(*drafts(limits), limits);
  const Result<Played> once = play(input, composition);
  const Result<Played> again = play(input, composition);
  RC_ASSERT(once.has_value() && again.has_value());
  RC_ASSERT(runs_text(input, once->runs) == runs_text(input, again->runs));
}

RC_GTEST_PROP(AnyComposition, AnswersWhyAJobWaits, ()) {
  const Composition composition = random_composition();
  RC_LOG() << describe(composition) << '\n';
  const DraftLimits limits = *rc::gen::element(kInexact, kCores, kParts);
  Case input = to_case(*drafts(limits), limits);
  RC_PRE(!input.trace.jobs.empty());
  const auto jobs = static_cast<std::uint32_t>(input.trace.jobs.size());
  const Result<Played> alone = play(input, composition);
  input.options.watch.job = JobId{*rc::gen::inRange<std::uint32_t>(0, jobs)};
  const Result<Played> watched = play(input, composition);
  RC_ASSERT(alone.has_value() && watched.has_value());
  RC_ASSERT(runs_text(input, alone->runs) == runs_text(input, watched->runs));
  for (const sim::Wait& wait : watched->result.waits) {
    RC_ASSERT(!policy::is_never(wait.reason));
    RC_ASSERT(wait.reason.other != input.options.watch.job);
  }
}

/// Placements for which a job fits if and only if enough GPUs are free.
rc::Gen<std::string> spreading() {
  return rc::gen::element<std::string>("first_fit", "best_fit", "consolidate_first", "random");
}

struct Moment {
  int free = 0;
  std::vector<JobId> waiting{};  ///< In order of the trace.
};

/// Which jobs wait, and how many GPUs are free, in `vc` right after `now`.
Moment moment(const Case& input, const Played& played, VcId vc, Time now) {
  Moment found{.free = input.cluster.gpus(vc)};
  for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
    const trace::Request& request = input.trace.jobs[job].request;
    if (input.cluster.find_vc(input.trace.names[request.vc]) != vc || request.submit > now) {
      continue;
    }
    bool waits = true;
    for (const Run& run : played.runs) {
      if (run.job != JobId{job}) continue;
      if (run.start <= now && (run.end > now || !run.stopped)) waits = false;
      if (run.start <= now && run.end > now) found.free -= request.gpus;
    }
    if (waits) found.waiting.push_back(JobId{job});
  }
  return found;
}

/// Calls `look` for every virtual cluster at every moment at which anything changed.
template <typename Look>
void at_every_change(const Case& input, const Played& played, Look&& look) {
  std::vector<Time> moments;
  for (const trace::Job& job : input.trace.jobs) moments.push_back(job.request.submit);
  for (const Run& run : played.runs) moments.push_back(run.end);
  for (const Time now : moments) {
    for (std::uint32_t vc = 0; vc < input.cluster.vcs.size(); ++vc) {
      look(moment(input, played, VcId{vc}, now));
    }
  }
}

int gpus_of(const Case& input, JobId job) { return input.trace.jobs[index(job)].request.gpus; }

RC_GTEST_PROP(StrictOrder, NeverLeavesRoomForTheHead, ()) {
  Case input = to_case(*drafts());
  input.policy = "fifo+" + *spreading();
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  at_every_change(input, *played, [&](const Moment& now) {
    if (!now.waiting.empty()) RC_ASSERT(gpus_of(input, now.waiting.front()) > now.free);
  });
}

RC_GTEST_PROP(Backfill, NeverLeavesRoomForTheHead, ()) {
  Case input = to_case(*drafts(kInexact), kInexact);
  input.policy =
      *rc::gen::element<std::string>("fifo+easy+limit+", "fifo+easy:3+limit+") + *spreading();
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  at_every_change(input, *played, [&](const Moment& now) {
    if (!now.waiting.empty()) RC_ASSERT(gpus_of(input, now.waiting.front()) > now.free);
  });
}

RC_GTEST_PROP(Preemption, LeavesRoomForNobody, ()) {
  Case input = to_case(*drafts());
  input.policy = *rc::gen::element<std::string>("srtf+", "las+") + *spreading();
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  at_every_change(input, *played, [&](const Moment& now) {
    for (const JobId job : now.waiting) RC_ASSERT(gpus_of(input, job) > now.free);
  });
}

/// When the head would start if all that run now ran to their end and no other came.
Time start_if_alone(const Case& input, const std::vector<Run>& running, JobId head, VcId vc) {
  int free = input.cluster.gpus(vc);
  std::vector<std::pair<Time, int>> ends;
  for (const Run& run : running) {
    free -= gpus_of(input, run.job);
    ends.emplace_back(run.end, gpus_of(input, run.job));
  }
  std::sort(ends.begin(), ends.end());
  Time at = Time::min();
  for (const auto& [end, gpus] : ends) {
    if (free >= gpus_of(input, head)) break;
    free += gpus;
    at = end;
  }
  return at;
}

// A job without run time is believed to run a millisecond, which promises behind it cost.
RC_GTEST_PROP(Easy, NeverDelaysTheHeadBeyondItsFirstPromise, ()) {
  const DraftLimits limits{.shortest_run = 1};
  Case input = to_case(*drafts(limits), limits);
  input.policy = *rc::gen::element<std::string>("easy+oracle+", "fifo+easy:2+oracle+",
                                                "conservative+oracle+") +
                 *spreading();
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  const std::vector<Run>& runs = played->runs;
  for (const Run& head : runs) {
    const VcId vc = input.cluster.nodes[index(head.grants.front().node)].vc;
    // It is the head once all that came before it have started.
    Time since = input.trace.jobs[index(head.job)].request.submit;
    const auto here = [&](const Run& run) {
      return input.cluster.nodes[index(run.grants.front().node)].vc == vc;
    };
    for (const Run& run : runs) {
      if (here(run) && run.job < head.job) since = std::max(since, run.start);
    }
    if (head.start <= since) continue;
    std::vector<Run> running;
    for (const Run& run : runs) {
      const bool before = run.start < since || (run.start == since && run.job < head.job);
      if (here(run) && before && run.end > since) running.push_back(run);
    }
    RC_ASSERT(seconds(head.start) <= seconds(start_if_alone(input, running, head.job, vc)));
  }
}

/// Jobs that come later change nothing for those that came first.
void expect_independent_of_later_jobs(const std::string& policy, const DraftLimits& limits) {
  const Draft draft = *drafts(limits);
  RC_PRE(!draft.jobs.empty());
  Draft shorter = draft;
  shorter.jobs.resize(*rc::gen::inRange<std::size_t>(0, draft.jobs.size()));
  Case all = to_case(draft, limits);
  Case some = to_case(shorter, limits);
  all.policy = some.policy = policy;
  const Result<Played> played = play(all);
  const Result<Played> part = play(some);
  RC_ASSERT(played.has_value() && part.has_value());
  for (std::size_t job = 0; job < shorter.jobs.size(); ++job) {
    RC_ASSERT(part->result.jobs[job].start == played->result.jobs[job].start);
  }
}

RC_GTEST_PROP(Fifo, IsIndependentOfLaterJobs, ()) {
  expect_independent_of_later_jobs("fifo+" + *names_of(registry().placements.entries()), {});
}

// A promise is made when a job comes, and with exact estimates it is the start.
RC_GTEST_PROP(Conservative, KeepsEveryPromise, ()) {
  const std::string placement =
      *rc::gen::element<std::string>("consolidate", "consolidate_first", "first_fit", "best_fit");
  expect_independent_of_later_jobs("conservative+oracle+" + placement, {.shortest_run = 1});
}

}  // namespace
}  // namespace almanac
