// SPDX-License-Identifier: Apache-2.0
#include "machine/limits.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>
#include <unistd.h>

#include "text/duration.h"
#include "text/toml_file.h"
#include "text/toml_reader.h"

namespace almanac::machine {
namespace {

constexpr const char* kHint = "serve --limits sets the limits";

class Reader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  Limits read(const toml::table& file) {
    allow(file, {"site", "user", "users"});
    Limits made;
    if (const toml::table* const site = table(file, "site")) {
      allow(*site, {"jobs"});
      made.jobs = whole(*site, "jobs", made.jobs);
    }
    if (const toml::table* const user = table(file, "user")) made.user = read_user(*user, {});
    if (const toml::table* const users = table(file, "users")) {
      for (const auto& [name, node] : *users) {
        const std::string user(name.str());
        made.users[user] = read_user(*table(*users, user.c_str()), made.user);
      }
    }
    return made;
  }

 private:
  template <typename Number>
  Number whole(const toml::table& from, const char* key, Number missing) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return missing;
    const auto found = node->value_exact<std::int64_t>();
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    if (!found || *found < 0 || *found > kMost) {
      refuse(*node, fmt::format("{} must be a whole number from 0 to {}", key, kMost));
    }
    return static_cast<Number>(*found);
  }

  UserLimits read_user(const toml::table& from, UserLimits made) {
    allow(from, {"jobs", "submissions_per_minute", "tasks", "gpus", "time_h", "processes"});
    made.jobs = whole(from, "jobs", made.jobs);
    made.submissions_per_minute =
        whole(from, "submissions_per_minute", made.submissions_per_minute);
    made.tasks = whole(from, "tasks", made.tasks);
    made.gpus = whole(from, "gpus", made.gpus);
    made.processes = whole(from, "processes", made.processes);
    if (const toml::node* const node = from.get("time_h")) {
      constexpr double kMost_h = 24.0 * 3650;
      const auto hours = node->value<double>();
      if (!hours || !(*hours > 0 && *hours <= kMost_h)) {
        refuse(*node, fmt::format("time_h must be more than 0 and at most {}", kMost_h));
      }
      made.time = Duration{std::llround(*hours * static_cast<double>(Duration{1h}.count()))};
    }
    return made;
  }
};

std::int64_t tasks_of(const store::Submission& asked) {
  return std::max<std::int64_t>(1, std::ssize(asked.indices));
}

}  // namespace

const UserLimits& Limits::of(const std::string& name) const {
  const auto found = users.find(name);
  return found == users.end() ? user : found->second;
}

Result<Limits> read_limits(const std::string& path) { return text::read_toml_file<Reader>(path); }

void Gate::count(const store::Job& job, int sign) {
  jobs_ += sign;
  const auto at = of_users_.try_emplace(job.asked->user).first;
  at->second += sign;
  if (at->second == 0) of_users_.erase(at);
}

Duration Gate::time_limit(const store::Submission& asked) const {
  const Duration most = limits_.of(asked.user).time;
  return asked.time_limit == kNoDuration ? most : asked.time_limit;
}

Result<void> Gate::may_ask(const store::Submission& asked) const {
  const UserLimits& most = limits_.of(asked.user);
  const auto never = [&](std::string what) {
    return fail(Code::usage, fmt::format("never: {}", what), {}, kHint);
  };
  if (const auto gpus = std::max(asked.gpus, asked.max_gpus); gpus > most.gpus) {
    return never(fmt::format("jobs of {} may request {} GPUs, this one requests {}", asked.user,
                             most.gpus, gpus));
  }
  if (most.time != kNoDuration && asked.time_limit != kNoDuration && asked.time_limit > most.time) {
    return never(fmt::format("jobs of {} may run for {}, this one requests {}", asked.user,
                             text::format_duration(most.time),
                             text::format_duration(asked.time_limit)));
  }
  return {};
}

Result<void> Gate::let_in(const store::Submission& asked, Duration since_boot) {
  const UserLimits& most = limits_.of(asked.user);
  const auto never = [&](std::string what) {
    return fail(Code::usage, fmt::format("never: {}", what), {}, kHint);
  };
  const auto not_now = [&](std::string what) {
    return fail(Code::conflict, fmt::format("not now: {}", what), {}, kHint);
  };
  const std::int64_t tasks = tasks_of(asked);
  if (std::ssize(asked.indices) > most.tasks) {
    return never(fmt::format("arrays of {} may have {} tasks, this one has {}", asked.user,
                             most.tasks, asked.indices.size()));
  }
  if (tasks > std::min(most.jobs, limits_.jobs)) {
    return never(fmt::format("{} may have {} jobs at once, this would be {}", asked.user,
                             std::min(most.jobs, limits_.jobs), tasks));
  }
  if (auto may = may_ask(asked); !may) return may;
  const auto found = of_users_.find(asked.user);
  const std::int64_t present = found == of_users_.end() ? 0 : found->second;
  if (present + tasks > most.jobs) {
    return not_now(fmt::format("{} has {} pending and running jobs; the limit is {}", asked.user,
                               present, most.jobs));
  }
  if (jobs_ + tasks > limits_.jobs) {
    return not_now(fmt::format("{} jobs of all users are pending or running; the limit is {}",
                               jobs_, limits_.jobs));
  }
  if (asked.uid == 0 || asked.uid == ::geteuid()) return {};
  const double full = most.submissions_per_minute;
  Pace& pace = paces_.try_emplace(asked.user, Pace{full, since_boot}).first->second;
  const double refilled = seconds(since_boot - pace.seen) / 60 * full;
  pace = {std::min(full, pace.left + refilled), since_boot};
  if (pace.left < 1) {
    return not_now(fmt::format("{} may submit {} times a minute; an array counts once", asked.user,
                               most.submissions_per_minute));
  }
  --pace.left;
  return {};
}

}  // namespace almanac::machine
