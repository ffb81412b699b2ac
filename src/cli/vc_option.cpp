// SPDX-License-Identifier: Apache-2.0
#include "cli/vc_option.h"

#include "cli/option_group.h"
#include "cli/value_check.h"

namespace almanac::cli {

CLI::Option* add_vc_option(CLI::App& command, std::string& vc) {
  return command.add_option("--vc", vc, "Field of Slurm's accounting to use as virtual cluster")
      ->type_name("FIELD")
      ->group(heading(Group::input))
      ->check(one_of({"partition", "account", "qos"}))
      ->capture_default_str();
}

accounting::VcFrom vc_from(const std::string& vc) {
  if (vc == "account") return accounting::VcFrom::account;
  if (vc == "qos") return accounting::VcFrom::qos;
  return accounting::VcFrom::partition;
}

}  // namespace almanac::cli
