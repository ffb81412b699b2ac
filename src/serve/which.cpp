// SPDX-License-Identifier: Apache-2.0
#include "serve/which.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "serve/fields.h"
#include "serve/query.h"
#include "service/job.h"
#include "submission/argument.h"
#include "trace/job.h"

namespace almanac::serve {

void list(auto& fields, Is<Which> auto& of) {
  fields.sparse("jobs", of.jobs);
  fields.sparse("user", of.user);
  fields.sparse("state", of.state);
  fields.sparse("name", of.name);
  fields.sparse("all", of.all);
  fields.sparse("now", of.now);
  fields.sparse("dry_run", of.dry_run);
}

namespace {

using store::JobNumber;

constexpr std::size_t kMostNamed = 200'000;

/// A job, or tasks of an array, as they were named.
struct NamedJob {
  const std::string* text = nullptr;
  JobNumber number{};
  std::optional<std::vector<std::int32_t>> indices{};  ///< Rising; nothing = the job, or all tasks.
  bool is_found = false;
  std::optional<Error> refused{};
  bool is_anothers = false;

  bool means(const store::Job& job) const {
    if (!indices) return job.number == number || (job.task && job.task->array == number);
    return job.task && job.task->array == number &&
           std::binary_search(indices->begin(), indices->end(), job.task->index);
  }
};

/// Reads "17", "12_3" and "12_[0-4,7]".
Result<NamedJob> read_named(const std::string& text) {
  const auto wrong = [&] {
    return fail(Code::usage,
                fmt::format("a job must be a number such as 17, 12_3 or 12_[0-4,7], not {}",
                            text.substr(0, 40)));
  };
  const std::size_t line = text.find('_');
  const std::string_view first = std::string_view(text).substr(0, line);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), number);
  if (error != std::errc() || end != first.data() + first.size() || number <= 0) return wrong();
  NamedJob made{.text = &text, .number = JobNumber{number}};
  if (line == std::string::npos) return made;
  std::string_view tasks = std::string_view(text).substr(line + 1);
  const bool is_list = tasks.starts_with('[') && tasks.ends_with(']') && tasks.size() > 2;
  if (is_list) tasks = tasks.substr(1, tasks.size() - 2);
  auto array = submission::read_array(tasks);
  if (!array || (!is_list && array->indices.size() != 1)) return wrong();
  made.indices = std::move(array->indices);
  return made;
}

Result<std::vector<NamedJob>> read_all(const std::vector<std::string>& jobs) {
  std::vector<NamedJob> made;
  made.reserve(jobs.size());
  for (const std::string& each : jobs) {
    auto named = read_named(each);
    if (!named) return tl::unexpected(named.error());
    made.push_back(*std::move(named));
  }
  return made;
}

Result<std::optional<trace::JobState>> read_state(std::string word) {
  if (word.empty()) return std::optional<trace::JobState>();
  std::transform(word.begin(), word.end(), word.begin(), [](char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  });
  const auto state = trace::parse_state(word);
  if (state == trace::JobState::pending || state == trace::JobState::running) return state;
  return fail(Code::usage, fmt::format("the state must be PENDING (PD) or RUNNING (R), not {}",
                                       word.substr(0, 40)));
}

void refuse_anothers(NamedJob& named, const store::Job& job) {
  named.refused = {
      Code::conflict, fmt::format("job {} belongs to {}", *named.text, job.asked->user), {}, {}};
  named.is_anothers = true;
}

bool may_change(const service::Caller& caller, const store::Job& job) {
  return caller.may_all || caller.uid == job.asked->uid;
}

}  // namespace

Result<Which> read_which(std::string_view text) {
  return read_json(text, [](const Json& json) {
    Which read;
    Reader reader(json);
    list(reader, read);
    reader.end();
    const auto refuse = [](std::string message, std::string hint = {}) {
      throw Refused{{Code::invalid, std::move(message), {}, std::move(hint)}};
    };
    if (read.jobs.size() > kMostNamed) {
      refuse(fmt::format("jobs may have at most {}, not {}", kMostNamed, read.jobs.size()));
    }
    const bool says_some =
        !read.jobs.empty() || !read.user.empty() || !read.state.empty() || !read.name.empty();
    if (!says_some && !read.all) {
      refuse("no jobs are selected", "give jobs, user, state or name; or all");
    }
    return read;
  });
}

std::string to_json(const Which& which) { return dumped(written(which)); }

Result<Chosen> choose(const service::Service& service, const Which& which,
                      const service::Caller& caller, const std::string& caller_name, bool ended_too,
                      const LeavesAlone& leaves_alone) {
  const auto state = read_state(which.state);
  if (!state) return tl::unexpected(state.error());
  auto named = read_all(which.jobs);
  if (!named) return tl::unexpected(named.error());
  if (!caller.may_all && !which.user.empty() && which.user != caller_name) {
    return fail(Code::conflict, fmt::format("you may not change jobs of {}", which.user));
  }
  std::map<JobNumber, std::vector<NamedJob*>> by_number;
  for (NamedJob& each : *named) by_number[each.number].push_back(&each);
  const auto passes = [&](const store::Job& job) {
    return (which.user.empty() || job.asked->user == which.user) &&
           (which.name.empty() || job.asked->name == which.name) &&
           (!*state || job.state == **state);
  };
  Chosen made;
  const auto look = [&](const store::Job& job) {
    if (by_number.empty()) {
      if (passes(job) && may_change(caller, job)) made.numbers.push_back(job.number);
      return;
    }
    bool is_chosen = false;
    const auto look_at = [&](JobNumber number) {
      const auto those = by_number.find(number);
      if (those == by_number.end()) return;
      for (NamedJob* const each : those->second) {
        if (!each->means(job)) continue;
        each->is_found = true;
        if (!passes(job)) continue;
        if (!may_change(caller, job)) {
          refuse_anothers(*each, job);
        } else if (auto alone = leaves_alone ? leaves_alone(job) : std::nullopt) {
          // Some tasks of an array may stay unchanged.
          if (!job.task || each->indices) each->refused = std::move(alone);
        } else {
          is_chosen = true;
        }
      }
    };
    look_at(job.number);
    if (job.task && job.task->array != job.number) look_at(job.task->array);
    if (is_chosen) made.numbers.push_back(job.number);
  };
  // Looked at on the way: a view of each job would cost more than the change.
  const auto seen = service.jobs({.wanted = [&](const store::Job& job) {
    if (!service::has_ended(job)) look(job);
    return false;
  }});
  if (!seen) return tl::unexpected(seen.error());

  for (NamedJob& each : *named) {
    if (each.is_found || each.refused) continue;
    if (!ended_too) {
      const auto kept =
          find_job(service, each.indices && each.indices->size() > 1
                                ? std::to_string(static_cast<std::int64_t>(each.number))
                                : *each.text);
      each.refused =
          !kept ? kept.error()
                : Error{Code::conflict,
                        fmt::format("job {} has ended: {}", *each.text, to_string(kept->job.state)),
                        {},
                        {}};
      continue;
    }
    const auto numbers = find_jobs(service, *each.text);
    const auto job = numbers ? service.job(numbers->front()) : tl::unexpected(numbers.error());
    if (!job) {
      each.refused = job.error();
    } else if (!may_change(caller, job->job)) {
      refuse_anothers(each, job->job);
    } else if (passes(job->job)) {
      made.numbers.insert(made.numbers.end(), numbers->begin(), numbers->end());
    }
  }
  for (NamedJob& each : *named) {
    if (each.refused)
      made.refused.push_back({*each.text, *std::move(each.refused), each.is_anothers});
  }
  std::sort(made.numbers.begin(), made.numbers.end());
  made.numbers.erase(std::unique(made.numbers.begin(), made.numbers.end()), made.numbers.end());
  return made;
}

}  // namespace almanac::serve
