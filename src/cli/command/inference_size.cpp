// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference size: the fewest replicas with which requests are served as asked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/inference_fleet.h"
#include "cli/inference_placed.h"
#include "cli/program.h"
#include "inference/placing.h"
#include "inference/sizing.h"
#include "table/output_file.h"
#include "text/human.h"

namespace almanac::cli {

void register_inference_size(Program& program);

namespace {

struct SizeOptions {
  inference::SizeQuestion question{};
  double gpu_hour = 0;
  std::string out;
};

/// Says so where a number is none for the following day, and why.
void note_doubts(const inference::Requests& requests, const std::vector<std::string>& doubts) {
  if (doubts.empty()) return;
  note(
      fmt::format("this log does not tell what the following day needs: {}; the number is no "
                  "recommendation for it, only for this log's own {:.1f} h and others like them",
                  fmt::join(doubts, "; "), inference::hours_of(requests)));
}

Result<int> size_of_plan(InferenceCase told, const InferenceOptions& options,
                         const SizeOptions& asked, const inference::SizeQuestion& question) {
  auto sized = inference::size_plan(told.service, told.requests, *told.plan, question);
  if (!sized) return tl::unexpected(sized.error());
  std::string holds_for;
  for (const auto& part : sized->parts) {
    const inference::Size& size = part.size;
    note(fmt::format("{}: {} copies; {} serve this log as asked{}",
                     fmt::join(part.models, " with "), size.replicas, size.for_log,
                     size.drawn == 0 ? ""
                                     : fmt::format(", {} serve {} of {} logs drawn like it too",
                                                   size.replicas, size.served, size.drawn)));
    note_doubts(told.requests, size.doubts);
    if (holds_for.empty() || !size.doubts.empty()) holds_for = size.holds_for();
  }
  if (!asked.out.empty()) {
    if (auto written = table::write_file(asked.out, inference::to_csv(sized->plan)); !written) {
      return tl::unexpected(written.error());
    }
    note(fmt::format("{} is for --plan of the other inference commands", asked.out));
  }
  told.plan = std::move(sized->plan);
  return simulate_placed(told, asked.gpu_hour, options.output, holds_for);
}

Result<int> size(const InferenceOptions& options, const SizeOptions& asked) {
  auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  if (options.first_token.empty() && options.per_token.empty()) {
    return fail(Code::usage, "without an objective one replica is enough", {},
                "give --ttft, --tpot or both");
  }
  if (told->service.prefill > 0) {
    return fail(Code::usage, "--prefill goes with a number of replicas, which is what is sought",
                {}, "--split finds how many are best for prompts alone");
  }
  inference::SizeQuestion question = asked.question;
  question.objective = told->objective;
  if (told->plan) return size_of_plan(*std::move(told), options, asked, question);
  if (!asked.out.empty()) return fail(Code::usage, "--out is for the plan that --plan sizes");
  const auto size = inference::size_fleet(told->service, told->requests, question);
  if (!size) return tl::unexpected(size.error());
  told->service.replicas = size->replicas;
  told->service.prefill = size->prefill;
  const FleetPlan plan{.service = told->service,
                       .scaling = {.scaler = "steady", .told = {size->replicas, size->replicas}},
                       .gpu_hour = asked.gpu_hour};
  const auto fleet = play_fleet(plan, *told);
  if (!fleet) return tl::unexpected(fleet.error());
  if (size->replicas > size->for_log) {
    note(
        fmt::format("this log is served as asked by {}; {} of {} logs drawn like it too are by {} "
                    "(--confidence 0: this log alone)",
                    text::counted(static_cast<std::uint64_t>(size->for_log), "replica"),
                    size->served, size->drawn, size->replicas));
  }
  note_doubts(told->requests, size->doubts);
  print_fleet(options.output, plan, *fleet, &*size);
  return kDone;
}

}  // namespace

void register_inference_size(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::choose, "inference", "Services that answer requests with models")
           .add_subcommand("size", "Find the fewest replicas that serve requests as asked");
  const auto options = add_inference_options(command);
  const auto asked = std::make_shared<SizeOptions>();
  command
      .add_option("--share", asked->question.share,
                  "Share of the requests that must meet the objective")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--most", asked->question.most, "Replicas at most")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command.add_flag("--split", asked->question.split,
                   "Let some replicas compute prompts only, as many as is best");
  command
      .add_option("--confidence", asked->question.confidence,
                  "Part of 20 logs drawn as they may follow this one that must be served as asked "
                  "too; 0 = this log alone counts")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--gpu-hour", asked->gpu_hour, "Price of a GPU for an hour")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_plan_option(command, *options);
  command.add_option("--out", asked->out, "File for the plan with as many copies as are needed")
      ->type_name("FILE");
  add_example(command, "almanac inference size requests.csv --plan plan.csv --ttft 500ms");
  add_example(command,
              "almanac inference size requests.csv --model llama-3.1-8b --ttft 500ms --tpot 50ms");
  program.on(command, [options, asked] { return size(*options, *asked); });
}

}  // namespace almanac::cli
