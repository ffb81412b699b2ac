// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac tune run: tries hyper-parameters with real jobs, one per trial of a tuning run. The
/// policy decides which trials continue.
///
/// The service knows each trial by a key. After this command or the service was killed, the same
/// command continues, and no trial is submitted twice. Random trials and grids are submitted at
/// once and are the same each time; a search that learns submits a trial when an earlier one ends.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/draft_submission.h"
#include "cli/interrupt.h"
#include "cli/job_list.h"
#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"
#include "policy/registry.h"
#include "serve/leaderboard.h"
#include "submission/trials/job.h"
#include "submission/trials/space.h"
#include "submission/trials/tpe.h"

namespace almanac::cli {
namespace {

using namespace std::chrono_literals;

/// Pause between two polls of the service; also covers a restart of the service.
constexpr auto kLookPause = 1s;

struct TuneRunOptions {
  ServiceOptions service;
  std::string file;
  std::string name;
  ListOptions list;
  bool detach = false;
  bool dry_run = false;
};

struct Tuning {
  trials::Space space;
  std::string name;
  std::vector<trials::Trial> trials{};
};

Result<Tuning> read_tuning(const TuneRunOptions& options) {
  auto space = trials::read_space(options.file);
  if (!space) return tl::unexpected(space.error());
  Tuning made{.space = *std::move(space), .name = options.name};
  if (made.name.empty()) made.name = made.space.name;
  if (made.name.empty()) made.name = std::filesystem::path(options.file).stem();
  if (!trials::is_tuning_name(made.name)) {
    return fail(Code::usage, fmt::format("\"{}\" is not a valid name for a tuning run", made.name),
                {}, "--name takes 1 to 48 letters, digits, dots, _ or -");
  }
  made.trials = trials::draw(made.space);
  return made;
}

Result<int> show_drawn(const Tuning& tuning, const ListOptions& options) {
  if (options.wants_document()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const trials::Trial& each : tuning.trials) {
      const auto job = trials::to_job(tuning.space, tuning.name, each, {});
      list.push_back({{"name", job.name}, {"parameters", job.parameters}, {"argv", job.argv}});
    }
    fmt::print("{}\n", nlohmann::ordered_json{{"name", tuning.name}, {"trials", list}}.dump(2));
    return kDone;
  }
  figure::Rows rows(tuning.trials);
  rows.add("trial", "TRIAL",
           [&](const trials::Trial& each) { return trials::job_name(tuning.name, each); });
  for (std::size_t at = 0; at < tuning.space.parameters.size(); ++at) {
    rows.add(tuning.space.parameters[at].name,
             [at](const trials::Trial& each) { return each.values[at]; })
        .right();
  }
  return options.print(std::move(rows));
}

/// Says once where nothing compares the trials. Fails at a manager that is given no jobs here.
Result<void> check_policy(serve::Client& client) {
  const auto said = client.get("/v1/overview");
  if (!said) return tl::unexpected(said.error());
  const auto overview = serve::read_overview(said->body);
  if (!overview) return tl::unexpected(overview.error());
  if (!overview->manager.empty()) {
    return fail(
        Code::unsupported,
        fmt::format(
            "this service steers {}, whose jobs report no metric, so it cannot compare trials",
            overview->manager),
        {}, "use almanac serve on a machine; --dry-run -o json prints the commands");
  }
  const auto composition = policy::registry().compose(overview->policy);
  if (composition && !policy::registry().traits(*composition).has(policy::Trait::reads_groups)) {
    note(
        fmt::format("the service's policy {} does not compare trials, so each runs to its end "
                    "(almanac policy set asha stops bad ones early)",
                    overview->policy));
  }
  return {};
}

/// Whether a job of the service is a trial of this run.
Result<void> check_trial(const Tuning& tuning, const store::Submission& asked) {
  const auto is_named = [&](const trials::Trial& trial) {
    return trials::job_name(tuning.name, trial) == asked.name;
  };
  if (tuning.space.search == trials::Search::tpe) {
    if (trials::trial_of(tuning.space, tuning.name, asked.name, asked.parameters)) return {};
    return fail(Code::conflict,
                fmt::format("is not a trial of this space: {}", fmt::join(asked.parameters, " ")));
  }
  const auto same = std::find_if(tuning.trials.begin(), tuning.trials.end(), is_named);
  if (same == tuning.trials.end()) return fail(Code::conflict, "is not one of these trials");
  if (trials::parameters(tuning.space, *same) != asked.parameters) {
    return fail(Code::conflict,
                fmt::format("has other parameters: {}", fmt::join(asked.parameters, " ")));
  }
  return {};
}

/// How many of the trials are there already. Fails with conflict where they are others. `is_here`:
/// the service has the same users.
Result<std::size_t> count_known(const Tuning& tuning, const serve::ListedTuning& there,
                                bool is_here) {
  std::size_t known = 0;
  const auto other = [&](const store::Job& job, const std::string& why) {
    return fail(Code::conflict,
                fmt::format("a tuning run {} exists already, and its job {} {}", tuning.name,
                            static_cast<std::int64_t>(job.number), why),
                {}, "use another --name");
  };
  for (const serve::ListedTrial& each : there.trials) {
    const store::Job& job = each.job.view.job;
    if (is_here && job.asked->uid != ::geteuid()) return other(job, "is " + job.asked->user + "'s");
    if (job.asked->smaller_is_better != tuning.space.smaller_is_better) {
      return other(job, "has another objective");
    }
    if (const auto is_ours = check_trial(tuning, *job.asked); !is_ours) {
      return other(job, is_ours.error().message);
    }
    ++known;
  }
  return known;
}

/// Whether it is worth to ask again: no service answers for now, or a limit is reached for now.
bool may_pass(const Error& error) {
  return error.code == Code::unavailable || error.message.starts_with("not now:");
}

/// Says what is waited for, once each time that it is something else.
class Patience {
 public:
  void wait(const Error& error) {
    if (error.message != said_) note(to_string(error) + "; waiting to try again");
    said_ = error.message;
    std::this_thread::sleep_for(kLookPause);
  }
  void over() { said_.clear(); }

 private:
  std::string said_;
};

/// Submits a trial, waiting for the service. False where it was interrupted.
Result<bool> submit_trial(serve::Client& client, const Tuning& tuning, const trials::Trial& trial,
                          const store::Submission& base, Patience& patience) {
  const store::Submission asked = trials::to_job(tuning.space, tuning.name, trial, base);
  if (auto checked = check_submission(asked); !checked) return tl::unexpected(checked.error());
  while (!interrupted()) {
    const auto submitted = client.submit(asked);
    if (submitted) {
      patience.over();
      return true;
    }
    if (!may_pass(submitted.error())) return tl::unexpected(submitted.error());
    patience.wait(submitted.error());
  }
  return false;
}

/// False where it was interrupted.
Result<bool> submit_all(serve::Client& client, const Tuning& tuning,
                        const store::Submission& base) {
  Patience patience;
  for (const trials::Trial& each : tuning.trials) {
    const auto submitted = submit_trial(client, tuning, each, base, patience);
    if (!submitted || !*submitted) return submitted;
  }
  return true;
}

/// A leaderboard that is drawn over the one before, as much of it as fits.
class Screen {
 public:
  void draw(const serve::ListedTuning& tuning) {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) size = {24, 80, 0, 0};
    constexpr int kOther = 3;  // summary, header, the cursor
    wipe();
    figure::Listing rows = serve::trial_rows(tuning, wall_clock());
    rows.cut(static_cast<std::size_t>(std::max(1, size.ws_row - kOther)));
    fmt::print("{:.{}}\n{}", serve::summary_of(tuning, wall_clock()), size.ws_col,
               rows.table(table_form()));
    lines_ = rows.size() + 2;
    std::fflush(stdout);
  }
  void wipe() {
    if (lines_ > 0) fmt::print("\x1b[{}F\x1b[J", lines_);
    lines_ = 0;
  }

 private:
  std::size_t lines_ = 0;
};

/// Submits trials of a search that learns, as far as there is room for them. Returns whether
/// `there` has all trials that there will be.
Result<bool> submit_next(serve::Client& client, const Tuning& tuning,
                         const serve::ListedTuning& there, const store::Submission& base) {
  std::vector<trials::Measured> measured;
  std::int64_t active = 0;
  std::int64_t last = 0;
  bool is_cancelled = false;
  for (const serve::ListedTrial& each : there.trials) {
    const store::Job& job = each.job.view.job;
    auto trial =
        trials::trial_of(tuning.space, tuning.name, job.asked->name, job.asked->parameters);
    if (!trial) continue;
    last = std::max(last, trial->number);
    active += job.state == JobState::pending || job.state == JobState::running ? 1 : 0;
    is_cancelled = is_cancelled || job.state == JobState::cancelled;
    if (each.best) measured.push_back({*std::move(trial), *each.best});
  }
  // `tune cancel` cancels all active trials. A cancelled trial while others are active is just
  // lost.
  if (last == tuning.space.trials || (is_cancelled && active == 0)) return true;
  Patience patience;
  for (; last < tuning.space.trials && active < tuning.space.at_once; ++active) {
    const auto submitted = submit_trial(
        client, tuning, trials::suggest(tuning.space, measured, ++last), base, patience);
    if (!submitted || !*submitted) return submitted;
  }
  return false;
}

/// Looks until no trial waits or runs and, of a search that learns, none follows. Nothing where it
/// was interrupted.
Result<std::optional<serve::ListedTuning>> follow(serve::Client& client, const Tuning& tuning,
                                                  const store::Submission& base, bool shows) {
  const bool learns = tuning.space.search == trials::Search::tpe;
  Patience patience;
  Screen screen;
  while (!interrupted()) {
    auto there = serve::look_at_tuning(client, tuning.name);
    if (!there && learns && there.error().code == Code::not_found) there.emplace();
    if (!there && !may_pass(there.error())) return tl::unexpected(there.error());
    if (!there) {
      screen.wipe();
      patience.wait(there.error());
      continue;
    }
    patience.over();
    const auto is_all = learns ? submit_next(client, tuning, *there, base) : true;
    if (!is_all) return tl::unexpected(is_all.error());
    if (*is_all && serve::is_over(*there)) {
      screen.wipe();
      return std::optional(*std::move(there));
    }
    if (shows && !there->trials.empty()) screen.draw(*there);
    std::this_thread::sleep_for(kLookPause);
  }
  return std::optional<serve::ListedTuning>();
}

Result<int> show_trials(serve::Client& client, const serve::ListedTuning& tuning,
                        const ListOptions& list) {
  if (list.wants_document()) return relay_answer(client, "/v1/sweeps/" + tuning.name);
  constexpr std::size_t kShown = 20;
  figure::Listing rows = serve::trial_rows(tuning, wall_clock());
  const std::size_t more = tuning.trials.size() - std::min(kShown, tuning.trials.size());
  if (!list.explains()) return list.print(std::move(rows));
  rows.cut(kShown);
  fmt::print("{}\n", serve::summary_of(tuning, wall_clock()));
  return list.print(std::move(rows), more > 0 ? fmt::format("... and {} more\n", more) : "");
}

Result<int> run_tuning(const TuneRunOptions& options) {
  const auto tuning = read_tuning(options);
  if (!tuning) return tl::unexpected(tuning.error());
  const bool learns = tuning->space.search == trials::Search::tpe;
  if (options.dry_run) {
    if (std::ssize(tuning->trials) < tuning->space.trials && learns) {
      note(fmt::format("the first {} trials; later ones depend on results", tuning->trials.size()));
    }
    return show_drawn(*tuning, options.list);
  }
  if (learns && options.detach) {
    return fail(Code::usage, "a search that learns cannot be detached", {},
                "leave out --detach: this command submits each trial when earlier ones have ended");
  }
  auto base = base_submission();
  if (base) base = with_asked(*std::move(base), tuning->space.asked);
  if (!base) return tl::unexpected(base.error());
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (const auto fits = check_policy(*client); !fits) return tl::unexpected(fits.error());
  auto there = serve::look_at_tuning(*client, tuning->name);
  if (!there && there.error().code != Code::not_found) return tl::unexpected(there.error());
  const auto known = count_known(*tuning, there ? *there : serve::ListedTuning{},
                                 options.service.place.url.empty());
  if (!known) return tl::unexpected(known.error());
  static_cast<void>(interrupted());  // from now on it ends in good order
  const std::string later = fmt::format("almanac tune show {} shows the results", tuning->name);
  if (learns) {
    note(fmt::format("{}: {} trials, at most {} at once{}", tuning->name, tuning->space.trials,
                     tuning->space.at_once,
                     *known == 0 ? "" : fmt::format("; {} existed", *known)));
  } else {
    const auto submitted = submit_all(*client, *tuning, *base);
    if (!submitted) return tl::unexpected(submitted.error());
    if (!*submitted) {
      note("some trials are not submitted; run the same command to continue");
      return kInterrupted;
    }
    const std::size_t all = tuning->trials.size();
    note(*known == 0
             ? fmt::format("{}: {} trials submitted", tuning->name, all)
             : fmt::format("{}: {} trials, of which {} existed", tuning->name, all, *known));
  }
  if (options.detach) {
    there = serve::look_at_tuning(*client, tuning->name);
    if (!there) return tl::unexpected(there.error());
    if (!options.list.explains()) return show_trials(*client, *there, options.list);
    note(later);
    return kDone;
  }
  const bool shows = options.list.explains() && ::isatty(STDOUT_FILENO) != 0;
  const auto over = follow(*client, *tuning, *base, shows);
  if (!over) return tl::unexpected(over.error());
  if (!*over) {
    note(learns ? "the trials continue; run the same command to submit more"
                : "the trials continue; " + later);
    return kInterrupted;
  }
  if (auto shown = show_trials(*client, **over, options.list); !shown) return shown;
  if (options.list.explains()) fmt::print("{}\n", serve::best_in_words(**over));
  return (*over)->trials.front().best ? kDone : kCheckFailed;
}

}  // namespace

void register_tune_run(Program& program) {
  const auto options = std::make_shared<TuneRunOptions>();
  CLI::App& command =
      *program.noun(Purpose::jobs, "tune", "Search for hyperparameters with jobs of the service")
           .add_subcommand("run", "Run the trials of a TOML search space");
  command.add_option("SPACE", options->file, "Search space (docs/guide/tuning.md)")->required();
  command
      .add_option("--name", options->name,
                  "Name of the tuning run (default: name in SPACE, or its file name)")
      ->type_name("NAME");
  command.add_flag("--detach", options->detach, "Return when all trials are submitted");
  command.add_flag("--dry-run", options->dry_run, "Print the trials; submit nothing");
  options->list.add_to(command);
  options->service.add_to(command);
  add_example(command, "almanac tune run mnist.toml");
  add_example(command, "almanac tune run mnist.toml --name mnist-2 --detach");
  add_exit_status(command, "1", "No trial reported a metric");
  program.on(command, [options] { return run_tuning(*options); });
}

}  // namespace almanac::cli
