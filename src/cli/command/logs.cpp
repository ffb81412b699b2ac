// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac logs: what a job has written; with -f what it goes on writing, until it ends.
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/service_options.h"
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
};

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
  const std::string path = "/v1/jobs/" + options.job + "/log";
  std::int64_t offset = -options.last_bytes;
  bool ended = !options.follow;
  while (!interrupted()) {
    const auto said = client->get(path, {{"stream", options.err ? "err" : "out"},
                                         {"offset", std::to_string(offset)},
                                         {"limit", "1048576"}});
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
  CLI::App& command =
      program.command(Purpose::jobs, "logs", "Show what a job of the service has written");
  const auto options = std::make_shared<LogsOptions>();
  command.add_option("JOB", options->job, "17, or 12_3 of an array")->required();
  command.add_flag("-f,--follow", options->follow, "Go on until the job ends");
  command.add_flag("--err", options->err, "Its errors, where they have a file of their own");
  command.add_option("--last", options->last_bytes, "Only the last so many bytes")
      ->type_name("BYTES")
      ->check(CLI::PositiveNumber);
  options->service.add_to(command);
  add_example(command, "almanac logs -f 17");
  program.on(command, [options] { return logs(*options); });
}

}  // namespace almanac::cli
