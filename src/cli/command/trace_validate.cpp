// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac trace validate`: reads a job log, strictly by default, and lists oddities.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/list_options.h"
#include "cli/trace_options.h"
#include "figure/rows_json.h"
#include "text/human.h"
#include "trace/validate.h"

namespace almanac::cli {

void register_trace_validate(Program& program);

namespace {

figure::Listing rows_of(const std::vector<trace::Finding>& findings) {
  using trace::Finding;
  figure::Rows rows(findings);
  rows.add("what", &Finding::what);
  rows.add("jobs", &Finding::jobs);
  rows.add("first_job", &Finding::first_job);
  return rows;
}

nlohmann::ordered_json validation_json(const trace::Trace& trace,
                                       const std::vector<trace::Finding>& findings) {
  return {{"trace", trace.path},
          {"format", trace.format},
          {"valid", true},
          {"rows", trace.rows},
          {"jobs", trace.jobs.size()},
          {"dropped", trace.dropped},
          {"findings", figure::to_array(rows_of(findings))},
          {"notes", trace.notes}};
}

std::string in_words(const trace::Trace& trace, const std::vector<trace::Finding>& findings) {
  std::string made =
      fmt::format("{}: valid ({}), {} of {}, {} dropped\n", trace.path, trace.format,
                  text::counted(trace.jobs.size(), "job"),
                  text::counted(static_cast<std::uint64_t>(trace.rows), "row"), trace.dropped);
  for (const trace::Finding& finding : findings) {
    made += fmt::format("  warning: {}: {}, the first is {}\n", finding.what,
                        text::counted(static_cast<std::uint64_t>(finding.jobs), "job"),
                        finding.first_job);
  }
  return made;
}

}  // namespace

void register_trace_validate(Program& program) {
  struct Arguments {
    TraceOptions trace;
    ListOptions list;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App& command =
      *program.noun(Purpose::understand, "trace", "Read, check, convert and generate job logs")
           .add_subcommand("validate", "Check a job log");
  arguments->trace.add_to(command);
  arguments->list.add_to(command);
  add_example(command, "almanac trace validate log.csv");
  add_exit_status(command, "65", "The job log is invalid");
  program.on(command, [arguments]() -> Result<int> {
    const auto trace = arguments->trace.load();
    if (!trace) return tl::unexpected(trace.error());
    const auto findings = find_oddities(*trace);
    const ListOptions& list = arguments->list;
    if (!list.wants_document() && !list.explains()) return list.print(rows_of(findings));
    constexpr auto kMend = nlohmann::ordered_json::error_handler_t::replace;
    fmt::print("{}", list.explains()
                         ? in_words(*trace, findings)
                         : validation_json(*trace, findings).dump(2, ' ', false, kMend) + "\n");
    return kDone;
  });
}

}  // namespace almanac::cli
