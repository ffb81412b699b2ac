// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk/queue.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/demand_table.h"

namespace almanac::policy {
namespace {

struct Before {
  bool operator()(const QueueKey& a, const QueueKey& b) const { return a < b; }
};
using Model = std::map<QueueKey, Duration, Before>;

QueueEntry entry(double rank, double tie, std::uint32_t sequence, std::int64_t believed_s) {
  return {{rank, tie, sequence}, JobId{sequence}, believed_s * 1s};
}

/// Few ranks and run times, so that ties are common.
std::vector<QueueEntry> random_entries(int scale) {
  const auto numbers =
      *rc::gen::scale(scale, rc::gen::container<std::vector<std::pair<int, int>>>(
                                 rc::gen::pair(rc::gen::inRange(0, 40), rc::gen::inRange(0, 100))));
  std::vector<QueueEntry> entries;
  for (const auto& [rank, believed] : numbers) {
    const auto sequence = static_cast<std::uint32_t>(entries.size());
    entries.push_back(entry(rank, rank % 3, sequence, believed));
  }
  return entries;
}

bool same(const QueueEntry* ours, Model::const_iterator theirs, const Model& model) {
  if (ours == nullptr || theirs == model.end()) return ours == nullptr && theirs == model.end();
  return ours->key.sequence == theirs->first.sequence && ours->believed == theirs->second;
}

void check_same(const RankedQueue& ours, const Model& model) {
  RC_ASSERT(ours.size() == model.size());
  RankedQueue::Cursor cursor(ours);
  for (auto each = model.begin(); each != model.end(); ++each) {
    RC_ASSERT(same(cursor.get(), each, model));
    RC_ASSERT(same(ours.next(each->first), std::next(each), model));
    const auto before = each == model.begin() ? model.end() : std::prev(each);
    RC_ASSERT(same(ours.previous(each->first), before, model));
    cursor.advance();
  }
  if (!model.empty()) {
    RC_ASSERT(ours.front().key.sequence == model.begin()->first.sequence);
    RC_ASSERT(ours.back().key.sequence == model.rbegin()->first.sequence);
  }
  RC_ASSERT(cursor.get() == nullptr);
  for (const Duration limit : {0s, 1s, 5s, 50s, 100s}) {
    const auto first = std::find_if(model.begin(), model.end(),
                                    [&](const auto& each) { return each.second <= limit; });
    RC_ASSERT(same(ours.first_within(limit), first, model));
  }
}

RC_GTEST_PROP(RankedQueue, IsASortedMapWhateverComesAndGoes, ()) {
  RankedQueue ours;
  Model model;
  // Up to 800 entries, in blocks of 64.
  for (const QueueEntry& each : random_entries(8)) {
    ours.insert(each);
    model.emplace(each.key, each.believed);
    // Sometimes the front goes, sometimes one from the middle.
    if (each.believed < 30s) {
      ours.erase(model.begin()->first);
      model.erase(model.begin());
    } else if (each.believed < 45s) {
      const auto middle = std::next(model.begin(), static_cast<std::ptrdiff_t>(model.size() / 2));
      const QueueKey key = middle->first;
      ours.erase(key);
      model.erase(key);
    }
  }
  check_same(ours, model);
  while (!model.empty()) {
    const auto last = std::prev(model.end());
    const auto gone = model.size() % 2 == 0 ? model.begin() : last;
    const QueueKey key = gone->first;
    ours.erase(key);
    model.erase(key);
    if (model.size() % 16 == 0) check_same(ours, model);
  }
  RC_ASSERT(ours.empty());
}

TEST(RankedQueue, OrdersByRankThenTieThenWhoJoinedFirst) {
  RankedQueue queue;
  queue.insert(entry(2, 0, 0, 1));
  queue.insert(entry(1, 5, 1, 1));
  queue.insert(entry(1, 4, 2, 1));
  queue.insert(entry(1, 4, 3, 1));
  std::vector<std::uint32_t> order;
  for (RankedQueue::Cursor at(queue); at.get() != nullptr; at.advance()) {
    order.push_back(at.get()->key.sequence);
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{2, 3, 1, 0}));
}

TEST(RankedQueueDeathTest, StopsTheProgramWhenAnUnknownEntryGoes) {
  RankedQueue queue;
  queue.insert(entry(1, 0, 0, 1));
  EXPECT_DEATH(queue.erase({1, 0, 7}), "sequence 7 is not queued");
}

/// Demands, many of which cover another, and the jobs that request them, one by one.
struct Asked {
  std::vector<cluster::Demand> demands{};
  std::vector<std::pair<std::size_t, QueueEntry>> jobs{};  // with the position of their demand
};

cluster::Demand random_demand() {
  const auto few = [] { return *rc::gen::inRange(0, 6); };
  cluster::Demand made{.gpus = few() / 2};
  if (made.is_cpu_job()) made.tasks = 1 + few() / 2;
  made.gpu_types = static_cast<std::uint64_t>(*rc::gen::element(1, 2, 3));
  made.cpu_milli = 1000 * few();
  made.memory_mb = 1000 * few();
  made.nodes = made.gpus == 2 ? few() / 5 : 0;
  if (made.gpus == 1) made.gpu_milli = *rc::gen::element(300, 500, cluster::kWholeGpu);
  made.claim = ClaimId{static_cast<std::uint32_t>(few() / 4)};
  return made;
}

Asked random_jobs() {
  Asked made;
  cluster::DemandTable numbers;
  for (const QueueEntry& entry : random_entries(2)) {
    made.jobs.emplace_back(index(numbers.id_of(random_demand())), entry);
  }
  made.demands = numbers.all();
  return made;
}

DemandId demand_id(std::size_t position) { return DemandId{static_cast<std::uint32_t>(position)}; }

/// The same jobs in one list.
using Plain = std::map<QueueKey, std::pair<std::size_t, Duration>, Before>;

void fill(const Asked& asked, WaitingQueue& ours, Plain& model) {
  for (const auto& [demand, entry] : asked.jobs) {
    ours.insert(demand_id(demand), asked.demands[demand], entry);
    model[entry.key] = {demand, entry.believed};
  }
}

RC_GTEST_PROP(WaitingQueue, IsOneQueueFiledByDemand, ()) {
  const Asked asked = random_jobs();
  WaitingQueue ours;
  Plain model;
  for (const auto& [demand, entry] : asked.jobs) {
    ours.insert(demand_id(demand), asked.demands[demand], entry);
    model[entry.key] = {demand, entry.believed};
    if (entry.believed < 40s) {
      const auto gone = *rc::gen::arbitrary<bool>() ? model.begin() : std::prev(model.end());
      ours.erase(demand_id(gone->second.first), gone->first);
      model.erase(gone);
    }
    RC_ASSERT(ours.size() == model.size());
    RC_ASSERT(ours.empty() == model.empty());
    if (!model.empty()) {
      RC_ASSERT(ours.first().jobs.front().key.sequence == model.begin()->first.sequence);
    }
  }
  WaitingQueue::Walk walk(ours);
  for (auto expected = model.begin(); expected != model.end();) {
    RC_ASSERT(!walk.at_end());
    RC_ASSERT(walk.key().sequence == expected->first.sequence);
    RC_ASSERT(walk.demand() == asked.demands[expected->second.first]);
    const QueueEntry* const next = ours.next(expected->first);
    RC_ASSERT((next == nullptr) == (++expected == model.end()));
    if (next != nullptr) RC_ASSERT(next->key.sequence == expected->first.sequence);
    walk.advance();
  }
  RC_ASSERT(walk.at_end());
}

RC_GTEST_PROP(WaitingQueue, IsWalkedPastDemandsThatAreLeftOut, ()) {
  const Asked asked = random_jobs();
  WaitingQueue ours;
  Plain model;
  fill(asked, ours, model);
  WaitingQueue::Walk walk(ours);
  std::set<std::size_t> left_out;
  for (const auto& [key, job] : model) {
    if (left_out.contains(job.first)) continue;
    RC_ASSERT(walk.key().sequence == key.sequence);
    if (*rc::gen::inRange(0, 4) == 0) {
      left_out.insert(job.first);
      walk.leave_out();
    } else {
      walk.advance();
    }
  }
  RC_ASSERT(walk.at_end());
}

RC_GTEST_PROP(WaitingQueue, FindsTheFirstOfThoseThatAreNotSkipped, ()) {
  const Asked asked = random_jobs();
  WaitingQueue ours;
  Plain model;
  const auto unmet =
      *rc::gen::container<std::vector<cluster::Demand>>(rc::gen::exec(random_demand));
  const auto skips = [&](const cluster::Demand& demand) {
    return std::any_of(unmet.begin(), unmet.end(),
                       [&](const cluster::Demand& each) { return demand.covers(each); });
  };
  fill(asked, ours, model);
  for (const Duration limit : {Duration::max(), Duration{40s}, Duration{2s}}) {
    while (true) {
      const auto expected = std::find_if(model.begin(), model.end(), [&](const auto& each) {
        return each.second.second <= limit && !skips(asked.demands[each.second.first]);
      });
      const auto [from, entry] = ours.first_of(
          skips, [&](const WaitingQueue::Class& each) { return each.jobs.first_within(limit); });
      RC_ASSERT((from == nullptr) == (expected == model.end()));
      if (from == nullptr) break;
      RC_ASSERT(entry->key.sequence == expected->first.sequence);
      RC_ASSERT(from->demand == asked.demands[expected->second.first]);
      ours.erase(from->id, expected->first);
      model.erase(expected);
    }
  }
}

RC_GTEST_PROP(WaitingQueue, IsVisitedByGpusButForPartsThatAreSkipped, ()) {
  const Asked asked = random_jobs();
  WaitingQueue ours;
  std::vector<std::vector<Duration>> waits(asked.demands.size());
  for (const auto& [demand, entry] : asked.jobs) {
    ours.insert(demand_id(demand), asked.demands[demand], entry);
    waits[demand].push_back(entry.believed);
    if (entry.believed >= 20s) continue;
    // The briefest are gone, and the tree does not know until it is told.
    ours.erase(demand_id(demand), entry.key);
    waits[demand].pop_back();
    if (entry.believed >= 10s) continue;
    for (const WaitingQueue::Class& each : ours.classes()) ours.tighten(each);
  }
  const Duration limit = *rc::gen::inRange(0, 100) * 1s;
  std::vector<std::pair<int, std::size_t>> seen;
  ours.visit([&](const ClassTree::Part& part) { return part.believed > limit; },
             [&](const WaitingQueue::Class& each) {
               seen.emplace_back(each.demand.gpus, index(each.id));
             });
  RC_ASSERT(std::is_sorted(seen.begin(), seen.end()));
  for (std::size_t demand = 0; demand < waits.size(); ++demand) {
    const bool is_seen =
        std::find(seen.begin(), seen.end(), std::pair{int{asked.demands[demand].gpus}, demand}) !=
        seen.end();
    const bool is_brief = std::any_of(waits[demand].begin(), waits[demand].end(),
                                      [&](Duration each) { return each <= limit; });
    // A job that has left may be remembered, one that waits is not forgotten.
    RC_ASSERT(is_seen || !is_brief);
    RC_ASSERT(!is_seen || !waits[demand].empty());
  }
}

RC_GTEST_PROP(WaitingQueue, SeesNobodyOfADemandThatIsAside, ()) {
  const Asked asked = random_jobs();
  WaitingQueue ours;
  for (const auto& [demand, entry] : asked.jobs) {
    ours.insert(demand_id(demand), asked.demands[demand], entry);
    ours.set_aside(demand_id(demand), entry.believed < 50s);
  }
  std::size_t waiting = 0;
  for (const WaitingQueue::Class& each : ours.classes()) {
    RC_ASSERT(ours.is_aside(each.id) == each.is_aside);
    waiting += each.jobs.size();
    RC_ASSERT(each.jobs.empty() == each.is_aside);
  }
  RC_ASSERT(ours.size() == waiting);
  std::size_t seen = 0;
  ours.visit([](const ClassTree::Part&) { return false; },
             [&](const WaitingQueue::Class& each) { seen += each.jobs.size(); });
  RC_ASSERT(seen == waiting);
}

TEST(WaitingQueue, ForgetsDemandsForWhichNobodyWaits) {
  constexpr std::uint32_t kDemands = 20'000;
  constexpr std::uint32_t kStay = 500;  // of which each waits for a while
  WaitingQueue queue;
  const auto key = [](std::uint32_t number) { return QueueKey{1, 0, number}; };
  for (std::uint32_t number = 0; number < kDemands; ++number) {
    queue.insert(DemandId{number}, {.gpus = 1, .memory_mb = static_cast<std::int32_t>(number)},
                 {key(number), JobId{number}, 1s});
    if (number >= kStay) queue.erase(DemandId{number - kStay}, key(number - kStay));
    ASSERT_EQ(index(queue.first().id), number < kStay ? 0 : number - kStay + 1);
  }
  EXPECT_LT(queue.classes().size(), 3000U);
  EXPECT_EQ(queue.size(), kStay);
}

TEST(WaitingQueue, RemembersThatAClaimIsAside) {
  WaitingQueue queue;
  const cluster::Demand claims{.gpus = 1, .claim = ClaimId{1}};
  queue.insert(DemandId{0}, claims, entry(1, 0, 0, 1));
  queue.set_aside(DemandId{0}, true);
  queue.erase(DemandId{0}, {1, 0, 0});
  for (std::uint32_t number = 1; number < 5000; ++number) {
    queue.insert(DemandId{number}, {.gpus = 1, .memory_mb = static_cast<std::int32_t>(number)},
                 entry(1, 0, number, 1));
    queue.erase(DemandId{number}, {1, 0, number});
  }
  EXPECT_TRUE(queue.is_aside(DemandId{0}));
  queue.insert(DemandId{0}, claims, entry(1, 0, 5000, 1));
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace almanac::policy
