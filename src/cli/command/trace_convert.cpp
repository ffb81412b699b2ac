// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac trace convert`: writes a job log of any known format as Almanac's CSV or as SWF.
#include <cstdint>
#include <memory>
#include <optional>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "trace/mark_requeue.h"
#include "trace/write.h"

namespace almanac::cli {

void register_trace_convert(Program& program);

void register_trace_convert(Program& program) {
  struct Arguments {
    TraceOptions trace;
    std::string out = "-";
    std::string to;
    std::optional<double> requeue;
    std::uint64_t seed = 1;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App& command =
      *program.noun(Purpose::understand, "trace", "Read, check, convert and generate job logs")
           .add_subcommand("convert", "Write a job log as CSV or SWF");
  arguments->trace.add_to(command);
  command
      .add_option("OUT,--out", arguments->out,
                  "File to write (.gz and .zst are compressed); - is standard output")
      ->type_name("FILE")
      ->capture_default_str()
      ->group(heading(Group::output));
  command
      .add_option("--to", arguments->to,
                  "Format, where dated is CSV with ISO 8601 dates (default: by the name of OUT)")
      ->check(one_of({"csv", "dated", "swf"}));
  CLI::Option* const requeue =
      command
          .add_option("--requeue", arguments->requeue,
                      "Fraction of the jobs to mark as submitted with --requeue; the others get "
                      "no mark")
          ->check(number(0, 1))
          ->type_name("PART");
  command.add_option("--seed", arguments->seed, "Random seed of these marks")
      ->check(seed_number())
      ->capture_default_str()
      ->needs(requeue);
  add_example(command, "almanac trace convert sacct.txt log.csv.gz");
  program.on(command, [arguments]() -> Result<int> {
    auto trace = arguments->trace.load();
    if (!trace) return tl::unexpected(trace.error());
    if (arguments->requeue) trace::mark_requeue(*trace, *arguments->requeue, arguments->seed);
    if (auto saved = save_trace(*trace, arguments->out, arguments->to); !saved) {
      return tl::unexpected(std::move(saved.error()));
    }
    return kDone;
  });
}

}  // namespace almanac::cli
