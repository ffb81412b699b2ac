// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac study: the analyses of the Helios and Philly papers on any job log, as a report.
#include <atomic>
#include <memory>
#include <optional>

#include "cli/judged_logs.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/show_document.h"
#include "cli/studied_trace.h"
#include "report/document_directory.h"
#include "study/figures.h"
#include "study/gpu_use.h"
#include "study/host_use.h"
#include "study/introduction.h"
#include "study/vc_series.h"

namespace almanac::cli {

void register_study(Program& program);

namespace {

struct StudyRunOptions {
  TraceOptions trace{};
  StudyOptions study{};
  std::string gpu_util;
  std::string cpu_util;
  std::string mem_util;
  std::string vc_series;
  std::string logs;
  std::string rules;
  std::vector<std::string> excluded_days;
  std::string out;
  std::string output = "table";
};

Result<int> study(const StudyRunOptions& options, const std::vector<std::string>& command) {
  const auto loaded = options.study.load(options.trace);
  if (!loaded) return tl::unexpected(loaded.error());
  std::optional<study::GpuUse> gpu_use;
  if (!options.gpu_util.empty()) {
    const ProgressBar bar = reading_bar({options.gpu_util});
    auto read = study::read_gpu_use(options.gpu_util, loaded->trace);
    if (!read) return tl::unexpected(read.error());
    gpu_use = std::move(*read);
  }
  std::optional<study::HostUse> host_use;
  if (!options.cpu_util.empty() || !options.mem_util.empty()) {
    const ProgressBar bar = reading_bar({options.cpu_util, options.mem_util});
    auto read = study::read_host_use(options.cpu_util, options.mem_util);
    if (!read) return tl::unexpected(read.error());
    host_use = *read;
  }
  std::optional<std::vector<study::VcSeries>> vc_series;
  if (!options.vc_series.empty()) {
    std::vector<Time> excluded;
    for (const std::string& text : options.excluded_days) {
      const auto day = parse_time_option("--exclude-day", text);
      if (!day) return tl::unexpected(day.error());
      excluded.push_back(*day);
    }
    auto read = study::read_vc_series(options.vc_series, excluded);
    if (!read) return tl::unexpected(read.error());
    vc_series = std::move(*read);
  }
  std::optional<JudgedLogs> judged;
  if (!options.logs.empty()) {
    auto read = judge_logs(options.logs, options.rules, &loaded->trace);
    if (!read) return tl::unexpected(read.error());
    judged.emplace(std::move(*read));
  }
  if (!options.out.empty()) {
    const auto opened = report::open_document_directory(options.out, "study");
    if (!opened) return tl::unexpected(opened.error());
  }
  const study::Study subject(loaded->trace, loaded->cluster,
                             {.gpu = gpu_use ? &*gpu_use : nullptr,
                              .host = host_use ? &*host_use : nullptr,
                              .vcs = vc_series ? &*vc_series : nullptr,
                              .failures = judged ? &judged->drawing : nullptr});
  std::atomic<double> done = 0;
  figure::Document document = [&] {
    const ProgressBar bar("studying", [&] { return done.load(); });
    return study::draw_all(subject, [&](double share) { done = share; });
  }();
  study::hold_back(document, subject);
  describe(document, *loaded, subject, command);
  if (!options.out.empty()) {
    const auto written = report::write_document(options.out, document);
    if (!written) return tl::unexpected(written.error());
  }
  show_document(document, options.output, options.out);
  return kDone;
}

}  // namespace

void register_study(Program& program) {
  const auto options = std::make_shared<StudyRunOptions>();
  CLI::App& command =
      program.noun(Purpose::understand, "study",
                   "Analyze jobs, waits and use, as in the Helios and Philly studies");
  command.require_subcommand(0, 1);
  options->trace.add_to(command);
  options->study.add_to(command);
  command
      .add_option("--gpu-util", options->gpu_util,
                  "GPU utilization by the minute, as Philly's cluster_gpu_util")
      ->type_name("FILE")
      ->group(heading(Group::input));
  command
      .add_option("--cpu-util", options->cpu_util,
                  "CPU utilization by the minute, as Philly's cluster_cpu_util")
      ->type_name("FILE")
      ->group(heading(Group::input));
  command
      .add_option("--mem-util", options->mem_util,
                  "Memory use by the minute, as Philly's cluster_mem_util")
      ->type_name("FILE")
      ->group(heading(Group::input));
  CLI::Option* const series =
      command
          .add_option("--vc-series", options->vc_series,
                      "Directory of utilization by the minute, one CSV file per virtual cluster, "
                      "as Helios' cluster_sequence_vc.csv")
          ->type_name("DIR");
  command
      .add_option("--exclude-day", options->excluded_days,
                  "Day to leave out of these series, such as one of maintenance")
      ->type_name("DATE")
      ->needs(series);
  CLI::Option* const logs =
      command
          .add_option("--logs", options->logs, "Directory of job output, to find why jobs failed")
          ->type_name("DIR");
  command
      .add_option("--rules", options->rules,
                  "TOML file of failure rules, in addition to the built-in ones")
      ->type_name("FILE")
      ->needs(logs);
  command
      .add_option("--out", options->out,
                  "Directory for report.html and each figure as CSV and JSON")
      ->type_name("DIR")
      ->group(heading(Group::output));
  add_output_option(command, options->output);
  // LOG is optional for the parser, because a subcommand may take its place; this command checks
  // it.
  command.get_option("LOG")->required(false);
  add_example(command, "almanac study log.csv --out out/study");
  program.on(command, [options, &program]() -> Result<int> {
    if (options->trace.path.empty()) {
      return fail(Code::usage, "no job log is given", {}, "see almanac study --help");
    }
    return study(*options, program.command_line);
  });
}

}  // namespace almanac::cli
