// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac submit: submits a job, and prints when it is expected to start and end, also with other
/// numbers of GPUs.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <thread>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/attach.h"
#include "cli/draft_submission.h"
#include "cli/job_end.h"
#include "cli/job_words.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/replica_service.h"
#include "cli/service_options.h"
#include "cli/terminal.h"
#include "cli/wall_clock.h"
#include "cli/words_after_mark.h"
#include "serve/submission_json.h"
#include "serve/view_json.h"
#include "submission/draft.h"
#include "submission/script.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

/// How long a forecast is waited for: it is a courtesy, the job is submitted.
constexpr auto kPatience = std::chrono::milliseconds(1500);
constexpr auto kLookAgain = std::chrono::milliseconds(25);

struct SubmitOptions {
  ServiceOptions service;
  std::vector<std::string> asked;  ///< "--gpus=2", in order; read as a script's lines are.
  std::vector<std::string> words;
  ReplicaService replicas;
  bool is_service = false;
  bool parsable = false;
  bool json = false;
  bool dry_run = false;
  bool wait = false;
  bool pty = false;
};

/// The heading of an option of the job.
Group group_of(std::string_view option) {
  static const std::map<std::string_view, Group> kGroups{{"gpus", Group::resources},
                                                         {"max-gpus", Group::resources},
                                                         {"gpu-share", Group::resources},
                                                         {"gpu-type", Group::resources},
                                                         {"gpu-profile", Group::resources},
                                                         {"gpu-mem", Group::resources},
                                                         {"cpus", Group::resources},
                                                         {"mem", Group::resources},
                                                         {"io", Group::resources},
                                                         {"time", Group::time},
                                                         {"deadline", Group::time},
                                                         {"worthless-at", Group::time},
                                                         {"value", Group::time},
                                                         {"begin", Group::time},
                                                         {"grace", Group::time},
                                                         {"signal", Group::time},
                                                         {"after", Group::dependencies},
                                                         {"after-ok", Group::dependencies},
                                                         {"after-not-ok", Group::dependencies},
                                                         {"dependency", Group::dependencies},
                                                         {"hold", Group::dependencies}};
  const auto found = kGroups.find(option);
  return found == kGroups.end() ? Group::job : found->second;
}

/// The description of an option with its default as all help has it: "(default 30s)".
std::string help_of(const submission::Option& option) {
  std::string help(option.help);
  constexpr std::string_view kDefault = "; default: ";
  if (const std::size_t at = help.find(kDefault); at != std::string::npos) {
    const std::string value = help.substr(at + kDefault.size());
    const bool is_phrase = value.find(' ') != std::string::npos;
    help = fmt::format("{} (default{} {})", help.substr(0, at), is_phrase ? ":" : "", value);
  }
  return help;
}

void add_asked(CLI::App& command, const std::shared_ptr<SubmitOptions>& options) {
  for (const submission::Option& option : submission::own_options()) {
    const InGroup group(command, group_of(option.name));
    const std::string name = fmt::format("--{}", option.name);
    const std::string spelled =
        option.letter == '\0' ? name : fmt::format("-{},{}", option.letter, name);
    if (option.argument == submission::Argument::none) {
      command.add_flag_callback(
          spelled, [options, name] { options->asked.push_back(name); }, help_of(option));
      continue;
    }
    command
        .add_option_function<std::string>(
            spelled,
            [options, name](const std::string& value) {
              options->asked.push_back(name + "=" + value);
            },
            help_of(option))
        ->type_name(std::string(option.value));
  }
  for (const char* const each : {"--after", "--after-ok", "--after-not-ok"}) {
    command.get_option("--dependency")->excludes(command.get_option(each));
  }
}

/// "did you mean train.sh?": the file in the folder of `path` with the most similar name, or "".
std::string similar_file(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator each(folder, failed);
  for (; !failed && each != std::filesystem::directory_iterator(); each.increment(failed)) {
    if (each->is_regular_file(failed)) names.push_back(each->path().filename());
  }
  std::sort(names.begin(), names.end());
  return text::did_you_mean(path.filename().string(), names);
}

/// What is wrong with a script that cannot be read, and what was probably meant.
Error no_script(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return {Code::usage, "is a directory, not a script", {.file = path}, ""};
  }
  if (std::filesystem::exists(path, ignored)) {
    const bool is_file = std::filesystem::is_regular_file(path, ignored);
    return is_file ? Error{Code::not_found, "the script cannot be read", {.file = path}, ""}
                   : Error{Code::usage,
                           "is no regular file, so it cannot be a script",
                           {.file = path},
                           "write the script to a file first"};
  }
  const std::string meant = similar_file(path);
  return {Code::not_found,
          "there is no such script",
          {.file = path},
          fmt::format("{}{}to run a command, put it after --: almanac submit -- {} ...", meant,
                      meant.empty() ? "" : "; ", path)};
}

/// A script and what its lines ask.
Result<submission::Script> read_script(const std::string& path, store::Submission base) {
  // To open a FIFO would wait for a writer.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return tl::unexpected(no_script(path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected(no_script(path));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto script = submission::read_script(text, path, std::move(base), wall_clock());
  if (!script) return script;
  for (const std::string& each : script->notes) note(each);
  return script;
}

/// A job on a terminal: the command behind "--", or the words without; without any, the user's
/// shell.
Result<store::Submission> terminal_job(store::Submission base, std::vector<std::string> command,
                                       const SubmitOptions& options) {
  if (command.empty()) command = options.words;
  if (command.empty()) {
    const char* const shell = std::getenv("SHELL");
    command = {shell == nullptr || *shell == '\0' ? "/bin/sh" : shell};
  }
  base.name = std::filesystem::path(command.front()).filename();
  base.argv = std::move(command);
  base.pty = true;
  // What it writes is on the terminal.
  base.out = "/dev/null";
  return with_asked(std::move(base), options.asked);
}

/// The command behind "--", or a script; what the options say counts before the script's lines.
Result<submission::Script> read_submission(const SubmitOptions& options,
                                           const std::vector<std::string>& command_line) {
  const auto without_nodes = [](store::Submission asked) {
    return submission::Script{.asked = std::move(asked)};
  };
  const std::vector<std::string> command = words_after_mark(command_line, {});
  if (options.is_service) {
    if (command.empty()) {
      return fail(Code::usage, "no command for the replicas is given", {},
                  "almanac submit --service [options] -- COMMAND...; {port} in it is its port");
    }
    const auto named = std::find_if(options.asked.begin(), options.asked.end(),
                                    [](const auto& each) { return each.starts_with("--name="); });
    const std::string name = named != options.asked.end()
                                 ? named->substr(named->find('=') + 1)
                                 : std::filesystem::path(command.front()).filename().string();
    return service_job(options.replicas, options.service, name, options.asked, command)
        .map(without_nodes);
  }
  auto base = base_submission();
  if (!base) return tl::unexpected(base.error());
  if (options.pty) return terminal_job(*std::move(base), command, options).map(without_nodes);
  if (command.empty() && options.words.empty()) {
    return fail(Code::usage, "no command or script is given", {},
                "use almanac submit [options] -- COMMAND..., or almanac submit [options] SCRIPT");
  }
  if (!command.empty()) {
    base->argv = command;
    base->name = std::filesystem::path(command.front()).filename();
    return with_asked(*std::move(base), options.asked).map(without_nodes);
  }
  auto script = read_script(options.words.front(), *std::move(base));
  if (!script) return script;
  script->asked.argv.assign(options.words.begin() + 1, options.words.end());
  auto asked = with_asked(std::move(script->asked), options.asked);
  if (!asked) return tl::unexpected(asked.error());
  script->asked = *std::move(asked);
  // The command line's GPUs replace those that the script requests on each of its nodes.
  const auto names_gpus = [](const std::string& each) { return each.starts_with("--gpus="); };
  if (std::any_of(options.asked.begin(), options.asked.end(), names_gpus)) script->nodes = 1;
  return script;
}

/// Fails if the service has fewer nodes than a script requests.
Result<void> check_nodes(serve::Client& client, int nodes) {
  if (nodes <= 1) return {};
  const auto said = client.get("/v1/nodes");
  if (!said) return tl::unexpected(said.error());
  const auto read = nlohmann::json::parse(said->body, nullptr, false);
  const std::size_t has =
      read.is_object() ? read.value("nodes", nlohmann::json::array()).size() : 0;
  // Without any node, the service says why.
  if (has == 0 || has >= static_cast<std::size_t>(nodes)) return {};
  return fail(
      Code::usage,
      fmt::format("--nodes={} requests more nodes than the service has ({})", nodes, has), {},
      fmt::format("request at most {}; more machines can join a service that was started with "
                  "`almanac serve --boxes`",
                  has));
}

/// Jobs whose forecasts are waited for: a running job has one of its end.
enum class Foreseen : std::uint8_t { pending, pending_and_running };

/// Returns the job as the service describes it, once it has a forecast, or after kPatience without
/// one; "" if the service does not answer.
std::string look(serve::Client& client, store::JobNumber number, Foreseen foreseen) {
  const std::string path = fmt::format("/v1/jobs/{}", static_cast<std::int64_t>(number));
  const auto until = std::chrono::steady_clock::now() + kPatience;
  bool is_foreseen = false;
  for (;;) {
    const auto job = client.get(path);
    if (!job) return "";
    const auto listed = serve::read_job(job->body);
    const bool may_be_foreseen = listed && !listed->view.job.held &&
                                 (listed->view.job.state == trace::JobState::pending ||
                                  (foreseen == Foreseen::pending_and_running &&
                                   listed->view.job.state == trace::JobState::running));
    if (!may_be_foreseen || is_foreseen || std::chrono::steady_clock::now() > until) {
      return job->body;
    }
    const auto said = client.get(path + "/forecast");
    if (!said) return job->body;
    is_foreseen = said->status == 200;
    if (!is_foreseen) std::this_thread::sleep_for(kLookAgain);
  }
}

void say_expected(const std::string& body) {
  const auto listed = serve::read_job(body);
  if (!listed) return;
  const auto& [job, expected] = std::tie(listed->view.job, listed->view.expected);
  if (job.state == trace::JobState::running) fmt::print("Running on {}\n", listed->nodes);
  if (job.state != trace::JobState::pending || !expected) return;
  const Time now = wall_clock();
  fmt::print("Expected: {}\n", in_words(*expected, now));
  if (!expected->other_gpus) return;
  for (const service::WithGpus& each : *expected->other_gpus) {
    fmt::print("  {}\n", in_words(each, now));
  }
}

/// Disks are held on few machines, which users who ask for that would not guess.
void say_means(serve::Client& client) {
  const auto said = client.get("/v1/overview");
  if (!said) return;
  const auto overview = serve::read_overview(said->body);
  if (!overview || overview->limits_by.empty()) return;
  fmt::print("Limits are enforced by: {}\n", overview->limits_by);
}

void relay_job(const std::vector<store::JobNumber>& numbers, const std::string& first) {
  nlohmann::ordered_json out = {{"numbers", nlohmann::ordered_json::array()}};
  for (const store::JobNumber each : numbers) {
    out["numbers"].push_back(static_cast<std::int64_t>(each));
  }
  auto job = nlohmann::ordered_json::parse(first, nullptr, false);
  if (!job.is_discarded()) out["job"] = std::move(job);
  fmt::print("{}\n", out.dump(2));
}

void say_submitted(serve::Client& client, const store::Submission& asked,
                   const std::vector<store::JobNumber>& numbers) {
  fmt::print("Submitted job {}{}\n", static_cast<std::int64_t>(numbers.front()),
             asked.indices.empty() ? "" : fmt::format(" of {} tasks", numbers.size()));
  if (asked.io_mbs) say_means(client);
  std::fflush(stdout);
  // Where no terminal shows it, it is not waited for.
  if (::isatty(STDOUT_FILENO) != 0) {
    say_expected(look(client, numbers.front(), Foreseen::pending));
  }
}

Result<int> submit(const SubmitOptions& options, const std::vector<std::string>& command_line) {
  const auto script = read_submission(options, command_line);
  if (!script) return tl::unexpected(script.error());
  const store::Submission& asked = script->asked;
  if (auto checked = check_submission(asked); !checked) return tl::unexpected(checked.error());
  if (options.dry_run) {
    fmt::print("{}\n", serve::to_json(asked));
    return kDone;
  }
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (auto enough = check_nodes(*client, script->nodes); !enough) {
    return tl::unexpected(enough.error());
  }
  if (options.is_service) {
    const auto judged = judge_replicas(*client, options.asked, words_after_mark(command_line, {}));
    if (!judged) return tl::unexpected(judged.error());
  }
  const auto submitted = client->submit(asked);
  if (!submitted) return tl::unexpected(submitted.error());
  for (const std::string& each : submitted->notes) note(each);
  const std::vector<store::JobNumber>& numbers = submitted->numbers;
  if (options.is_service) {
    if (const std::string risk = risk_of_replicas(*client, options.replicas); !risk.empty())
      note(risk);
  }
  if (options.pty) {
    print_message(fmt::format("Submitted job {} (detach: Ctrl-] three times)", numbers.front()));
    return follow_terminal(*client, numbers.front(), true);
  }
  const auto first = static_cast<std::int64_t>(numbers.front());
  if (options.parsable) {
    fmt::print("{}\n", first);
  } else if (options.json) {
    relay_job(numbers, look(*client, numbers.front(), Foreseen::pending_and_running));
  } else {
    say_submitted(*client, asked, numbers);
  }
  std::fflush(stdout);
  return options.wait ? await_ends(*client, numbers) : kDone;
}

}  // namespace

void register_submit(Program& program) {
  CLI::App& command = program.command(Purpose::jobs, "submit", "Submit a job");
  const auto options = std::make_shared<SubmitOptions>();
  command
      .add_option("COMMAND", options->words,
                  "Command and its arguments, or a script and its arguments")
      ->option_text("[--] COMMAND...");
  add_asked(command, options);
  CLI::Option* const service =
      command
          .add_flag("--service", options->is_service,
                    "Run an inference service: replicas of COMMAND behind one port")
          ->group(heading(Group::replicas));
  options->replicas.add_to(command);
  for (const char* const each :
       {"--replicas", "--slo", "--port", "--scaler", "--health", "--at-once", "--rate"}) {
    command.get_option(each)->needs(service);
  }
  CLI::Option* const parsable =
      command.add_flag("--parsable", options->parsable, "Print only the job number")
          ->group(heading(Group::output));
  CLI::Option* const json =
      command
          .add_flag("--json", options->json,
                    "Print the job numbers and the first job as JSON, with its forecast if the "
                    "service makes one within 1.5 s")
          ->excludes(parsable)
          ->group(heading(Group::output));
  command.add_flag("--dry-run", options->dry_run, "Print the submission as JSON; submit nothing")
      ->group(heading(Group::output));
  CLI::Option* const wait =
      command
          .add_flag("--wait", options->wait,
                    "Wait for the end; print how it ended and where its log is")
          ->group(heading(Group::output));
  CLI::Option* const pty = command.add_flag(
      "--pty", options->pty, "Run on this terminal: a shell or any program (default $SHELL)");
  for (CLI::Option* const each : {service, parsable, json, wait}) pty->excludes(each);
  options->service.add_to(command);
  add_example(command,
              "almanac submit --gpus 2 --cpus 8 --mem 32G --time 2:00:00 -- python train.py");
  add_example(command, "almanac submit --array 0-9%3 --after 17 train.sh");
  add_example(command, "almanac submit --dependency afterok:17:18,afterany:19 -- ./evaluate");
  add_example(command,
              "almanac submit --service --replicas 1..4 --slo ttft=500ms,tpot=50ms --gpus 1 --port "
              "8000 -- vllm serve MODEL --port {port}");
  add_example(command, "almanac submit --pty --gpus 1 -- bash");
  add_example(command, "almanac submit --json --gpus 1 --max-gpus 4 --deadline 16:00 -- ./train");
  add_exit_status(
      command, "N",
      "With --wait or --pty: exit status of the job, the highest of an array; 1 after a signal");
  program.on(command, [options, &program] { return submit(*options, program.command_line); });
}

}  // namespace almanac::cli
