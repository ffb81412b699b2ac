// SPDX-License-Identifier: Apache-2.0
#include "service/store_owner.h"

#include <filesystem>

#include <fmt/format.h>

namespace almanac::service {
namespace {

constexpr const char* kEngineKey = "engine";

/// The engine of a store from before the key existed; "" if no job of it could be ended.
Result<std::string> former_owner(const store::Store& store, const std::string& state) {
  const auto holder = store.get("lease-holder");
  if (!holder) return tl::unexpected(holder.error());
  if (*holder) return std::string(kKubernetes);
  if (std::filesystem::exists(state + "/journal.jsonl")) return std::string(kSlurm);
  const auto jobs = store.unfinished();
  if (!jobs) return tl::unexpected(jobs.error());
  return std::string(jobs->empty() ? "" : kMachine);
}

}  // namespace

Result<void> own_store(store::Store& store, const std::string& state, std::string_view engine) {
  const auto kept = store.get(kEngineKey);
  if (!kept) return tl::unexpected(kept.error());
  const auto owner = *kept ? Result<std::string>(**kept) : former_owner(store, state);
  if (!owner) return tl::unexpected(owner.error());
  if (!owner->empty() && *owner != engine) {
    return fail(Code::conflict,
                fmt::format("this state directory belongs to engine {}, not to {}", *owner, engine),
                {.file = state}, "give each engine a directory of its own with --state");
  }
  if (*kept) return {};
  store::Store::Batch batch;
  batch.set(kEngineKey, std::string(engine));
  return store.commit(batch);
}

}  // namespace almanac::service
