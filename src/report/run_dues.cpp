// SPDX-License-Identifier: Apache-2.0
#include "report/run_dues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "rules/fairness/dues.h"
#include "text/human.h"

namespace almanac::report {
namespace {

constexpr std::size_t kMostOwners = 50;
constexpr double kGpuHour_s = 3600;

std::string gpu_hours(double gpu_s) {
  return text::grouped(static_cast<std::int64_t>(std::llround(gpu_s / kGpuHour_s)));
}

/// Returns "vision lent 1,200 GPU-hours to speech, ..."; "" if no tenant lent an hour.
std::string loans_of(const experiment::Dues& dues, std::size_t most) {
  std::string said;
  for (std::size_t at = 0; at < std::min(most, dues.loans.size()); ++at) {
    const experiment::Loan& loan = dues.loans[at];
    if (loan.gpu_s < kGpuHour_s / 2) break;
    said +=
        fmt::format("{}{} lent {} GPU-hours to {}", said.empty() ? "" : ", ",
                    dues.owners[loan.from].name, gpu_hours(loan.gpu_s), dues.owners[loan.to].name);
  }
  return said;
}

}  // namespace

figure::Figure draw_dues(const std::vector<std::string>& policies,
                         const std::vector<const experiment::Dues*>& dues) {
  figure::Figure figure{.id = "run_dues", .title = "Usage against fair share"};
  using figure::Unit;
  const experiment::Dues& first = *dues.front();
  std::vector<std::size_t> shown(first.owners.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
    return first.owners[a].fair_share_gpu_s > first.owners[b].fair_share_gpu_s;
  });
  if (shown.size() > kMostOwners) shown.resize(kMostOwners);

  auto& name = figure.text("owner", first.by_tenant ? "Tenant" : "User");
  auto& jobs = figure.number("jobs", "GPU jobs", Unit::jobs);
  std::int64_t all = 0;
  for (const std::size_t owner : shown) {
    name.add(first.owners[owner].name);
    jobs.add(static_cast<double>(first.owners[owner].jobs));
    all += static_cast<std::int64_t>(first.owners[owner].jobs);
  }
  figure.n = all;
  figure::Chart chart{.kind = "bar", .title = "Usage as a fraction of fair share", .x = "owner"};
  for (std::size_t policy = 0; policy < dues.size(); ++policy) {
    const std::vector<experiment::Owner>& owners = dues[policy]->owners;
    auto& part = figure.number("had_of_due:" + policies[policy], policies[policy], Unit::fraction);
    chart.y.push_back(part.name);
    for (const std::size_t owner : shown) {
      const experiment::Owner& each = owners[owner];
      part.add(each.fair_share_gpu_s > 0
                   ? std::round(1e4 * each.used_gpu_s / each.fair_share_gpu_s) / 1e4
                   : std::numeric_limits<double>::quiet_NaN());
    }
    if (!first.by_tenant) continue;
    auto& lent = figure.number("lent_gpu_s:" + policies[policy], policies[policy] + ": lent",
                               Unit::gpu_seconds);
    lent.detail = true;
    for (const std::size_t owner : shown) lent.add(std::round(owners[owner].lent_gpu_s));
    auto& borrowed = figure.number("borrowed_gpu_s:" + policies[policy],
                                   policies[policy] + ": borrowed", Unit::gpu_seconds);
    borrowed.detail = true;
    for (const std::size_t owner : shown) borrowed.add(std::round(owners[owner].borrowed_gpu_s));
  }
  figure.charts.push_back(std::move(chart));
  figure.caption = fmt::format(
      "The fair share at any time is {}, limited to the GPUs that its jobs request, "
      "plus a part of what others leave unused.",
      first.by_tenant ? "a tenant's guaranteed part of all GPUs"
                      : "an equal part of all GPUs for each user");
  for (std::size_t policy = 0; first.by_tenant && policy < dues.size(); ++policy) {
    const std::string loans = loans_of(*dues[policy], 1);
    if (!loans.empty()) figure.caption += fmt::format(" Under {} {}.", policies[policy], loans);
  }
  figure.source = "Ghodsi et al., NSDI'11, section 3 (weighted max-min fairness)";
  return figure;
}

std::optional<figure::Finding> dues_finding(const std::string& policy,
                                            const experiment::Dues& dues) {
  if (!dues.by_tenant || dues.owners.empty()) return std::nullopt;
  const experiment::Owner& worst = dues.owners[dues.worst];
  figure::Finding finding{
      .headline = fmt::format("Under {} {} {}, the worst of all tenants.", policy, worst.name,
                              fairness::beside_its_due(worst)),
      .detail =
          fmt::format("Unfairly distributed GPU time: {}.", text::human_share(dues.share_error)),
      .figure = "run_dues"};
  const std::string loans = loans_of(dues, 3);
  if (!loans.empty()) finding.detail += fmt::format(" Unused shares: {}.", loans);
  return finding;
}

}  // namespace almanac::report
