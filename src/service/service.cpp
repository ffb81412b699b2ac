// SPDX-License-Identifier: Apache-2.0
#include "service/service.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "service/log.h"

namespace almanac::service {

using store::JobNumber;

std::string_view to_string(Switch how) {
  switch (how) {
    case Switch::off:
      return "off";
    case Switch::dry:
      return "dry";
    case Switch::on:
      return "on";
  }
  return "";
}

void Counters::count_round(double length_s) {
  ++rounds;
  last_round_s = length_s;
  const auto us = static_cast<std::uint64_t>(length_s * 1e6);
  ++round_us[std::min<std::size_t>(std::bit_width(us), round_us.size() - 1)];
}

Result<void> add_ended(const store::Store& store, const Sought& sought,
                       std::map<JobNumber, JobView> ended, std::vector<JobView>& into) {
  // Page by page, the smallest numbers first: there may be millions.
  constexpr std::int64_t kPage = 10'000;
  JobNumber last = sought.above;
  for (bool has_more = sought.ended_since.has_value(); has_more && ended.size() < sought.most;) {
    auto page = store.jobs({.ended_since = *sought.ended_since, .above = last, .limit = kPage});
    if (!page) return tl::unexpected(page.error());
    has_more = std::ssize(*page) == kPage;
    for (store::Job& job : *page) {
      last = job.number;
      if (!sought.wanted || sought.wanted(job)) {
        ended.try_emplace(last, JobView{.job = std::move(job)});
      }
      if (ended.size() >= sought.most) break;
    }
  }
  for (auto each = ended.rbegin(); each != ended.rend(); ++each) {
    into.push_back(std::move(each->second));
  }
  return {};
}

Result<void> only_for_operators(const Caller& caller) {
  if (caller.may_all) return {};
  return fail(Code::conflict, "only root and the user who runs the service may do that");
}

Result<store::Job> kept_job(const store::Store& store, JobNumber number) {
  auto kept = store.job(number);
  if (!kept) return tl::unexpected(kept.error());
  if (*kept) return **std::move(kept);
  return fail(Code::not_found, fmt::format("there is no job {}", number));
}

void tell_of_copy(const store::Store& store) {
  const std::string& kept = store.copy_of_before();
  if (kept.empty()) return;
  log_info(fmt::format(
      "an earlier version of Almanac wrote the store; it was upgraded, and {} is a copy of "
      "the former one",
      kept));
}

namespace {

tl::unexpected<Error> of_its_manager() {
  return fail(Code::unsupported,
              "this is a Slurm cluster: Slurm manages its own maintenance windows", {},
              "scontrol create reservation Flags=maint");
}

}  // namespace

Result<std::int64_t> Service::announce(const Window&, const Caller&) { return of_its_manager(); }
Result<void> Service::call_off(std::int64_t, const Caller&) { return of_its_manager(); }

Result<std::optional<StartsIf>> Service::starts_if(JobNumber) const {
  return fail(Code::unsupported, "this service does not know which changes would start a job", {},
              "almanac explain JOB says why it waits");
}

Result<void> Service::update(const std::vector<JobNumber>&, const store::Amended&, const Caller&) {
  return fail(Code::unsupported, "this is a Slurm cluster: change jobs with the commands of Slurm",
              {}, "scontrol update");
}

}  // namespace almanac::service
