// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac submit: gives a job to the service, and says when it is expected to start.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/job_request.h"
#include "cli/job_words.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"
#include "cli/words_after_mark.h"
#include "serve/submission_json.h"
#include "text/duration.h"

extern char** environ;

namespace almanac::cli {
namespace {

/// How long a forecast is waited for: it is a courtesy, the job is submitted.
constexpr auto kPatience = std::chrono::milliseconds(1500);
constexpr auto kPause = std::chrono::milliseconds(25);

/// As they were given; "" and 0 = not.
struct Options {
  ServiceOptions service;
  store::Submission asked{};
  double cpus = 0;
  std::string memory;
  std::string time;
  std::string grace;
  std::string deadline;
  std::string worthless_at;
  std::string begin;
  std::string array;
  double value = -1;
  std::vector<std::int64_t> after;
  std::vector<std::int64_t> after_ok;
  std::vector<std::int64_t> after_not_ok;
  std::vector<std::string> words;
  bool parsable = false;
  bool dry_run = false;
};

Result<void> read_length(const char* option, const std::string& text, Duration& length) {
  if (text.empty()) return {};
  const auto read = text::parse_duration(text);
  if (!read || *read < 0ms) {
    return fail(Code::usage,
                fmt::format("{} must be a length like 2:00:00, 1-12 or 90m: {}", option, text));
  }
  if (*read != text::kUnlimited) length = *read;
  return {};
}

Result<void> read_time(const char* option, const std::string& text, Time& time) {
  if (text.empty()) return {};
  const auto read = parse_clock(option, text, wall_clock());
  if (!read) return tl::unexpected(read.error());
  time = *read;
  return {};
}

Result<void> read_after(const Options& options, store::Submission& asked) {
  const std::pair<const std::vector<std::int64_t>*, store::After> kinds[] = {
      {&options.after, store::After::any},
      {&options.after_ok, store::After::ok},
      {&options.after_not_ok, store::After::not_ok}};
  for (const auto& [jobs, what] : kinds) {
    if (jobs->empty()) continue;
    if (!asked.after.empty()) {
      return fail(Code::usage, "only one of --after, --after-ok and --after-not-ok can be given");
    }
    asked.after_what = what;
    for (const std::int64_t each : *jobs) asked.after.push_back(store::JobNumber{each});
  }
  return {};
}

/// The command behind "--", or a script and its arguments.
Result<void> read_command(const Options& options, const std::vector<std::string>& command_line,
                          store::Submission& asked) {
  const std::vector<std::string> command = words_after_mark(command_line, {});
  if (!command.empty()) {
    asked.argv = command;
    if (asked.name.empty()) asked.name = std::filesystem::path(command.front()).filename();
    return {};
  }
  if (options.words.empty()) {
    return fail(Code::usage, "there is nothing to run", {},
                "almanac submit [OPTIONS] -- COMMAND..., or almanac submit [OPTIONS] SCRIPT");
  }
  const std::string& path = options.words.front();
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    return fail(Code::not_found, "cannot be read", {.file = path},
                "a command stands behind --: almanac submit -- COMMAND...");
  }
  asked.script.assign(std::istreambuf_iterator<char>(file), {});
  if (asked.script.compare(0, 2, "#!") != 0) {
    return fail(Code::invalid, "a script begins with #! and its interpreter",
                {.file = path, .line = 1}, "such as #!/bin/bash");
  }
  asked.argv.assign(options.words.begin() + 1, options.words.end());
  if (asked.name.empty()) asked.name = std::filesystem::path(path).filename();
  return {};
}

Result<store::Submission> read_submission(const Options& options,
                                          const std::vector<std::string>& command_line) {
  store::Submission asked = options.asked;
  std::error_code failed;
  if (asked.directory.empty()) {
    asked.directory = std::filesystem::current_path(failed);
  } else {
    asked.directory = std::filesystem::absolute(asked.directory, failed).lexically_normal();
  }
  if (failed) return fail(Code::unavailable, "the working directory is gone");
  for (char** each = environ; *each != nullptr; ++each) asked.environment.emplace_back(*each);
  if (options.cpus > 0) asked.cpus = options.cpus;
  if (options.value >= 0) asked.value = options.value;
  if (!options.memory.empty()) {
    const auto memory = parse_memory("--mem", options.memory);
    if (!memory) return tl::unexpected(memory.error());
    asked.memory_gb = *memory;
  }
  if (!options.array.empty()) {
    auto indices = parse_indices(options.array);
    if (!indices) return tl::unexpected(indices.error());
    asked.indices = std::move(indices->list);
    asked.at_once = indices->at_once;
  }
  for (const Result<void>& read :
       {read_length("--time", options.time, asked.time_limit),
        read_length("--grace", options.grace, asked.grace),
        read_time("--deadline", options.deadline, asked.deadline),
        read_time("--worthless-at", options.worthless_at, asked.worthless_at),
        read_time("--begin", options.begin, asked.not_before), read_after(options, asked),
        read_command(options, command_line, asked)}) {
    if (!read) return tl::unexpected(read.error());
  }
  return asked;
}

/// What the service expects of a job that waits; "" = it has not said so in time.
std::string forecast(serve::Client& client, store::JobNumber number) {
  const std::string path = fmt::format("/v1/jobs/{}", static_cast<std::int64_t>(number));
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    const auto job = client.get(path);
    if (!job) return "";
    const auto listed = serve::read_job(job->body);
    if (listed && listed->view.job.state == trace::JobState::running) {
      return fmt::format("runs on {}", listed->nodes);
    }
    if (!listed || listed->view.job.state != trace::JobState::pending || listed->view.job.held) {
      return "";
    }
    const auto said = client.get(path + "/forecast");
    if (!said) return "";
    if (said->status == 200) {
      const auto expected = serve::read_expected(said->body);
      return expected ? in_words(*expected, wall_clock()) : "";
    }
    std::this_thread::sleep_for(kPause);
  }
  return "";
}

Result<int> submit(const Options& options, const std::vector<std::string>& command_line) {
  const auto asked = read_submission(options, command_line);
  if (!asked) return tl::unexpected(asked.error());
  if (options.dry_run) {
    fmt::print("{}\n", serve::to_json(*asked));
    return kDone;
  }
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const auto numbers = client->submit(*asked);
  if (!numbers) return tl::unexpected(numbers.error());
  const auto first = static_cast<std::int64_t>(numbers->front());
  if (options.parsable) {
    fmt::print("{}\n", first);
    return kDone;
  }
  fmt::print("Submitted job {}{}\n", first,
             asked->indices.empty() ? "" : fmt::format(" of {} tasks", numbers->size()));
  std::fflush(stdout);
  // Where nobody reads it, it is not waited for.
  if (::isatty(STDOUT_FILENO) == 0) return kDone;
  if (const std::string said = forecast(*client, numbers->front()); !said.empty()) {
    fmt::print("It {}\n", said);
  }
  return kDone;
}

}  // namespace

void register_submit(Program& program) {
  CLI::App& command = *program.app.add_subcommand("submit", "Give a job to the service");
  const auto options = std::make_shared<Options>();
  store::Submission& asked = options->asked;
  command.add_option("COMMAND", options->words,
                     "A command and its arguments after --, or a script and its arguments");
  command.add_option("--gpus", asked.gpus, "GPUs; 0 = none")->check(CLI::NonNegativeNumber);
  command.add_option("--max-gpus", asked.max_gpus, "It may run on any number up to this");
  command.add_option("--gpu-share", asked.gpu_share, "Part of the one GPU that it asks");
  command.add_option("--gpu-type", asked.gpu_type, "A type of GPU that it needs");
  command.add_option("--cpus", options->cpus, "Cores")->check(CLI::PositiveNumber);
  command.add_option("--mem", options->memory, "Memory")->type_name("32G|512M");
  command.add_option("--time", options->time, "Limit of its run time")->type_name("[D-]HH:MM:SS");
  command.add_option("--name", asked.name, "Default: that of the command");
  command.add_option("--qos", asked.qos, "Class of service");
  command.add_option("--vc", asked.vc, "Virtual cluster, where there are several");
  command.add_option("--model", asked.model, "What it trains, as profiles name it");
  command.add_option("--batch", asked.batch, "Samples of a step, all GPUs together");
  command.add_option("--steps", asked.steps, "Steps of the training");
  command.add_option("--deadline", options->deadline, "When it is to have ended")
      ->type_name("TIME|+2h");
  command.add_option("--value", options->value, "Of having ended by then");
  command.add_option("--worthless-at", options->worthless_at, "Its value falls to 0 by then")
      ->type_name("TIME|+2h");
  command.add_option("--array", options->array, "One job for each index, so many at once")
      ->type_name("0-9%3");
  command.add_option("--after", options->after, "Starts when these jobs have ended")
      ->delimiter(',')
      ->type_name("JOB");
  command.add_option("--after-ok", options->after_ok, "... have ended well; else it is cancelled")
      ->delimiter(',')
      ->type_name("JOB");
  command.add_option("--after-not-ok", options->after_not_ok, "... have failed")
      ->delimiter(',')
      ->type_name("JOB");
  command.add_option("--begin", options->begin, "Does not start before")->type_name("TIME|+2h");
  command.add_flag("--hold", asked.hold, "It waits until it is released");
  command.add_flag("--requeue", asked.requeue, "Run it again when the machine failed it");
  command.add_option("--out", asked.out,
                     "File of its output; %j %A %a %x %u = number, array, index, name, user; "
                     "default: almanac-%j.out");
  command.add_option("--err", asked.err, "File of its errors; default: with the output");
  command.add_option("--directory", asked.directory, "Where it runs; default: here");
  command.add_option("--grace", options->grace, "Between SIGTERM and SIGKILL; default: 30s")
      ->type_name("TIME");
  command.add_flag("--parsable", options->parsable, "Print the job's number only");
  command.add_flag("--dry-run", options->dry_run, "Print what would be submitted, as JSON");
  options->service.add_to(command);
  add_example(command,
              "almanac submit --gpus 2 --cpus 8 --mem 32G --time 2:00:00 -- python train.py");
  add_example(command, "almanac submit --array 0-9%3 --after 17 train.sh");
  program.on(command, [options, &program] { return submit(*options, program.command_line); });
}

}  // namespace almanac::cli
