// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac trace validate`: reads a job log, strictly unless told otherwise, and says what is odd.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/trace_options.h"
#include "text/human.h"
#include "trace/validate.h"

namespace almanac::cli {

void register_trace_validate(Program& program);

namespace {

void print_json(const trace::Trace& trace, const std::vector<trace::Finding>& findings) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const trace::Finding& finding : findings) {
    list.push_back(
        Json{{"what", finding.what}, {"jobs", finding.jobs}, {"first_job", finding.first_job}});
  }
  const Json json{{"trace", trace.path}, {"format", trace.format},    {"valid", true},
                  {"rows", trace.rows},  {"jobs", trace.jobs.size()}, {"dropped", trace.dropped},
                  {"findings", list},    {"notes", trace.notes}};
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_table(const trace::Trace& trace, const std::vector<trace::Finding>& findings) {
  fmt::print("{}: valid ({}), {} of {}, {} dropped\n", trace.path, trace.format,
             text::counted(trace.jobs.size(), "job"),
             text::counted(static_cast<std::uint64_t>(trace.rows), "row"), trace.dropped);
  for (const trace::Finding& finding : findings) {
    fmt::print("  odd: {}: {}, the first is {}\n", finding.what,
               text::counted(static_cast<std::uint64_t>(finding.jobs), "job"), finding.first_job);
  }
}

}  // namespace

void register_trace_validate(Program& program) {
  struct Arguments {
    TraceOptions trace;
    std::string output = "table";
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App& command =
      *program.noun(Purpose::understand, "trace", "Read, check, convert and make job logs")
           .add_subcommand("validate", "Check a job log; exit status 65 if it is bad");
  arguments->trace.add_to(command);
  add_output_option(command, arguments->output);
  add_example(command, "almanac trace validate log.csv");
  program.on(command, [arguments]() -> Result<int> {
    const auto trace = arguments->trace.load();
    if (!trace) return tl::unexpected(trace.error());
    const auto findings = find_oddities(*trace);
    arguments->output == "json" ? print_json(*trace, findings) : print_table(*trace, findings);
    return kDone;
  });
}

}  // namespace almanac::cli
