// SPDX-License-Identifier: Apache-2.0
#include "kube/credential.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/wall_clock.h"
#include "kueue/object.h"
#include "process/capture.h"
#include "table/stream.h"
#include "text/datetime.h"

namespace almanac::kube {
namespace {

/// The kubelet replaces a token when a fifth of its hour is left.
constexpr Duration kFileLasts = 60s;
/// A plugin may open a browser to log in.
constexpr Duration kPluginPatience = 120s;
/// An identity is not used in its last seconds.
constexpr Duration kMargin = 10s;

Result<std::string> content(const std::string& path) {
  if (path.empty()) return std::string();
  auto read = table::read_file(path);
  if (read) read->erase(read->find_last_not_of("\r\n") + 1);
  return read;
}

}  // namespace

Credential::Credential(Identity identity)
    : issue_([identity = std::move(identity)]() -> Result<Issued> { return Issued{identity}; }) {}

Credential Credential::of_files(const std::string& token, const std::string& certificate,
                                const std::string& key) {
  return Credential(Issue([=]() -> Result<Issued> {
    Issued made{.identity = {}, .until = wall_clock() + kFileLasts};
    for (const auto& [path, into] : {std::pair(&token, &made.identity.token),
                                     std::pair(&certificate, &made.identity.certificate),
                                     std::pair(&key, &made.identity.key)}) {
      auto read = content(*path);
      if (!read) return tl::unexpected(read.error());
      *into = std::move(*read);
    }
    return made;
  }));
}

Credential Credential::of_plugin(ExecPlugin plugin) {
  return Credential(Issue([plugin = std::move(plugin)] { return ask(plugin); }));
}

Result<Credential::Issued> Credential::ask(const ExecPlugin& plugin) {
  process::Command command{.argv = {plugin.command}, .environment = plugin.environment};
  command.argv.insert(command.argv.end(), plugin.arguments.begin(), plugin.arguments.end());
  const nlohmann::json info{{"apiVersion", plugin.version},
                            {"kind", "ExecCredential"},
                            {"spec", {{"interactive", false}}}};
  command.environment.emplace_back("KUBERNETES_EXEC_INFO", info.dump());
  const auto ran = process::capture(std::move(command), kPluginPatience);
  if (!ran) {
    Error error = ran.error();
    error.message = fmt::format("the credential plugin {}: {}", plugin.command, error.message);
    if (!plugin.install_hint.empty()) error.hint = plugin.install_hint;
    return tl::unexpected(error);
  }
  if (!ran->ending.good()) {
    const std::string said = ran->err.substr(0, ran->err.find('\n'));
    return fail(Code::unavailable,
                fmt::format("the credential plugin {} failed ({}): {}", plugin.command,
                            process::to_string(ran->ending), said),
                {}, "log in again, or run it by hand");
  }
  const auto wrong = [&](const std::string& message) {
    return fail(Code::invalid, fmt::format("the credential plugin {}: {}", plugin.command, message),
                {},
                "expected an ExecCredential with status.token, or clientCertificateData and "
                "clientKeyData");
  };
  const auto json = nlohmann::json::parse(ran->out, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return wrong("its output is not JSON");
  try {
    const kueue::Object status = kueue::Object(json, "ExecCredential").object("status");
    Issued made{.identity = {.token = status.text("token"),
                             .certificate = status.text("clientCertificateData"),
                             .key = status.text("clientKeyData"),
                             .user = {},
                             .password = {}}};
    if (made.identity == Identity{}) return wrong("status has no credential");
    if (const std::string until = status.text("expirationTimestamp"); !until.empty()) {
      const auto time = text::parse_datetime(until);
      if (!time) return wrong(fmt::format("expirationTimestamp is not a time: {}", until));
      made.until = *time - kMargin;
    }
    return made;
  } catch (const kueue::Refused& refused) {
    return wrong(refused.message);
  }
}

Result<Identity> Credential::identity() {
  if (until_ == kNoTime || wall_clock() >= until_) {
    auto issued = issue_();
    if (!issued) return tl::unexpected(issued.error());
    identity_ = std::move(issued->identity);
    until_ = issued->until;
  }
  return identity_;
}

}  // namespace almanac::kube
