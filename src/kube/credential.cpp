// SPDX-License-Identifier: Apache-2.0
#include "kube/credential.h"

#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/wall_clock.h"
#include "kube/plain.h"
#include "kueue/object.h"
#include "process/capture.h"
#include "table/stream.h"
#include "text/datetime.h"

namespace almanac::kube {
namespace {

/// The kubelet replaces a token when a fifth of its hour is left.
constexpr Duration kFileLasts = 60s;
/// A plugin may open a browser to log in.
constexpr Duration kPluginPatience = 60s;
/// An identity is not used in its last seconds.
constexpr Duration kMargin = 10s;

/// Reads a file of an identity; `what` names it in messages.
Result<std::string> content(const char* what, const std::string& path) {
  if (path.empty()) return std::string();
  auto read = table::read_file(path);
  if (!read) {
    return fail(Code::unavailable,
                fmt::format("the {} cannot be read: {}", what, to_string(read.error())), {},
                "check the user in the kubeconfig");
  }
  read->erase(read->find_last_not_of("\r\n") + 1);
  return read;
}

Result<void> check_identity(const Identity& identity) {
  for (const auto& [what, text] :
       {std::pair("token", &identity.token), std::pair("name of the user", &identity.user)}) {
    if (!has_control(*text)) continue;
    return fail(Code::invalid,
                fmt::format("the {} has a control character, such as the end of a line", what), {},
                "check the user in the kubeconfig");
  }
  if (identity.certificate.empty() != identity.key.empty()) {
    return fail(Code::invalid,
                fmt::format("the user has a client {} without a {}",
                            identity.key.empty() ? "certificate" : "key",
                            identity.key.empty() ? "key" : "certificate"),
                {}, "give both client-certificate and client-key");
  }
  return {};
}

}  // namespace

Credential::Credential(Identity identity)
    : issue_([identity = std::move(identity)]() -> Result<Issued> { return Issued{identity}; }) {}

Credential Credential::of_files(const std::string& token, const std::string& certificate,
                                const std::string& key, const Identity& fixed) {
  return Credential(Issue([=]() -> Result<Issued> {
    Issued made{.identity = fixed, .until = wall_clock() + kFileLasts};
    for (const auto& [what, path, into] :
         {std::tuple("tokenFile", &token, &made.identity.token),
          std::tuple("client certificate", &certificate, &made.identity.certificate),
          std::tuple("key of the client certificate", &key, &made.identity.key)}) {
      if (!into->empty()) continue;
      auto read = content(what, *path);
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
    // To callers, not_found is what the server does not have.
    error.code = Code::unavailable;
    error.message =
        plain(fmt::format("the credential plugin {}: {}", plugin.command, error.message));
    if (!plugin.install_hint.empty()) error.hint = plain(plugin.install_hint);
    return tl::unexpected(error);
  }
  if (!ran->ending.good()) {
    const std::string said = ran->err.substr(0, ran->err.find('\n'));
    return fail(Code::unavailable,
                fmt::format("the credential plugin {} failed ({}): {}", plain(plugin.command),
                            process::to_string(ran->ending), plain(said)),
                {}, "log in again, or run it by hand");
  }
  const auto wrong = [&](const std::string& message) {
    return fail(Code::invalid,
                plain(fmt::format("the credential plugin {}: {}", plugin.command, message)), {},
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
      if (!time) return wrong(fmt::format("expirationTimestamp is not a time: {}", plain(until)));
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
    if (auto checked = check_identity(issued->identity); !checked)
      return tl::unexpected(checked.error());
    identity_ = std::move(issued->identity);
    until_ = issued->until;
  }
  return identity_;
}

}  // namespace almanac::kube
