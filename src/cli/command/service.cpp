// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac service: runs replicas of a command behind one port, as many as its requests need.
#include <memory>

#include "cli/program.h"
#include "cli/replica_service.h"
#include "cli/words_after_mark.h"

namespace almanac::cli {
namespace {

struct Options {
  ReplicaService service{};
  ServiceOptions place{};
  std::string name = "service";
  std::vector<std::string> each;
  std::vector<std::string> words;
  bool in_place = false;
};

}  // namespace

void register_service(Program& program) {
  CLI::App& command = program.command(Purpose::run, "service",
                                      "Run an inference service: replicas behind one port");
  const auto options = std::make_shared<Options>();
  command
      .add_option("COMMAND", options->words,
                  "Command of a replica; {port} in it, and $PORT, is its port")
      ->option_text("-- COMMAND...");
  options->service.add_to(command);
  command
      .add_option("--name", options->name,
                  "Name of the service; its replicas are NAME-replica-PORT")
      ->capture_default_str();
  command.add_option("--each", options->each, "Option of submit for each replica: --each=--gpus=1")
      ->type_name("OPTION")
      // One each time: a list without end would take the "--" before the command for its own end.
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command.add_flag("--in-place", options->in_place,
                   "Run COMMAND and restart it when it exits (used by replica jobs)");
  options->place.add_to(command);
  add_example(command,
              "almanac service --replicas 1..4 --each=--gpus=1 --port 8000 -- vllm serve MODEL "
              "--port {port}");
  program.on(command, [options, &program] {
    if (options->in_place) return run_in_place(words_after_mark(program.command_line, {}));
    return run_service(options->service, options->place, options->name, options->each,
                       words_after_mark(program.command_line, {}));
  });
}

}  // namespace almanac::cli
