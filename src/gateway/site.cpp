// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/site.h"

#include <chrono>

#include <fmt/format.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "gateway/owned.h"
#include "gateway/refusal.h"
#include "gateway/tell_job.h"
#include "slurm/skew.h"

// libslurm exports it, though no header declares it.
extern "C" {
void slurm_destroy_federation_rec(void* federation);
}

namespace almanac::gateway {
namespace {

/// What slurm_ctl_conf_2_key_pairs() gives; of an opaque type, which scontrol takes to be this.
struct Parameter {
  char* name;
  char* value;
};

bool is_federated() {
  void* raw = nullptr;
  if (slurm_load_federation(&raw) != SLURM_SUCCESS || raw == nullptr) return false;
  const bool named = !text(static_cast<slurmdb_federation_rec_t*>(raw)->name).empty();
  slurm_destroy_federation_rec(raw);
  return named;
}

bool may_change_all(std::uint32_t uid, const slurm_conf_t& configuration) {
  if (uid == 0 || uid == configuration.slurm_user_id) return true;
  assoc_mgr_info_request_msg_t asked{};
  asked.flags = ASSOC_MGR_INFO_FLAG_USERS;
  assoc_mgr_info_msg_t* raw = nullptr;
  if (slurm_load_assoc_mgr_info(&asked, &raw) != SLURM_SUCCESS) return false;
  const Associations told(raw);
  bool may = false;
  const std::string name = name_of(uid);
  each<slurmdb_user_rec_t>(told->user_list, [&](const slurmdb_user_rec_t& user) {
    may = may || (text(user.name) == name && user.admin_level >= SLURMDB_ADMIN_OPERATOR);
  });
  return may;
}

}  // namespace

std::string library_version() {
  const auto number = static_cast<unsigned>(slurm_api_version());
  return fmt::format("{}.{:02}.{}", SLURM_VERSION_MAJOR(number), SLURM_VERSION_MINOR(number),
                     SLURM_VERSION_MICRO(number));
}

Result<manager::Site> site() {
  slurm_conf_t* raw = nullptr;
  const Time asked = wall_clock();
  if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS) return refusal("get the configuration");
  const Time answered = wall_clock();
  const Configuration configuration(raw);
  manager::Site told;
  told.version = text(configuration->version);
  told.cluster = text(configuration->cluster_name);
  if (configuration->control_cnt > 0) told.controller = text(configuration->control_machine[0]);
  const auto parameters = static_cast<List>(slurm_ctl_conf_2_key_pairs(configuration.get()));
  each<Parameter>(parameters, [&](const Parameter& parameter) {
    told.parameters[text(parameter.name)] = text(parameter.value);
  });
  if (parameters != nullptr) slurm_list_destroy(parameters);
  told.skew = slurm::skew_of(configuration->last_update, asked, answered);
  told.federated = is_federated();
  told.uid = ::geteuid();
  told.is_operator = may_change_all(told.uid, *configuration);
  return told;
}

}  // namespace almanac::gateway
