// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <httplib.h>

#include "slurm/rest_link.h"
#include "text/host_port.h"

namespace almanac::slurm {

Result<AskRest> rest_at(const std::string& place, const std::string& user,
                        const std::string& token) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kHttp = "http://";
  std::shared_ptr<httplib::Client> http;
  if (place.starts_with(kUnix)) {
    // A port has to be there; a socket's path is taken for the host.
    http = std::make_shared<httplib::Client>(place.substr(kUnix.size()), 80);
    http->set_address_family(AF_UNIX);
  } else if (place.starts_with(kHttp) && text::parse_host_port(place.substr(kHttp.size()))) {
    http = std::make_shared<httplib::Client>(place);
  } else {
    return fail(Code::usage,
                fmt::format("slurmrestd must be unix:/path or http://host:port, not {}", place));
  }
  // A connection for each question: slurmrestd closes them after some answers, and a process that
  // writes to one that is closed is ended by SIGPIPE.
  http->set_keep_alive(false);
  http->set_connection_timeout(5);
  http->set_read_timeout(120);
  httplib::Headers headers{{"Accept", "application/json"}};
  if (place.starts_with(kUnix)) headers.emplace("Host", "localhost");
  if (!token.empty()) {
    headers.emplace("X-SLURM-USER-NAME", user);
    headers.emplace("X-SLURM-USER-TOKEN", token);
  }
  return [=](const std::string& method, const std::string& path,
             const std::string& body) -> Result<HttpAnswer> {
    const auto said = method == "POST"     ? http->Post(path, headers, body, "application/json")
                      : method == "DELETE" ? http->Delete(path, headers)
                                           : http->Get(path, headers);
    if (!said) {
      return fail(Code::unavailable, fmt::format("no slurmrestd answers at {}: {}", place,
                                                 httplib::to_string(said.error())));
    }
    return HttpAnswer{.status = said->status, .body = said->body};
  };
}

}  // namespace almanac::slurm
