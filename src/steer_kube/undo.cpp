// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/undo.h"

#include <filesystem>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "kube/picture.h"
#include "service/lock.h"
#include "steer_kube/lines.h"
#include "steer_kube/order_journal.h"
#include "steer_kube/order_lever.h"

namespace almanac::steer_kube {

Result<TakenBack> undo(const std::string& state, kube::Client& client) {
  const std::string path = state + "/order.jsonl";
  if (!std::filesystem::exists(path)) {
    return fail(Code::not_found, "Almanac never changed a Kubernetes cluster from this folder",
                {.file = state});
  }
  const auto lock = service::Lock::take(service::lock_of_folder(state), "this folder");
  if (!lock) return tl::unexpected(lock.error());
  auto journal = OrderJournal::open(path);
  if (!journal) return tl::unexpected(journal.error());
  const auto cluster = kube::cluster_uid(client);
  if (!cluster) return tl::unexpected(cluster.error());
  if (auto bound = journal->bind(*cluster); !bound) return tl::unexpected(bound.error());
  const auto picture = kube::take_picture(client);
  if (!picture) return tl::unexpected(picture.error());
  std::unordered_map<std::string, const kube::Workload*> known;
  for (const kube::Workload& each : picture->workloads) known.emplace(each.uid, &each);

  TakenBack made;
  const std::map<std::string, Claim> claims = journal->claims();
  for (const auto& [uid, claim] : claims) {
    if (picture->unreadable.contains(uid)) {
      made.left.push_back(
          fmt::format("not taken back: {}/{} cannot be read", claim.name_space, claim.name));
      continue;
    }
    const auto found = known.find(uid);
    const Number number =
        found == known.end() ? Number{} : number_of(*found->second, claim.field, &claim);
    const bool is_ours = found != known.end() && !number.is_foreign && claim.is_ours(number.now);
    if (!is_ours || number.now == claim.base) {
      ++made.gone;
      if (auto kept = journal->drop(uid, "not there", false); !kept) {
        return tl::unexpected(kept.error());
      }
      continue;
    }
    const Change change{.uid = uid,
                        .name_space = claim.name_space,
                        .name = claim.name,
                        .field = claim.field,
                        .base = claim.base,
                        .was = number.now,
                        .becomes = claim.base,
                        .why = "undo"};
    if (auto begun = journal->begin(change, picture->at); !begun) {
      return tl::unexpected(begun.error());
    }
    const auto written = write_number(client, picture->version, change, found->second->version);
    if (!written) return tl::unexpected(written.error());
    if (written->status == 0 || written->status >= 500) {
      return fail(Code::unavailable, written->message, {}, "run the command again");
    }
    const bool is_done = written->status < 300;
    if (auto ended = journal->end(is_done ? "" : written->message); !ended) {
      return tl::unexpected(ended.error());
    }
    if (is_done) {
      ++made.changes;
    } else {
      made.left.push_back("not taken back: " + to_words(change) + ": " + written->message);
    }
  }
  return made;
}

}  // namespace almanac::steer_kube
