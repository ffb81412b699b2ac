// SPDX-License-Identifier: Apache-2.0

/// \file
/// Workloads as jobs of Almanac's store, which keeps their runs because the cluster forgets them.
/// A workload has the same number for ever, by its uid.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kube/live.h"
#include "kube/picture.h"
#include "store/store.h"

namespace almanac::steer_kube {

/// Not thread-safe.
class Records {
 public:
  /// Reads the jobs that had not ended. Fails as the store does. `store` must outlive it.
  static Result<Records> open(store::Store& store);

  /// What a look found, for counts.
  struct News {
    std::vector<store::Job> started{};
    std::vector<store::Job> ended{};
  };
  /// Takes in a picture and what has gone since the last one. Fails as the store does.
  Result<News> look(const kube::Picture& picture, const std::vector<kube::Gone>& gone);
  /// Adds what has changed since saved().
  void add_changes(store::Store::Batch& batch) const;
  /// What add_changes() added last is on disk. No look may come between them.
  void saved();

  /// Null = the workload is not known, or has ended.
  const store::Job* find(const std::string& uid) const;
  /// The uids of the jobs that the store may not have as ended yet.
  const std::map<store::JobNumber, std::string>& numbers() const { return uids_; }
  std::size_t size() const { return jobs_.size(); }

 private:
  struct Entry {
    store::Job job{};
    std::string version{};  ///< resourceVersion that `job` is of.
    bool is_dirty = true;
    bool has_ended = false;
  };

  explicit Records(store::Store& store) : store_(store) {}
  /// Null for a run that has ended and is in the store.
  Result<Entry*> entry_of(const kube::Workload& workload);
  void end(Entry& entry, News& news);

  store::Store& store_;
  std::unordered_map<std::string, Entry> jobs_{};  ///< By uid.
  std::map<store::JobNumber, std::string> uids_{};
  std::set<std::string> ended_{};  ///< Uids that are still on the cluster and in the store.
  std::int64_t last_ = 0;
};

}  // namespace almanac::steer_kube
