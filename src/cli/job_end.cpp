// SPDX-License-Identifier: Apache-2.0
#include "cli/job_end.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "cli/program.h"
#include "service/job.h"
#include "text/duration.h"

namespace almanac::cli {

std::string end_in_words(const serve::ListedJob& listed) {
  const store::Job& job = listed.view.job;
  std::string text = fmt::format("job {} has ended: {}", listed.id, trace::to_string(job.state));
  if (job.signal != 0) {
    text += fmt::format(", signal {}", job.signal);
  } else if (job.exit_status) {
    text += fmt::format(", exit status {}", *job.exit_status);
  }
  const bool says_more = !job.reason.empty() && job.state != trace::JobState::failed;
  if (says_more) text += ", " + job.reason;
  if (job.start == kNoTime) return text + ", it never ran";
  text +=
      ", after " + text::format_duration(std::chrono::floor<std::chrono::seconds>(job.attained));
  const std::string log = service::log_of(job, false);
  return log == "/dev/null" ? text : text + "; log: " + log;
}

int exit_status_of(const store::Job& job) {
  if (job.exit_status.value_or(0) != 0) return *job.exit_status;
  return job.state == trace::JobState::completed ? 0 : 1;
}

Result<serve::ListedJob> await_end(serve::Client& client, store::JobNumber number) {
  constexpr auto kPause = std::chrono::milliseconds(500);
  const std::string path = fmt::format("/v1/jobs/{}", number);
  for (;; std::this_thread::sleep_for(kPause)) {
    const auto answer = client.get(path);
    if (!answer && answer.error().code == Code::unavailable) continue;
    if (!answer) return tl::unexpected(answer.error());
    auto listed = serve::read_job(answer->body);
    if (!listed || service::has_ended(listed->view.job)) return listed;
  }
}

Result<int> await_ends(serve::Client& client, const std::vector<store::JobNumber>& numbers) {
  int highest = 0;
  std::size_t well = 0;
  for (const store::JobNumber number : numbers) {
    const auto listed = await_end(client, number);
    if (!listed) return tl::unexpected(listed.error());
    const int status = exit_status_of(listed->view.job);
    highest = std::max(highest, status);
    well += status == 0 ? 1 : 0;
    if (status != 0 || numbers.size() == 1) note(end_in_words(*listed));
  }
  if (numbers.size() > 1) note(fmt::format("{} of {} tasks succeeded", well, numbers.size()));
  return highest;
}

}  // namespace almanac::cli
