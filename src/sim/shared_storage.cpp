// SPDX-License-Identifier: Apache-2.0
#include "sim/shared_storage.h"

#include <algorithm>

#include "perf/remote_input.h"

namespace almanac::sim {
bool SharedStorage::enter(JobId job, double alone, const policy::Config& config) {
  if (storage_.remote_gbs <= 0) return false;
  const auto reading = speeds_.reading(job);
  if (!reading) return false;
  readers_[job] = {.reading = *reading, .gbs = reading->gbs * alone, .config = config};
  judge();
  return true;
}

bool SharedStorage::pace(JobId job, double alone) {
  if (!has(job)) return false;
  Reader& reader = readers_[job];
  const double gbs = reader.reading.gbs * alone;
  if (gbs == reader.gbs) return false;
  reader.gbs = gbs;
  judge();
  return true;
}

bool SharedStorage::leave(JobId job) {
  if (readers_.empty() || readers_.erase(job) == 0) return false;
  judge();
  return true;
}

double SharedStorage::speed(JobId job) const {
  if (readers_.empty()) return 1;
  const auto found = readers_.find(job);
  return found == readers_.end() ? 1 : found->second.speed;
}

std::vector<JobId> SharedStorage::readers() const {
  std::vector<JobId> all;
  for (const auto& [job, reader] : readers_) all.push_back(job);
  return all;
}

void SharedStorage::judge() {
  std::map<NameId, std::size_t> numbers;
  std::vector<perf::DataSet> data_sets;
  std::vector<perf::RemoteReader> readers;
  for (const auto& [job, reader] : readers_) {
    const auto [number, is_new] = numbers.try_emplace(reader.reading.data_set, data_sets.size());
    if (is_new) data_sets.emplace_back();
    perf::DataSet& data = data_sets[number->second];
    data.gb = std::max(data.gb, reader.reading.data_gb);
    if (const double told = reader.config.cache_gb; told > 0) {
      data.told_gb = std::max(data.told_gb.value_or(0), told);
    }
    readers.push_back({.data_set = number->second, .gbs = reader.gbs});
    if (reader.config.remote_gbs > 0) readers.back().most_gbs = reader.config.remote_gbs;
  }
  const std::vector<double> cached = perf::cached_gb(data_sets, storage_.cache_gb);
  const std::vector<double> speeds =
      perf::remote_speeds(readers, data_sets, cached, storage_.remote_gbs);
  std::size_t at = 0;
  for (auto& [job, reader] : readers_) reader.speed = speeds[at++];
}

}  // namespace almanac::sim
