// SPDX-License-Identifier: Apache-2.0
#include "cli/draft_submission.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "cli/wall_clock.h"
#include "process/resource_limits.h"
#include "submission/draft.h"
#include "submission/validate.h"

extern char** environ;

namespace almanac::cli {
namespace {

/// What is wrong with a command line is a misuse.
Error as_misuse(Error error) {
  if (error.code == Code::invalid) error.code = Code::usage;
  return error;
}

/// Changes nothing where the kernel says it (Linux 4.7): other threads may create files meanwhile.
std::int32_t umask_now() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "Umask:" && status >> word) {
      return static_cast<std::int32_t>(std::stol(word, nullptr, 8));
    }
  }
  const mode_t umask = ::umask(0);
  ::umask(umask);
  return static_cast<std::int32_t>(umask);
}

}  // namespace

Result<store::Submission> base_submission() {
  store::Submission base;
  std::error_code failed;
  base.directory = std::filesystem::current_path(failed);
  if (failed) return fail(Code::unavailable, "the working directory no longer exists");
  base.umask = umask_now();
  base.resource_limits = process::resource_limits();
  for (char** each = environ; *each != nullptr; ++each) base.environment.emplace_back(*each);
  return base;
}

Result<store::Submission> with_asked(store::Submission base,
                                     const std::vector<std::string>& asked) {
  const auto has = [&](std::string_view option) {
    return std::find(asked.begin(), asked.end(), option) != asked.end();
  };
  if (has("--requeue") && has("--no-requeue")) {
    return fail(Code::usage, "--requeue and --no-requeue exclude each other", {}, "give one");
  }
  submission::Draft draft{.asked = std::move(base), .now = wall_clock()};
  auto done = submission::apply_words(asked, submission::own_options(), {}, draft);
  if (done) done = draft.settle();
  if (!done) return tl::unexpected(as_misuse(std::move(done.error())));
  std::string& directory = draft.asked.directory;
  directory = std::filesystem::absolute(directory).lexically_normal();
  return std::move(draft.asked);
}

Result<void> check_submission(const store::Submission& asked) {
  return submission::validate(asked, submission::Naming::option).map_error(as_misuse);
}

}  // namespace almanac::cli
