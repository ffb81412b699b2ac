// SPDX-License-Identifier: Apache-2.0
#include "store/asked_gpus.h"

#include "cluster/slices/part.h"

namespace almanac::store {

double gpus_of(const Submission& asked) {
  if (!asked.gpu_profile.empty()) return asked.gpus * slices::least_part(asked.gpu_profile);
  return asked.gpus == 1 ? asked.gpu_share : asked.gpus;
}

}  // namespace almanac::store
