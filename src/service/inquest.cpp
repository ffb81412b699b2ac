// SPDX-License-Identifier: Apache-2.0
#include "service/inquest.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/step_back.h"
#include "failure/classifier.h"
#include "process/as_user.h"
#include "process/descriptor.h"
#include "service/job.h"
#include "service/log.h"

namespace almanac::service {
namespace {

/// Between the kind of failure and what its log says of it.
constexpr std::string_view kLine = ", line ";

/// So many jobs may wait for it; of more that fail at once the later ones are not judged.
constexpr std::size_t kMostWaiting = 1000;

process::Descriptor open_log(const store::Job& job, const std::string& path) {
  const process::AsUser as_user({.uid = job.asked->uid, .gid = job.asked->gid});
  if (!as_user.holds()) return process::Descriptor();
  return process::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

std::optional<std::string> judge(const failure::RuleSet& set, const store::Job& job, bool err) {
  const process::Descriptor file = open_log(job, log_of(job, err));
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  if (::geteuid() == 0 && about.st_uid != job.asked->uid) return std::nullopt;
  failure::Classifier classifier(set);
  std::array<char, 1 << 16> block{};
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got <= 0) break;
    classifier.feed({block.data(), static_cast<std::size_t>(got)});
  }
  const failure::Verdict verdict = classifier.finish();
  if (!verdict.rule) return std::nullopt;
  const failure::Rule& rule = set.rules.rules[*verdict.rule];
  const std::string& advice = failure::suggestion_of(set.rules, rule);
  return fmt::format("{}{}{}: {}{}{}", set.rules.categories[rule.category].name, kLine,
                     verdict.line, verdict.quote, advice.empty() ? "" : " -> ", advice);
}

}  // namespace

std::string detail_for(const store::Note& note, Eyes eyes) {
  if (eyes == Eyes::owner || note.what != kJudged) return note.detail;
  return note.detail.substr(0, note.detail.find(kLine));
}

Inquest::Inquest(Tell tell) : tell_(std::move(tell)), thread_([this] { work(); }) {}

Inquest::~Inquest() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  news_.notify_all();
  thread_.join();
}

void Inquest::hold(const store::Job& failed) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == kMostWaiting) return;
    waiting_.push_back(failed);
  }
  news_.notify_all();
}

void Inquest::work() {
  step_back();
  std::optional<failure::RuleSet> set;
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const store::Job job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (!set) {
      auto made = failure::RuleSet::compile(failure::builtin_rules());
      if (!made) {
        log_error(fmt::format("cannot read the logs of failed jobs: {}", to_string(made.error())));
        return;
      }
      set.emplace(std::move(*made));
    }
    auto why = judge(*set, job, true);
    if (!why && !job.asked->err.empty()) why = judge(*set, job, false);
    if (why) tell_(job.number, *why);
    lock.lock();
  }
}

}  // namespace almanac::service
