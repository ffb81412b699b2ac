// SPDX-License-Identifier: Apache-2.0
#include "study/letter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "study/efficiency_rows.h"
#include "text/human.h"
#include "text/wrap.h"

namespace almanac::study {
namespace {

constexpr std::size_t kWidth = 78;
/// Jobs in the table, and jobs of an alert.
constexpr std::size_t kMostJobs = 5;

constexpr std::string_view kLetter = R"(Hello {user},

this is a summary of what your recent jobs used. It is written by a program,
and it may be wrong about a job; you know best what your jobs need.

{summary}

{alerts}

{requests}

{table}

If you have questions, please write to the operators of the cluster. They are
glad to help.
)";

/// Makes the text for a placeholder.
using Make = std::string (*)(const UserUse&, const Correspondence&);

std::string paragraph(const std::string& text, const std::string& indent = "") {
  std::string made;
  for (const std::string& line : text::wrap(text, kWidth - indent.size())) {
    made += indent + line + "\n";
  }
  if (!made.empty()) made.pop_back();
  return made;
}

std::string summary(const UserUse& user, const Correspondence& about) {
  std::string made = fmt::format("{}: {}, {:.1f} GPU-hours, {:.1f} core-hours\n", user.user,
                                 text::counted(static_cast<std::uint64_t>(user.jobs), "job"),
                                 user.gpu_hours, user.core_hours);
  if (user.gpu_hours_known > 0) {
    const bool has_samples = std::any_of(
        about.jobs.begin(), about.jobs.end(),
        [&](const JobUse& job) { return job.user == user.user && job.gpu_use_is_sample; });
    made += fmt::format("The GPUs were idle {} of that time{}.\n",
                        text::human_share(user.gpu_hours_unused / user.gpu_hours_known),
                        has_samples ? " at their last samples, which are no mean" : "");
  }
  if (user.core_hours > 0) {
    made += fmt::format("The cores were idle {} of that time.\n",
                        text::human_share(user.core_hours_unused / user.core_hours));
  }
  if (about.prices.any()) {
    made += fmt::format("Cost of idle time: {:.2f}.\n", cost_of_unused(user, about.prices));
  }
  made.pop_back();
  return made;
}

std::string alerts(const UserUse& user, const Correspondence& about) {
  std::vector<std::string> parts;
  for (const Alert& alert : about.alerts) {
    if (alert.user != user.user) continue;
    const bool is_limit = alert.kind == AlertKind::long_time_limit;
    std::string part = paragraph(
        fmt::format("{} with {} ({:.1f} GPU-hours{}):", text::counted(alert.jobs.size(), "job"),
                    norm_in_words(alert.kind, about.norms), alert.gpu_hours,
                    is_limit ? " reserved and not used" : ""));
    for (std::size_t at = 0; at < std::min(kMostJobs, alert.jobs.size()); ++at) {
      const JobUse& job = *alert.jobs[at];
      part += fmt::format("\n  {:>10}  {:>6.1f} GPU-hours  {}", job.id,
                          gpu_hours_of(alert.kind, job), breach_in_words(alert.kind, job));
    }
    if (alert.jobs.size() > kMostJobs) {
      part += fmt::format("\n  and {} more", alert.jobs.size() - kMostJobs);
    }
    part += "\n" + paragraph(std::string(remedy(alert.kind)));
    parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, "\n\n"));
}

std::string requests(const UserUse& user, const Correspondence& about) {
  std::vector<std::string> lines;
  for (const RightSize& size : about.sizes) {
    if (size.user != user.user) continue;
    lines.push_back(paragraph(fmt::format(
        "Jobs called {}{} could request less: {}.", size.name,
        size.gpus > 0 ? fmt::format(" with {:g} GPU{}", size.gpus, size.gpus == 1 ? "" : "s") : "",
        enough_in_words(size))));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string table(const UserUse& user, const Correspondence& about) {
  std::vector<const JobUse*> idle;
  for (const JobUse& job : about.jobs) {
    if (job.user == user.user && job.idle_gpu_hours() > 0) idle.push_back(&job);
  }
  if (idle.empty()) return "";
  std::stable_sort(idle.begin(), idle.end(), [](const JobUse* a, const JobUse* b) {
    return a->idle_gpu_hours() > b->idle_gpu_hours();
  });
  std::string made = "The jobs that left most GPU time idle:\n";
  for (std::size_t at = 0; at < std::min(kMostJobs, idle.size()); ++at) {
    made += use_in_words(*idle[at], {}, false);
  }
  made.pop_back();
  return made;
}

const std::map<std::string_view, Make>& placeholders() {
  static const std::map<std::string_view, Make> all{
      {"user", [](const UserUse& user, const Correspondence&) { return user.user; }},
      {"jobs",
       [](const UserUse& user, const Correspondence&) { return std::to_string(user.jobs); }},
      {"gpu_hours", [](const UserUse& user,
                       const Correspondence&) { return fmt::format("{:.1f}", user.gpu_hours); }},
      {"idle_gpu_hours",
       [](const UserUse& user, const Correspondence&) {
         return fmt::format("{:.1f}", user.gpu_hours_unused);
       }},
      {"summary", summary},
      {"alerts", alerts},
      {"requests", requests},
      {"table", table}};
  return all;
}

/// Calls `take(text, name)` for each stretch of text and the placeholder behind it; the last has
/// none. A brace that encloses no word is text.
void for_each_part(std::string_view letter,
                   const std::function<void(std::string_view, std::string_view)>& take) {
  std::size_t from = 0;
  for (std::size_t at = letter.find('{'); at != std::string_view::npos;
       at = letter.find('{', at + 1)) {
    const std::size_t end = letter.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1);
    if (end == std::string_view::npos || letter[end] != '}' || end == at + 1) continue;
    take(letter.substr(from, at - from), letter.substr(at + 1, end - at - 1));
    from = end + 1;
  }
  take(letter.substr(from), "");
}

/// Names of jobs and users are what anybody wrote: mail programs take a line that begins with ~ for
/// a command, and terminals take control characters for theirs.
std::string harmless(std::string text, bool begins_a_line) {
  std::string made;
  for (const char sign : text) {
    const bool is_first = made.empty() ? begins_a_line : made.back() == '\n';
    if (sign == '~' && is_first) made += ' ';
    const auto byte = static_cast<unsigned char>(sign);
    made += (byte < 0x20 && sign != '\n') || byte == 0x7f ? '?' : sign;
  }
  return made;
}

}  // namespace

std::string_view default_letter() { return kLetter; }

Result<void> check_letter(std::string_view letter, const std::string& path) {
  Result<void> made;
  for_each_part(letter, [&](std::string_view text, std::string_view name) {
    if (name.empty() || placeholders().contains(name) || !made) return;
    const std::string_view before =
        letter.substr(0, static_cast<std::size_t>(text.data() + text.size() - letter.data()));
    std::vector<std::string> known;
    for (const auto& [each, make] : placeholders()) known.push_back(fmt::format("{{{}}}", each));
    made = fail(Code::invalid, fmt::format("unknown placeholder {{{}}}", name),
                {.file = path, .line = 1 + std::count(before.begin(), before.end(), '\n')},
                fmt::format("known are {}", fmt::join(known, ", ")));
  });
  return made;
}

std::string write_letter(std::string_view letter, const UserUse& user,
                         const Correspondence& about) {
  std::string made;
  bool was_nothing = false;
  for_each_part(letter, [&](std::string_view text, std::string_view name) {
    // What stood alone between blank lines and is nothing takes one of them along.
    const bool was_alone = was_nothing && made.ends_with("\n\n") && text.starts_with("\n\n");
    made += was_alone ? text.substr(2) : text;
    if (name.empty()) return;
    const std::string filled =
        harmless(placeholders().at(name)(user, about), made.empty() || made.back() == '\n');
    was_nothing = filled.empty();
    made += filled;
  });
  return made;
}

}  // namespace almanac::study
