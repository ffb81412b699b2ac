// SPDX-License-Identifier: Apache-2.0
#include "serve/replica_jobs.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "serve/view_json.h"

namespace almanac::serve {

Result<std::int64_t> ReplicaJobs::start(int port, bool is_kept) {
  store::Submission asked = replica_;
  asked.kept = is_kept;
  const std::string number = std::to_string(port);
  asked.name = prefix() + number;
  for (std::string& word : asked.argv) {
    constexpr std::string_view kPort = "{port}";
    for (std::size_t at; (at = word.find(kPort)) != std::string::npos;) {
      word.replace(at, kPort.size(), number);
    }
  }
  std::erase_if(asked.environment, [](const auto& each) { return each.starts_with("PORT="); });
  asked.environment.push_back("PORT=" + number);
  const auto submitted = client_.submit(asked);
  if (!submitted) return tl::unexpected(submitted.error());
  return static_cast<std::int64_t>(submitted->numbers.front());
}

Result<ReplicaJobs::State> ReplicaJobs::state(std::int64_t job) {
  const auto said = client_.get(fmt::format("/v1/jobs/{}", job));
  if (!said && said.error().code == Code::not_found) return State::over;
  const auto listed = said ? read_job(said->body) : tl::unexpected(said.error());
  if (!listed) return tl::unexpected(listed.error());
  switch (listed->view.job.state) {
    case trace::JobState::pending:
      return State::waits;
    case trace::JobState::running:
      return State::runs;
    default:
      return State::over;
  }
}

Result<void> ReplicaJobs::end(std::int64_t job) {
  const auto said = client_.post(fmt::format("/v1/jobs/{}/cancel", job));
  // What has ended meanwhile is as well.
  if (said || said.error().code == Code::conflict || said.error().code == Code::not_found) {
    return {};
  }
  return tl::unexpected(said.error());
}

Result<std::vector<replicas::Jobs::Job>> ReplicaJobs::left() {
  const auto said = client_.get("/v1/jobs");
  if (!said) return tl::unexpected(said.error());
  const auto listed = read_jobs(said->body);
  if (!listed) return tl::unexpected(listed.error());
  std::vector<Job> made;
  const std::string begins = prefix();
  for (const ListedJob& each : listed->jobs) {
    const store::Job& job = each.view.job;
    const bool lives =
        job.state == trace::JobState::pending || job.state == trace::JobState::running;
    if (!lives || !job.asked->name.starts_with(begins)) continue;
    int port = 0;
    const std::string_view number = std::string_view(job.asked->name).substr(begins.size());
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), port);
    if (error != std::errc{} || end != number.data() + number.size()) continue;
    made.push_back({static_cast<std::int64_t>(job.number), port, job.asked->kept});
  }
  return made;
}

}  // namespace almanac::serve
