// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/main_loop/preempt.h"

#include <algorithm>
#include <span>

namespace almanac::slurmctld {
namespace {

const site::Qos* qos_of(const State& state, const Job& job) {
  return job.qos < state.site.qos.size() ? &state.site.qos[job.qos] : nullptr;
}

bool may_preempt(const State& state, const Job& job, PartitionAt partition, const Job& victim,
                 PartitionAt of_victim) {
  const site::PreemptSettings& settings = state.site.config.preempt;
  if (settings.type == site::PreemptType::partition_priority) {
    return state.site.partitions[of_victim].priority_tier <
           state.site.partitions[partition].priority_tier;
  }
  const site::Qos* const own = qos_of(state, job);
  const site::Qos* const other = qos_of(state, victim);
  if (own == nullptr || other == nullptr || own == other) return false;
  return std::find(own->preempts.begin(), own->preempts.end(), other->name) != own->preempts.end();
}

site::PreemptMode mode_of(const State& state, const Job& victim) {
  const site::PreemptSettings& settings = state.site.config.preempt;
  site::PreemptMode mode = site::PreemptMode::cluster;
  if (settings.type == site::PreemptType::partition_priority) {
    mode = state.site.partitions[victim.runs_in].preempt_mode;
  } else if (const site::Qos* const qos = qos_of(state, victim)) {
    mode = qos->preempt_mode;
  }
  return mode == site::PreemptMode::cluster ? settings.mode : mode;
}

Seconds exempt_time(const State& state, const Job& victim) {
  const site::Qos* const qos = qos_of(state, victim);
  const Duration time = qos != nullptr && qos->preempt_exempt_time != kNoDuration
                            ? qos->preempt_exempt_time
                            : state.site.config.preempt.exempt_time;
  return time == kNoDuration ? kYear : static_cast<Seconds>(seconds(time));
}

/// Returns the running jobs that `job` may preempt on `nodes`, those to be stopped first first.
std::vector<const Job*> candidates_for(const State& state, const Job& job, PartitionAt partition,
                                       const NodeBits& nodes, Seconds now) {
  std::vector<const Job*> victims;
  for (const RunningJob& each : state.running()) {
    const Job& victim = *state.find(each.job);
    const site::PreemptMode mode = mode_of(state, victim);
    if (mode != site::PreemptMode::cancel && mode != site::PreemptMode::requeue) continue;
    if (!may_preempt(state, job, partition, victim, victim.runs_in)) continue;
    if (now < victim.start + exempt_time(state, victim)) continue;
    const auto& shares = victim.allocation.shares;
    if (std::any_of(shares.begin(), shares.end(),
                    [&](const Share& share) { return nodes.contains(share.node); })) {
      victims.push_back(&victim);
    }
  }
  const bool youngest = state.site.config.preempt.youngest_first;
  const auto rank = [&](const Job& each) -> std::int64_t {
    if (youngest) return -each.start;
    std::int64_t priority = state.site.partitions[each.runs_in].priority_tier;
    if (const site::Qos* const qos = qos_of(state, each);
        qos != nullptr && state.site.config.preempt.type == site::PreemptType::qos) {
      priority = std::min<std::int64_t>(qos->priority, 65'535);
    }
    return priority * 65'536 +
           std::min<std::int64_t>(static_cast<std::int64_t>(each.allocation.shares.size()), 65'535);
  };
  std::sort(victims.begin(), victims.end(),
            [](const Job* one, const Job* other) { return one->number < other->number; });
  std::stable_sort(victims.begin(), victims.end(),
                   [&](const Job* one, const Job* other) { return rank(*one) < rank(*other); });
  return victims;
}

bool holds_any(const Job& job, const Allocation& of) {
  return std::any_of(
      job.allocation.shares.begin(), job.allocation.shares.end(), [&](const Share& share) {
        return std::any_of(of.shares.begin(), of.shares.end(),
                           [&](const Share& each) { return each.node == share.node; });
      });
}

std::int64_t nodes_inside(const Job& job, const Allocation& of) {
  return std::count_if(
      job.allocation.shares.begin(), job.allocation.shares.end(), [&](const Share& share) {
        return std::any_of(of.shares.begin(), of.shares.end(),
                           [&](const auto& each) { return each.node == share.node; });
      });
}

/// Removes victims one after another until the job fits. Returns its allocation and how many were
/// removed.
std::optional<std::pair<Allocation, std::size_t>> fit(const State& state, const Question& question,
                                                      const std::vector<const Job*>& victims) {
  Room room = state.room;
  for (std::size_t at = 0; at < victims.size(); ++at) {
    room.give_back(victims[at]->allocation);
    if (auto allocation = choose(room, question)) return std::pair{*std::move(allocation), at + 1};
  }
  return std::nullopt;
}

/// Sorts as glibc's qsort does, which slurmctld uses. The order of preemption is not transitive:
/// the result depends on the algorithm, and std::stable_sort demands a strict weak order.
template <typename Before>
void merge_sort(std::span<Queue::Record> records, const Before& is_before) {
  if (records.size() < 2) return;
  const std::size_t half = records.size() / 2;
  merge_sort(records.first(half), is_before);
  merge_sort(records.subspan(half), is_before);
  std::vector<Queue::Record> merged;
  merged.reserve(records.size());
  std::size_t one = 0;
  std::size_t other = half;
  while (one < half && other < records.size()) {
    merged.push_back(is_before(records[other], records[one]) ? records[other++] : records[one++]);
  }
  while (one < half) merged.push_back(records[one++]);
  while (other < records.size()) merged.push_back(records[other++]);
  std::copy(merged.begin(), merged.end(), records.begin());
}

}  // namespace

std::vector<Queue::Record> preemption_order(const State& state) {
  if (!state.site.config.preempt.is_on()) return {};
  std::vector<Queue::Record> order(state.queue.begin(), state.queue.end());
  const bool by_partition = state.site.config.preempt.type == site::PreemptType::partition_priority;
  if (by_partition) return order;
  const auto is_before = [&](const Queue::Record& one, const Queue::Record& other) {
    if (may_preempt(state, *one.job, one.partition, *other.job, other.partition)) return true;
    if (may_preempt(state, *other.job, other.partition, *one.job, one.partition)) return false;
    return one < other;
  };
  merge_sort(std::span(order), is_before);
  return order;
}

std::optional<Fit> fit_by_preemption(const State& state, const Job& job, PartitionAt partition,
                                     const NodeBits& candidates, Seconds now) {
  if (!state.site.config.preempt.is_on()) return std::nullopt;
  const std::vector<const Job*> victims = candidates_for(state, job, partition, candidates, now);
  const Question question = state.question(job, partition, candidates);
  if (victims.empty() || can_start(state.room, question)) return std::nullopt;
  Room room = state.room;
  for (const Job* const victim : victims) room.give_back(victim->allocation);
  Fit fit{.allocation = choose(room, question)};
  if (!fit.allocation) return std::nullopt;
  fit.nodes = nodes_of(*fit.allocation, state.table.size());
  return fit;
}

void preempt_for(State& state, Job& job, PartitionAt partition, const NodeBits& candidates,
                 Seconds now) {
  const site::PreemptSettings& settings = state.site.config.preempt;
  if (!settings.is_on()) return;
  // While victims of this job are ending, no more are taken for it.
  if (job.preempting_until > now) return;
  std::vector<const Job*> victims = candidates_for(state, job, partition, candidates, now);
  if (victims.empty()) return;
  const Question question = state.question(job, partition, candidates);
  auto found = fit(state, question, victims);
  if (!found) return;
  for (int pass = 0; pass <= settings.reorder_count && found->second > 1; ++pass) {
    const auto marked = static_cast<std::ptrdiff_t>(found->second);
    if (settings.strict_order) {
      std::rotate(victims.begin(), victims.begin() + marked - 1, victims.begin() + marked);
    } else {
      const Job* const last = victims[found->second - 1];
      std::stable_sort(
          victims.begin(), victims.begin() + marked, [&](const Job* one, const Job* other) {
            const auto key = [&](const Job* of) {
              return of == last ? std::int64_t{99'999} : nodes_inside(*of, found->first);
            };
            return key(one) > key(other);
          });
    }
    found = fit(state, question, victims);
    if (!found) return;
  }
  for (std::size_t at = 0; at < found->second; ++at) {
    if (!holds_any(*victims[at], found->first)) continue;
    const bool can_requeue = victims[at]->ask.requeue.value_or(state.site.config.requeue);
    site::PreemptMode mode = mode_of(state, *victims[at]);
    if (mode == site::PreemptMode::requeue && !can_requeue) mode = site::PreemptMode::cancel;
    state.preemptions.push_back({victims[at]->number, job.number, mode});
  }
  job.preempting_until = now + static_cast<Seconds>(seconds(state.site.config.kill_wait)) +
                         static_cast<Seconds>(seconds(state.site.config.message_timeout));
}

}  // namespace almanac::slurmctld
