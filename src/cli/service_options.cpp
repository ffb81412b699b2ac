// SPDX-License-Identifier: Apache-2.0
#include "cli/service_options.h"

#include <utility>

#include "cli/config.h"
#include "cli/option_group.h"
#include "cli/value_check.h"

namespace almanac::cli {

void ServiceOptions::add_to(CLI::App& command) {
  const InGroup group(command, Group::connection);
  CLI::Option* const socket =
      command
          .add_option("--socket", place.socket,
                      "Unix socket of the service (default: $ALMANAC_SOCKET, your own service's or "
                      "the machine's)")
          ->type_name("FILE");
  CLI::Option* const url =
      command
          .add_option("--url", place.url,
                      "URL of the service, with the token in $ALMANAC_TOKEN (almanac token create)")
          ->type_name("https://HOST:PORT")
          ->check(service_url())
          ->excludes(socket);
  command
      .add_option(
          "--ca", place.ca,
          "PEM file of the authority that certifies the URL (default: $ALMANAC_CA or the system's)")
      ->type_name("FILE")
      ->needs(url);
}

Result<serve::Client> ServiceOptions::client() const {
  return serve::Client::to(place_in_force(place, configuration()));
}

void add_output(CLI::App& command, std::string& output, std::vector<std::string> choices) {
  const InGroup group(command, Group::output);
  output = choices.front();
  command.add_option("-o,--output", output, "Output format")
      ->type_name("FORM")
      ->check(one_of(std::move(choices)))
      ->capture_default_str();
}

}  // namespace almanac::cli
