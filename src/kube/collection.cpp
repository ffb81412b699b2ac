// SPDX-License-Identifier: Apache-2.0
#include "kube/collection.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kueue/object.h"

namespace almanac::kube {
namespace {

using kueue::Object;
using nlohmann::json;

constexpr int kPage = 500;
constexpr int kMostRestarts = 5;
constexpr Duration kFirstPause = 800ms;
constexpr Duration kLongestPause = 30s;
/// A quiet stream lasts so long after its promised end before it counts as dead.
constexpr Duration kGrace = 10s;

/// Tokens and versions are opaque.
std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.') {
      made += c;
    } else {
      made += fmt::format("%{:02X}", byte);
    }
  }
  return made;
}

/// Whether the version that was asked for is forgotten.
bool is_expired(int status) { return status == 410; }

bool will_never_work(int status) { return status == 403 || status == 404; }

}  // namespace

Result<std::string> list(Client& client, const std::string& path, Sink& sink, bool from_cache) {
  std::string token;
  int restarts = 0;
  sink.begin_list();
  for (;;) {
    std::string ask = fmt::format("{}?limit={}", path, kPage);
    if (!token.empty()) {
      ask += "&continue=" + escaped(token);
    } else if (from_cache) {
      ask += "&resourceVersion=0";
    }
    const auto answer = client.ask(ask);
    if (!answer) return tl::unexpected(answer.error());
    if (is_expired(answer->status) && ++restarts <= kMostRestarts) {
      // Its token would go on with a later state: the pages would not be of one moment.
      token.clear();
      from_cache = false;
      sink.begin_list();
      continue;
    }
    if (!answer->good()) return tl::unexpected(refusal(*answer, path));
    const json page = json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
    try {
      const Object of(page, path);
      for (const json& item : page.value("items", json::array())) sink.put(item);
      token = of.object("metadata").text("continue");
      if (token.empty()) {
        sink.end_list();
        return of.object("metadata").text("resourceVersion");
      }
    } catch (const kueue::Refused& refused) {
      return fail(Code::invalid, refused.message, {}, "another server than Kubernetes may answer");
    } catch (const json::exception&) {
      return fail(Code::invalid, fmt::format("{}: expected a list of objects", path), {},
                  "another server than Kubernetes may answer");
    }
  }
}

Duration Reflector::failed(Error why, Duration asked) {
  trouble_ = std::move(why);
  Duration pause = kFirstPause * (1LL << std::min(failures_++, 6));
  pause = std::min(pause, kLongestPause);
  // Half of it by chance, so that many clients do not come back together.
  pause = Duration{
      static_cast<std::int64_t>(static_cast<double>(pause.count()) * (0.5 + 0.5 * rng_.uniform()))};
  return std::max(pause, asked);
}

bool Reflector::apply(std::string_view line, Sink& sink) {
  const json event = json::parse(line, nullptr, /*allow_exceptions=*/false);
  try {
    const Object of(event, "a watch event");
    const std::string type = of.text("type");
    const Object object = of.object("object");
    if (type == "ERROR") {
      const std::optional<std::int64_t> code = object.whole("code");
      has_expired_ = code && is_expired(static_cast<int>(*code));
      if (!has_expired_) trouble_ = {.code = Code::unavailable, .message = object.text("message")};
      return false;
    }
    if (type == "ADDED" || type == "MODIFIED") sink.put(event["object"]);
    if (type == "DELETED") sink.remove(event["object"]);
    const std::string version = object.object("metadata").text("resourceVersion");
    if (!version.empty()) version_ = version;
    failures_ = 0;
    trouble_ = {};
    return true;
  } catch (const kueue::Refused& refused) {
    trouble_ = {.code = Code::invalid, .message = refused.message};
    has_expired_ = true;  // what the line said is lost: list again
    return false;
  }
}

Result<Duration> Reflector::round(Client& client, Sink& sink, const std::atomic<bool>* stop) {
  if (version_.empty()) {
    // A list from the cache could be older than what was seen already.
    auto version = list(client, path_, sink, !has_expired_ && failures_ == 0);
    if (!version) {
      const Code code = version.error().code;
      if (code == Code::conflict || code == Code::not_found) return tl::unexpected(version.error());
      return failed(version.error());
    }
    version_ = std::move(*version);
    has_expired_ = false;
    failures_ = 0;
    trouble_ = {};
  }
  return watch(client, sink, stop);
}

Result<Duration> Reflector::watch(Client& client, Sink& sink, const std::atomic<bool>* stop) {
  const auto lasts_s = static_cast<std::int64_t>(300 + rng_.below(301));
  const std::string ask =
      fmt::format("{}?watch=1&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}", path_,
                  escaped(version_), lasts_s);
  const auto answer = client.stream(
      ask, std::chrono::seconds(lasts_s) + kGrace,
      [&](std::string_view line) { return apply(line, sink); }, stop);
  if (!answer) {
    if (answer.error().code == Code::invalid) version_.clear();
    return failed(answer.error());
  }
  if (is_expired(answer->status)) has_expired_ = true;
  if (has_expired_) {
    version_.clear();
    return Duration::zero();
  }
  if (answer->good()) return trouble_.message.empty() ? Duration::zero() : failed(trouble_);
  Error why = refusal(*answer, path_);
  if (will_never_work(answer->status)) return tl::unexpected(why);
  // A version that the server cannot read, as after a restore of its data.
  if (answer->status == 400 || answer->status == 500) version_.clear();
  return failed(std::move(why), answer->retry_after);
}

}  // namespace almanac::kube
