// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac profile: runs a command a few times, briefly, and reports how its speed depends on its
/// resources.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/show_profile.h"
#include "cli/value_check.h"
#include "cli/words_after_mark.h"
#include "profiling/findings.h"
#include "profiling/machine.h"
#include "profiling/measure.h"
#include "profiling/survey.h"
#include "text/duration.h"

namespace almanac::cli {
namespace {

using namespace profiling;

struct ProfileOptions {
  std::vector<std::string> command;
  std::vector<double> batches;
  std::vector<int> gpus;
  int cpus = 0;
  std::vector<double> memories_gb;
  std::string neighbour;
  std::string progress = "auto";
  std::string budget = "10m";
  std::string run = "60s";
  std::string patience = "60s";
  std::string name;
  std::string out;
  ListOptions list;
  bool dry_run = false;
};

Result<double> time_s(const std::string& option, const std::string& text) {
  const auto parsed = text::parse_duration(text);
  if (parsed && *parsed > Duration{0} && *parsed < text::kUnlimited) return seconds(*parsed);
  return fail(Code::usage,
              fmt::format("{} must be a time such as 30s or 10m, found {}", option, text));
}

/// Rising, each once.
template <typename Number>
std::vector<Number> sorted(std::vector<Number> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

Result<std::vector<int>> gpus_to_try(const ProfileOptions& options, const Machine& machine) {
  const auto there = static_cast<int>(machine.gpus.size());
  std::vector<int> gpus = sorted(options.gpus);
  if (gpus.empty()) {
    for (int count = 1; count < there; count *= 2) gpus.push_back(count);
    gpus.push_back(std::max(1, there));
    return gpus;
  }
  if (gpus.front() < 1) return fail(Code::usage, "--gpus takes numbers of 1 or more");
  if (there > 0 && gpus.back() > there) {
    return fail(Code::usage, fmt::format("--gpus {}: this machine has {}", gpus.back(), there));
  }
  return gpus;
}

Result<Question> question_of(const ProfileOptions& options, const Machine& machine,
                             const CommandLine& command) {
  Question question{.batch_of_a_gpu = command.names("batch_per_gpu")};
  const bool named = question.batch_of_a_gpu || command.names("batch");
  if (question.batch_of_a_gpu && command.names("batch")) {
    return fail(Code::usage, "the command has both {batch} and {batch_per_gpu}", {},
                "use the one that stays constant with more GPUs");
  }
  if (named && options.batches.empty()) {
    return fail(Code::usage, "the command has a batch placeholder, but no --batch is given", {},
                "for example --batch 16,32,64,128");
  }
  if (!options.batches.empty()) question.batches = sorted(options.batches);
  if (!(question.batches.front() > 0)) return fail(Code::usage, "--batch must be more than 0");
  const auto gpus = gpus_to_try(options, machine);
  if (!gpus) return tl::unexpected(gpus.error());
  question.gpus = *gpus;
  const auto there = static_cast<int>(machine.cpus.size());
  if (options.cpus > there) {
    return fail(Code::usage, fmt::format("--cpus {}: this machine has {}", options.cpus, there));
  }
  question.most_cpus = options.cpus > 0 ? options.cpus : there;
  question.memories_gb = sorted(options.memories_gb);
  if (!question.memories_gb.empty() && !(question.memories_gb.front() > 0)) {
    return fail(Code::usage, "--memory must be more than 0");
  }
  question.neighbour = !options.neighbour.empty();
  return question;
}

/// Says what this machine cannot do, and takes it off the question.
void note_limits(Question& question, const Machine& machine) {
  if (machine.gpus.empty()) {
    note(fmt::format("profiling without GPUs: {}", machine.no_driver.empty()
                                                       ? machine.visible_variable + " hides all"
                                                       : machine.no_driver));
    if (question.gpus.back() > 1) {
      note("the command gets its number of GPUs only from {gpus} and ALMANAC_GPUS");
    }
  } else if (!machine.driver) {
    note(fmt::format("GPU use is not measured: {}", machine.no_driver));
  }
  if (question.memories_gb.empty()) return;
  const auto group =
      process::Cgroup::create(machine.cgroups, fmt::format("almanac-profile-{}", ::getpid()),
                              {.cpus = std::nullopt, .memory_gb = question.memories_gb.back()});
  if (group) return;
  note(fmt::format("memory cannot be limited here, so --memory is ignored: {}",
                   to_string(group.error())));
  question.memories_gb.clear();
}

void show_plan(const Question& question, double run_s, double budget_s) {
  const std::vector<Condition> plan = usual_plan(question);
  fmt::print(
      "{} runs of up to {:.0f} s each within {:.0f} s for a typical job; later runs depend on "
      "earlier results:\n",
      plan.size(), run_s, budget_s);
  for (const Condition& condition : plan) fmt::print("  {}\n", to_string(condition));
}

Result<int> profile(const ProfileOptions& options) {
  const Machine machine = this_machine();
  CommandLine command(options.command);
  Result<Question> question = question_of(options, machine, command);
  if (!question) return tl::unexpected(question.error());
  const auto reader = ProgressReader::create(options.progress);
  if (!reader) return tl::unexpected(reader.error());
  const auto budget_s = time_s("--budget", options.budget);
  const auto run_s = time_s("--run", options.run);
  const auto patience_s = time_s("--patience", options.patience);
  for (const auto* const each : {&budget_s, &run_s, &patience_s}) {
    if (!*each) return tl::unexpected(each->error());
  }
  const std::string name = options.name.empty() ? command.subject() : options.name;
  const std::string out = options.out.empty() ? name + ".csv" : options.out;
  if (options.out.empty() && std::filesystem::exists(out)) {
    return fail(Code::conflict, "the profile already exists", {out},
                "use --out FILE.csv to overwrite");
  }
  note_limits(*question, machine);
  if (options.dry_run) {
    show_plan(*question, *run_s, *budget_s);
    return kDone;
  }

  std::vector<std::string> neighbour;
  if (question->neighbour && options.neighbour != "same") {
    neighbour = {"/bin/sh", "-c", options.neighbour};
  }
  Bencher bencher({.command = command,
                   .neighbour = neighbour,
                   .budget_s = *budget_s,
                   .run_s = *run_s,
                   .patience_s = *patience_s,
                   .reader = &*reader,
                   .machine = &machine,
                   .interrupted = &interrupted(),
                   .note = note});
  const Survey made = survey(*question, [&](const Condition& condition) {
    if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "{} ...\n", to_string(condition));
    return bencher(condition);
  });
  const bool stopped = interrupted().load();
  if (made.runs.empty() && !stopped) return tl::unexpected(*made.cut_short);
  const Findings findings = findings_of(made);
  if (!stopped) {
    const Labels labels{.model = name,
                        .gpu_type = machine.gpu_type(),
                        .neighbour = neighbour.empty() ? "" : CommandLine(neighbour).subject(),
                        .machine_memory_gb = machine.memory_gb,
                        .batch_stays = command.names("batch")};
    const auto written = perf::write_profile(profile_of(made, labels), out);
    if (!written) return tl::unexpected(written.error());
  }
  if (!made.runs.empty()) {
    const ProfileTitle title{.model = name, .read_as = bencher.read_as(), .file = out};
    const auto shown = show_profile(made, findings, title, options.list);
    if (!shown) return shown;
  }
  for (const Measured& run : made.runs) {
    if (!run.said.empty()) note(run.said);
  }
  if (stopped) {
    note("interrupted; no profile was written");
    return kInterrupted;
  }
  if (made.cut_short)
    note(fmt::format("some conditions were not measured: {}", to_string(*made.cut_short)));
  return kDone;
}

}  // namespace

void register_profile(Program& program) {
  const auto options = std::make_shared<ProfileOptions>();
  CLI::App& command = program.command(Purpose::predict, "profile",
                                      "Profile a training command by batch size, GPUs and CPUs");
  command
      .add_option("COMMAND", options->command,
                  "Command to run; {batch} or {batch_per_gpu}, {gpus}, {cpus} and {memory_gb} in "
                  "it are replaced")
      ->required()
      ->option_text("-- COMMAND...");
  command.add_option("--batch", options->batches, "Batch sizes to try")
      ->delimiter(',')
      ->check(positive_number());
  command
      .add_option("--gpus", options->gpus,
                  "Numbers of GPUs to try (default: 1, 2, 4, ... up to all)")
      ->delimiter(',')
      ->check(whole_number(1, kLargestCount));
  command.add_option("--cpus", options->cpus, "Most cores to try (default: all)")
      ->check(whole_number(1, kLargestCount));
  command.add_option("--memory", options->memories_gb, "Memory limits to try, in GB")
      ->delimiter(',')
      ->check(positive_number());
  command
      .add_option("--neighbour", options->neighbour,
                  "Also measure next to this command, run by /bin/sh; same is the command itself")
      ->type_name("COMMAND");
  command
      .add_option(
          "--progress", options->progress,
          "How to read progress: auto, deepspeed, lightning, huggingface, keras, tqdm, steps, "
          "rates, or a regular expression with a named group step, samples, rate, step_s or "
          "sample_rate")
      ->type_name("NAME|REGEX")
      ->capture_default_str();
  command.add_option("--budget", options->budget, "Time limit for all runs")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--run", options->run, "Time limit for a run")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--patience", options->patience,
                  "Time without progress after which a run counts as hanging")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--name", options->name,
                     "Name of the model in the profile (default: that of the script)");
  command.add_option("--out", options->out, "File for the profile (default NAME.csv)")
      ->type_name("FILE.csv")
      ->group(heading(Group::output));
  options->list.add_to(command);
  command.add_flag("--dry-run", options->dry_run, "Print the plan; run nothing")
      ->group(heading(Group::output));
  add_example(command, "almanac profile --gpus 1,2,4 -- python train.py");
  add_example(command, "almanac profile --batch 32,64 -- python train.py --batch-size {batch}");
  program.on(command, [options, &program] {
    options->command = words_after_mark(program.command_line, options->command);
    return profile(*options);
  });
}

}  // namespace almanac::cli
