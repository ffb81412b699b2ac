// SPDX-License-Identifier: Apache-2.0
#include "serve/studies.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/step_back.h"
#include "figure/document.h"
#include "report/page.h"
#include "serve/page_policy.h"
#include "study/figures.h"
#include "study/introduction.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::serve {
namespace {

constexpr std::chrono::minutes kGood{5};
/// "The last day" is another by then, even where nothing has changed.
constexpr std::chrono::hours kOld{1};
/// Where there was nothing to study there may be soon.
constexpr std::chrono::seconds kNothing{5};
/// Pages are some megabytes each.
constexpr std::size_t kMostKept = 4;
/// More take gigabytes, which the service is to leave to jobs.
constexpr std::int64_t kMostJobs = 500'000;

std::string first_day(Time since) { return text::format_datetime(since).substr(0, 10); }

}  // namespace

Studies::Studies(const service::Service& service)
    : service_(service), thread_([this] { work(); }) {}

Studies::~Studies() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  news_.notify_all();
  thread_.join();
}

bool Studies::is_good(const Kept& kept) const {
  const Clock::duration age = Clock::now() - kept.at;
  if (age < (kept.made ? Clock::duration(kGood) : kNothing)) return true;
  return kept.made && age < kOld && kept.revision == service_.revision();
}

std::optional<Studies::Made> Studies::ask(int days) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(days);
  if (found != kept_.end() && is_good(found->second)) return found->second.made;
  if (std::find(asked_.begin(), asked_.end(), days) == asked_.end()) asked_.push_back(days);
  // A client that still waits for a dropped study requests it again.
  if (asked_.size() > kMostKept) asked_.pop_front();
  news_.notify_all();
  return std::nullopt;
}

void Studies::work() {
  step_back();
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [&] { return stop_ || !asked_.empty(); });
    if (stop_) return;
    const int days = asked_.front();
    lock.unlock();
    const std::uint64_t revision = service_.revision();
    Made made = make(days);
    lock.lock();
    std::erase(asked_, days);
    kept_.insert_or_assign(days, Kept{std::move(made), revision, Clock::now()});
    if (kept_.size() <= kMostKept) continue;
    kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
      return a.second.at < b.second.at;
    }));
  }
}

Studies::Made Studies::make(int days) const {
  if (!report::has_page()) {
    return fail(Code::unsupported, std::string(report::kNoPage), {},
                "almanac history -o csv prints the jobs");
  }
  const Time since = std::chrono::floor<std::chrono::minutes>(service_.overview().now) - days * 24h;
  auto log = service_.store().log(since, kMostJobs + 1);
  if (!log) return tl::unexpected(log.error());
  const std::string span = days == 1 ? "the last day" : fmt::format("the last {} days", days);
  if (log->jobs.empty()) {
    return fail(Code::not_found, fmt::format("no job has ended in {}", span));
  }
  if (std::ssize(log->jobs) > kMostJobs) {
    return fail(Code::unsupported,
                fmt::format("more than {} jobs ended in {}: too many to study within the service",
                            text::grouped(kMostJobs), span),
                {}, "request fewer days, or use: almanac history -o csv; almanac study");
  }
  // Readers are not told where the store lies.
  log->path = "job log of the service";
  const std::shared_ptr<const cluster::Cluster> cluster = service_.cluster();
  const study::Study subject(*log, *cluster);
  figure::Document document = study::draw_all(subject);
  study::hold_back(document, subject);
  study::introduce(document, subject,
                   {.title = fmt::format("Jobs of {}", span),
                    .filter = fmt::format("ended since {}", text::format_datetime(since)),
                    .version = ALMANAC_VERSION,
                    .command = fmt::format("almanac history --since {} -o csv > log.csv; "
                                           "almanac study log.csv",
                                           first_day(since))});
  Page page{.html = report::page(figure::to_json(document))};
  page.policy = page_policy(page.html);
  return std::make_shared<const Page>(std::move(page));
}

std::shared_ptr<const Studies::Page> waiting_page() {
  Studies::Page page{.html = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A study is being made</title>
<style>body { font: 1.1rem/1.5 serif; margin: 3rem auto; max-width: 34rem; padding: 0 1rem; }</style>
</head>
<body>
<main>
<h1>A study is being made</h1>
<p role="status">Jobs and answers go first; this page shows the study as soon as it is there.</p>
</main>
</body>
</html>
)"};
  page.policy = page_policy(page.html);
  return std::make_shared<const Studies::Page>(std::move(page));
}

}  // namespace almanac::serve
