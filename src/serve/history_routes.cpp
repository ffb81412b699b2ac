// SPDX-License-Identifier: Apache-2.0

/// \file
/// The routes of the past: ended jobs, and the use of the cluster over time.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "process/descriptor.h"
#include "serve/answers.h"
#include "serve/api.h"
#include "serve/query.h"
#include "serve/view_json.h"
#include "trace/write.h"

namespace almanac::serve {
namespace {

constexpr std::int64_t kMostEvents = 10'000;
constexpr std::int64_t kMostMoments = 10'000;
/// Some 1.5 KB of memory each while they are written.
constexpr std::int64_t kMostInLog = 200'000;

/// The job log as text. The writer writes files only; this one is gone before any other process
/// sees it.
Result<std::string> csv_of(const trace::Trace& trace, const std::string& folder) {
  std::string path = folder + "/history-XXXXXX";
  const process::Descriptor reserved(::mkstemp(path.data()));
  if (!reserved) return fail(Code::unavailable, "cannot write", {.file = folder});
  const auto saved = trace::save_trace(trace, path, "csv");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  ::unlink(path.c_str());
  if (!saved) return tl::unexpected(saved.error());
  return text;
}

}  // namespace

void Api::add_history() {
  on("GET", "/v1/history", [this](const Ask& ask, const std::string&) { return history(ask); });
  on("GET", "/v1/timeline", [this](const Ask& ask, const std::string&) {
    const auto since = time(ask, "since");
    if (!since) return problem(since.error());
    const auto moments = service_.store().moments(*since, kMostMoments);
    return moments ? json(to_json(*moments)) : problem(moments.error());
  });
}

Answer Api::history(const Ask& ask) const {
  const auto known = knows(ask, {"since", "until", "format", "limit", "below", "user", "order"});
  const auto since = time(ask, "since");
  const auto until = time(ask, "until");
  const auto limit = whole(ask, "limit", kMostEvents);
  const auto below = whole(ask, "below", 0);
  if (!known) return problem(known.error());
  if (!since) return problem(since.error());
  if (!until) return problem(until.error());
  if (!limit) return problem(limit.error());
  if (!below) return problem(below.error());
  const std::string format = word(ask, "format");
  if (format == "csv") {
    auto log =
        service_.store().log(*since, kMostInLog + 1, *until == kNoTime ? Time::max() : *until);
    if (!log) return problem(log.error());
    if (std::ssize(log->jobs) > kMostInLog) {
      return problem(413, fmt::format("more than {} jobs ended in that time", kMostInLog),
                     "request it in parts, with since and until");
    }
    auto text = csv_of(*log, service_.state());
    if (!text) return problem(text.error());
    Answer answer{.body = *std::move(text), .type = "text/csv; charset=utf-8"};
    protect(answer);
    return answer;
  }
  if (!format.empty() && format != "json") {
    return problem(400, fmt::format("format must be csv or json, not {}", format));
  }
  const std::string order = word(ask, "order");
  if (!order.empty() && order != "number" && order != "end") {
    return problem(400, fmt::format("order must be number or end, not {}", order));
  }
  const std::int64_t most = std::clamp<std::int64_t>(*limit, 1, kMostEvents);
  store::Filter filter{
      .user = word(ask, "user"),
      .states = {trace::JobState::completed, trace::JobState::failed, trace::JobState::cancelled,
                 trace::JobState::timeout, trace::JobState::node_fail},
      .ended_since = *since,
      .ended_until = *until,
      .last_ended_first = order == "end",
      .limit = most + 1};
  if (*below > 0) filter.below = store::JobNumber{*below};
  auto jobs = service_.store().jobs(filter);
  if (!jobs) return problem(jobs.error());
  const bool has_more = static_cast<std::int64_t>(jobs->size()) > most;
  if (has_more) jobs->resize(static_cast<std::size_t>(most));
  std::vector<service::JobView> views;
  for (store::Job& each : *jobs) views.push_back({.job = std::move(each)});
  return json(to_json(views, *service_.cluster(), service_.revision(), has_more));
}

}  // namespace almanac::serve
