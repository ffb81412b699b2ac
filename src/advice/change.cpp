// SPDX-License-Identifier: Apache-2.0
#include "advice/change.h"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advice/candidates.h"

namespace almanac::advice {

std::vector<Waited> waited(const Play& play, const std::vector<Lived>& before,
                           const std::vector<Lived>& after) {
  std::vector<Waited> made;
  made.reserve(play.size());
  for (std::size_t at = 0; at < play.size(); ++at) {
    made.push_back({&play.request(at), before[at].wait_s, after[at].wait_s});
  }
  return made;
}

Result<Change> change_of(const Play& play, const std::vector<Lived>& today,
                         std::span<const Setting> settings) {
  const site::Site& site = *play.conditions().site;
  auto other = changed(site, settings);
  if (!other) return tl::unexpected(other.error());
  Change made{.settings = {settings.begin(), settings.end()}, .lines = lines_for(site, settings)};
  made.is_today = true;
  for (const Setting& each : settings) {
    made.today.push_back(value_of(each, site));
    made.is_today = made.is_today && made.today.back() == value_of(each, *other);
  }
  const auto after = made.is_today
                         ? std::optional(today)
                         : play.under(slurm_today(play.log(), true),
                                      std::make_shared<const site::Site>(std::move(*other)));
  if (!after) return fail(Code::unavailable, "interrupted");
  const std::uint64_t seed = play.conditions().seed;
  made.before = figures_of(today);
  made.after = figures_of(*after);
  made.wait = gain_of(play, today, *after, &Lived::wait_s, seed);
  made.jct = gain_of(play, today, *after, &Lived::jct_s, seed);
  made.users = users_gain_of(play, today, *after, seed);
  const std::vector<Waited> jobs = waited(play, today, *after);
  made.groups = groups_of(jobs, play.log().names);
  made.losers = losers_of(jobs, play.log().names);
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
