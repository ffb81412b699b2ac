// SPDX-License-Identifier: Apache-2.0
#include "advice/change.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advice/candidates.h"
#include "cluster/slurm_words.h"
#include "text/human.h"

namespace almanac::advice {

namespace {

/// Sets the figures of the jobs that start before and after.
void compare(const Play& play, const std::vector<Lived>& before, const std::vector<Lived>& after,
             Change& made) {
  const std::uint64_t seed = play.conditions().seed;
  made.before = figures_of(kept(before, made.compared));
  made.after = figures_of(kept(after, made.compared));
  made.wait = gain_of(play, before, after, &Lived::wait_s, seed);
  made.jct = gain_of(play, before, after, &Lived::jct_s, seed);
  made.users = users_gain_of(play, before, after, seed);
  const std::vector<Waited> jobs = waited(play, before, after);
  made.groups = groups_of(jobs, play.log().names);
  made.losers = losers_of(jobs, play.log().names);
}

/// Number of jobs of a partition that asked for more time than `most`. Jobs that name no partition
/// are those of the default one.
std::int64_t longer_than(Duration most, const site::Partition& partition, const Play& play) {
  std::int64_t jobs = 0;
  for (std::size_t at = 0; at < play.size(); ++at) {
    const trace::Request& request = play.request(at);
    const NameId own = request.partition != kNoName ? request.partition : request.vc;
    bool is_in = partition.is_default;
    if (own != kNoName) {
      const auto names = cluster::split_list(play.log().names[own]);
      is_in = std::find(names.begin(), names.end(), partition.name) != names.end();
    }
    if (is_in && request.time_limit != kNoDuration && request.time_limit > most) ++jobs;
  }
  return jobs;
}

std::vector<std::string> remarks_on(const Play& play, const site::Site& today,
                                    const site::Site& other, std::span<const Setting> settings) {
  std::vector<std::string> made;
  for (const Setting& each : settings) {
    const bool is_of_shares = each.name == "PriorityWeightFairshare" ||
                              each.name == "PriorityDecayHalfLife" ||
                              each.name == "FairShareDampeningFactor";
    if (is_of_shares && today.associations.empty()) {
      made.push_back(fmt::format(
          "The site's files have no associations, so no shares are known, and {} cannot change "
          "anything here.",
          each.name));
    }
    if (each.place != Setting::Place::partition || each.name != "MaxTime") continue;
    const Duration most = other.find_partition(each.owner)->max_time;
    const std::int64_t jobs = longer_than(most, *today.find_partition(each.owner), play);
    if (most >= today.find_partition(each.owner)->max_time || jobs == 0) continue;
    made.push_back(fmt::format(
        "{} asked for more time. Their limits count as the new MaxTime here, and they run as long "
        "as recorded; a real Slurm would refuse them or leave them pending.",
        text::counted(static_cast<std::uint64_t>(jobs), "job")));
  }
  return made;
}

}  // namespace

std::vector<Waited> waited(const Play& play, const std::vector<Lived>& before,
                           const std::vector<Lived>& after) {
  std::vector<Waited> made;
  made.reserve(play.size());
  for (std::size_t at = 0; at < play.size(); ++at) {
    if (!before[at].ended || !after[at].ended) continue;
    made.push_back({&play.request(at), before[at].wait_s, after[at].wait_s});
  }
  return made;
}

Result<Change> change_of(const Play& play, const std::vector<Lived>& today,
                         std::span<const Setting> settings) {
  const site::Site& site = *play.conditions().site;
  auto other = changed(site, settings);
  if (!other) return tl::unexpected(other.error());
  Change made;
  std::copy_if(settings.begin(), settings.end(), std::back_inserter(made.settings),
               [&](const Setting& each) { return value_of(each, site) != value_of(each, *other); });
  made.is_today = made.settings.empty();
  if (made.is_today) made.settings = {settings.begin(), settings.end()};
  made.lines = lines_for(site, made.settings);
  for (const Setting& each : made.settings) made.today.push_back(value_of(each, site));
  made.remarks = remarks_on(play, site, *other, settings);
  for (const Setting& each : settings) {
    const std::string value = value_of(each, site);
    if (made.is_today || value != value_of(each, *other)) continue;
    made.remarks.push_back(
        fmt::format("{} is {} today, so it changes nothing.", name_of(each), value));
  }
  const auto after = made.is_today
                         ? std::optional(today)
                         : play.under(slurm_today(play.log(), true),
                                      {.site = std::make_shared<const site::Site>(*other)});
  if (!after) return fail(Code::unavailable, "interrupted");
  for (std::size_t at = 0; at < today.size(); ++at) {
    const bool ended = today[at].ended;
    const bool ends = (*after)[at].ended;
    made.compared.push_back(ended && ends);
    if (ended && ends) ++made.jobs;
    if (ended && !ends) ++made.never;
    if (!ended && ends) ++made.newly;
  }
  compare(play, today, *after, made);
  return made;
}

std::string in_words(const Change& change) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < change.settings.size(); ++at) {
    parts.push_back(fmt::format("{} {} -> {}", name_of(change.settings[at]), change.today[at],
                                change.settings[at].value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace almanac::advice
