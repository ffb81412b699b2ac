// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/refusal.h"

#include <cerrno>

#include <fmt/format.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

namespace almanac::gateway {

Code code_of(int slurm_errno) {
  switch (slurm_errno) {
    case ESLURM_INVALID_JOB_ID:
    case ESLURM_INVALID_NODE_NAME:
      return Code::not_found;
    case ESLURM_ALREADY_DONE:
    case ESLURM_JOB_PENDING:
    case ESLURM_JOB_HELD:
    case ESLURM_JOB_NOT_PENDING:
    case ESLURM_JOB_SUSPENDED:
    case ESLURM_JOB_STARTED:
    case ESLURM_JOB_FINISHED:
    case ESLURM_JOB_NOT_RUNNING:
    case ESLURM_JOB_NOT_PENDING_NOR_RUNNING:
    case ESLURM_JOB_NOT_SUSPENDED:
    case ESLURM_JOB_NOT_FINISHED:
    case ESLURM_INVALID_NODE_STATE:
      return Code::conflict;
    case ESLURM_ACCESS_DENIED:
    case ESLURM_USER_ID_MISSING:
    case ESLURM_NOT_SUPPORTED:
    case ESLURM_DISABLED:
    case ESLURM_PRIO_RESET_FAIL:
    case ESLURM_CANNOT_MODIFY_CRON_JOB:
    case SLURM_PROTOCOL_VERSION_ERROR:
      return Code::unsupported;
    case ESLURM_TRANSITION_STATE_NO_UPDATE:
    case ESLURM_IN_STANDBY_MODE:
    case ESLURM_IN_STANDBY_USE_BACKUP:
    case ESLURM_INTERNAL:
    case ESLURM_JOB_SETTING_DB_INX:
    case ESLURM_DB_CONNECTION:
    case ESLURM_DB_CONNECTION_INVALID:
      return Code::unavailable;
    default:
      break;
  }
  // What comes from the system (a socket), from the transport, or from the credentials.
  const bool of_the_way = slurm_errno < SLURM_NO_CHANGE_IN_DATA ||
                          (slurm_errno >= SLURM_PROTOCOL_SOCKET_IMPL_ZERO_RECV_LENGTH &&
                           slurm_errno <= ESLURM_AUTH_SKIP);
  return of_the_way ? Code::unavailable : Code::invalid;
}

tl::unexpected<Error> refusal(const std::string& what) {
  const int number = slurm_get_errno();
  return fail(code_of(number), fmt::format("cannot {}: {}", what, slurm_strerror(number)));
}

}  // namespace almanac::gateway
