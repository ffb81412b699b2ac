// SPDX-License-Identifier: Apache-2.0
#include "cli/command/mcp/submit_tools.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/wall_clock.h"
#include "cli/command/mcp/live_tools.h"
#include "cli/draft_submission.h"
#include "cli/job_words.h"
#include "cli/wall_clock.h"
#include "serve/submission_json.h"
#include "submission/draft.h"
#include "text/human.h"
#include "text/quoted.h"

namespace almanac::cli::mcp {
namespace {

constexpr Duration kValid = std::chrono::minutes(10);
constexpr std::size_t kMostPreviews = 100;

/// Jobs to cancel.
using Numbers = std::vector<store::JobNumber>;

/// What was previewed and may still be carried out. Any thread may use it.
class Previews {
 public:
  using What = std::variant<store::Submission, Numbers>;

  /// Returns the token that carries `what` out. Forgets the oldest of too many.
  std::string keep(What what) {
    std::random_device draw;
    const std::string token =
        fmt::format("{:08x}{:08x}{:08x}{:08x}", draw(), draw(), draw(), draw());
    // The service takes a submission with the same key once, even if its answer is lost.
    if (auto* const asked = std::get_if<store::Submission>(&what)) asked->key = token;
    const std::lock_guard lock(mutex_);
    if (kept_.size() == kMostPreviews) kept_.pop_front();
    kept_.push_back({token, steady() + kValid, std::move(what)});
    return token;
  }

  template <typename T>
  Result<T> find(const std::string& token) {
    const std::lock_guard lock(mutex_);
    std::erase_if(kept_, [](const Kept& each) { return each.until < steady(); });
    const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                   [&](const Kept& each) { return each.token == token; });
    if (kept == kept_.end() || !std::holds_alternative<T>(kept->what)) {
      return fail(Code::usage, "`token` belongs to no preview of this change", {},
                  "preview the change again; a token is valid once, for 10 minutes");
    }
    return std::get<T>(kept->what);
  }

  void forget(const std::string& token) {
    const std::lock_guard lock(mutex_);
    std::erase_if(kept_, [&](const Kept& each) { return each.token == token; });
  }

 private:
  struct Kept {
    std::string token;
    Time until;
    What what;
  };
  std::mutex mutex_;
  std::deque<Kept> kept_;
};

/// The options of `almanac submit`, with _ for -.
std::string key_of(const submission::Option& option) {
  std::string key(option.name);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

Json submit_schema() {
  Json made = {{"command",
                {{"type", "array"},
                 {"items", {{"type", "string"}}},
                 {"minItems", 1},
                 {"description", "Program and its arguments; no shell reads them."}}}};
  for (const submission::Option& each : submission::own_options()) {
    const bool is_flag = each.argument == submission::Argument::none;
    made[key_of(each)] = {
        {"type", is_flag ? "boolean" : "string"},
        {"description", is_flag ? each.help : fmt::format("{}: {}.", each.value, each.help)}};
  }
  return made;
}

Result<store::Submission> submission_of(const Arguments& arguments) {
  auto base = base_submission();
  if (!base) return base;
  base->argv = texts_argument(arguments, "command");
  base->name = std::filesystem::path(base->argv.front()).filename();
  std::vector<std::string> words;
  for (const submission::Option& each : submission::own_options()) {
    const auto given = arguments.find(key_of(each));
    if (given == arguments.end()) continue;
    if (each.argument == submission::Argument::none) {
      if (given->get<bool>()) words.push_back(fmt::format("--{}", each.name));
    } else {
      words.push_back(fmt::format("--{}={}", each.name, given->get<std::string>()));
    }
  }
  return with_asked(*std::move(base), words);
}

/// A word as a shell would need it, so that no other command looks the same.
std::string shell_word(const std::string& word) {
  const bool is_plain =
      !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char sign) {
        return std::isalnum(sign) != 0 || std::strchr("-_./=:,+@%", sign) != nullptr;
      });
  return is_plain ? word : text::quoted(word);
}

Json numbers_json(const Numbers& numbers) {
  Json made = Json::array();
  for (const store::JobNumber each : numbers) made.push_back(static_cast<std::int64_t>(each));
  return made;
}

Result<Answer> preview_submit(const ServiceOptions& service, Previews& previews,
                              const Arguments& arguments, const process::Bell& stop) {
  auto asked = submission_of(arguments);
  if (!asked) return tl::unexpected(asked.error());
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  if (const auto judged = client->judge(*asked); !judged) return tl::unexpected(judged.error());
  const auto expected = foresee_submission(*client, *asked, stop);
  if (!expected) return tl::unexpected(expected.error());

  Answer made;
  Json shown = Json::parse(serve::to_json(*asked), nullptr, false);
  // The environment may hold passwords, and is the same for every job.
  shown.erase("environment");
  std::vector<std::string> command;
  for (const std::string& each : asked->argv) command.push_back(shell_word(each));
  made.sentence = fmt::format(
      "Would submit `{}` with {} in {}{}; nothing is submitted yet.", fmt::join(command, " "),
      text::counted(static_cast<std::uint64_t>(asked->gpus), "GPU"), asked->directory,
      *expected ? ", which " + in_words(**expected, wall_clock()) : "");
  made.data["token"] = previews.keep(*std::move(asked));
  made.data["submission"] = std::move(shown);
  if (*expected) made.data["expected"] = Json::parse(serve::to_json(**expected), nullptr, false);
  return made;
}

Result<Answer> submit_previewed(const ServiceOptions& service, Previews& previews,
                                const Arguments& arguments) {
  const std::string token = text_argument(arguments, "token");
  const auto asked = previews.find<store::Submission>(token);
  if (!asked) return tl::unexpected(asked.error());
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  const auto submitted = client->submit(*asked);
  if (!submitted) return tl::unexpected(submitted.error());
  const std::vector<store::JobNumber>& numbers = submitted->numbers;
  previews.forget(token);
  Answer made{.sentence = fmt::format(
                  "Submitted job {}{}.", numbers.front(),
                  numbers.size() == 1 ? "" : fmt::format(" of {} tasks", numbers.size()))};
  for (const std::string& each : submitted->notes) made.sentence += " Note: " + each + ".";
  made.data["numbers"] = numbers_json(numbers);
  return made;
}

Json changed_json(const serve::Client::Changed& changed) {
  Json made;
  made["numbers"] = numbers_json(changed.numbers);
  made["refused"] = Json::array();
  for (const serve::RefusedJob& each : changed.refused)
    made["refused"].push_back({{"job", each.job}, {"message", each.why.message}});
  return made;
}

/// "jobs 3, 4"; with why others stay as they are.
std::string jobs_in_words(const serve::Client::Changed& changed) {
  std::string text = changed.numbers.empty()
                         ? "no job"
                         : fmt::format("{} {}", changed.numbers.size() == 1 ? "job" : "jobs",
                                       fmt::join(changed.numbers, ", "));
  for (const serve::RefusedJob& each : changed.refused)
    text += fmt::format("; not job {}: {}", each.job, each.why.message);
  return text;
}

Result<Answer> preview_cancel(const ServiceOptions& service, Previews& previews,
                              const Arguments& arguments) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  const auto changed =
      client->change("cancel", {.jobs = texts_argument(arguments, "jobs"), .dry_run = true});
  if (!changed) return tl::unexpected(changed.error());
  Answer made{.sentence = fmt::format("Would cancel {}; nothing is cancelled yet.",
                                      jobs_in_words(*changed)),
              .data = changed_json(*changed)};
  if (!changed->numbers.empty()) made.data["token"] = previews.keep(changed->numbers);
  return made;
}

Result<Answer> cancel_previewed(const ServiceOptions& service, Previews& previews,
                                const Arguments& arguments) {
  const std::string token = text_argument(arguments, "token");
  const auto numbers = previews.find<Numbers>(token);
  if (!numbers) return tl::unexpected(numbers.error());
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  serve::Which which;
  for (const store::JobNumber each : *numbers) which.jobs.push_back(fmt::format("{}", each));
  const auto changed = client->change("cancel", which);
  if (!changed) return tl::unexpected(changed.error());
  previews.forget(token);
  return Answer{.sentence = fmt::format("Cancelled {}.", jobs_in_words(*changed)),
                .data = changed_json(*changed)};
}

}  // namespace

std::vector<Tool> submit_tools(const ServiceOptions& service) {
  const auto previews = std::make_shared<Previews>();
  const Json token = {
      {"token", {{"type", "string"}, {"description", "Token that the preview returned."}}}};
  std::vector<Tool> tools;
  tools.push_back(
      {.name = "preview_submit",
       .title = "Preview a submission",
       .about =
           "Checks a job and forecasts its start and end, without submitting it. Returns a "
           "token for `submit`, valid once, for 10 minutes. Show the preview to the user first.",
       .arguments = submit_schema(),
       .required = {"command"},
       .call = [service, previews](const Arguments& a, const process::Bell& stop) {
         return preview_submit(service, *previews, a, stop);
       }});
  tools.push_back({.name = "submit",
                   .title = "Submit a previewed job",
                   .about = "Submits the job of a preview.",
                   .arguments = token,
                   .required = {"token"},
                   .changes = true,
                   .call = [service, previews](const Arguments& a, const process::Bell&) {
                     return submit_previewed(service, *previews, a);
                   }});
  tools.push_back(
      {.name = "preview_cancel",
       .title = "Preview a cancellation",
       .about = "Shows which jobs `cancel` would end, without ending them. Returns a token for "
                "`cancel`, valid once, for 10 minutes. Show the preview to the user first.",
       .arguments = {{"jobs",
                      {{"type", "array"},
                       {"items", {{"type", "string"}}},
                       {"minItems", 1},
                       {"description",
                        "Job ids: \"17\"; \"12\" for all tasks of array 12, "
                        "\"12_3\" for one."}}}},
       .required = {"jobs"},
       .call = [service, previews](const Arguments& a, const process::Bell&) {
         return preview_cancel(service, *previews, a);
       }});
  tools.push_back({.name = "cancel",
                   .title = "Cancel previewed jobs",
                   .about = "Cancels the jobs of a preview, pending or running.",
                   .arguments = token,
                   .required = {"token"},
                   .changes = true,
                   .call = [service, previews](const Arguments& a, const process::Bell&) {
                     return cancel_previewed(service, *previews, a);
                   }});
  return tools;
}

}  // namespace almanac::cli::mcp
