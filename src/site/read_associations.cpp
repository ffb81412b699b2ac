// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "site/account_values.h"
#include "site/read_accounts.h"

namespace almanac::site {
namespace {

using cluster::without_blanks;

/// What several files say of one association.
struct Merged {
  Record fields{};
  std::string account{};
  std::string user{};
  std::string parent{};  ///< Account above an account; "" if unknown or the root.
  std::size_t place = 0;
};

using Key = std::tuple<std::string, std::string, std::string>;

std::string_view clean(const Record& row, const std::string& key) {
  const auto found = row.fields.find(key);
  return found == row.fields.end() ? std::string_view{} : without_blanks(found->second);
}

/// Whether leading blanks of accounts are a tree: the root has none, others have some.
bool is_tree(const std::vector<Record>& rows) {
  const auto depth = [](const Record& row) {
    const std::string account = row.get("account");
    return std::min(account.find_first_not_of(' '), account.size());
  };
  return !rows.empty() && depth(rows.front()) == 0 &&
         std::any_of(rows.begin(), rows.end(), [&](const Record& row) { return depth(row) > 0; });
}

class Associations {
 public:
  explicit Associations(Site& site) : site_(site) {}

  void read(std::span<const std::vector<Record>> files) {
    for (const std::vector<Record>& rows : files) merge(rows);
    if (merged_.empty()) return;
    build();
    for (Association& each : site_.associations) inherit(each);
  }

 private:
  void merge(const std::vector<Record>& rows) {
    const bool tree = is_tree(rows);
    std::vector<std::string> above;  // accounts of the rows so far, by depth
    for (const Record& row : rows) {
      // slurmdbd keeps names of clusters in lower case.
      const std::string of = cluster::in_lower_case(clean(row, "cluster"));
      const std::string own = cluster::in_lower_case(site_.config.cluster);
      if (!of.empty() && !own.empty() && of != own) continue;
      const std::string account(clean(row, "account"));
      const std::string user(clean(row, "user"));
      if (account.empty()) refuse(row, "Account", "the name of an account");
      const auto [found, is_new] =
          merged_.emplace(Key{account, user, std::string(clean(row, "partition"))}, Merged{});
      Merged& one = found->second;
      if (is_new) {
        one.place = next_place_++;
        one.account = account;
        one.user = user;
        one.fields.where = row.where;
      }
      for (const auto& [key, value] : row.fields) {
        if (key != "account" && !without_blanks(value).empty()) {
          one.fields.fields.emplace(key, without_blanks(value));
        }
      }
      if (!user.empty()) continue;
      if (std::string name(clean(row, "parentname")); !name.empty()) one.parent = std::move(name);
      if (!tree) continue;
      const std::size_t depth = row.get("account").find_first_not_of(' ');
      if (depth > above.size()) refuse(row, "Account", "one blank deeper than the account above");
      if (depth > 0 && one.parent.empty()) one.parent = above[depth - 1];
      above.resize(depth);
      above.push_back(account);
    }
  }

  /// Orders siblings as Slurm's list does: by LFT until 23.02, then by name (lineage), else as
  /// read.
  void build() {
    std::map<std::string, std::vector<const Merged*>> below;
    const Merged* root = nullptr;
    std::size_t orphans = 0;
    for (auto& [key, each] : merged_) {
      if (!each.user.empty()) {
        below[each.account].push_back(&each);
      } else if (each.account == "root") {
        root = &each;
      } else {
        if (each.parent.empty()) {
          ++orphans;
          each.parent = "root";
        }
        below[each.parent].push_back(&each);
      }
    }
    if (orphans > 0) {
      site_.assumed.push_back(
          fmt::format("the files do not name the parents of {} accounts: assumed below the root "
                      "(add the output of sacctmgr -P show assoc tree, or of sshare -alP)",
                      orphans));
    }
    for (auto& [name, members] : below) {
      if (name != "root" && merged_.count({name, "", ""}) == 0) {
        throw BadValue{{Code::invalid,
                        fmt::format("no row is of account {}, which is above {}", name,
                                    members.front()->user.empty() ? members.front()->account
                                                                  : members.front()->user),
                        members.front()->fields.where, "write the file again, with all accounts"}};
      }
      std::sort(members.begin(), members.end(), [](const Merged* a, const Merged* b) {
        const auto order = [](const Merged& each) {
          const Record& row = each.fields;
          return std::tuple(limit(row, "LFT"), row.get("lineage"), each.place);
        };
        return order(*a) < order(*b);
      });
    }
    if (root != nullptr)
      add(*root, -1);
    else
      site_.associations.push_back({.account = "root"});
    add_below("root", 0, below, 0);
  }

  void add_below(const std::string& account, std::int32_t parent,
                 const std::map<std::string, std::vector<const Merged*>>& below,
                 std::size_t depth) {
    const auto members = below.find(account);
    if (members == below.end()) return;
    for (const Merged* const each : members->second) {
      const auto at = static_cast<std::int32_t>(site_.associations.size());
      add(*each, parent);
      if (each->user.empty() && depth < merged_.size()) {
        add_below(each->account, at, below, depth + 1);
      }
    }
  }

  void add(const Merged& of, std::int32_t parent) {
    const Record& row = of.fields;
    const std::string shares = row.get(row.has("share") ? "share" : "rawshares");
    Association made{
        .account = of.account,
        .user = of.user,
        .partition = row.get("partition"),
        .parent = parent,
        .priority = static_cast<std::uint32_t>(whole(row, "Priority", 0)),
        .default_qos = word(row, "DefQOS"),
        .qos = list(row, "QOS"),
        .group = group_limits(row, site_.tres),
        .max_jobs = limit(row, "MaxJobs"),
        .max_jobs_accrue = limit(row, "MaxJobsAccrue"),
        .max_submit_jobs = limit(row, row.has("maxsubmitjobs") ? "MaxSubmitJobs" : "MaxSubmit"),
        .job = job_limits(row, site_.tres),
        .min_priority_threshold = limit(row, "MinPrioThres"),
        .id = static_cast<std::uint32_t>(whole(row, "ID", 0)),
        .lft = limit(row, "LFT"),
        .lineage = row.get("lineage")};
    if (shares == "parent")
      made.shares = Association::kParent;
    else
      made.shares = whole(row, row.has("share") ? "Share" : "RawShares", 1);
    if (row.has("rawusage")) {
      made.usage.known = true;
      made.usage.raw = decimal(row, "RawUsage", 0);
      // In whole minutes.
      for (const TresCount& each : counts(row, "GrpTRESRaw", site_.tres)) {
        made.usage.tres.emplace_back(each.tres, 60.0 * static_cast<double>(each.count));
      }
    }
    site_.associations.push_back(std::move(made));
  }

  static void inherit(TresCounts& own, const TresCounts& above) {
    for (const TresCount& each : above) {
      const bool has = std::any_of(own.begin(), own.end(),
                                   [&](const TresCount& mine) { return mine.tres == each.tres; });
      if (!has) own.push_back(each);
    }
    std::sort(own.begin(), own.end(),
              [](const TresCount& a, const TresCount& b) { return a.tres < b.tres; });
  }

  void inherit(Association& own) const {
    if (own.parent < 0) return;
    const Association& above = site_.associations[static_cast<std::size_t>(own.parent)];
    const auto take = [](std::int64_t& value, std::int64_t from) {
      if (value == kNoLimit) value = from;
    };
    take(own.max_jobs, above.max_jobs);
    take(own.max_jobs_accrue, above.max_jobs_accrue);
    take(own.max_submit_jobs, above.max_submit_jobs);
    take(own.min_priority_threshold, above.min_priority_threshold);
    if (own.job.wall == kNoDuration) own.job.wall = above.job.wall;
    inherit(own.job.tres, above.job.tres);
    inherit(own.job.tres_per_node, above.job.tres_per_node);
    inherit(own.job.tres_minutes, above.job.tres_minutes);
    if (own.qos.empty()) own.qos = above.qos;
    if (own.default_qos.empty()) own.default_qos = above.default_qos;
  }

  Site& site_;
  std::map<Key, Merged> merged_;
  std::size_t next_place_ = 0;
};

}  // namespace

Result<void> read_associations(std::span<const std::vector<Record>> files, Site& site) {
  site.associations.clear();
  auto read = catching([&] {
    Associations(site).read(files);
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  return {};
}

}  // namespace almanac::site
