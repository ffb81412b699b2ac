// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference size: the fewest replicas with which requests meet the objective.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/elapsed.h"
#include "cli/inference_emit.h"
#include "cli/inference_fleet.h"
#include "cli/inference_placed.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/value_check.h"
#include "inference/placing.h"
#include "inference/prefixes.h"
#include "inference/sizing.h"
#include "table/output_file.h"
#include "text/human.h"
#include "text/number.h"

namespace almanac::cli {

void register_inference_size(Program& program);

namespace {

struct SizeOptions {
  inference::SizeQuestion question{};
  bool has_share = false;  ///< Whether --share is given.
  double gpu_hour = 0;
  std::string goal;
  std::string emit;
  std::string out;
};

/// Applies --goal, such as "ttft=500ms,tpot=50ms,e2e=10s,goodput=0.95".
/// `has_share`: whether --share is given too.
Result<void> apply_goal(const std::string& goal, InferenceOptions& options, double& share,
                        bool has_share) {
  for (std::size_t at = 0; at < goal.size();) {
    const std::size_t end = std::min(goal.find(',', at), goal.size());
    const std::string part = goal.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equals);
    const std::string value = equals < part.size() ? part.substr(equals + 1) : "";
    const auto bad = [&](const char* expected) {
      return fail(Code::usage, fmt::format("--goal {}: expected {}", part, expected), {},
                  "for example --goal ttft=500ms,tpot=50ms,goodput=0.95");
    };
    std::string* const bound = name == "ttft"   ? &options.first_token
                               : name == "tpot" ? &options.per_token
                               : name == "e2e"  ? &options.end_to_end
                                                : nullptr;
    if (bound != nullptr) {
      if (value.empty()) return bad("a time");
      if (!bound->empty()) return bad("each objective once");
      *bound = value;
    } else if (name == "goodput") {
      const auto told = text::parse_decimal(value);
      if (!told || !(*told > 0 && *told <= 1))
        return bad("a share of the requests, above 0 and up to 1");
      if (has_share) return bad("the share once: here or as --share");
      share = *told;
      has_share = true;
    } else {
      return bad("ttft, tpot, e2e or goodput");
    }
  }
  return {};
}

/// Says what is known where no size is: what an idle replica is like, and the load that fleets
/// carry.
void note_possible(const InferenceCase& told, const inference::SizeQuestion& question) {
  const auto idle = inference::play_idle(told.service, told.requests, told.objective);
  if (!idle) return;
  constexpr double kMs = 1e3;
  std::vector<std::string> bounds;
  for (const auto& [name, of, digits] :
       {std::tuple("TTFT", idle->first_token.p90, 0), std::tuple("TPOT", idle->per_token.p90, 1),
        std::tuple("E2E", idle->end_to_end.p90, 0)}) {
    // No request may have it, such as TPOT where answers have one token.
    if (!std::isnan(of)) bounds.push_back(fmt::format("{} <= {:.{}f} ms", name, of / kMs, digits));
  }
  note(fmt::format(
      "on an idle replica, {}{:.1f} % meet the objective",
      bounds.empty() ? "" : fmt::format("90 % of the requests have {}; ", fmt::join(bounds, ", ")),
      100 * idle->attainment()));
  if (idle->attainment() < question.share) return;
  const std::vector<int> sizes = inference::curve_sizes(0, question.most);
  const auto curve =
      inference::load_curve(told.service, told.requests, told.objective, question.share, sizes);
  if (!curve) return;
  const auto carries = [](const inference::LoadPoint& each) { return each.requests_per_s > 0; };
  if (!curve->empty() && std::none_of(curve->begin(), curve->end(), carries)) {
    return note(
        fmt::format("up to {} replicas meet the objective at no rate, because requests of "
                    "this log come at once",
                    curve->back().replicas));
  }
  for (const inference::LoadPoint& each : *curve) {
    note(fmt::format("{} meet{} the objective {}",
                     text::counted(static_cast<std::uint64_t>(each.replicas), "replica"),
                     each.replicas == 1 ? "s" : "",
                     carries(each)
                         ? fmt::format("up to {:.3g} requests/s, {:.3g} times this log's rate",
                                       each.requests_per_s, each.times_log)
                         : "at no rate, because requests of this log come at once"));
  }
}

/// Prints the fleet as what deploys it, or writes it to a file.
Result<int> emit(const InferenceCase& told, const SizeOptions& asked) {
  const auto text = deployment_text(asked.emit, told.service);
  if (!text) return tl::unexpected(text.error());
  for (const std::string& each : left_to_do(asked.emit, told.service)) note(each);
  if (asked.out.empty()) {
    fmt::print("{}", *text);
    return kDone;
  }
  if (auto written = table::write_file(asked.out, *text); !written) {
    return tl::unexpected(written.error());
  }
  return kDone;
}

/// Says what logs drawn like a short one may be, and between which numbers the need of hours like
/// it lies; "" = the log tells days apart.
std::string limit_of_draws(const InferenceCase& told, const inference::Size& size) {
  constexpr double kLeastHoursForDay = 20;
  if (inference::hours_of(told.requests) >= kLeastHoursForDay) return {};
  return fmt::format(
      ", whose busiest part may last all day, with bursts on top, so that similar hours need {} to "
      "{}",
      size.for_log, size.replicas);
}

/// Says so where a number is none for the following day, and why.
void note_doubts(const inference::Requests& requests, const std::vector<std::string>& doubts) {
  if (doubts.empty()) return;
  note(
      fmt::format("this log does not predict the next day: {}. The size holds for this log's "
                  "{} and similar hours only",
                  fmt::join(doubts, "; "), text::human_time(3600 * inference::hours_of(requests))));
}

/// Calls `size` while stderr shows what is tried and how long it has taken.
template <typename Size>
auto with_progress(inference::SizeQuestion question, const Size& size) {
  return while_showing("sizing", [&](ProgressBar& bar) {
    question.progress = [&bar](const std::string& text) { bar.say(text); };
    return size(question);
  });
}

/// Suggests the prefix cache, or the router that knows it, where a run of the same fleet with them
/// shows that they pay.
void note_prefixes(const InferenceCase& told, const FleetPlan& plan, const Fleet& fleet) {
  constexpr double kWorthwhile = 0.1;
  constexpr const char* kRouter = "prefix_affinity";
  const double repeated = inference::repeated_share(told.requests);
  const bool has_both =
      plan.service.limits.reuse && (plan.service.router == kRouter || plan.service.replicas == 1);
  if (repeated < kWorthwhile || has_both || plan.service.prefill > 0) return;
  FleetPlan other = plan;
  other.service.limits.reuse = true;
  if (other.service.replicas > 1) other.service.router = kRouter;
  const auto tried = play_fleet(other, told);
  if (!tried) return;
  const auto hits = [](const inference::Seen& seen) {
    return seen.prompt_tokens > 0
               ? static_cast<double>(seen.hit_tokens) / static_cast<double>(seen.prompt_tokens)
               : 0;
  };
  const double gain = hits(tried->seen) - hits(fleet.seen);
  constexpr double kLeastGain = 0.05;
  if (gain < kLeastGain || tried->seen.attained < fleet.seen.attained) return;
  note(fmt::format(
      "{:.0f} % of the prompt tokens repeat an earlier prompt: with {}{} the caches of this fleet "
      "have {:.0f} % of them instead of {:.0f} %, and the mean TTFT is {:.0f} ms instead of {:.0f} "
      "ms; size again with {} to see if fewer replicas are enough",
      100 * repeated, plan.service.limits.reuse ? "" : "--prefix-cache",
      other.service.replicas > 1
          ? fmt::format("{}--router {}", plan.service.limits.reuse ? "" : " ", kRouter)
          : "",
      100 * hits(tried->seen), 100 * hits(fleet.seen), tried->seen.first_token.mean / 1e3,
      fleet.seen.first_token.mean / 1e3, plan.service.limits.reuse ? "it" : "them"));
}

/// Says so where fewer GPUs per replica are enough: a fleet of them met the objective in this log.
void note_smaller_replicas(const InferenceCase& told, const FleetPlan& plan, double share) {
  if (plan.service.measured || plan.service.tables || plan.service.prefill > 0) return;
  const int used = plan.service.replicas * plan.service.replica_gpus();
  for (const int gpus : inference::fitting_gpus(plan.service)) {
    if (gpus >= plan.service.gpus) return;
    FleetPlan other = plan;
    other.service.gpus = gpus;
    for (; other.service.replicas * other.service.replica_gpus() < used;
         other.service.replicas *= 2) {
      other.scaling.told = {other.service.replicas, other.service.replicas};
      const auto tried = play_fleet(other, told);
      if (!tried || tried->seen.attainment() < share) continue;
      return note(fmt::format(
          "{} of {} would meet the objective in this log too, with {} instead of {} in total "
          "(--gpus "
          "{})",
          text::counted(static_cast<std::uint64_t>(other.service.replicas), "replica"),
          text::counted(static_cast<std::uint64_t>(other.service.replica_gpus()), "GPU"),
          text::counted(
              static_cast<std::uint64_t>(other.service.replicas * other.service.replica_gpus()),
              "GPU"),
          used, gpus));
    }
  }
}

Result<int> size_of_plan(InferenceCase told, const InferenceOptions& options,
                         const SizeOptions& asked, const inference::SizeQuestion& question) {
  auto sized = with_progress(question, [&](const inference::SizeQuestion& shown) {
    return inference::size_plan(told.service, told.requests, *told.plan, shown);
  });
  if (!sized) return tl::unexpected(sized.error());
  std::string valid_for;
  for (const auto& part : sized->parts) {
    const inference::Size& size = part.size;
    note(fmt::format("{}: {}; {} {} enough for this log{}", fmt::join(part.models, " with "),
                     text::counted(static_cast<std::uint64_t>(size.replicas), "copy", "copies"),
                     size.for_log, size.for_log == 1 ? "is" : "are",
                     size.drawn == 0 ? ""
                                     : fmt::format(", {} also for {} of {} resampled logs",
                                                   size.replicas, size.served, size.drawn)));
    note_doubts(told.requests, size.doubts);
    if (valid_for.empty() || !size.doubts.empty()) valid_for = size.valid_for();
  }
  if (!asked.out.empty()) {
    if (auto written = table::write_file(asked.out, inference::to_csv(sized->plan)); !written) {
      return tl::unexpected(written.error());
    }
    note(fmt::format("{} can be used with --plan of the other inference commands", asked.out));
  }
  told.plan = std::move(sized->plan);
  return simulate_placed(told, asked.gpu_hour, options.list, valid_for);
}

Result<int> size(InferenceOptions options, SizeOptions asked) {
  auto applied = apply_goal(asked.goal, options, asked.question.share, asked.has_share);
  if (!applied) {
    return tl::unexpected(applied.error());
  }
  auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  if (options.first_token.empty() && options.per_token.empty() && options.end_to_end.empty()) {
    return fail(Code::usage, "sizing needs an objective: without one, one replica is enough", {},
                "add --ttft, --tpot or --e2e");
  }
  if (told->service.prefill > 0) {
    return fail(Code::usage, "--prefill needs a known number of replicas", {},
                "use --split to find the best number of prefill replicas");
  }
  inference::SizeQuestion question = asked.question;
  question.objective = told->objective;
  if (told->plan && !asked.emit.empty()) {
    return fail(Code::usage, "--emit cannot be used with --plan: it describes one model", {},
                "size each model alone, with --model");
  }
  if (told->plan) return size_of_plan(*std::move(told), options, asked, question);
  if (!asked.out.empty() && asked.emit.empty()) {
    return fail(Code::usage, "--out writes the plan that --plan sizes, or what --emit makes");
  }
  if (!asked.emit.empty()) {  // a wrong name should not cost the time to size
    const auto known = deployment_text(asked.emit, told->service);
    if (!known) return tl::unexpected(known.error());
  }
  auto size = with_progress(question, [&](const inference::SizeQuestion& shown) {
    return inference::size_fleet(told->service, told->requests, shown);
  });
  if (!size) {
    if (size.error().code == Code::unavailable && !question.split) note_possible(*told, question);
    return tl::unexpected(size.error());
  }
  if (size->prefill == 0) {
    auto curve =
        inference::load_curve(told->service, told->requests, told->objective, question.share,
                              inference::curve_sizes(size->for_log, size->replicas));
    if (!curve) return tl::unexpected(curve.error());
    size->curve = *std::move(curve);
  }
  told->service.replicas = size->replicas;
  told->service.prefill = size->prefill;
  const FleetPlan plan{.service = told->service,
                       .scaling = {.scaler = "steady", .told = {size->replicas, size->replicas}},
                       .gpu_hour = asked.gpu_hour};
  const auto fleet = play_fleet(plan, *told);
  if (!fleet) return tl::unexpected(fleet.error());
  if (size->replicas > size->for_log) {
    note(
        fmt::format("{} {} enough for this log; {} are enough for {} of {} resampled logs{} "
                    "(--confidence 0: this log alone)",
                    text::counted(static_cast<std::uint64_t>(size->for_log), "replica"),
                    size->for_log == 1 ? "is" : "are", size->replicas, size->served, size->drawn,
                    limit_of_draws(*told, *size)));
  }
  note_doubts(told->requests, size->doubts);
  note_prefixes(*told, plan, *fleet);
  note_smaller_replicas(*told, plan, question.share);
  if (!asked.emit.empty() && asked.out.empty()) return emit(*told, asked);
  if (!asked.emit.empty()) {
    if (auto done = emit(*told, asked); !done) return done;
  }
  return show_fleet(options.list, plan, *fleet, &*size);
}

}  // namespace

void register_inference_size(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("size", "Find the fewest replicas that meet your latency objective");
  const auto options = add_inference_options(command);
  const auto asked = std::make_shared<SizeOptions>();
  CLI::Option* const share = command.add_option(
      "--share", asked->question.share, "Share of the requests that must meet the objective");
  share->check(number(0.001, 1.0))->capture_default_str()->group(heading(Group::objective));
  command.add_option("--most", asked->question.most, "Limit on the number of replicas")
      ->check(whole_number(1, 100'000))
      ->capture_default_str()
      ->group(heading(Group::model));
  command
      .add_flag("--split", asked->question.split, "Also find the best number of prefill replicas")
      ->group(heading(Group::model));
  command
      .add_option(
          "--confidence", asked->question.confidence,
          "Share of 20 resampled logs that must also meet the objective; 0 for this log only")
      ->check(number(0.0, 1.0))
      ->capture_default_str()
      ->group(heading(Group::objective));
  command.add_option("--gpu-hour", asked->gpu_hour, "Price of a GPU-hour")
      ->check(number(0))
      ->capture_default_str()
      ->group(heading(Group::model));
  command
      .add_option(
          "--goal", asked->goal,
          "Objective in one list: ttft, tpot and e2e as --ttft, --tpot and --e2e, and goodput "
          "as --share")
      ->type_name("NAME=VALUE,...")
      ->group(heading(Group::objective));
  command
      .add_option("--emit", asked->emit,
                  fmt::format("Print the fleet as what deploys it: {}",
                              fmt::join(deployment_formats(), ", ")))
      ->type_name("FORMAT")
      ->group(heading(Group::output));
  add_plan_option(command, *options);
  command
      .add_option("--out", asked->out,
                  "File for the plan with the copies of each replica, or for what --emit makes")
      ->type_name("FILE")
      ->group(heading(Group::output));
  add_example(command, "almanac inference size requests.csv --plan plan.csv --ttft 500ms");
  add_example(command,
              "almanac inference size requests.csv --model llama-3.1-8b --goal "
              "ttft=500ms,e2e=10s,goodput=0.95 --emit kserve");
  add_example(command,
              "almanac inference size requests.csv --model llama-3.1-8b --ttft 500ms --tpot 50ms");
  program.on(command, [options, asked, share] {
    asked->has_share = share->count() > 0;
    return size(*options, *asked);
  });
}

}  // namespace almanac::cli
