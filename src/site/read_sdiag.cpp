// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cluster/slurm_words.h"
#include "site/read_accounts.h"
#include "text/number.h"

namespace almanac::site {
namespace {

/// The seconds in "Thu Nov 26 21:59:09 2026 (1795730349)".
Time moment_of(std::string_view text) {
  const auto open = text.rfind('(');
  if (open == std::string_view::npos) return kNoTime;
  const auto value = text::parse_whole(text.substr(open + 1, text.find(')', open) - open - 1));
  if (!value || *value <= 0 || *value > 1'000'000'000'000) return kNoTime;
  return Time(std::chrono::seconds(*value));
}

}  // namespace

Result<void> read_sdiag(const std::string& path, std::string_view text, Site& site) {
  Diagnostics made;
  enum class Part { none, main, backfill } part = Part::none;
  bool is_sdiag = false;
  while (!text.empty()) {
    const std::string_view line = cluster::without_blanks(cluster::take_line(text));
    if (line.starts_with("sdiag output at")) {
      is_sdiag = true;
      made.until = moment_of(line);
    }
    if (line.starts_with("Data since")) made.since = moment_of(line);
    if (line.starts_with("Main schedule statistics")) part = Part::main;
    if (line.starts_with("Backfilling stats")) part = Part::backfill;
    if (line.starts_with("Latency for") || line.starts_with("Remote Procedure Call")) break;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || part == Part::none) continue;
    const std::string_view key = line.substr(0, colon);
    const auto value = text::parse_decimal(cluster::without_blanks(line.substr(colon + 1)));
    if (!value) continue;
    const bool is_main = part == Part::main;
    const auto count = static_cast<std::int64_t>(*value);
    if (key == "Total cycles") (is_main ? made.main_cycles : made.backfill_cycles) = count;
    if (key == "Mean cycle") (is_main ? made.main_mean_us : made.backfill_mean_us) = *value;
    if (key == "Max cycle") (is_main ? made.main_max_us : made.backfill_max_us) = *value;
    if (key == "Mean depth cycle") made.main_mean_depth = *value;
    if (key == "Depth Mean") made.backfill_mean_depth = *value;
    if (key == "Depth Mean (try depth)") made.backfill_mean_try_depth = *value;
    if (key == "Last queue length" && is_main) made.queue_length = count;
    if (key == "Total backfilled jobs (since last stats cycle start)") made.backfilled_jobs = count;
  }
  if (!is_sdiag) {
    return fail(Code::invalid, "no line says \"sdiag output at\"", {path, 1},
                "write the file again with sdiag");
  }
  site.diagnostics = made;
  return {};
}

}  // namespace almanac::site
