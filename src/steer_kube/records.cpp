// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/records.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "kube/snapshot.h"

namespace almanac::steer_kube {
namespace {

using kube::Stage;
using kube::Workload;
using trace::JobState;

store::Submission asked_by(const Workload& workload, const std::string& queue) {
  store::Submission made{
      .name = workload.owner.empty() ? workload.name : workload.owner,
      .comment = workload.full_name(),
      .user = workload.user.empty() ? workload.name_space : workload.user,
      .vc = queue,
      .qos = workload.priority_class,
      .account = workload.name_space + "/" + workload.local_queue,
      .partition = queue,
      .gpus = static_cast<std::int32_t>(std::min(workload.gpus(), kube::kMostGpus)),
      .time_limit = workload.limit,
      .key = workload.uid};
  if (const auto cpu = workload.total("cpu"); cpu > 0) {
    made.cpus = static_cast<double>(cpu) / 1000;
  }
  if (const auto memory = workload.total("memory"); memory > 0) {
    made.memory_gb = static_cast<double>(memory) / 1e9;
  }
  return made;
}

/// Brings a record up to its workload.
void update(store::Job& job, const Workload& workload) {
  const bool runs = workload.stage == Stage::admitted;
  job.state = runs ? JobState::running : JobState::pending;
  job.held = !workload.is_active || workload.is_gated;
  job.preemptions = static_cast<std::int32_t>(
      std::min<std::int64_t>(workload.evictions, std::numeric_limits<std::int32_t>::max() - 1));
  job.attempts = job.preemptions + (workload.admitted == kNoTime ? 0 : 1);
  job.since = runs ? workload.admitted : workload.created;
  if (job.start == kNoTime) job.start = workload.admitted;
  if (workload.stage != Stage::finished) return;
  job.state = workload.has_failed ? JobState::failed : JobState::completed;
  job.end = std::max(workload.finished, workload.created);
  job.attained = workload.admitted == kNoTime
                     ? Duration{0}
                     : std::max(Duration{0}, workload.finished - workload.admitted);
}

}  // namespace

Result<Records> Records::open(store::Store& store) {
  const auto last = store.last_number();
  if (!last) return tl::unexpected(last.error());
  auto jobs = store.unfinished();
  if (!jobs) return tl::unexpected(jobs.error());
  Records made(store);
  made.last_ = static_cast<std::int64_t>(*last);
  for (store::Job& job : *jobs) {
    const std::string uid = job.asked->key;
    const store::JobNumber number = job.number;
    const bool is_new =
        made.jobs_.emplace(uid, Entry{.job = std::move(job), .is_dirty = false}).second;
    if (is_new) made.uids_.emplace(number, uid);
  }
  return made;
}

Result<Records::Entry*> Records::entry_of(const Workload& workload) {
  const auto known = jobs_.find(workload.uid);
  if (known != jobs_.end()) return &known->second;
  if (workload.stage == Stage::finished) {
    if (ended_.contains(workload.uid)) return nullptr;
    const auto kept = store_.submitted(0, workload.uid);
    if (!kept) return tl::unexpected(kept.error());
    if (!kept->empty()) {
      ended_.insert(workload.uid);
      return nullptr;
    }
  }
  // It was taken for deleted, and is there: a run of its own.
  ended_.erase(workload.uid);
  Entry made;
  made.job.number = store::JobNumber{++last_};
  made.job.submit = workload.created;
  uids_.emplace(made.job.number, workload.uid);
  return &jobs_.emplace(workload.uid, std::move(made)).first->second;
}

void Records::end(Entry& entry, News& news) {
  entry.has_ended = true;
  entry.is_dirty = true;
  news.ended.push_back(entry.job);
}

Result<Records::News> Records::look(const kube::Picture& picture,
                                    const std::vector<kube::Gone>& gone) {
  News news;
  std::unordered_set<std::string_view> present(picture.unreadable.begin(),
                                               picture.unreadable.end());
  for (const Workload& workload : picture.workloads) {
    present.insert(workload.uid);
    const auto found = entry_of(workload);
    if (!found) return tl::unexpected(found.error());
    Entry* const entry = *found;
    if (entry == nullptr || entry->has_ended || entry->version == workload.version) continue;
    const bool ran = entry->job.state == JobState::running;
    entry->job.asked = asked_by(workload, picture.cluster_queue(workload));
    entry->version = workload.version;
    update(entry->job, workload);
    entry->is_dirty = true;
    if (workload.stage == Stage::finished) {
      end(*entry, news);
    } else if (!ran && entry->job.state == JobState::running) {
      news.started.push_back(entry->job);
    }
  }
  for (const kube::Gone& each : gone) {
    const auto known = jobs_.find(each.workload.uid);
    if (known == jobs_.end() || known->second.has_ended) continue;
    Entry& entry = known->second;
    update(entry.job, each.workload);
    if (each.workload.stage != Stage::finished) {
      entry.job.state = JobState::cancelled;
      entry.job.end = std::max(each.at, entry.job.submit);
      entry.job.reason = "deleted";
      if (each.was_seen && each.workload.stage == Stage::admitted) {
        entry.job.attained = std::max(Duration{0}, each.at - each.workload.admitted);
      }
    }
    end(entry, news);
  }
  for (auto& [uid, entry] : jobs_) {
    if (entry.has_ended || present.contains(uid)) continue;
    // How long it ran is not known, so nothing is learned from it.
    entry.job.state = JobState::cancelled;
    entry.job.end = picture.at;
    entry.job.attained = Duration{0};
    entry.job.reason = "deleted while Almanac did not watch";
    end(entry, news);
  }
  std::erase_if(ended_, [&](const std::string& uid) { return !present.contains(uid); });
  std::sort(news.ended.begin(), news.ended.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return news;
}

void Records::add_changes(store::Store::Batch& batch) const {
  for (const auto& [number, uid] : uids_) {
    const Entry& entry = jobs_.at(uid);
    if (entry.is_dirty) batch.put(entry.job);
  }
}

void Records::saved() {
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    at->second.is_dirty = false;
    if (!at->second.has_ended) {
      ++at;
      continue;
    }
    ended_.insert(at->first);
    uids_.erase(at->second.job.number);
    at = jobs_.erase(at);
  }
}

const store::Job* Records::find(const std::string& uid) const {
  const auto found = jobs_.find(uid);
  return found == jobs_.end() ? nullptr : &found->second.job;
}

}  // namespace almanac::steer_kube
