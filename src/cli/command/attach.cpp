// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac attach: reconnects to the terminal of a job that was submitted with --pty.
#include "cli/attach.h"

#include <memory>

#include "cli/program.h"
#include "cli/service_options.h"
#include "serve/view_json.h"

namespace almanac::cli {
namespace {

struct AttachOptions {
  ServiceOptions service;
  std::string job;
};

Result<int> attach_to(const AttachOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const auto answer = client->get("/v1/jobs/" + options.job);
  if (!answer) return tl::unexpected(answer.error());
  const auto listed = serve::read_job(answer->body);
  if (!listed) return tl::unexpected(listed.error());
  return follow_terminal(*client, listed->view.job.number, false);
}

}  // namespace

void register_attach(Program& program) {
  CLI::App& command =
      program.command(Purpose::jobs, "attach", "Attach to the terminal of one of your jobs");
  const auto options = std::make_shared<AttachOptions>();
  command.add_option("JOB", options->job, "Job submitted with --pty")->required();
  options->service.add_to(command);
  add_example(command, "almanac attach 17");
  add_exit_status(command, "N", "Exit status of the job, if it ended; 0 after detaching");
  program.on(command, [options] { return attach_to(*options); });
}

}  // namespace almanac::cli
