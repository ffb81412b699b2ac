// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/kueue/simulated_lever.h"

#include <algorithm>

#include "base/check.h"
#include "kueue/multiply.h"

namespace almanac::policy::whole {

SimulatedLever::SimulatedLever(const kueue::Setup& setup, std::vector<bool> may_rank)
    : world_(setup), line_of_queue_(setup.queues.size()) {
  for (std::size_t at = 0; at < setup.queues.size(); ++at) {
    if (!may_rank[at]) continue;
    line_of_queue_[at] = lines_.size();
    lines_.push_back(
        {.queue = static_cast<kueue::QueueAt>(at), .is_strict = setup.queues[at].is_strict});
    if (!setup.queues[at].is_strict) charged_.push_back(setup.queues[at].name);
  }
}

void SimulatedLever::submit(JobId job, Asked asked) {
  auto workload = world_.resolve(std::move(asked.submission));
  ALMANAC_CHECK(workload, "{}", workload.error().message);
  const auto line = line_of_queue_[workload->queue];
  if (!line) return;
  const double gpu_time_s = asked.gpus * seconds(asked.run);
  const kueue::OrderKey key(workload->asked.priority, false, gpu_time_s, index(job));
  Entry entry{.line = *line,
              .workload = std::move(*workload),
              .key = key,
              .created = std::chrono::floor<std::chrono::seconds>(asked.created),
              .gpu_time_s = gpu_time_s,
              .bound = asked.bound,
              .limit = asked.limit};
  join(job, entries_.insert_or_assign(job, std::move(entry)).first->second);
}

void SimulatedLever::join(JobId job, Entry& entry) {
  Line& line = lines_[entry.line];
  // Kueue sets aside what can never start, but lets it block a StrictFIFO queue.
  if (!line.is_strict && kueue::never_starts(world_, entry.workload)) return;
  entry.is_in_line = true;
  line.order.emplace(entry.key, job);
  line.plain.insert(plain_place(job, entry));
  if (entry.key.is_young) line.young.emplace(entry.created, job);
  line.is_stale = true;
}

void SimulatedLever::leave(JobId job, Entry& entry) {
  if (!entry.is_in_line) return;
  set_rank(job, 0);
  Line& line = lines_[entry.line];
  line.order.erase(entry.key);
  line.plain.erase(plain_place(job, entry));
  line.young.erase({entry.created, job});
  entry.is_in_line = false;
  line.is_stale = true;
}

void SimulatedLever::start(JobId job, const Flavors& flavors, Time at) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  leave(job, entry);
  const std::vector<kueue::Flavor>& known = world_.setup.flavors;
  for (const kueue::Pods& pods : entry.workload.pod_sets) {
    for (const auto& [resource, amount] : kueue::World::wants_of(pods, pods.count)) {
      for (const auto& [name, flavor] : flavors) {
        if (world_.tree.resource(name) != resource) continue;
        const auto of =
            std::find_if(known.begin(), known.end(),
                         [&, wanted = flavor](const auto& each) { return each.name == wanted; });
        const auto slot =
            world_.tree.slot(static_cast<kueue::FlavorAt>(of - known.begin()), resource);
        kueue::add(entry.usage, slot, amount);
      }
    }
  }
  entry.since = at;
  world_.tree.take(entry.workload.queue, entry.usage);
  lines_[entry.line].holding.insert(job);
  lines_[entry.line].is_stale = true;
}

void SimulatedLever::forget(JobId job) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  leave(job, entry);
  if (lines_[entry.line].holding.erase(job) != 0) {
    world_.tree.give_back(entry.workload.queue, entry.usage);
    lines_[entry.line].is_stale = true;
  }
  entries_.erase(found);
}

void SimulatedLever::set_rank(JobId job, std::int64_t rank) {
  Entry& entry = entries_.at(job);
  Line& line = lines_[entry.line];
  if (entry.rank == rank) return;
  entry.rank = rank;
  if (rank == 0) {
    line.ranked.erase(job);
    line.plain.insert(plain_place(job, entry));
  } else {
    line.plain.erase(plain_place(job, entry));
    line.ranked.insert(job);
  }
}

void SimulatedLever::move_old(Line& line, Time now) {
  while (!line.young.empty() && now - line.young.begin()->first > kueue::kAgeCap) {
    const JobId job = line.young.begin()->second;
    line.young.erase(line.young.begin());
    Entry& entry = entries_.at(job);
    line.order.erase(entry.key);
    entry.key = {-entry.key.above, /*is_old=*/true, entry.gpu_time_s, index(job)};
    line.order.emplace(entry.key, job);
    line.is_stale = true;
  }
}

std::vector<JobId> SimulatedLever::front(const Line& line, Time now,
                                         std::vector<std::size_t>& bands) {
  const std::size_t most = line.is_strict ? kueue::kMostLined : kueue::kBandEnds.back();
  std::vector<JobId> first;
  for (auto at = line.order.begin(); at != line.order.end() && first.size() < most; ++at) {
    first.push_back(at->second);
  }
  bands.assign(kueue::kBandEnds.begin(), kueue::kBandEnds.end());
  if (!line.is_strict) return first;
  std::vector<kueue::Waiting> waiting;
  for (const JobId job : first) {
    Entry& entry = entries_.at(job);
    waiting.push_back({&entry.workload, -entry.key.above, entry.bound});
  }
  std::vector<kueue::Holding> holding;
  for (const JobId job : line.holding) {
    const Entry& entry = entries_.at(job);
    holding.push_back(
        {entry.usage, kueue::expected_rest(entry.bound, entry.limit, now - entry.since)});
  }
  kueue::Front found = kueue::front_of(world_, line.queue, holding, waiting);
  bands = std::move(found.bands);
  std::vector<JobId> made;
  for (const std::size_t at : found.first) made.push_back(first[at]);
  return made;
}

void SimulatedLever::plan(Line& line, Time now) {
  line.is_stale = false;
  line.due.clear();
  std::vector<std::size_t> bands;
  std::vector<JobId> jobs = front(line, now, bands);
  const std::set<JobId> in_front(jobs.begin(), jobs.end());
  // Of those behind, only ranked ones and the one that Kueue would start first can need a change,
  // or make one necessary.
  for (const JobId job : line.ranked) {
    if (!in_front.contains(job)) jobs.push_back(job);
  }
  for (const auto& [above, created, job] : line.plain) {
    if (in_front.contains(job)) continue;
    jobs.push_back(job);
    break;
  }
  std::vector<kueue::Ranked> ranked;
  for (const JobId job : jobs) {
    const Entry& entry = entries_.at(job);
    ranked.push_back({.base = -entry.key.above,
                      .rank = entry.rank,
                      .created = entry.created,
                      .uid = entry.workload.name()});
  }
  const std::vector<std::int64_t> ranks = kueue::ranks_of(ranked, bands);
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    if (ranks[at] != ranked[at].rank) line.due.push_back({jobs[at], ranked[at].rank, ranks[at]});
  }
  std::stable_sort(line.due.begin(), line.due.end(), [](const Write& a, const Write& b) {
    return kueue::urgency_of(a.was, a.becomes) > kueue::urgency_of(b.was, b.becomes);
  });
}

std::optional<SimulatedLever::Write> SimulatedLever::next(Time now) {
  Line* best = nullptr;
  for (Line& line : lines_) {
    move_old(line, now);
    if (line.is_stale) plan(line, now);
    if (line.due.empty() || (!line.is_strict && !budget_.has_left())) continue;
    const auto urgency = [](const Line& of) {
      return kueue::urgency_of(of.due.front().was, of.due.front().becomes);
    };
    if (best == nullptr || urgency(line) > urgency(*best)) best = &line;
  }
  if (best == nullptr) return std::nullopt;
  const Write made = best->due.front();
  best->due.erase(best->due.begin());
  set_rank(made.job, made.becomes);
  if (!best->is_strict) budget_.spend();
  return made;
}

}  // namespace almanac::policy::whole
