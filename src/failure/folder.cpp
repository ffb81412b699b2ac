// SPDX-License-Identifier: Apache-2.0
#include "failure/folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "table/stream.h"

namespace almanac::failure {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;

bool hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.empty() && name.front() == '.';
}

Result<std::vector<std::string>> find_logs(const std::string& folder) {
  std::error_code error;
  const fs::path top(folder);
  const fs::file_status status = fs::status(top, error);
  if (fs::is_regular_file(status)) return std::vector<std::string>{""};
  if (!fs::is_directory(status)) {
    return fail(Code::not_found, "there is no such folder of logs", {folder});
  }
  std::vector<std::string> found;
  fs::recursive_directory_iterator at(top, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (hidden(at->path())) {
      at.disable_recursion_pending();
      continue;
    }
    std::error_code gone;
    if (at->is_regular_file(gone)) found.push_back(at->path().lexically_relative(top).string());
  }
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot be listed: {}", error.message()), {folder});
  }
  if (found.empty()) return fail(Code::not_found, "the folder contains no log", {folder});
  std::sort(found.begin(), found.end());
  return found;
}

void judge(const std::string& path, Classifier& classifier, JudgedLog& log) try {
  std::error_code error;
  if (fs::file_size(path, error) == 0 && !error) return;
  const auto stream = table::open_stream(path);
  if (!stream) {
    log.trouble = stream.error().message;
    return;
  }
  std::string block(kReadAtOnce, '\0');
  try {
    while (const std::size_t count = (*stream)->read(block.data(), block.size())) {
      classifier.feed({block.data(), count});
      log.bytes += static_cast<std::int64_t>(count);
    }
  } catch (const table::StreamFailure& failure) {
    log.trouble = failure.error.message;
  }
  log.verdict = classifier.finish();
} catch (const table::StreamFailure& failure) {
  log.trouble = failure.error.message;
}

}  // namespace

Result<std::vector<JudgedLog>> judge_folder(const std::string& folder, const RuleSet& set) {
  auto paths = find_logs(folder);
  if (!paths) return tl::unexpected(paths.error());
  std::vector<JudgedLog> logs(paths->size());
  tbb::enumerable_thread_specific<Classifier> classifiers([&] { return Classifier(set); });
  tbb::parallel_for(std::size_t{0}, logs.size(), [&](std::size_t at) {
    JudgedLog& log = logs[at];
    log.path = std::move((*paths)[at]);
    const std::string whole = log.path.empty() ? folder : (fs::path(folder) / log.path).string();
    judge(whole, classifiers.local(), log);
    if (log.path.empty()) log.path = fs::path(folder).filename().string();
    log.name = read_log_name(log.path);
  });
  return logs;
}

bool says_more(const RuleSet& set, const JudgedLog& a, const JudgedLog& b) {
  if (a.verdict.rule && b.verdict.rule) {
    if (set.precedes(*a.verdict.rule, *b.verdict.rule)) return true;
    if (set.precedes(*b.verdict.rule, *a.verdict.rule)) return false;
  } else if (a.verdict.rule || b.verdict.rule) {
    return a.verdict.rule.has_value();
  }
  return a.path < b.path;
}

}  // namespace almanac::failure
