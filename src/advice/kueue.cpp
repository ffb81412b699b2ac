// SPDX-License-Identifier: Apache-2.0
#include "advice/kueue.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "advice/change.h"
#include "experiment/recorded_waits.h"
#include "kueue/logged_jobs.h"
#include "kueue/order_guard.h"
#include "service/policies.h"
#include "text/human.h"

namespace almanac::advice {
namespace {

using Kind = KueueVariant::Kind;

/// What to simulate: the first is today's Kueue.
struct Case {
  Kind kind = Kind::change;
  std::string name{};
  policy::Composition composition{};
  std::shared_ptr<const kueue::Objects> queues{};
};

policy::Composition kueue_with(const KueueQuestion& question, const std::string& more = "") {
  return service::compose(std::string("kueue") + (question.shares ? ":fair" : "") + more).value();
}

/// Whether each job starts and ends at the same times.
bool are_same(const std::vector<Lived>& one, const std::vector<Lived>& other) {
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(), [](const Lived& a, const Lived& b) {
        return a.ended == b.ended && (!a.ended || (a.wait_s == b.wait_s && a.jct_s == b.jct_s));
      });
}

/// Jobs that end in one and not in the other.
std::int64_t only_in(const std::vector<Lived>& one, const std::vector<Lived>& other) {
  std::int64_t made = 0;
  for (std::size_t at = 0; at < one.size(); ++at) made += one[at].ended && !other[at].ended ? 1 : 0;
  return made;
}

}  // namespace

Result<KueueAdvice> advise_kueue(trace::Trace log, const cluster::Cluster& cluster,
                                 const KueueQuestion& question) {
  const auto& queues = question.conditions.queues;
  KueueAdvice made;
  auto notes = kueue::notes_on_jobs(*queues, log);
  if (!notes) return tl::unexpected(notes.error());
  made.notes = std::move(*notes);
  auto changed = std::make_shared<kueue::Objects>(*queues);
  if (!question.what_if.empty()) {
    auto changes = kueue::change(changed->setup, question.what_if);
    if (!changes) return tl::unexpected(changes.error());
    made.changed = std::move(*changes);
  }
  const std::vector<std::string> unsafe =
      kueue::rank_obstacles(changed->setup, changed->ordered_by_usage);
  for (std::size_t at = 0; at < unsafe.size(); ++at) {
    if (unsafe[at].empty()) continue;
    made.unsafe.push_back(fmt::format("{}: {}", changed->setup.queues[at].name, unsafe[at]));
  }
  auto played =
      Play::of(std::move(log), cluster.takes_every_job ? cluster : cluster::merged(cluster),
               question.weeks, question.conditions);
  if (!played) return tl::unexpected(played.error());
  Play play = std::move(*played);
  if (question.conditions.progress != nullptr) {
    question.conditions.progress->expect(play.log().jobs.size());
  }
  std::vector<Case> cases{{.name = "today", .composition = kueue_with(question), .queues = queues}};
  if (!made.changed.empty()) {
    cases.push_back({Kind::change, "with the change", cases[0].composition, changed});
  }
  if (made.unsafe.size() < unsafe.size()) {
    const std::string with = made.changed.empty() ? "" : "the change and ";
    cases.push_back({Kind::order, with + "Almanac's order",
                     kueue_with(question, ":order=almanac+proven"), changed});
    cases.push_back({Kind::order, with + "Almanac's backfill mode",
                     kueue_with(question, ":order=backfill+proven"), changed});
  }
  cases.push_back(
      {Kind::free, "almanac without Kueue", service::compose("almanac").value(), nullptr});
  std::vector<std::optional<std::vector<Lived>>> lives(cases.size());
  tbb::parallel_for(std::size_t{0}, cases.size(), [&](std::size_t at) {
    lives[at] = play.under(cases[at].composition, {.queues = cases[at].queues});
  });
  for (const auto& each : lives) {
    if (!each) return fail(Code::unavailable, "interrupted");
  }
  made.has_effect = made.changed.empty() || !are_same(*lives[0], *lives[1]);
  const bool changes_weights =
      std::any_of(made.changed.begin(), made.changed.end(),
                  [](const kueue::Changed& each) { return each.what == "fairSharing.weight"; });
  if (changes_weights && !question.shares) {
    made.notes.emplace_back(
        "weights count only under fair sharing: add --fair if your Kueue has it on");
  }
  kueue::Amount quotas = 0;
  for (const kueue::ClusterQueue& each : changed->setup.queues) quotas += kueue::nominal_gpus(each);
  if (cluster.inferred && quotas > cluster.gpus()) {
    made.notes.push_back(fmt::format(
        "the nodes are inferred from the log and have {}, but the quotas of all queues "
        "add up to {}: jobs may wait here for GPUs that your cluster has (give the "
        "cluster with --cluster)",
        text::counted(static_cast<std::uint64_t>(cluster.gpus()), "GPU"), text::grouped(quotas)));
  }
  made.since = play.since();
  made.until = play.until();
  made.days = play.days();
  // One table compares the same jobs: those that start in every row.
  std::vector<bool> ended(play.size(), true);
  for (const auto& lived : lives) {
    for (std::size_t at = 0; at < ended.size(); ++at) ended[at] = ended[at] && (*lived)[at].ended;
  }
  made.never = std::count_if(lives.front()->begin(), lives.front()->end(),
                             [](const Lived& each) { return !each.ended; });
  made.jobs = std::count(ended.begin(), ended.end(), true);
  if (made.jobs == 0) {
    return fail(Code::unavailable, "none of these weeks' jobs can start under today's quotas");
  }
  play.keep(ended);
  const std::vector<Lived> today = kept(*lives.front(), ended);
  made.today = figures_of(today);
  const std::vector<Lived> really = play.really();
  const bool is_known =
      std::all_of(really.begin(), really.end(), [](const Lived& each) { return each.ended; });
  if (is_known) {
    made.real = figures_of(really);
    made.reproduces = experiment::reproduces({made.real->avg_wait_s, made.real->p99_wait_s},
                                             {made.today.avg_wait_s, made.today.p99_wait_s});
  }
  for (std::size_t at = 1; at < cases.size(); ++at) {
    const std::vector<Lived> lived = kept(*lives[at], ended);
    made.variants.push_back(
        {.kind = cases[at].kind,
         .name = cases[at].name,
         .never = only_in(*lives.front(), *lives[at]),
         .newly = only_in(*lives[at], *lives.front()),
         .figures = figures_of(lived),
         .wait = gain_of(play, today, lived, &Lived::wait_s, question.conditions.seed),
         .jct = gain_of(play, today, lived, &Lived::jct_s, question.conditions.seed),
         .losers = losers_of(waited(play, today, lived), play.log().names)});
  }
  return made;
}

}  // namespace almanac::advice
