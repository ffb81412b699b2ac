// SPDX-License-Identifier: Apache-2.0
#include "slurm/connect.h"

#include <cstdlib>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slurm/command_link.h"
#include "slurm/gateway_link.h"
#include "slurm/gateway_program.h"
#include "slurm/rest_link.h"

namespace almanac::slurm {

namespace {

/// The owner of the socket in "unix:/path" is the user who runs slurmrestd: it acts as that user,
/// whichever user asks.
std::uint32_t owner_of(const std::string& way) {
  struct stat found {};
  const std::string path = way.substr(way.find(':') + 1);
  return ::stat(path.c_str(), &found) == 0 ? found.st_uid : ::geteuid();
}

}  // namespace

Result<std::unique_ptr<Link>> connect(const std::string& way) {
  const bool is_gateway = way == "gateway" || (way.empty() && gateway_program().has_value());
  if (is_gateway) return std::make_unique<GatewayLink>();
  if (way.empty() || way == "commands") return std::make_unique<CommandLink>();
  const char* const token = std::getenv("SLURM_JWT");
  const passwd* const user = ::getpwuid(::geteuid());
  const bool is_http = way.starts_with("http://");
  if (is_http && (token == nullptr || user == nullptr)) {
    return fail(Code::usage, "slurmrestd over TCP requires a token", {},
                "export SLURM_JWT=... as printed by `scontrol token`");
  }
  auto ask = rest_at(way, is_http ? user->pw_name : "", is_http ? token : "");
  if (!ask) {
    return fail(Code::usage,
                "--way must be gateway, commands, unix:/path or http://host:port, not " + way);
  }
  return std::make_unique<RestLink>(std::move(*ask), is_http ? ::geteuid() : owner_of(way));
}

}  // namespace almanac::slurm
