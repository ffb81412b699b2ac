// SPDX-License-Identifier: Apache-2.0
#include "service/job.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace almanac::service {

bool has_ended(const store::Job& job) {
  return job.state != trace::JobState::pending && job.state != trace::JobState::running;
}

std::string job_id(const store::Job& job) {
  if (!job.task) return fmt::format("{}", job.number);
  return fmt::format("{}_{}", job.task->array, job.task->index);
}

std::string log_file(const std::string& pattern, const store::Job& job) {
  std::string made;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%' || at + 1 == pattern.size()) {
      made += pattern[at];
      continue;
    }
    const auto number = static_cast<std::int64_t>(job.number);
    switch (const char what = pattern[++at]) {
      case 'j':
        made += std::to_string(number);
        break;
      case 'A':
        made += std::to_string(job.task ? static_cast<std::int64_t>(job.task->array) : number);
        break;
      case 'a':
        made += job.task ? std::to_string(job.task->index) : "";
        break;
      case 'x':
        made += job.asked->name;
        break;
      case 'u':
        made += job.asked->user;
        break;
      case '%':
        made += '%';
        break;
      default:
        made += {'%', what};
    }
  }
  if (!made.starts_with('/')) made = fmt::format("{}/{}", job.asked->directory, made);
  return made;
}

std::string log_of(const store::Job& job, bool err) {
  if (err && !job.asked->err.empty()) return log_file(job.asked->err, job);
  if (!job.asked->out.empty()) return log_file(job.asked->out, job);
  return log_file(job.task ? "almanac-%A_%a.out" : "almanac-%j.out", job);
}

}  // namespace almanac::service
