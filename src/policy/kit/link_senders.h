// SPDX-License-Identifier: Apache-2.0

/// \file
/// The running jobs that send over links, and which of them links connect, as throttles need them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "policy/contract/link_map.h"
#include "policy/kit/desk.h"
#include "rules/links/contention.h"

namespace almanac::policy {

class LinkSenders {
 public:
  struct Sender {
    links::Flow flow;
    std::vector<std::uint32_t> links;
  };
  /// Jobs that links connect, directly or through others.
  struct Group {
    std::vector<JobId> jobs{};
    std::vector<std::uint32_t> links{};  ///< Those of several jobs, and the one that changed.
    bool is_tree = true;                 ///< Whether links and jobs form no loop.
  };

  /// Whether a job that runs on what the desk plans may send; the cluster must be the same in all
  /// calls.
  bool may_send(JobId job, const Desk& desk);
  /// Adds such a job; ignores it if its traffic is unknown.
  void enter(JobId job, const Desk& desk);
  void leave(JobId job);
  /// Makes every link count as changed.
  void touch_all();
  /// Returns a group in which a job has come or gone since it was last returned; nothing if there
  /// is none. Cost: the links of its jobs.
  std::optional<Group> next_changed();

  const LinkMap& map() const { return *map_; }
  double gbps(std::uint32_t link) const { return map_->gbps()[link]; }
  const std::map<JobId, Sender>& all() const { return senders_; }
  const Sender& of(JobId job) const { return senders_.at(job); }
  /// Returns the jobs that send over a link, in the order in which they came.
  const std::vector<JobId>& on(std::uint32_t link) const;

 private:
  std::optional<LinkMap> map_;
  std::map<JobId, Sender> senders_;
  std::map<std::uint32_t, std::vector<JobId>> on_link_;
  std::set<std::uint32_t> changed_;
};

}  // namespace almanac::policy
