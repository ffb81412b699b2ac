// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// almanac-slurm-gateway: passes the service's requests to a Slurm controller.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <slurm/slurm.h>
#include <unistd.h>

#include "gateway/serve.h"
#include "gateway/site.h"

int main(int count, char** arguments) {
  if (count != 1 || ::isatty(STDIN_FILENO) != 0) {
    const bool asked = count == 2 && std::strcmp(arguments[1], "--version") == 0;
    if (asked) {
      std::printf("almanac-slurm-gateway %s, libslurm %s\n", ALMANAC_VERSION,
                  almanac::gateway::library_version().c_str());
      return 0;
    }
    std::fputs("almanac-slurm-gateway: started by almanac serve, for one Slurm\n", stderr);
    return 64;  // EX_USAGE
  }
  // libslurm would wait a minute for the file that it was told of.
  if (const char* const named = std::getenv("SLURM_CONF"); named != nullptr && *named != '\0') {
    if (::access(named, R_OK) != 0) {
      std::fprintf(stderr, "almanac-slurm-gateway: cannot read %s (SLURM_CONF): %s\n", named,
                   std::strerror(errno));
      return 78;  // EX_CONFIG
    }
  }
  // Ends the process, saying so, where there is no configuration.
  slurm_init(nullptr);
  return almanac::gateway::serve(STDIN_FILENO, STDOUT_FILENO);
}
