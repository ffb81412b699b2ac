// SPDX-License-Identifier: Apache-2.0
#include "experiment/sweep_array.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slurm/command_link.h"
#include "slurm/task_array.h"
#include "table/output_file.h"
#include "table/stream.h"
#include "text/quoted.h"

namespace almanac::experiment {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Tasks = std::map<std::uint32_t, slurm::Task>;

/// Asked so often at first, then less and less: a site's controller has other work too.
constexpr auto kFirstPause = std::chrono::milliseconds(1'000);
constexpr auto kLongestPause = std::chrono::milliseconds(10'000);
constexpr std::size_t kReasonsShown = 10;

std::uint32_t value_of(slurm::JobNumber job) { return static_cast<std::uint32_t>(job); }

bool any_lives(const Tasks& tasks) {
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const auto& task) { return task.second.state != slurm::State::ended; });
}

/// Which array was submitted, so that the same command finds it again.
std::string memory_of(const SweepParts& parts) { return parts.folder() + "/array.json"; }

/// The array of an earlier command that still runs, if one does.
Result<std::optional<slurm::JobNumber>> running_array(const SweepParts& parts) {
  const auto text = table::read_file(memory_of(parts));
  if (!text && text.error().code == Code::not_found) return std::nullopt;
  if (!text) return tl::unexpected(text.error());
  try {
    const Json told = Json::parse(*text);
    const slurm::JobNumber job{told.at("job").get<std::uint32_t>()};
    const auto tasks = slurm::tasks_of(job);
    if (!tasks) return tl::unexpected(tasks.error());
    if (!any_lives(*tasks)) return std::nullopt;
    if (told.at("inputs") != parts.inputs || told.at("of") != parts.of) {
      return fail(
          Code::conflict,
          fmt::format("job array {}, with other inputs or parts, is still running", value_of(job)),
          {.file = parts.folder()},
          fmt::format("scancel {}, or choose another --out", value_of(job)));
    }
    return job;
  } catch (const nlohmann::json::exception& error) {
    return fail(Code::corrupt, error.what(), {.file = memory_of(parts)}, "remove it");
  }
}

/// sbatch's pattern for SweepParts::words(): in the rest a % stands for itself.
std::string words_pattern(const SweepParts& parts) {
  std::string made;
  for (const char c : parts.folder()) made.append(c == '%' ? 2 : 1, c);
  return fmt::format("{}/%a-of-{}.err", made, parts.of);
}

Result<slurm::JobNumber> submit(const SweepParts& parts, const std::vector<std::size_t>& missing,
                                const SweepArray& array) {
  std::error_code error;
  fs::create_directories(parts.folder(), error);
  if (error) return fail(Code::unavailable, error.message(), {.file = parts.folder()});
  slurm::TaskArray order{.name = "almanac-sweep",
                         .tasks = {missing.begin(), missing.end()},
                         .script = "exec",
                         .err = words_pattern(parts),
                         .cores = array.cores,
                         .options = array.options};
  for (const std::string& word : array.command) order.script += " " + text::quoted(word);
  order.script += fmt::format(" --part \"$SLURM_ARRAY_TASK_ID/{}\"", parts.of);
  // What an earlier task said must not pass for what this one says.
  for (const std::size_t number : missing) fs::remove(parts.words(number), error);
  const auto job = slurm::submit(order);
  if (!job) return job;
  const Json told = {{"job", value_of(*job)}, {"inputs", parts.inputs}, {"of", parts.of}};
  const auto kept = table::write_file(memory_of(parts), told.dump() + "\n");
  if (kept) return job;
  // Otherwise the same command would not find the job, and submit another.
  const auto ended = slurm::CommandLink().end(*job, slurm::Fate::cancel);
  return fail(kept.error().code,
              fmt::format("job array {} could not be recorded{}: {}", value_of(*job),
                          ended ? " and is cancelled" : "", kept.error().message),
              kept.error().where,
              ended ? "" : fmt::format("scancel {}: {}", value_of(*job), ended.error().message));
}

/// "3 of 10 parts done, 1 failed, 2 running, 4 waiting (Resources)".
std::string progress(const SweepParts& parts, const std::vector<std::size_t>& missing,
                     const Tasks& tasks) {
  std::size_t failed = 0;
  std::size_t run = 0;
  std::size_t wait = 0;
  std::string reason;
  for (const std::size_t number : missing) {
    const auto task = tasks.find(static_cast<std::uint32_t>(number));
    if (task == tasks.end() || task->second.state == slurm::State::ended) {
      ++failed;
    } else if (task->second.state == slurm::State::pending) {
      ++wait;
      const std::string& told = task->second.reason;
      if (reason.empty() && told != "None") reason = " (" + told + ")";
    } else {
      ++run;
    }
  }
  return fmt::format("{} of {} parts done, {} failed, {} running, {} waiting{}",
                     parts.of - missing.size(), parts.of, failed, run, wait, reason);
}

/// Whether the pause went by undisturbed.
bool pause(std::chrono::milliseconds span, const std::atomic<bool>& stop) {
  constexpr auto kSlice = std::chrono::milliseconds(100);
  for (; span.count() > 0 && !stop; span -= kSlice) std::this_thread::sleep_for(kSlice);
  return !stop;
}

/// How all tasks stood when each was last known; less when interrupted.
Tasks wait_for(const SweepParts& parts, std::vector<std::size_t> missing, slurm::JobNumber job,
               const ArrayWatch& watch) {
  Tasks last;
  std::string said;
  const auto say = [&](const std::string& text) {
    if (text != said) watch.say(text);
    said = text;
  };
  auto span = kFirstPause;
  while (!watch.stop) {
    const auto now = slurm::tasks_of(job);
    if (now) {
      // Files are looked for after the tasks: a task that has ended has left its own.
      std::erase_if(missing, [&](std::size_t number) { return parts.has(number); });
      for (const auto& [number, task] : *now) last[number] = task;
      say(progress(parts, missing, *now));
      if (!any_lives(*now)) break;
    } else if (!watch.stop) {
      say(to_string(now.error()) + "; trying again");
    }
    if (!pause(span, watch.stop)) break;
    span = std::min(span * 2, kLongestPause);
  }
  return last;
}

std::string last_line(const std::string& file) {
  const auto text = table::read_file(file);
  if (!text) return "";
  std::istringstream lines(*text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

std::string why_missing(const SweepParts& parts, std::size_t number, const Tasks& tasks) {
  const auto task = tasks.find(static_cast<std::uint32_t>(number));
  const std::string word = task == tasks.end() ? "" : task->second.word;
  if (word == "COMPLETED") {
    const auto part = read_part(parts.file(number), parts.inputs);
    if (!part && part.error().code != Code::not_found) return to_string(part.error());
    return fmt::format("it ended well but left no file here: check that the nodes can see {}",
                       parts.folder());
  }
  if (std::string line = last_line(parts.words(number)); !line.empty()) return line;
  return word.empty() ? "Slurm no longer knows it" : "Slurm says " + word;
}

}  // namespace

Result<bool> run_array(const SweepParts& parts, const SweepArray& array, const ArrayWatch& watch) {
  const std::vector<std::size_t> missing = parts.missing();
  if (missing.empty()) return true;
  const auto earlier = running_array(parts);
  if (!earlier) return tl::unexpected(earlier.error());
  if (watch.stop) return false;
  const auto job = *earlier ? Result<slurm::JobNumber>(**earlier) : submit(parts, missing, array);
  if (!job) return tl::unexpected(job.error());
  watch.say(*earlier ? fmt::format("job array {} is still running: waiting for it", value_of(*job))
                     : fmt::format("job array {}: {} of {} parts to run", value_of(*job),
                                   missing.size(), parts.of));
  const Tasks tasks = wait_for(parts, missing, *job, watch);
  if (watch.stop) {
    watch.say(
        fmt::format("job array {0} continues; run the same command again to collect its results "
                    "(scancel {0} ends it)",
                    value_of(*job)));
    return false;
  }
  const std::vector<std::size_t> failed = parts.missing();
  if (failed.empty()) return true;
  for (std::size_t at = 0; at < std::min(failed.size(), kReasonsShown); ++at) {
    watch.say(fmt::format("part {}/{} failed: {}", failed[at], parts.of,
                          why_missing(parts, failed[at], tasks)));
  }
  return fail(Code::unavailable,
              fmt::format("{} of {} parts failed; the others are kept", failed.size(), parts.of),
              {.file = parts.folder()}, "run the same command again to run only those");
}

}  // namespace almanac::experiment
