// SPDX-License-Identifier: Apache-2.0
#include "slurm/rest_link.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/wall_clock.h"
#include "slurm/change_each.h"
#include "slurm/ended.h"
#include "slurm/facts.h"
#include "slurm/read_json.h"
#include "slurm/refusals.h"

namespace almanac::slurm {
namespace {

using Json = nlohmann::json;

/// Newest first: 25.11, 25.05, 24.11, 24.05, 23.11, 23.02, 22.05.
constexpr std::array kVersions{"v0.0.44", "v0.0.43", "v0.0.42", "v0.0.41",
                               "v0.0.40", "v0.0.39", "v0.0.38"};
/// The last that forbids required_nodes and does not know admin_comment.
constexpr const char* kPlain = "v0.0.38";
/// The first that tells shares and use.
constexpr const char* kTellsShares = "v0.0.40";

std::string path_of(JobNumber job) {
  return fmt::format("job/{}", static_cast<std::uint32_t>(job));
}

/// What slurmrestd 22.05.8 was seen to say to a change when no controller answered it, or one did
/// not take the token; and what 25.11 says if the token has expired.
bool is_lost(std::string_view trouble) {
  return trouble.find("Unexpected message received") != std::string_view::npos ||
         trouble.find("Protocol authentication error") != std::string_view::npos;
}

/// The same of a question; and of a change that the controller refused without a reason, as a
/// plugin of the site may (job_submit/lua).
bool is_without_reason(std::string_view trouble) {
  return trouble.find("Unspecified error") != std::string_view::npos;
}

/// Whether some controller answers, by what is said to a ping. `ping`, later `pinged`, is a word;
/// from v0.0.42 on `responding` says the same, and `pinged` is deprecated.
bool is_up(const std::string& body) {
  try {
    const Json pings = Json::parse(body).value("pings", Json::array());
    return std::any_of(pings.begin(), pings.end(), [](const Json& each) {
      return each.value("responding", false) ||
             each.value("ping", each.value("pinged", "")) == "UP";
    });
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace

Result<std::string> RestLink::ask(const std::string& method, const std::string& path,
                                  const std::string& body) {
  const std::string full =
      path.starts_with('/') ? path : fmt::format("/slurm/{}/{}", version_, path);
  auto answer = ask_(method, full, body);
  silent_ = !answer;
  if (!answer) return tl::unexpected(answer.error());
  auto content = content_of(std::move(*answer), full);
  if (content || method == "GET" || !is_without_reason(content.error().message)) return content;
  const auto pinged = ask_("GET", fmt::format("/slurm/{}/ping", version_), "");
  silent_ = !pinged || !is_up(pinged->body);
  if (silent_) return content;
  return fail(
      Code::invalid, content.error().message, {},
      "the controller refused without a reason; a job_submit plugin of the site may be the cause");
}

Result<std::string> RestLink::content_of(HttpAnswer&& answer, const std::string& path) {
  if (answer.status == 401 || answer.status == 403) {
    return fail(Code::unsupported, "slurmrestd rejected our credentials", {},
                "over TCP set SLURM_JWT to what `scontrol token` prints; over a Unix socket run as "
                "root, or as the user of slurmrestd");
  }
  // slurmrestd may refuse and still answer 200, so the errors count. A list that is present is an
  // answer.
  const auto trouble = read_trouble(answer.body);
  if (!trouble) {
    if (answer.status >= 400) {
      return fail(Code::unavailable,
                  fmt::format("slurmrestd answered {} to {}", answer.status, path));
    }
    return tl::unexpected(trouble.error());
  }
  if (trouble->empty() && answer.status < 400) return std::move(answer.body);
  silent_ = is_silence(*trouble) || is_lost(*trouble) || is_without_reason(*trouble);
  return fail(
      silent_ ? Code::unavailable : code_of_refusal(*trouble),
      fmt::format("slurmrestd: {}", *trouble), {},
      silent_ ? "the controller did not answer slurmrestd, or the token in SLURM_JWT has expired"
              : "");
}

Result<void> RestLink::greet() {
  if (!version_.empty()) return {};
  for (const char* const version : kVersions) {
    const std::string path = fmt::format("/slurm/{}/ping", version);
    auto answer = ask_("GET", path, "");
    silent_ = !answer;
    if (!answer) return tl::unexpected(answer.error());
    if (answer->status == 404) continue;
    version_ = version;
    const auto pinged = content_of(std::move(*answer), path);
    const auto release =
        pinged ? read_release(*pinged) : Result<std::string>(tl::unexpected(pinged.error()));
    if (!release) {
      version_.clear();
      return tl::unexpected(release.error());
    }
    release_ = *release;
    return {};
  }
  return fail(
      Code::unsupported,
      fmt::format("this slurmrestd speaks none of {} .. {}", kVersions.back(), kVersions.front()),
      {}, "use Slurm 22.05 to 25.11, or --way commands");
}

Result<Site> RestLink::site() {
  if (auto met = greet(); !met) return tl::unexpected(met.error());
  Site site{.version = release_, .uid = uid_};
  // What others may do is not told.
  if (uid_ == 0) site.is_operator = true;
  const auto answer = ask("GET", "ping");
  if (!answer) return tl::unexpected(answer.error());
  try {
    const Json pings = Json::parse(*answer).value("pings", Json::array());
    if (!pings.empty() && pings.front().is_object()) {
      site.controller = pings.front().value("hostname", "");
    }
  } catch (const Json::exception& error) {
    return fail(Code::invalid, fmt::format("slurmrestd's ping: {}", error.what()));
  }
  tell_facts(site);
  return site;
}

void RestLink::renew_associations() {
  const Time now = wall_clock();
  if (version_ < kTellsShares) return;
  if (associations_seen_ != kNoTime && now - associations_seen_ < kSharesPause) return;
  associations_seen_ = now;
  const auto said = ask_("GET", fmt::format("/slurm/{}/shares", version_), "");
  // Sites without fair share tell none.
  if (!said || said->status != 200) return;
  if (auto told = read_shares(said->body)) associations_ = std::move(*told);
}

Result<Picture> RestLink::picture() {
  if (auto met = greet(); !met) return tl::unexpected(met.error());
  Picture made;
  const auto get = [&](const char* what, auto&& read, auto& into) -> Result<void> {
    const auto text = ask("GET", what);
    if (!text) return tl::unexpected(text.error());
    auto records = read(*text);
    if (!records) return tl::unexpected(records.error());
    into = std::move(*records);
    return {};
  };
  made.at = wall_clock();
  auto told = get("jobs", read_jobs, made.jobs);
  if (told) told = get("nodes", read_nodes, made.nodes);
  if (told) told = get("partitions", read_partitions, made.partitions);
  if (told) told = get("reservations", read_reservations, made.reservations);
  if (told) told = get("licenses", read_licences, made.licences);
  if (!told) return tl::unexpected(told.error());
  renew_associations();
  made.associations = associations_;
  return made;
}

Result<News> RestLink::news() {
  auto made = picture();
  if (!made) {
    differences_.forget();
    return tl::unexpected(made.error());
  }
  return differences_.to(std::move(*made));
}

Result<void> RestLink::change_one(const JobChange& change) {
  if (auto met = greet(); !met) return met;
  const bool is_plain = version_ == kPlain;
  if (change.site_factor || (is_plain && (change.required_nodes || change.comment))) {
    return fail(Code::unsupported,
                fmt::format("slurmrestd {} cannot set {} of a job", version_,
                            is_plain ? "site factor, required nodes or comment" : "site factor"));
  }
  if (change.begins) {
    return fail(Code::unsupported, "slurmrestd cannot change when a job may begin");
  }
  if (change.shards) {
    return fail(Code::unsupported, "slurmrestd cannot change how many shards a job requests");
  }
  const bool is_usual = change.priority == JobChange::kUsual;
  Json first = Json::object();
  if (change.required_nodes) first["required_nodes"] = *change.required_nodes;
  if (change.comment) first["admin_comment"] = *change.comment;
  if (change.held || is_usual) first["hold"] = change.held == true;
  std::vector<Json> bodies;
  if (!first.empty()) bodies.push_back(std::move(first));
  // After the release: a job that is held takes no priority, and one would release it.
  if (change.priority && !is_usual && change.held != true)
    bodies.push_back({{"priority", *change.priority}});
  for (const Json& body : bodies) {
    if (auto done = ask("POST", path_of(change.job), body.dump()); !done) {
      return tl::unexpected(done.error());
    }
  }
  return {};
}

std::vector<Result<void>> RestLink::change(std::span<const JobChange> changes) {
  return change_each(changes, silent_, [this](const JobChange& each) { return change_one(each); });
}

Result<void> RestLink::end(JobNumber job, Fate fate) {
  if (auto met = greet(); !met) return met;
  if (fate != Fate::cancel) {
    return fail(Code::unsupported, "slurmrestd can cancel jobs, not requeue or suspend them");
  }
  if (auto done = ask("DELETE", path_of(job)); !done) return tl::unexpected(done.error());
  return {};
}

Result<void> RestLink::power(std::span<const std::string> /*nodes*/, bool /*on*/) {
  return fail(Code::unsupported, "slurmrestd cannot power nodes up or down", {},
              "use the gateway or the commands");
}

Result<void> RestLink::weigh(std::span<const std::string> /*nodes*/, std::uint32_t /*weight*/) {
  return fail(Code::unsupported, "slurmrestd cannot set node weights", {},
              "use the gateway or the commands");
}

Result<void> RestLink::ended(Time from, Time until, const TakeEnded& take) {
  unread_rows_ = 0;
  if (auto met = greet(); !met) return met;
  const auto answer = ask("GET", fmt::format("/slurmdb/{}/jobs?start_time={}&end_time={}", version_,
                                             in_uts(from), in_uts(until + 1s)));
  // Its words, seen of 22.05.8, for no rows at all.
  if (!answer && answer.error().message.find("Nothing found") != std::string::npos) return {};
  if (!answer) return tl::unexpected(answer.error());
  auto rows = read_accounting(*answer);
  if (!rows) return tl::unexpected(rows.error());
  unread_rows_ = rows->unread;
  keep_ended(rows->jobs, from, until);
  for (Job& job : rows->jobs) {
    if (auto taken = take(std::move(job)); !taken) return taken;
  }
  return {};
}

}  // namespace almanac::slurm
