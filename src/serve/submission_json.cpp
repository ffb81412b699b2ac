// SPDX-License-Identifier: Apache-2.0
#include "serve/submission_json.h"

#include <algorithm>
#include <csignal>
#include <set>

#include "cluster/slices/board.h"
#include "serve/submission_fields.h"
#include "text/nearest.h"

namespace almanac::serve {
namespace {

constexpr std::size_t kLongestName = 256;
constexpr std::size_t kLongestKey = 64;
/// No system takes longer ones (PATH_MAX).
constexpr std::size_t kLongestPath = 4096;
constexpr int kMostRetries = 100;
constexpr std::size_t kMostTasks = 100'000;
constexpr std::size_t kMostBefore = 1000;
constexpr std::size_t kMostParameters = 100;
/// More bytes a second than that no integer holds, nor any disk moves.
constexpr double kMostIoMbs = 1e9;
/// More than that, in MB, no grant holds, nor any GPU has.
constexpr double kMostGpuGb = 1e5;

[[noreturn]] void refuse(std::string message, std::string hint = {}) {
  throw Refused{{Code::invalid, std::move(message), {}, std::move(hint)}};
}

std::vector<std::string> known_profiles() {
  std::set<std::string> names;
  for (const slices::Board& board : slices::boards()) {
    for (const slices::Profile& each : board.profiles) names.insert(each.name);
  }
  return {names.begin(), names.end()};
}

void check(const store::Submission& asked) {
  if (asked.argv.empty() && asked.script.empty()) {
    refuse("there is nothing to run", "give argv, or a script");
  }
  if (asked.script.empty() && asked.argv.front().empty()) refuse("argv begins with no command");
  if (asked.directory.empty() || asked.directory.front() != '/') {
    refuse("directory is where the job runs, from / on");
  }
  const std::pair<const char*, const std::string*> names[] = {
      {"name", &asked.name},   {"vc", &asked.vc},       {"qos", &asked.qos},
      {"model", &asked.model}, {"group", &asked.group}, {"gpu_type", &asked.gpu_type}};
  for (const auto& [field, name] : names) {
    if (name->size() > kLongestName) {
      refuse(fmt::format("{} has at most {} letters", field, kLongestName));
    }
    if (std::any_of(name->begin(), name->end(), [](char c) { return c > 0 && c < ' '; })) {
      refuse(fmt::format("{} has a line break or another control character", field));
    }
  }
  const std::pair<const char*, const std::string*> paths[] = {
      {"directory", &asked.directory}, {"out", &asked.out}, {"err", &asked.err}};
  for (const auto& [field, path] : paths) {
    if (path->size() > kLongestPath) {
      refuse(fmt::format("{} has at most {} bytes", field, kLongestPath));
    }
  }
  if (asked.parameters.size() > kMostParameters) {
    refuse(
        fmt::format("parameters has at most {}, not {}", kMostParameters, asked.parameters.size()));
  }
  for (const std::string& each : asked.parameters) {
    if (each.find('=') == std::string::npos || each.front() == '=') {
      refuse(fmt::format("parameters has name=value only, not {}", each.substr(0, 40)));
    }
    if (each.size() > kLongestPath) {
      refuse(fmt::format("each of parameters has at most {} bytes", kLongestPath));
    }
  }
  const auto at_least = [](const char* field, double value, double least) {
    if (value < least) refuse(fmt::format("{} is {:g} or more, not {:g}", field, least, value));
  };
  at_least("gpus", asked.gpus, 0);
  at_least("max_gpus", asked.max_gpus, 0);
  at_least("batch", asked.batch, 0);
  at_least("steps", static_cast<double>(asked.steps), 0);
  at_least("at_once", asked.at_once, 0);
  at_least("grace_s", seconds(asked.grace), 0);
  at_least("value", asked.value.value_or(0), 0);
  at_least("retries", asked.retries, 0);
  at_least("warn_signal", asked.warn_signal, 0);
  if (asked.warn_before != kNoDuration) at_least("warn_before_s", seconds(asked.warn_before), 0);
  if (asked.retries > kMostRetries) {
    refuse(fmt::format("retries is at most {}, not {}", kMostRetries, asked.retries));
  }
  if (asked.warn_signal > SIGRTMAX || asked.warn_signal == SIGKILL ||
      asked.warn_signal == SIGSTOP) {
    refuse(fmt::format("warn_signal is the number of a signal that a program may heed, not {}",
                       asked.warn_signal));
  }
  const bool is_plain =
      std::all_of(asked.key.begin(), asked.key.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (asked.key.size() > kLongestKey || !is_plain) {
    refuse(fmt::format("key has at most {} letters, digits and signs of ASCII", kLongestKey));
  }
  if (asked.max_gpus != 0) at_least("max_gpus", asked.max_gpus, asked.gpus);
  at_least("min_gpus", asked.min_gpus, 0);
  if (asked.min_gpus > (asked.max_gpus == 0 ? 0 : asked.gpus)) {
    refuse("min_gpus is of a job with max_gpus, and at most gpus");
  }
  if (asked.gpu_share <= 0 || asked.gpu_share > 1) {
    refuse(fmt::format("gpu_share is more than 0 and at most 1, not {:g}", asked.gpu_share));
  }
  if (asked.gpu_share < 1 && asked.gpus != 1) refuse("gpu_share is of one GPU: gpus must be 1");
  if (!asked.gpu_profile.empty()) {
    if (!slices::profile_id(asked.gpu_profile)) {
      refuse(fmt::format("gpu_profile is an instance of a GPU as 1g.10gb, not {}",
                         asked.gpu_profile.substr(0, 40)),
             text::meant_or_known(asked.gpu_profile, known_profiles()));
    }
    if (asked.gpus == 0) refuse("gpu_profile needs gpus, which says how many instances");
    if (asked.gpu_share < 1) refuse("gpu_profile asks a whole instance: gpu_share must be 1");
    if (asked.max_gpus > 0) refuse("gpu_profile is of a job without max_gpus");
  }
  if (asked.gpu_memory_gb && !(*asked.gpu_memory_gb > 0 && *asked.gpu_memory_gb <= kMostGpuGb)) {
    refuse(fmt::format("gpu_memory_gb is more than 0 and at most {:g}", kMostGpuGb));
  }
  if (asked.gpu_memory_gb && asked.gpus == 0) refuse("gpu_memory_gb is of a job with gpus");
  if (asked.cpus && *asked.cpus <= 0) refuse("cpus is more than 0");
  if (asked.memory_gb && *asked.memory_gb <= 0) refuse("memory_gb is more than 0");
  if (asked.io_mbs && !(*asked.io_mbs > 0 && *asked.io_mbs <= kMostIoMbs)) {
    refuse(fmt::format("io_mbs is more than 0 and at most {:g}", kMostIoMbs));
  }
  if (asked.time_limit != kNoDuration && asked.time_limit <= 0ms) {
    refuse("time_limit_s is more than 0");
  }
  constexpr std::int32_t kAllBits = 0777;
  if (asked.umask && (*asked.umask < 0 || *asked.umask > kAllBits)) {
    refuse(fmt::format("umask is 0 to {}, as a decimal number, not {}", kAllBits, *asked.umask));
  }
  for (const std::string& each : asked.environment) {
    if (each.find('=') == std::string::npos || each.front() == '=') {
      refuse(fmt::format("environment has NAME=value only, not {}", each.substr(0, 40)));
    }
  }
  if (asked.indices.size() > kMostTasks) {
    refuse(fmt::format("an array has at most {} tasks", kMostTasks));
  }
  const auto few = [](const char* name, const std::vector<store::JobNumber>& jobs) {
    if (jobs.size() <= kMostBefore) return;
    refuse(fmt::format("{} has at most {} jobs, not {}", name, kMostBefore, jobs.size()));
  };
  few("after", asked.after);
  few("after_ok", asked.after_ok);
  few("after_not_ok", asked.after_not_ok);
  few("after_start", asked.after_start);
  if (asked.after_one && asked.singleton) refuse("after_one and singleton do not go together");
  if (asked.pty && !asked.indices.empty())
    refuse("pty is of one job: the tasks of an array have no terminal");
  std::set<std::int32_t> distinct;
  for (const std::int32_t each : asked.indices) {
    at_least("indices", each, 0);
    if (!distinct.insert(each).second) refuse(fmt::format("indices has {} twice", each));
  }
}

template <typename Fields, typename Amended>
void list_amended(Fields& fields, Amended& of) {
  fields.sparse("gpus", of.gpus);
  fields.sparse("time_limit_s", of.time_limit);
}

}  // namespace

std::string to_json(const store::Submission& submission) {
  Writer writer;
  list_public(writer, submission);
  list_private(writer, submission);
  return dumped(writer.take());
}

std::string to_json(const store::Amended& wanted) {
  Writer writer;
  list_amended(writer, wanted);
  return dumped(writer.take());
}

Result<store::Amended> read_amended(std::string_view text) {
  return read_json(text, [](const Json& json) {
    store::Amended read;
    Reader reader(json);
    list_amended(reader, read);
    reader.end();
    if (!read.gpus && read.time_limit == kNoDuration) refuse("expected gpus, time_limit_s or both");
    if (read.time_limit != kNoDuration && read.time_limit <= 0ms) {
      refuse("time_limit_s is more than 0");
    }
    return read;
  });
}

Result<store::Submission> read_submission(std::string_view text) {
  return read_json(text, [](const Json& json) {
    store::Submission read;
    Reader reader(json);
    list_public(reader, read);
    list_private(reader, read);
    reader.end();
    check(read);
    return read;
  });
}

}  // namespace almanac::serve
