// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference dispatch: simulates requests with deadlines to networks that share GPUs, batch
/// by batch.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "cli/figure_rows.h"
#include "cli/inference_options.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/task_requests.h"
#include "cli/value_check.h"
#include "deployment/read.h"
#include "deployment/registry.h"
#include "deployment/task_run.h"
#include "text/nearest.h"

namespace almanac::cli {

void register_inference_dispatch(Program& program);

namespace {

struct DispatchOptions {
  std::string services{}, variants{}, answers{}, requests{}, column_map{};
  ListOptions list{};
  std::vector<std::string> compositions{};
  double seconds = 60;
  int gpus = 1;
  double memory_gib = 0, host_gib = 0;
  double tolerance = 0.01;
  std::uint64_t seed = 1;
};

/// A dispatcher and a chooser.
struct Dispatching {
  std::string name{}, dispatcher{}, chooser{};
};

Result<Dispatching> dispatching_of(const std::string& composition) {
  const deployment::Registry& all = deployment::registry();
  Dispatching made{.name = composition};
  for (std::size_t at = 0; at < composition.size();) {
    const std::size_t end = std::min(composition.find('+', at), composition.size());
    const std::string word = composition.substr(at, end - at);
    at = end + 1;
    const bool dispatches = all.dispatchers.find(word) != nullptr;
    if (!dispatches && all.choosers.find(word) == nullptr) {
      std::vector<std::string> names = all.dispatchers.names();
      for (const std::string& name : all.choosers.names()) names.push_back(name);
      return fail(
          Code::not_found,
          fmt::format("\"{}\" of {} is neither a dispatcher nor a chooser", word, composition), {},
          text::meant_or_known(word, names));
    }
    std::string& slot = dispatches ? made.dispatcher : made.chooser;
    if (!slot.empty()) {
      return fail(Code::usage,
                  fmt::format("{} names two {}s, {} and {}", composition,
                              dispatches ? "dispatcher" : "chooser", slot, word),
                  {}, "name one of each, joined by +, and separate pairs by commas");
    }
    slot = word;
  }
  if (made.dispatcher.empty()) made.dispatcher = "earliest_start";
  if (made.chooser.empty()) made.chooser = "best";
  return made;
}

/// Every dispatcher with the best variant, and every chooser for which enough is known.
std::vector<std::string> all_compositions(const deployment::TaskCase& told) {
  std::vector<std::string> made = deployment::registry().dispatchers.names();
  for (const auto& each : deployment::registry().choosers.entries()) {
    if (!each.make.needs_answers || told.answers.empty()) continue;
    if (each.make.needs_confidence && !deployment::knows_confidence(told)) continue;
    made.push_back("earliest_start+" + each.name);
  }
  return made;
}

Figures figures_of(const deployment::TaskCase& told, const deployment::TaskRun& run) {
  const auto requests = static_cast<double>(std::max<std::size_t>(1, run.requests));
  Figures made{{"requests", static_cast<double>(run.requests)},
               {"in_time", static_cast<double>(run.in_time) / requests}};
  if (!told.answers.empty()) {
    const auto answered = static_cast<double>(std::max<std::size_t>(1, run.in_time));
    made.insert(made.end(), {{"accuracy", static_cast<double>(run.right) / answered},
                             {"right_in_time", static_cast<double>(run.right) / requests}});
  }
  const double gpu_ms = told.gpus * run.span_ms;
  made.insert(made.end(), {{"queries", static_cast<double>(run.queries)},
                           {"preempted", static_cast<double>(run.preempted)},
                           {"loads", static_cast<double>(run.loads)},
                           {"busy", gpu_ms > 0 ? run.busy_ms / gpu_ms : 0},
                           {"latency_p50_ms", run.latency_ms.p50},
                           {"latency_p99_ms", run.latency_ms.p99}});
  return made;
}

Result<deployment::TaskCase> task_case(const DispatchOptions& options) {
  auto variants = deployment::read_variants(options.variants);
  if (!variants) return tl::unexpected(variants.error());
  auto services = deployment::read_services(options.services, *variants);
  if (!services) return tl::unexpected(services.error());
  for (const deployment::TaskService& each : *services) {
    if (!each.after) continue;
    return fail(Code::usage,
                fmt::format("{} is a stage after {}: dispatch simulates no pipelines", each.task,
                            (*services)[*each.after].task),
                {.file = options.services}, "use `almanac inference deploy`");
  }
  deployment::TaskCase told{
      .variants = std::move(*variants),
      .services = std::move(*services),
      .gpus = options.gpus,
      .memory_gib =
          options.memory_gib > 0 ? options.memory_gib : std::numeric_limits<double>::infinity(),
      .host_gib = options.host_gib > 0 ? options.host_gib : std::numeric_limits<double>::infinity(),
      .tolerance = options.tolerance,
      .seed = options.seed};
  if (!options.answers.empty()) {
    auto answers = deployment::read_answers(options.answers, told.services, told.variants);
    if (!answers) return tl::unexpected(answers.error());
    told.answers = std::move(*answers);
  }
  auto arrivals = options.requests.empty()
                      ? random_requests(told.services, options.seconds, options.seed)
                      : task_requests(options.requests, options.column_map, told.services);
  if (!arrivals) return tl::unexpected(arrivals.error());
  told.arrivals = std::move(*arrivals);
  if (!options.requests.empty()) deployment::set_rates(told.services, told.arrivals);
  return told;
}

/// Says that choosers do not know the accuracy that services require.
void note_accuracy(const deployment::TaskCase& told) {
  const bool is_required = std::any_of(told.services.begin(), told.services.end(),
                                       [](const auto& each) { return each.accuracy > 0; });
  if (!is_required) return;
  note(fmt::format("dispatch does not enforce the column accuracy of the services; {}",
                   told.answers.empty()
                       ? "--answers measures the accuracy that each composition reaches"
                       : "compare it with the accuracy of each composition"));
}

Result<int> dispatch(const DispatchOptions& options) {
  std::vector<Dispatching> ways;
  const auto& named = options.compositions;
  const bool is_all = named.empty() || named == std::vector<std::string>{"all"};
  const auto add = [&](const std::string& composition) -> Result<void> {
    auto way = dispatching_of(composition);
    if (!way) return tl::unexpected(way.error());
    ways.push_back(*std::move(way));
    return {};
  };
  for (std::size_t each = 0; !is_all && each < named.size(); ++each) {
    if (auto added = add(named[each]); !added) return tl::unexpected(added.error());
  }
  const auto told = task_case(options);
  if (!told) return tl::unexpected(told.error());
  for (const std::string& each : is_all ? all_compositions(*told) : std::vector<std::string>{}) {
    if (auto added = add(each); !added) return tl::unexpected(added.error());
  }
  note_accuracy(*told);
  std::vector<Result<deployment::TaskRun>> runs(ways.size(), deployment::TaskRun{});
  tbb::parallel_for(std::size_t{0}, ways.size(), [&](std::size_t each) {
    runs[each] = deployment::play_tasks(*told, ways[each].dispatcher, ways[each].chooser);
  });
  std::vector<NamedFigures> compared;
  for (std::size_t each = 0; each < runs.size(); ++each) {
    if (!runs[each]) return tl::unexpected(runs[each].error());
    compared.push_back({ways[each].name, figures_of(*told, *runs[each])});
  }
  return options.list.print(figure_rows("composition", compared));
}

}  // namespace

void register_inference_dispatch(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("dispatch",
                           "Simulate requests with deadlines on models that answer in one pass");
  const auto options = std::make_shared<DispatchOptions>();
  command.add_option("SERVICES", options->services, "CSV file of task, rate, slo_ms")->required();
  command
      .add_option("--variants", options->variants,
                  "CSV file of variant, task, accuracy, fixed_ms, item_ms, batch, memory_gib; for "
                  "abacus, space_time and ebird also operators and knee, with --gpu-memory load_s "
                  "and disk_s")
      ->type_name("FILE")
      ->required()
      ->group(heading(Group::input));
  command
      .add_option("--answers", options->answers,
                  "CSV file of task, item, variant, label, right (the right label), confidence: "
                  "recorded answers of the variants")
      ->type_name("FILE")
      ->group(heading(Group::input));
  CLI::Option* const log =
      command
          .add_option("--requests", options->requests,
                      "Request log whose column model has the task, instead of --seconds")
          ->group(heading(Group::input));
  log->type_name("REQUESTS");
  command
      .add_option("--seconds", options->seconds,
                  "Length of random arrivals at the rate of each service")
      ->check(number(1e-3, 1e7))
      ->excludes(log)
      ->capture_default_str()
      ->group(heading(Group::input));
  add_log_columns(command, options->column_map);
  command.add_option("--gpus", options->gpus, "GPUs")
      ->check(whole_number(1, 10'000))
      ->capture_default_str()
      ->group(heading(Group::model));
  CLI::Option* const memory =
      command
          .add_option(
              "--gpu-memory", options->memory_gib,
              "Memory of a GPU in GiB: variants are loaded, each for its load_s. Without it "
              "each GPU holds all variants")
          ->type_name("GIB")
          ->check(number(1e-3, 1e6))
          ->group(heading(Group::model));
  command
      .add_option("--host-memory", options->host_gib,
                  "Memory of the host in GiB: variants that are not there are read from disk, each "
                  "for its disk_s. Without it the host has all variants")
      ->type_name("GIB")
      ->check(number(1e-3, 1e7))
      ->needs(memory)
      ->group(heading(Group::model));
  const auto joined = [](const std::vector<std::string>& names) {
    std::string made;
    for (const std::string& each : names) made += (made.empty() ? "" : ", ") + each;
    return made;
  };
  const deployment::Registry& all = deployment::registry();
  command
      .add_option(
          "--of", options->compositions,
          fmt::format("Pairs to compare: a dispatcher ({}) and a chooser ({}), joined by +; or all",
                      joined(all.dispatchers.names()), joined(all.choosers.names())))
      ->type_name("NAME+NAME,...")
      ->delimiter(',');
  command
      .add_option("--tolerance", options->tolerance,
                  "Share of the right answers that cascade, tabi and cocktail may lose")
      ->check(number(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "Random seed")
      ->check(seed_number())
      ->capture_default_str();
  options->list.add_to(command);
  add_example(command,
              "almanac inference dispatch services.csv --variants variants.csv --gpus 2 --of "
              "shepherd,earliest_start,abacus");
  add_example(command,
              "almanac inference dispatch services.csv --variants variants.csv --answers "
              "answers.csv --of best,exp3,exp4,cascade");
  options->list.on(program, command, [options] { return dispatch(*options); });
}

}  // namespace almanac::cli
