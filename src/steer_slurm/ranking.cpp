// SPDX-License-Identifier: Apache-2.0
#include "steer_slurm/ranking.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "steer/order_values.h"
#include "steer/scope.h"
#include "steer/shards.h"

namespace almanac::steer_slurm {
namespace {

/// The uid in "slurm(64030)"; one that no user has where it is not told.
std::uint32_t slurm_uid(const manager::Site& site) {
  std::uint32_t uid = std::numeric_limits<std::uint32_t>::max();
  const auto user = site.parameters.find("SlurmUser");
  if (user == site.parameters.end()) return uid;
  const std::string& text = user->second;
  if (const auto open = text.find('('); open != text.npos) {
    std::from_chars(text.data() + open + 1, text.data() + text.size(), uid);
  }
  return uid;
}

/// A number between those of its neighbors in the line, of which either may be missing.
std::int64_t number_between(std::optional<std::int64_t> before, std::optional<std::int64_t> behind,
                            const steer::Window& window) {
  const std::int64_t step = steer::usual_step(window);
  std::int64_t made = window.lowest + (window.highest - window.lowest) / 2;
  if (before && behind) {
    made = *behind + (*before - *behind) / 2;
  } else if (before) {
    made = *before - step;
  } else if (behind) {
    made = *behind + step;
  }
  return std::clamp(made, window.lowest, window.highest);
}

}  // namespace

Result<void> Ranking::listen() {
  auto listening =
      Newcomers::listen(known_.config.state + "/job_submit.sock", slurm_uid(known_.site),
                        [this](const manager::Job& newcomer) { return rank(newcomer); });
  if (!listening) return tl::unexpected(listening.error());
  newcomers_ = std::move(*listening);
  return {};
}

Answer Ranking::rank(manager::Job newcomer) {
  // All of slurmctld waits: a decision that is under way is not waited for.
  const std::unique_lock lock(known_.mutex, std::try_to_lock);
  if (!lock) return {};
  newcomer.number = known_.announced.next_number();
  newcomer.submit = known_.mirror.at();
  if (newcomer.partition.empty()) {
    for (const manager::Partition& each : known_.mirror.partitions()) {
      if (each.is_default) newcomer.partition = each.name;
    }
  }
  if (newcomer.account.empty()) {
    const auto& accounts = known_.mirror.limits().accounts;
    const auto own = accounts.find(newcomer.user);
    if (own != accounts.end()) newcomer.account = own->second;
  }
  const steer::Settings& settings = known_.config.settings;
  if (steer::is_exempt(newcomer, settings.exempt) || !steer::is_in_scope(newcomer, settings))
    return {};
  const bool is_held =
      steering_.moves("placement") || (steer::asks_shards(newcomer) && steering_.moves("sharing"));
  Answer answer{.hold = is_held ? known_.driver.lease() : Duration{0}};
  if (!steering_.moves("order") || !steer::uses_site_factor(known_.site, controller_.link().can()))
    return answer;
  const std::vector<manager::JobNumber> line = known_.decider->line_with(newcomer);
  const auto own = std::find(line.begin(), line.end(), newcomer.number);
  if (own == line.end()) return answer;
  const auto number_of = [&](manager::JobNumber job) -> std::optional<std::int64_t> {
    const manager::Job* const known = known_.mirror.find(job);
    return known == nullptr ? known_.announced.site_factor(job) : std::optional(known->site_factor);
  };
  // A job that is to start now stands before all others, whatever number that was given as it came;
  // only those numbers count that are above all that stand behind.
  std::optional<std::int64_t> before;
  std::optional<std::int64_t> behind;
  for (auto at = own + 1; at != line.end(); ++at) {
    if (const auto number = number_of(*at); number && (!behind || *number > *behind)) {
      behind = number;
    }
  }
  for (auto at = line.begin(); at != own; ++at) {
    const auto number = number_of(*at);
    if (number && (!behind || *number > *behind) && (!before || *number < *before)) {
      before = number;
    }
  }
  const std::int64_t number =
      number_between(before, behind, {settings.order.lowest, settings.order.highest});
  known_.announced.add(std::move(newcomer), number);
  answer.site_factor = number;
  return answer;
}

}  // namespace almanac::steer_slurm
