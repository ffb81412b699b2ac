// SPDX-License-Identifier: Apache-2.0
#include "trace/runaway.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "text/datetime.h"
#include "text/human.h"
#include "trace/held_nodes.h"
#include "trace/node_use.h"
#include "trace/select.h"

namespace almanac::trace {
namespace {

constexpr Duration kBeforeTheKill = 10min;  // Slurm gives a job some time between the limit and the
                                            // kill
constexpr Duration kLongBeyond = 24h;
constexpr Duration kHeldWhole = 10min;

/// Each run of a job that was requeued has the whole limit.
Duration beyond_limit(const Job& job) {
  const Duration limit = job.request.time_limit;
  return limit == kNoDuration ? Duration::min()
                              : job.outcome.run - limit * std::max(1, job.outcome.attempts);
}

bool has_no_end(const Job& job) {
  return job.outcome.start != kNoTime && job.outcome.end == kNoTime &&
         job.outcome.run > Duration::zero();
}

/// Whether a job without an end has none in truth: a log may tell no ends at all.
bool tells_ends(const Trace& trace) {
  return std::any_of(trace.jobs.begin(), trace.jobs.end(),
                     [](const Job& job) { return job.outcome.end != kNoTime; });
}

struct GpuChange {
  Time at{};
  int gpus = 0;
};

class RunawaySearch {
 public:
  explicit RunawaySearch(const Trace& trace) : trace_(trace) {
    const bool has_ends = tells_ends(trace);
    may_be_.resize(trace.jobs.size());
    for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
      const Job& job = trace.jobs[at];
      const bool open = has_no_end(job) && (has_ends || job.outcome.state == JobState::running);
      may_be_[at] = open || beyond_limit(job) > kLongBeyond;
      any_ = any_ || may_be_[at];
      const Time end =
          job.outcome.end != kNoTime ? job.outcome.end : job.outcome.start + job.outcome.run;
      if (job.outcome.start != kNoTime) now_ = std::max(now_, end);
    }
  }

  std::vector<Runaway> run() {
    std::vector<Runaway> found;
    if (!any_) return found;
    find_conflicts();
    for (std::uint32_t at = 0; at < trace_.jobs.size(); ++at) {
      if (!may_be_[at]) continue;
      const Job& job = trace_.jobs[at];
      const auto conflict = taken_.find(at);
      const bool was_taken = conflict != taken_.end();
      const Duration beyond = beyond_limit(job);
      const bool is_one =
          has_no_end(job)
              ? beyond > kLongBeyond ||
                    (was_taken && (beyond > kBeforeTheKill || job.outcome.run >= kLongBeyond))
              : beyond > kLongBeyond && was_taken;
      if (is_one) found.push_back({at, was_taken ? conflict->second : ""});
    }
    return found;
  }

 private:
  void find_conflicts() {
    const HeldNodes held(trace_);
    if (held.stays().empty()) return;
    std::vector<bool> sound = may_be_;
    sound.flip();
    const std::vector<int> has = gpus_of_nodes(held, use_of_nodes(trace_, held, sound));
    std::map<std::uint32_t, std::vector<GpuChange>> others;  // of nodes that are in question
    for (const Stay& stay : held.stays()) {
      if (!is_suspect(stay)) continue;
      for (const Held& each : held.held_in(stay)) others[each.node];
    }
    for (const Stay& stay : held.stays()) {
      if (may_be_[stay.job] || !stay.steady) continue;
      for (const Held& each : held.held_in(stay)) {
        const auto node = others.find(each.node);
        if (node == others.end()) continue;
        const int gpus = sure_gpus(trace_.jobs[stay.job].request, stay, each);
        if (gpus == 0) continue;
        node->second.push_back({stay.from, gpus});
        node->second.push_back({stay.to, -gpus});
      }
    }
    for (auto& [node, changes] : others) {
      std::sort(changes.begin(), changes.end(), [](const GpuChange& a, const GpuChange& b) {
        return a.at != b.at ? a.at < b.at : a.gpus < b.gpus;
      });
    }
    for (const Stay& stay : held.stays()) {
      if (!is_suspect(stay)) continue;
      for (const Held& each : held.held_in(stay)) {
        const int own = sure_gpus(trace_.jobs[stay.job].request, stay, each);
        const int there = std::max(own, has[each.node]);
        if (own > 0 && over_full(others[each.node], stay, own, there) >= kHeldWhole) {
          taken_.emplace(stay.job, held.names()[each.node]);
        }
      }
    }
  }

  /// The run time of a suspended job stands still, so its times prove nothing.
  bool is_suspect(const Stay& stay) const {
    return may_be_[stay.job] && trace_.jobs[stay.job].request.gpus > 0 && stay.steady &&
           (!has_no_end(trace_.jobs[stay.job]) || stay.to >= now_ - kLongBeyond);
  }

  /// What each node has at most, by the jobs that are beyond doubt.
  std::vector<int> gpus_of_nodes(const HeldNodes& held, const std::vector<NodeUse>& uses) const {
    std::vector<int> own(held.names().size());
    for (const NodeUse& use : uses) own[use.node] += use.gpus;
    struct Peers {
      int most = 0;
      int agree = 0;
    };
    std::map<std::string, Peers> peers;
    int most = 8;
    for (std::size_t node = 0; node < own.size(); ++node) {
      Peers& of = peers[stem_of(held.names()[node])];
      if (own[node] > of.most) of = {own[node], 0};
      of.agree += own[node] == of.most ? 1 : 0;
      most = std::max(most, own[node]);
    }
    constexpr int kEnough = 3;
    for (std::size_t node = 0; node < own.size(); ++node) {
      const Peers& of = peers[stem_of(held.names()[node])];
      own[node] = of.agree >= kEnough ? of.most : most;
    }
    return own;
  }

  /// How long `own` GPUs and those of others were more than there are.
  static Duration over_full(const std::vector<GpuChange>& others, const Stay& stay, int own,
                            int there) {
    Duration sum{};
    int held = 0;
    for (std::size_t at = 0; at < others.size() && others[at].at < stay.to; ++at) {
      held += others[at].gpus;
      if (held + own <= there) continue;
      const Time next = at + 1 < others.size() ? others[at + 1].at : stay.to;
      const Duration inside = std::min(next, stay.to) - std::max(others[at].at, stay.from);
      sum += std::max(Duration{}, inside);
    }
    return sum;
  }

  const Trace& trace_;
  std::vector<bool> may_be_;
  bool any_ = false;
  Time now_ = Time::min();                      // when the log was printed, about
  std::map<std::uint32_t, std::string> taken_;  // job -> a node of its that others held whole
};

std::string described(const Trace& trace, const Runaway& runaway) {
  const Job& job = trace.jobs[runaway.job];
  const std::string_view state = to_string(job.outcome.state);
  std::string made = fmt::format("job {} is {}", trace.id(job.id), state.empty() ? "open" : state);
  const Duration beyond = beyond_limit(job);
  const auto spelled = [](Duration length) {
    const auto days = std::chrono::duration_cast<std::chrono::hours>(length).count() / 24;
    return days >= 2 ? fmt::format("{} days", days) : text::human_time(seconds(length));
  };
  made += beyond > Duration::zero()
              ? fmt::format(" {} beyond its limit", spelled(beyond))
              : fmt::format(" since {}", text::format_datetime(job.outcome.start).substr(0, 10));
  if (!runaway.node.empty()) {
    made += fmt::format(" on {}, while other jobs used all of that node", runaway.node);
  }
  return made;
}

/// Jobs that may be runaways and of which nothing proves it: the user can ask Slurm.
void note_suspects(Trace& trace) {
  constexpr Duration kMonth = 30 * 24h;
  std::size_t count = 0;
  std::string first;
  for (const Job& job : trace.jobs) {
    const bool is_suspect = has_no_end(job) && job.outcome.state == JobState::running &&
                            job.request.time_limit == kNoDuration && job.outcome.run > kMonth;
    if (is_suspect && count++ == 0) first = trace.id(job.id);
  }
  if (count == 0) return;
  trace.notes.push_back(
      fmt::format("{} RUNNING for more than 30 days without a time limit, the first is {}: if "
                  "sacctmgr show runawayjobs lists them, leave them out",
                  text::counted(count, "job"), first));
}

}  // namespace

std::vector<Runaway> find_runaways(const Trace& trace) { return RunawaySearch(trace).run(); }

std::int64_t leave_out_runaways(Trace& trace) {
  const std::vector<Runaway> found = find_runaways(trace);
  if (found.empty()) {
    note_suspects(trace);
    return 0;
  }
  constexpr std::size_t kNamed = 3;
  std::string names;
  for (std::size_t at = 0; at < std::min(kNamed, found.size()); ++at) {
    names += (at > 0 ? "; " : "") + described(trace, found[at]);
  }
  if (found.size() > kNamed) names += fmt::format("; and {} more", found.size() - kNamed);
  std::vector<std::uint32_t> order;
  for (std::uint32_t at = 0, next = 0; at < trace.jobs.size(); ++at) {
    if (next < found.size() && found[next].job == at) {
      ++next;
    } else {
      order.push_back(at);
    }
  }
  if (order.empty()) return 0;  // better than an empty log
  select_jobs(trace, order);
  trace.notes.push_back(fmt::format("left out {}, never closed in the accounting: {}",
                                    text::counted(found.size(), "runaway record"), names));
  note_suspects(trace);
  return static_cast<std::int64_t>(found.size());
}

}  // namespace almanac::trace
