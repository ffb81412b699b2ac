// SPDX-License-Identifier: Apache-2.0
#include "slurm/differences.h"

#include <utility>

namespace almanac::slurm {
namespace {

/// Puts `told` in the place of `seen`; what is new or differs goes to `changed`, what is not there
/// any more to `lost`.
template <typename Key, typename Record, typename KeyOf>
void compare(std::vector<Record> told, std::map<Key, Record>& seen, std::vector<Record>& changed,
             std::vector<Key>& lost, KeyOf&& key_of) {
  std::map<Key, Record> now;
  for (Record& record : told) {
    const auto before = seen.find(key_of(record));
    if (before == seen.end() || !(before->second == record)) changed.push_back(record);
    Key key = key_of(record);
    now.insert_or_assign(std::move(key), std::move(record));
  }
  for (const auto& [key, record] : seen) {
    if (now.count(key) == 0) lost.push_back(key);
  }
  seen = std::move(now);
}

template <typename List>
void replace(List told, List& seen, bool always, std::optional<List>& changed) {
  if (always || told != seen) changed = told;
  seen = std::move(told);
}

}  // namespace

News Differences::to(Picture picture) {
  News news{.at = picture.at, .whole = !known_};
  if (!known_) {
    jobs_.clear();
    nodes_.clear();
  }
  compare(std::move(picture.jobs), jobs_, news.jobs, news.gone,
          [](const Job& job) { return job.number; });
  compare(std::move(picture.nodes), nodes_, news.nodes, news.lost_nodes,
          [](const Node& node) { return node.name; });
  replace(std::move(picture.partitions), partitions_, !known_, news.partitions);
  replace(std::move(picture.reservations), reservations_, !known_, news.reservations);
  replace(std::move(picture.licences), licences_, !known_, news.licences);
  replace(std::move(picture.limits), limits_, !known_, news.limits);
  replace(std::move(picture.associations), associations_, !known_, news.associations);
  known_ = true;
  return news;
}

}  // namespace almanac::slurm
