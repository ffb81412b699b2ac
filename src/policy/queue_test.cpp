// SPDX-License-Identifier: Apache-2.0
#include "policy/queue.h"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

RC_GTEST_PROP(WaitingQueue, IsOneQueueFiledByDemand, ()) {
  WaitingQueue ours;
  Model model;
  std::map<std::uint32_t, DemandId> demand_of;
  for (const QueueEntry& each : random_entries(3)) {
    const auto gpus = static_cast<std::int32_t>(1 + each.believed / 20s);
    const DemandId demand{static_cast<std::uint32_t>(gpus)};
    ours.insert(demand, {.gpus = gpus}, each);
    model.emplace(each.key, each.believed);
    demand_of[each.key.sequence] = demand;
    if (each.believed < 40s) {
      const QueueKey key = model.begin()->first;
      ours.erase(demand_of[key.sequence], key);
      model.erase(key);
    }
    RC_ASSERT(ours.size() == model.size());
    RC_ASSERT(ours.empty() == model.empty());
    if (model.empty()) continue;
    RC_ASSERT(ours.first().jobs.front().key.sequence == model.begin()->first.sequence);
    const auto second = std::next(model.begin());
    RC_ASSERT(same(ours.next(model.begin()->first), second, model));
  }
  const auto& classes = ours.classes();
  RC_ASSERT(std::is_sorted(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
    return a.demand.gpus < b.demand.gpus;
  }));
}

}  // namespace
}  // namespace almanac::policy
