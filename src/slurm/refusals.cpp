// SPDX-License-Identifier: Apache-2.0
#include "slurm/refusals.h"

#include <utility>

namespace almanac::slurm {
namespace {

/// The first that is found counts.
constexpr std::pair<std::string_view, Code> kWords[] = {
    // There was no answer, or none can be given just now: the way there, the credential, a
    // controller that begins or stands by, its database.
    {"Unable to contact slurm controller", Code::unavailable},
    {"Unable to connect to database", Code::unavailable},
    {"timed out", Code::unavailable},
    {"timeout", Code::unavailable},
    {"Connection re", Code::unavailable},  // refused, reset
    {"Communication ", Code::unavailable},
    {"Message send failure", Code::unavailable},
    {"Message receive failure", Code::unavailable},
    {"Zero Bytes were transmitted", Code::unavailable},
    {"Insane message length", Code::unavailable},
    {"authentication", Code::unavailable},
    {"Authentication credential", Code::unavailable},
    {"standby mode", Code::unavailable},
    {"try again", Code::unavailable},
    {"temporarily unavailable", Code::unavailable},
    {"internal error", Code::unavailable},
    {"Invalid job id", Code::not_found},
    // Answers for a job that runs already or names an unknown node.
    {"Invalid node name specified for job", Code::conflict},
    {"Invalid node name", Code::not_found},
    {"no longer pending", Code::conflict},
    {"already completing or completed", Code::conflict},
    {"pending execution", Code::conflict},
    {"in held state", Code::conflict},
    {"state does not permit", Code::conflict},
    {"Job/step already", Code::conflict},
    {"is already", Code::conflict},
    {"Access/permission denied", Code::unsupported},
    {"Access denied", Code::unsupported},
    {"Invalid user id", Code::unsupported},
    {"not supported", Code::unsupported},
    {"disabled", Code::unsupported},
    {"Accounting storage", Code::unsupported},
    {"accounting storage", Code::unsupported},
};

}  // namespace

bool is_without_slurm(std::string_view message) {
  return message.find("resolve_ctls_from_dns_srv") != std::string_view::npos ||
         message.find("Could not establish a configuration source") != std::string_view::npos;
}

bool is_silence(std::string_view message) {
  return message.find("Unable to contact slurm controller") != std::string_view::npos ||
         message.find("Socket timed out") != std::string_view::npos;
}

tl::unexpected<Error> without_slurm() {
  return fail(Code::unavailable, "no Slurm is configured here", {},
              "run it where squeue works, or set SLURM_CONF to the path of slurm.conf");
}

Code code_of_refusal(std::string_view message) {
  for (const auto& [word, code] : kWords) {
    if (message.find(word) != std::string_view::npos) return code;
  }
  // A program that was killed, or could not begin, says nothing, or nothing of Slurm's.
  const bool is_said = message.find_first_not_of(" \n") != std::string_view::npos;
  return is_said ? Code::invalid : Code::unavailable;
}

}  // namespace almanac::slurm
