// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tickets: owners have GPU time of each type by their shares, and trade fast GPUs for more slow
/// ones where that pays for both.
///
/// Each owner is due its share of each type, after trading. In each lease the owner that has had
/// least of what it is due of a type is next there (stride scheduling), with the job of its own
/// that has run least on as many GPUs as it asks. What an owner has no job for the others have. An
/// owner that comes anew begins where the one stands that has had least.
///
/// Source   Chaudhary et al., EuroSys'20 (Gandiva-fair), sections 3 and 4.
/// Differs  Gangs are placed by the placement slot, not split among servers; what a trade may be
///          worth Allocator::rate_on_type() says; where all types are as fast nobody trades.
/// Cost     O(n t) a lease with n jobs and t types.
#include <algorithm>
#include <limits>
#include <map>

#include "fairness/trade.h"
#include "policy/kit/lease_allocator.h"
#include "policy/kit/owner.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class GandivaFair final : public LeaseAllocator {
 public:
  GandivaFair(std::unique_ptr<Placement> placement, Host host, const Parameters& told)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), nullptr,
                       std::move(host.type_speeds)),
        trades_(told.word("trade") == "yes") {}

 private:
  /// An owner, with what it has of each type.
  struct Account {
    Owner owner{};
    std::vector<double> due;  // GPUs
    std::vector<JobId> jobs;  // that wait, the one that has run least first
  };
  using Pass = std::map<std::uint64_t, double>;  // had / due of each type
  using Passes = std::map<Owner, Pass>;

  bool stands_in_lease() const override { return true; }

  void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) override {
    Passes& passes = passes_[deal.vc];
    std::vector<Account> accounts = open_accounts(deal, view, plan);
    begin_alike(passes, accounts, deal.left);
    for (Account& account : accounts) {
      account.jobs = keep(account.jobs, deal, view, wishes);
      std::stable_sort(account.jobs.begin(), account.jobs.end(), [&](JobId one, JobId other) {
        return view.attained(one) < view.attained(other);
      });
    }
    if (deal.begins) {
      for (const Wish& wish : wishes) {
        charge(passes, accounts, wish.job, type_held(wish.job, view), deal.left, view);
      }
    }
    while (start_next(passes, accounts, deal.left, view, wishes)) {
    }
  }

  /// In order of owners.
  std::vector<Account> open_accounts(const Deal& deal, const View& view, const Plan& plan) const {
    std::map<Owner, std::vector<JobId>> of;
    for (const JobId job : deal.jobs) of[owner_of(job, view)].push_back(job);
    double shares = 0;
    for (const auto& [owner, its] : of) shares += share_of(owner, view);
    std::vector<Account> accounts;
    fairness::Table due;
    fairness::Table rates;
    for (auto& [owner, its] : of) {
      const double part = shares > 0 ? share_of(owner, view) / shares : 1;
      std::vector<double>& gpus = due.emplace_back();
      std::vector<double>& speeds = rates.emplace_back();
      for (const Stock& each : deal.left) {
        gpus.push_back(part * static_cast<double>(each.milli) / cluster::kWholeGpu);
        speeds.push_back(rate_of(its, each.gpu_type, deal.vc, view, plan.ledger));
      }
      accounts.push_back({owner, {}, std::move(its)});
    }
    if (trades_ && tells_types(view)) due = fairness::trade(std::move(due), rates);
    for (std::size_t at = 0; at < accounts.size(); ++at) accounts[at].due = std::move(due[at]);
    return accounts;
  }

  /// The mean speed of an owner's jobs on a type; next to nothing where none accepts it.
  double rate_of(const std::vector<JobId>& jobs, std::uint64_t type, VcId vc, const View& view,
                 const cluster::Ledger& ledger) const {
    double sum = 0;
    std::size_t count = 0;
    for (const JobId job : jobs) {
      const cluster::Demand& demand = asked(job, view);
      if (demand.is_cpu_job()) continue;
      ++count;
      if ((demand.gpu_types & type) == 0 || !tells_types(view)) continue;
      sum += rate_on_type(job, type, vc, view, ledger);
    }
    constexpr double kLeast = 1e-3;
    return count == 0 ? kLeast : std::max(kLeast, sum / static_cast<double>(count));
  }

  /// Those that are new begin at the least pass; those that are gone are forgotten.
  static void begin_alike(Passes& before, const std::vector<Account>& accounts,
                          const std::vector<Stock>& stock) {
    Passes passes;
    for (const Stock& each : stock) {
      const std::uint64_t type = each.gpu_type;
      double least = std::numeric_limits<double>::max();
      for (const Account& account : accounts) {
        const auto known = before.find(account.owner);
        if (known != before.end()) least = std::min(least, known->second[type]);
      }
      for (const Account& account : accounts) {
        const auto known = before.find(account.owner);
        passes[account.owner][type] = known == before.end() ? 0 : known->second[type] - least;
      }
    }
    before = std::move(passes);
  }

  void charge(Passes& passes, const std::vector<Account>& accounts, JobId job, std::uint64_t type,
              const std::vector<Stock>& stock, const View& view) const {
    const Owner owner = owner_of(job, view);
    const auto account = std::find_if(accounts.begin(), accounts.end(),
                                      [&](const Account& each) { return each.owner == owner; });
    for (std::size_t at = 0; at < stock.size(); ++at) {
      if (stock[at].gpu_type != type) continue;
      const cluster::Demand& demand = asked(job, view);
      const double gpus = demand.gpus * demand.gpu_milli / double{cluster::kWholeGpu};
      passes[owner][type] += gpus * seconds(lease()) / std::max(account->due[at], kTooLittle);
    }
  }

  /// Names the next job; false = none finds GPUs.
  bool start_next(Passes& passes, std::vector<Account>& accounts, std::vector<Stock>& left,
                  const View& view, std::vector<Wish>& wishes) const {
    struct Turn {
      double pass = 0;
      std::size_t account = 0;
      std::size_t type = 0;
      bool operator<(const Turn& other) const { return pass < other.pass; }
    };
    std::vector<Turn> turns;
    for (std::size_t at = 0; at < accounts.size(); ++at) {
      for (std::size_t type = 0; type < left.size() && !accounts[at].jobs.empty(); ++type) {
        // Who has sold all of a type comes last there.
        const bool sold = accounts[at].due[type] <= kTooLittle;
        const double pass = passes[accounts[at].owner][left[type].gpu_type];
        turns.push_back({sold ? std::numeric_limits<double>::max() : pass, at, type});
      }
    }
    std::stable_sort(turns.begin(), turns.end());
    for (const Turn& turn : turns) {
      std::vector<JobId>& jobs = accounts[turn.account].jobs;
      for (auto job = jobs.begin(); job != jobs.end(); ++job) {
        cluster::Demand demand = asked(*job, view);
        demand.gpu_types &= left[turn.type].gpu_type;
        if (demand.gpu_types == 0 || !take(left, demand)) continue;
        charge(passes, accounts, *job, demand.gpu_types, left, view);
        wishes.push_back({*job, 0, demand.gpu_types});
        jobs.erase(job);
        return true;
      }
    }
    return false;
  }

  static constexpr double kTooLittle = 1e-9;  // GPUs
  bool trades_;
  std::map<VcId, Passes> passes_;
};

}  // namespace

void register_gandiva_fair(Registry& registry) {
  registry.wholes.add(
      {.name = "gandiva_fair",
       .summary = "GPU time of each type by tickets; owners trade fast GPUs for more slow ones",
       .source = "Chaudhary et al. EuroSys'20 (Gandiva-fair)",
       .traits = {.has = {Trait::stops_jobs, Trait::moves_jobs, Trait::leases}},
       .parameters = {number("lease_s", "after which all is dealt out anew", 60, 1, 1e6),
                      word("trade", "whether owners do", {"yes", "no"})}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<GandivaFair>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told);
      });
}

}  // namespace almanac::policy::whole
