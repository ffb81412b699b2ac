// SPDX-License-Identifier: Apache-2.0
#include "cli/service_options.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace almanac::cli {

void ServiceOptions::add_to(CLI::App& command) {
  CLI::Option* const socket =
      command
          .add_option("--socket", place.socket,
                      "The service's Unix socket; default: $ALMANAC_SOCKET, else your own "
                      "service's, else the machine's")
          ->type_name("FILE");
  CLI::Option* const url =
      command
          .add_option("--url", place.url,
                      "Ask by TCP instead, with the token of $ALMANAC_TOKEN (almanac token create)")
          ->type_name("https://HOST:PORT")
          ->excludes(socket);
  command
      .add_option(
          "--ca", place.ca,
          "Certificates of the authority behind an https URL; default: $ALMANAC_CA, else those "
          "that the system trusts")
      ->type_name("FILE")
      ->needs(url);
}

void add_output(CLI::App& command, std::string& output, std::vector<std::string> choices) {
  output = choices.front();
  command
      .add_option("-o,--output", output, fmt::format("How to print: {}", fmt::join(choices, ", ")))
      ->type_name("FORM")
      ->check(CLI::IsMember(std::move(choices)))
      ->capture_default_str();
}

}  // namespace almanac::cli
