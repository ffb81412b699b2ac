// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference report: a page about the latencies of a service and what it needed for them.
#include "cli/elapsed.h"
#include "cli/inference_fleet.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/show_document.h"
#include "inference/fleet_sizes.h"
#include "report/document_directory.h"
#include "report/service_document.h"

namespace almanac::cli {

void register_inference_report(Program& program);

namespace {

struct ServiceReportOptions {
  FleetOptions fleet{};
  std::string out;
};

Result<int> report_service(const InferenceOptions& options, const ServiceReportOptions& asked,
                           const std::vector<std::string>& command) {
  const auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  const auto plan = plan_fleet(asked.fleet, *told, "");
  if (!plan) return tl::unexpected(plan.error());
  if (auto opened = report::open_document_directory(asked.out, "service"); !opened) {
    return tl::unexpected(opened.error());
  }
  const auto fleet =
      while_showing("simulating", [&](ProgressBar&) { return play_fleet(*plan, *told); });
  if (!fleet) return tl::unexpected(fleet.error());
  const auto sizes = while_showing("sizing", [&](ProgressBar&) {
    return inference::play_sizes(*plan, told->requests, told->objective);
  });
  if (!sizes) return tl::unexpected(sizes.error());
  const inference::ScalerCase& scaling = plan->scaling.told;
  const auto ideal =
      inference::ideal_fleet(told->requests, scaling.replica_requests_per_s, scaling.least);
  const figure::Document document = report::service_document({.requests_file = options.requests,
                                                              .requests = told->requests,
                                                              .service = plan->service,
                                                              .objective = told->objective,
                                                              .played = fleet->played,
                                                              .seen = fleet->seen,
                                                              .scaler = plan->scaling.scaler,
                                                              .gpu_hours = fleet->gpu_hours,
                                                              .cost = fleet->cost,
                                                              .energy_kwh = fleet->energy_kwh,
                                                              .ideal = ideal,
                                                              .sizes = *sizes},
                                                             command);
  if (auto written = report::write_document(asked.out, document); !written) {
    return tl::unexpected(written.error());
  }
  show_document(document, options.list.output, asked.out);
  return kDone;
}

}  // namespace

void register_inference_report(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("report", "Write a report on latency, SLO attainment and cost");
  const auto options = add_inference_options(command);
  const auto asked = std::make_shared<ServiceReportOptions>();
  asked->fleet.add_to(command);
  command
      .add_option("--out", asked->out, "Directory for report.html and each figure as CSV and JSON")
      ->type_name("DIR")
      ->required()
      ->group(heading(Group::output));
  add_example(command,
              "almanac inference report requests.csv --model llama-3.1-8b --replicas 1..8 --ttft "
              "500ms --tpot 50ms --out out/service");
  program.on(command, [options, asked, &program] {
    return report_service(*options, *asked, program.command_line);
  });
}

}  // namespace almanac::cli
