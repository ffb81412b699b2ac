// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_parts.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "experiment/sweep_part.h"
#include "text/number.h"

namespace almanac::cli {

namespace fs = std::filesystem;

std::string SweepParts::file(std::size_t number) const {
  return fmt::format("{}/{}-of-{}.json", folder(), number, of);
}

std::string SweepParts::words(std::size_t number) const {
  return fmt::format("{}/{}-of-{}.err", folder(), number, of);
}

bool SweepParts::has(std::size_t number) const {
  return experiment::read_part(file(number), inputs).has_value();
}

std::vector<std::size_t> SweepParts::missing() const {
  std::vector<std::size_t> numbers;
  for (std::size_t number = 1; number <= of; ++number) {
    if (!has(number)) numbers.push_back(number);
  }
  return numbers;
}

Result<experiment::SweepPart> parse_part(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto number = text::parse_whole(text.substr(0, slash));
  const auto of = text::parse_whole(text.substr(std::min(slash + 1, text.size())));
  if (!number || !of || *number < 1 || *number > *of) {
    return fail(Code::usage, "--part takes K/N, the K-th of N parts, like 3/8: " + text);
  }
  return experiment::SweepPart{.number = static_cast<std::size_t>(*number),
                               .of = static_cast<std::size_t>(*of)};
}

Result<int> run_part(experiment::SweepPlan plan, const SweepParts& parts,
                     experiment::SweepPart part) {
  if (parts.has(part.number)) {
    note(parts.file(part.number) + " is there, of the same inputs: not run again");
    return kDone;
  }
  // A mistake of the folder shows before hours of simulation.
  std::error_code error;
  fs::create_directories(parts.folder(), error);
  if (error) return fail(Code::unavailable, error.message(), {.file = parts.folder()});
  const auto pairs = static_cast<double>((plan.pairs() + part.of - part.number) / part.of);
  std::atomic<std::uint32_t> done{0};
  plan.part = part;
  plan.stop = &interrupted();
  plan.done = &done;
  Result<std::vector<experiment::SweepPoint>> points;
  {
    const ProgressBar bar(fmt::format("sweeping part {}/{}", part.number, part.of),
                          [&] { return done.load() / pairs; });
    points = experiment::sweep(plan);
  }
  if (!points) return tl::unexpected(points.error());
  if (interrupted()) return kInterrupted;
  const std::string file = parts.file(part.number);
  if (auto written = experiment::write_part(file, parts.inputs, *points); !written) {
    return tl::unexpected(written.error());
  }
  note(fmt::format("part {}/{} is in {}", part.number, part.of, file));
  return kDone;
}

Result<std::vector<experiment::SweepPoint>> gather(const SweepParts& parts, std::size_t pairs) {
  std::vector<std::vector<experiment::SweepPoint>> all;
  for (std::size_t number = 1; number <= parts.of; ++number) {
    auto points = experiment::read_part(parts.file(number), parts.inputs);
    if (!points) return tl::unexpected(points.error());
    all.push_back(std::move(*points));
  }
  return experiment::join_parts(all, pairs);
}

}  // namespace almanac::cli
