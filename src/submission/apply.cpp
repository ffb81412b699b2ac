// SPDX-License-Identifier: Apache-2.0
#include "submission/apply.h"

namespace almanac::submission {

Result<void> set_gpus(Draft& draft, std::string_view text) {
  auto gpus = read_gpus(text);
  if (!gpus) return tl::unexpected(std::move(gpus.error()));
  draft.asked.gpus = gpus->count;
  if (gpus->most > 0) draft.asked.max_gpus = gpus->most;
  draft.asked.min_gpus = gpus->most > 0 && gpus->count > 1 ? gpus->count : 0;
  draft.gpus_per_task.reset();
  if (!gpus->type.empty()) draft.asked.gpu_type = std::move(gpus->type);
  return {};
}

Result<void> set_array(Draft& draft, std::string_view text) {
  auto array = read_array(text);
  if (!array) return tl::unexpected(std::move(array.error()));
  draft.asked.indices = std::move(array->indices);
  draft.asked.at_once = array->at_once;
  return {};
}

Result<void> set_dependency(Draft& draft, std::string_view text) {
  auto dependency = read_dependency(text);
  if (!dependency) return tl::unexpected(std::move(dependency.error()));
  draft.asked.after = std::move(dependency->after);
  draft.asked.after_ok = std::move(dependency->after_ok);
  draft.asked.after_not_ok = std::move(dependency->after_not_ok);
  draft.asked.after_start = std::move(dependency->after_start);
  draft.asked.after_one = dependency->one_suffices;
  draft.asked.singleton = dependency->singleton;
  return {};
}

Result<void> set_begin(Draft& draft, std::string_view text) {
  return put(draft.asked.not_before, read_moment(text, draft.now));
}

Result<void> set_signal(Draft& draft, std::string_view text) {
  auto signal = read_signal(text);
  if (!signal) return tl::unexpected(std::move(signal.error()));
  draft.asked.warn_signal = signal->number;
  draft.asked.warn_before = signal->before;
  draft.asked.warn_shell = signal->shell;
  return {};
}

Result<void> set_export(Draft& draft, std::string_view text) {
  draft.asked.environment = exported(text, draft.asked.environment);
  return {};
}

}  // namespace almanac::submission
