// SPDX-License-Identifier: Apache-2.0
#include "serve/query.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "service/job.h"
#include "text/nearest.h"

namespace almanac::serve {
namespace {

template <typename Number>
std::optional<Number> parse(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

struct JobName {
  store::JobNumber number{};
  std::optional<std::int32_t> index{};
};

Result<JobName> parse_job(const std::string& id) {
  const std::size_t line = id.find('_');
  const auto number = parse<std::int64_t>(id.substr(0, line));
  JobName name{.number = store::JobNumber{number.value_or(0)}};
  if (line != std::string::npos) name.index = parse<std::int32_t>(id.substr(line + 1));
  if (!number || *number <= 0 || (line != std::string::npos && !name.index)) {
    return fail(Code::usage, fmt::format("a job must be a number such as 17, or 12_3, not {}", id));
  }
  return name;
}

}  // namespace

Result<std::int64_t> whole(const Ask& ask, const char* name, std::int64_t otherwise) {
  const auto found = ask.query.find(name);
  if (found == ask.query.end()) return otherwise;
  if (const auto value = parse<std::int64_t>(found->second)) return *value;
  return fail(Code::usage, fmt::format("{} must be a whole number, not {}", name, found->second));
}

Result<Time> time(const Ask& ask, const char* name) {
  const auto found = ask.query.find(name);
  if (found == ask.query.end()) return kNoTime;
  const auto value = parse<double>(found->second);
  constexpr double kMost = 1e11;
  if (value && std::abs(*value) < kMost) return Time(Duration(std::llround(*value * 1e3)));
  return fail(Code::usage,
              fmt::format("{} must be in seconds since 1970, not {}", name, found->second));
}

std::string word(const Ask& ask, const char* name) {
  const auto found = ask.query.find(name);
  return found == ask.query.end() ? "" : found->second;
}

Result<void> knows(const Ask& ask, const std::vector<std::string>& known) {
  for (const auto& [name, value] : ask.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fail(Code::usage, fmt::format("unknown parameter {}", name), {},
                text::meant_or_known(name, known));
  }
  return {};
}

namespace {

/// The number of a task; nothing if the array has no such task. The service accepts a long array
/// before the store has the records of all its tasks.
Result<std::optional<store::JobNumber>> find_task(const service::Service& service,
                                                  store::JobNumber array, std::int32_t index) {
  auto stored = service.store().task(array, index);
  if (!stored || *stored) return stored;
  const auto present = service.jobs(
      {.above = store::JobNumber{static_cast<std::int64_t>(array) - 1},
       .wanted =
           [&](const store::Job& each) {
             return each.task && each.task->array == array && each.task->index == index;
           },
       .most = 1});
  if (!present) return tl::unexpected(present.error());
  if (present->empty()) return std::nullopt;
  return present->front().job.number;
}

}  // namespace

Result<service::JobView> find_job(const service::Service& service, const std::string& id) {
  const auto name = parse_job(id);
  if (!name) return tl::unexpected(name.error());
  auto first = service.job(name->number);
  if (!first || !name->index) return first;
  if (!service.manager()) {
    const auto task = find_task(service, name->number, *name->index);
    if (!task) return tl::unexpected(task.error());
    if (!*task) return fail(Code::not_found, fmt::format("there is no job {}", id));
    return service.job(**task);
  }
  // At another manager the tasks of an array that it has told apart have consecutive numbers.
  for (std::int64_t number = static_cast<std::int64_t>(name->number);; ++number) {
    auto each = service.job(store::JobNumber{number});
    const bool is_of_it = each && each->job.task && each->job.task->array == name->number;
    if (!is_of_it) return fail(Code::not_found, fmt::format("there is no job {}", id));
    if (each->job.task->index == *name->index) return each;
  }
}

Result<std::vector<store::JobNumber>> find_jobs(const service::Service& service,
                                                const std::string& id) {
  const auto found = find_job(service, id);
  if (!found) return tl::unexpected(found.error());
  const store::Job& job = found->job;
  const bool is_array = job.task && job.task->array == job.number && id.find('_') == id.npos;
  if (!is_array) return std::vector{job.number};
  std::vector<store::JobNumber> tasks;
  const auto is_of_it = [&](const store::Job& each) {
    return each.task && each.task->array == job.number && !service::has_ended(each);
  };
  // Their numbers follow one another.
  const store::JobNumber before{static_cast<std::int64_t>(job.number) - 1};
  const auto present = service.jobs({.above = before, .wanted = is_of_it});
  if (!present) return tl::unexpected(present.error());
  for (const service::JobView& each : *present) tasks.push_back(each.job.number);
  if (!tasks.empty()) return tasks;
  // All have ended.
  constexpr std::int64_t kPage = 1000;
  for (store::JobNumber last = job.number;; last = tasks.back()) {
    const auto page = service.store().jobs({.above = last, .limit = kPage});
    if (!page) return tl::unexpected(page.error());
    if (tasks.empty()) tasks.push_back(job.number);
    const auto end = std::find_if_not(page->begin(), page->end(), [&](const store::Job& each) {
      return each.task && each.task->array == job.number;
    });
    for (auto each = page->begin(); each != end; ++each) tasks.push_back(each->number);
    if (end != page->end() || std::ssize(*page) < kPage) return tasks;
  }
}

}  // namespace almanac::serve
