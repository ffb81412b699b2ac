// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/held_out.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inference/registry.h"
#include "inference/simulation.h"

namespace almanac::inference {
namespace {

Fitted step_of(const FittedLines& lines) {
  return Fitted(lines.prefill, lines.decode, lines.decode, 1, 0, lines.one_step);
}

/// One replica with memory for all, which batches as the commands do unless told otherwise.
std::vector<Outcome> play_alone(const FittedLines& lines, const Requests& requests) {
  const Fitted step = step_of(lines);
  Limits limits;
  if (lines.slots > 0) limits.sequences = lines.slots;
  for (const Request& each : requests.all) {
    limits.kv_blocks += (each.prompt + each.output) / limits.block_tokens + 1;
  }
  Simulation simulation(requests);
  simulation.add(limits, step, registry().formers.find("chunked")->make());
  const auto router = registry().routers.find("round_robin")->make(1);
  simulation.run(*router);
  return simulation.outcomes();
}

int widest(std::span<const Probe> probes) {
  int most = 1;
  for (const Probe& each : probes) most = std::max(most, each.together);
  return most;
}

/// Where a step with several sequences takes nearly as many times as long.
std::string not_batched(std::span<const Probe> probes, int at_once) {
  constexpr double kNearly = 0.75;
  double alone_ms = 0, together_ms = 0;
  for (const Probe& each : probes) {
    if (each.together == 1) alone_ms += each.per_token_ms;
    if (each.together == at_once) together_ms += each.per_token_ms;
  }
  if (at_once < 2 || together_ms < kNearly * at_once * alone_ms) return "";
  return fmt::format(
      "the server does not batch: a token takes {:.1f} times as long when {} requests are answered "
      "at once",
      together_ms / alone_ms, at_once);
}

/// Where the tokens of a client that is alone come unevenly.
std::string uneven(std::span<const Probe> probes) {
  constexpr double kMore = 1.25;
  double mean_ms = 0, median_ms = 0;
  int alone = 0;
  for (const Probe& each : probes) {
    if (each.together > 1) continue;
    mean_ms += each.mean_gap_ms;
    median_ms += each.median_gap_ms;
    ++alone;
  }
  if (alone == 0 || mean_ms < kMore * median_ms) return "";
  return fmt::format(
      "its steps vary: a single client gets a token every {:.3g} ms on average, but {:.3g} ms in "
      "the median, so the server pauses or sends tokens in bursts",
      mean_ms / alone, median_ms / alone);
}

/// Where requests stand still for longer than the simulation lets them.
std::string pausing(const Seen& measured, const Seen& simulated) {
  constexpr double kMore = 2;
  const double seen_ms = measured.longest_gap.mean / 1e3,
               told_ms = simulated.longest_gap.mean / 1e3;
  if (std::isnan(seen_ms) || seen_ms < kMore * told_ms) return "";
  return fmt::format(
      "answers pause: the longest time between tokens of a request is {:.3g} ms on average, but "
      "{:.3g} ms by the profile",
      seen_ms, told_ms);
}

/// Where tokens under load come as soon as to a client that is alone, and not so in the simulation.
std::string apart(std::span<const Probe> probes, const Seen& measured, const Seen& simulated) {
  constexpr double kAlike = 1.1;
  double alone_ms = 0;
  int alone = 0;
  for (const Probe& each : probes) {
    if (each.together > 1) continue;
    alone_ms += each.per_token_ms;
    ++alone;
  }
  const double usual = 1e3 * kAlike * alone_ms / std::max(alone, 1);
  const double slowed = (1 + Tested::kMeanBound) * measured.per_token.mean;
  if (std::isnan(slowed) || measured.per_token.mean > usual || simulated.per_token.mean <= slowed)
    return "";
  return "requests do not slow each other down: there may be several replicas, or separate prefill "
         "and decode";
}

}  // namespace

double Tested::Figure::off() const {
  return measured_ms > 0 ? std::abs(simulated_ms / measured_ms - 1) : 0;
}

double half_load(const FittedLines& lines, int together, double prompt, double output) {
  const int at_once = lines.slots > 0 ? std::min(lines.slots, together) : together;
  const auto tokens = static_cast<std::int32_t>(prompt);
  const Fitted step = step_of(lines);
  const Micros first = step({.prefills = {{.fresh = tokens, .prompt = tokens}}});
  const Micros each =
      step({.decodes = at_once, .context = std::llround(at_once * (prompt + output / 2))});
  return 0.5e6 * at_once / (at_once * first + (output - 1) * each);
}

bool one_step(const FittedLines& lines, const MixedLoad& load) {
  double off[2] = {0, 0};
  for (const bool shared : {false, true}) {
    FittedLines tried = lines;
    tried.one_step = shared;
    const std::vector<Outcome> played = play_alone(tried, load.requests);
    for (std::size_t each = 0; each < played.size(); ++each) {
      off[shared ? 1 : 0] += std::abs(played[each].finish - load.outcomes[each].finish);
    }
  }
  return off[1] < off[0];
}

Tested test(const FittedLines& lines, std::span<const Probe> probes, const MixedLoad& held_out) {
  const Seen measured = summarize(held_out.requests, held_out.outcomes, {});
  const Seen simulated = summarize(held_out.requests, play_alone(lines, held_out.requests), {});
  Tested made;
  const auto compare = [&](const char* name, const Spread& seen, const Spread& told) {
    if (std::isnan(seen.mean)) return;  // no answer had a second token
    made.figures.push_back(
        {fmt::format("{} mean", name), seen.mean / 1e3, told.mean / 1e3, Tested::kMeanBound});
    made.figures.push_back(
        {fmt::format("{} p99", name), seen.p99 / 1e3, told.p99 / 1e3, Tested::kTailBound});
  };
  compare("TTFT", measured.first_token, simulated.first_token);
  compare("TPOT", measured.per_token, simulated.per_token);
  compare("E2E", measured.end_to_end, simulated.end_to_end);
  std::vector<std::string> off;
  for (const Tested::Figure& each : made.figures) {
    if (each.off() <= each.bound) continue;
    off.push_back(fmt::format("{} {:.3g} ms ({:.3g} ms by the profile)", each.name,
                              each.measured_ms, each.simulated_ms));
  }
  if (off.empty()) return made;
  std::vector<std::string> reasons;
  const int most = widest(probes);
  for (std::string& reason : std::array{
           not_batched(probes, lines.slots > 0 ? std::min(lines.slots, most) : most),
           uneven(probes), pausing(measured, simulated), apart(probes, measured, simulated)}) {
    if (!reason.empty()) reasons.push_back(std::move(reason));
  }
  made.warning = fmt::format("does not describe its server: of {} held-out requests, {}; {}",
                             held_out.requests.size(), fmt::join(off, ", "),
                             reasons.empty() ? "the measurements do not show why"
                                             : fmt::format("likely {}", fmt::join(reasons, "; ")));
  return made;
}

}  // namespace almanac::inference
