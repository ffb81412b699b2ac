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
  command
      .add_option("--url", place.url,
                  "Ask by TCP instead, with the token of $ALMANAC_TOKEN for changes and logs")
      ->type_name("http://127.0.0.1:PORT")
      ->excludes(socket);
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
