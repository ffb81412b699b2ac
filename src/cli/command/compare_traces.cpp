// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac compare-traces: compares two job logs, or two periods of one.
#include <memory>

#include <fmt/format.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/show_document.h"
#include "cli/studied_trace.h"
#include "report/document_directory.h"
#include "study/comparison.h"

namespace almanac::cli {

void register_compare_traces(Program& program);

namespace {

struct CompareTracesOptions {
  TraceOptions a{};
  TraceOptions b{};
  StudyOptions of_a{};
  StudyOptions of_b{};
  std::string out;
  std::string output = "table";
};

/// What tells a log from the other: its file, or its period.
std::string name_of(const StudiedTrace& studied, const StudiedTrace& other) {
  const std::string name = short_name(studied.trace.path);
  if (name != short_name(other.trace.path)) return name;
  return studied.filter.empty() ? "all of " + name : studied.filter;
}

Result<int> compare_traces(const CompareTracesOptions& options,
                           const std::vector<std::string>& command) {
  const auto a = options.of_a.load(options.a);
  if (!a) return tl::unexpected(a.error());
  const auto b = options.of_b.load(options.b);
  if (!b) return tl::unexpected(b.error());
  if (!options.out.empty()) {
    const auto opened = report::open_document_directory(options.out, "traces");
    if (!opened) return tl::unexpected(opened.error());
  }
  const study::Study first(a->trace, a->cluster);
  const study::Study second(b->trace, b->cluster);
  std::string a_name = name_of(*a, *b);
  std::string b_name = name_of(*b, *a);
  if (a_name == b_name) {
    a_name += " (1)";
    b_name += " (2)";
  }
  figure::Document document = study::draw_comparison(first, a_name, second, b_name);
  describe(document, *a, first, command);
  add_second(document, *b);
  document.title = fmt::format("{} and {}", short_name(a->trace.path), short_name(b->trace.path));
  if (!options.out.empty()) {
    const auto written = report::write_document(options.out, document);
    if (!written) return tl::unexpected(written.error());
  }
  show_document(document, options.output, options.out);
  return kDone;
}

}  // namespace

void register_compare_traces(Program& program) {
  const auto options = std::make_shared<CompareTracesOptions>();
  CLI::App& command = program.command(Purpose::understand, "compare-traces",
                                      "Compare two job logs, or two periods of one");
  options->a.add_to(command, "A", "-a");
  options->of_a.add_to(command, "-a");
  options->b.add_to(command, "B", "-b");
  options->of_b.add_to(command, "-b");
  command
      .add_option("--out", options->out,
                  "Directory for report.html and each figure as CSV and JSON")
      ->type_name("DIR")
      ->group(heading(Group::output));
  add_output_option(command, options->output);
  add_example(command, "almanac compare-traces spring.csv autumn.csv --out out/changes");
  program.on(command,
             [options, &program] { return compare_traces(*options, program.command_line); });
}

}  // namespace almanac::cli
