// SPDX-License-Identifier: Apache-2.0
#include "machine/hooks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/step_back.h"
#include "process/capture.h"
#include "service/log.h"
#include "text/toml_file.h"
#include "text/toml_reader.h"

namespace almanac::machine {
namespace {

/// So many may wait to be run.
constexpr std::size_t kMostCalls = 1000;
constexpr Duration kHookPatience = 30s;
constexpr std::array<std::string_view, 4> kHappens{"started", "ended", "requeued", "preempted"};

class HooksReader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  std::vector<Hook> read(const toml::table& file) const {
    allow(file, {"hook"});
    std::vector<Hook> made;
    const toml::array* const all = file.get_as<toml::array>("hook");
    if (all == nullptr) return made;
    for (const toml::node& each : *all) {
      if (!each.is_table()) refuse(each, "expected [[hook]]");
      const toml::table& table = *each.as_table();
      allow(table, {"on", "users", "command"});
      Hook& hook = made.emplace_back();
      hook.on = words(table, "on");
      hook.users = words(table, "users");
      for (const std::string& word : hook.on) {
        const bool is_known = std::find(kHappens.begin(), kHappens.end(), word) != kHappens.end();
        if (!is_known && !trace::parse_state(word)) {
          refuse(table, fmt::format("on must be started, ended, requeued, preempted, or a state "
                                    "such as FAILED, not {}",
                                    word));
        }
      }
      hook.command = table["command"].value_or(std::string());
      if (hook.command.empty()) refuse(table, "a hook needs a command");
    }
    return made;
  }

 private:
  std::set<std::string> words(const toml::table& table, const char* key) const {
    std::set<std::string> made;
    const toml::node* const node = table.get(key);
    if (node == nullptr) return made;
    if (!node->is_array()) refuse(*node, fmt::format("{} must be a list of words", key));
    for (const toml::node& each : *node->as_array()) {
      const auto word = each.value_exact<std::string>();
      if (!word) refuse(each, fmt::format("{} must be a list of words", key));
      made.insert(*word);
    }
    return made;
  }
};

std::string number_in_words(store::JobNumber number) {
  return std::to_string(static_cast<std::int64_t>(number));
}

/// The job's state when that had happened to it; it may be another by now.
trace::JobState state_then(const store::Job& job, const store::Note& note) {
  if (note.what == "ended") return job.state;
  return note.what == "started" ? trace::JobState::running : trace::JobState::pending;
}

}  // namespace

bool Hook::is_for(const store::Job& job, const store::Note& note) const {
  if (!users.empty() && !users.contains(job.asked->user)) return false;
  const bool happens = std::find(kHappens.begin(), kHappens.end(), note.what) != kHappens.end();
  if (!happens) return false;
  if (on.empty() || on.contains(note.what)) return true;
  return note.what == "ended" && on.contains(std::string(to_string(job.state)));
}

Result<std::vector<Hook>> read_hooks(const std::string& path) {
  return text::read_toml_file<HooksReader>(path);
}

Hooks::Hooks(std::vector<Hook> hooks) : hooks_(std::move(hooks)), thread_([this] { work(); }) {}

Hooks::~Hooks() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  ends_.ring();
  news_.notify_all();
  thread_.join();
}

void Hooks::hear(const store::Job& job, const store::Note& note) {
  for (const Hook& hook : hooks_) {
    if (!hook.is_for(job, note)) continue;
    const std::lock_guard lock(mutex_);
    const bool is_full = waiting_.size() >= kMostCalls;
    if (is_full && !std::exchange(is_full_, true)) {
      service::log_warning(
          fmt::format("{} hook commands are waiting: further ones are dropped", kMostCalls));
    }
    if (is_full) return;
    is_full_ = false;
    waiting_.push_back({&hook, job, note});
    news_.notify_all();
  }
}

void Hooks::work() {
  step_back();
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const Call call = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const store::Job& job = call.job;
    const auto ran = process::capture(
        {.argv = {"/bin/sh", "-c", call.hook->command},
         .environment = {{"ALMANAC_EVENT", call.note.what},
                         {"ALMANAC_STATE", std::string(to_string(state_then(job, call.note)))},
                         {"ALMANAC_JOB_ID", number_in_words(job.number)},
                         {"ALMANAC_JOB_NAME", job.asked->name},
                         {"ALMANAC_JOB_COMMENT", job.asked->comment},
                         {"ALMANAC_USER", job.asked->user},
                         {"ALMANAC_REASON", call.note.detail}}},
        kHookPatience, &ends_);
    if (!ran || !ran->ending.good()) {
      service::log_warning(
          fmt::format("hook of job {}: {}: {}", number_in_words(job.number), call.hook->command,
                      ran ? process::to_string(ran->ending) : to_string(ran.error())));
    }
    lock.lock();
  }
}

}  // namespace almanac::machine
