// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac logs: prints the output of a job; with -f, follows it until the job ends.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/value_check.h"
#include "serve/view_json.h"

namespace almanac::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(300);

struct LogsOptions {
  ServiceOptions service;
  std::string job;
  bool follow = false;
  bool err = false;
  std::int64_t last_bytes = 0;
  std::int64_t last_lines = -1;  ///< -1 = all.
};

constexpr std::int64_t kBlock = 1 << 20;

Result<serve::Client::Said> ask(serve::Client& client, const LogsOptions& options,
                                std::int64_t offset, std::int64_t limit = kBlock) {
  return client.get("/v1/jobs/" + options.job + "/log", {{"stream", options.err ? "err" : "out"},
                                                         {"offset", std::to_string(offset)},
                                                         {"limit", std::to_string(limit)}});
}

/// Where the last lines begin, as tail(1) counts them: a last one without a line break is one.
/// Cost: reads the log from its end, block by block.
Result<std::int64_t> begin_of_last_lines(serve::Client& client, const LogsOptions& options) {
  const auto end = ask(client, options, -1);
  if (!end) return tl::unexpected(end.error());
  std::int64_t at = end->next_offset;
  if (options.last_lines == 0 || at == 0) return at;
  std::int64_t breaks = options.last_lines + (end->body.ends_with('\n') ? 1 : 0);
  while (at > 0) {
    const std::int64_t from = std::max<std::int64_t>(0, at - kBlock);
    const auto block = ask(client, options, from, at - from);
    if (!block) return tl::unexpected(block.error());
    for (std::size_t left = block->body.size(); left > 0; --left) {
      if (block->body[left - 1] == '\n' && --breaks == 0) {
        return from + static_cast<std::int64_t>(left);
      }
    }
    at = from;
  }
  return 0;
}

/// Whether nothing more will be written, as of now.
Result<bool> has_ended(serve::Client& client, const std::string& job) {
  const auto said = client.get("/v1/jobs/" + job);
  if (!said) return tl::unexpected(said.error());
  const auto listed = serve::read_job(said->body);
  if (!listed) return tl::unexpected(listed.error());
  const trace::JobState state = listed->view.job.state;
  return state != trace::JobState::pending && state != trace::JobState::running;
}

Result<int> logs(const LogsOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  std::int64_t offset = -options.last_bytes;
  if (options.last_lines >= 0) {
    const auto begin = begin_of_last_lines(*client, options);
    if (!begin) return tl::unexpected(begin.error());
    offset = *begin;
  }
  bool ended = !options.follow;
  while (!interrupted()) {
    const auto said = ask(*client, options, offset);
    if (!said) return tl::unexpected(said.error());
    std::fwrite(said->body.data(), 1, said->body.size(), stdout);
    std::fflush(stdout);
    offset = said->next_offset;
    if (offset < said->size) continue;
    if (ended) return kDone;
    // Looked at before the log is read for the last time: what came between is read then.
    const auto over = has_ended(*client, options.job);
    if (!over) return tl::unexpected(over.error());
    ended = *over;
    if (!ended) std::this_thread::sleep_for(kPause);
  }
  return kInterrupted;
}

}  // namespace

void register_logs(Program& program) {
  CLI::App& command = program.command(Purpose::jobs, "logs", "Print the output of a job");
  const auto options = std::make_shared<LogsOptions>();
  command.add_option("JOB", options->job, "Job id: 17, or 12_3 for a task of an array")->required();
  command.add_flag("-f,--follow", options->follow, "Follow the output until the job ends");
  command.add_flag("--err", options->err, "Print its error output, if that has a file of its own");
  CLI::Option* const lines =
      command.add_option("-n,--lines", options->last_lines, "Only the last LINES lines")
          ->type_name("LINES")
          ->check(whole_number(0, kLargestCount));
  command.add_option("--last", options->last_bytes, "Only the last BYTES bytes")
      ->type_name("BYTES")
      ->check(whole_number(1, kLargestCount))
      ->excludes(lines);
  options->service.add_to(command);
  add_example(command, "almanac logs -f 17");
  add_example(command, "almanac logs -n 20 17");
  program.on(command, [options] { return logs(*options); });
}

}  // namespace almanac::cli
