// SPDX-License-Identifier: Apache-2.0
#include "trace/select.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "text/nearest.h"

namespace almanac::trace {
namespace {

/// The ids of `wanted`, each of which some job must have in `field`.
Result<std::set<NameId>> find_names(const Trace& trace, const std::vector<std::string>& wanted,
                                    NameId Request::*field, const char* what) {
  std::set<NameId> present;
  std::set<NameId> found;
  if (wanted.empty()) return found;
  for (const Job& job : trace.jobs) present.insert(job.request.*field);
  for (const std::string& name : wanted) {
    const auto id = trace.names.find(name);
    if (id && present.contains(*id)) {
      found.insert(*id);
      continue;
    }
    std::vector<std::string> known;
    for (const NameId other : present) known.emplace_back(trace.names[other]);
    return fail(Code::usage, fmt::format("the trace has no {} \"{}\"", what, name), {trace.path},
                text::did_you_mean(name, known));
  }
  return found;
}

/// So many of `order`, drawn with equal chances, still in order.
void draw(std::vector<std::uint32_t>& order, std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::size_t left = order.size();
  std::erase_if(order, [&](std::uint32_t) {
    // Selection sampling: each is taken with the chance wanted / left (Knuth, 3.4.2 S).
    if (rng.below(left--) >= count) return true;
    --count;
    return false;
  });
}

}  // namespace

void select_jobs(Trace& trace, std::span<const std::uint32_t> order) {
  const std::vector<Job> jobs = std::move(trace.jobs);
  trace.jobs.clear();
  trace.jobs.reserve(order.size());
  for (const std::uint32_t position : order) trace.jobs.push_back(jobs[position]);

  if (trace.attempts.empty()) return;
  constexpr std::uint32_t kGone = ~std::uint32_t{0};
  std::vector<std::uint32_t> place(jobs.size(), kGone);
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (Attempt& attempt : trace.attempts) attempt.job = place[attempt.job];
  std::erase_if(trace.attempts, [](const Attempt& attempt) { return attempt.job == kGone; });
  std::stable_sort(trace.attempts.begin(), trace.attempts.end(),
                   [](const Attempt& a, const Attempt& b) { return a.job < b.job; });
}

Result<void> keep_sample(Trace& trace, const Sample& sample) {
  if (sample.fraction && !(*sample.fraction >= 0 && *sample.fraction <= 1)) {
    return fail(Code::usage,
                fmt::format("a fraction must be from 0 to 1, found {}", *sample.fraction));
  }
  const auto vcs = find_names(trace, sample.vcs, &Request::vc, "virtual cluster");
  if (!vcs) return tl::unexpected(vcs.error());
  const auto users = find_names(trace, sample.users, &Request::user, "user");
  if (!users) return tl::unexpected(users.error());

  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < trace.jobs.size(); ++i) {
    const Request& request = trace.jobs[i].request;
    if (request.submit >= sample.from && request.submit < sample.to &&
        request.gpus >= sample.min_gpus && (vcs->empty() || vcs->contains(request.vc)) &&
        (users->empty() || users->contains(request.user))) {
      order.push_back(i);
    }
  }
  if (sample.fraction) {
    const auto count = std::llround(*sample.fraction * static_cast<double>(order.size()));
    draw(order, static_cast<std::size_t>(count), sample.seed);
  }
  if (sample.count) {
    draw(order, static_cast<std::size_t>(std::max<std::int64_t>(0, *sample.count)), sample.seed);
  }
  if (order.empty()) return fail(Code::invalid, "no job is left in the sample", {trace.path});
  select_jobs(trace, order);

  std::unordered_set<std::uint64_t> kept;
  for (const Job& job : trace.jobs) kept.insert(static_cast<std::uint64_t>(job.id));
  for (Job& job : trace.jobs) {
    if (!kept.contains(static_cast<std::uint64_t>(job.request.after)))
      job.request.after = kNoJobKey;
  }
  return {};
}

}  // namespace almanac::trace
