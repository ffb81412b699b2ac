// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tickets: owners get GPU time of each type by their shares, and trade fast GPUs for more slow
/// ones if both gain.
///
/// Each owner deserves its share of each type, after trading. In each lease, the owner with the
/// least GPU time of a type relative to its share comes next there (stride scheduling), with the
/// job that has run least. GPUs for which an owner has no job go to the others. A new owner starts
/// level with the owner that has had least.
///
/// Source   Chaudhary et al., EuroSys'20 (Gandiva-fair), sections 3 and 4.
/// Differs  The placement slot places gangs; they are not split among servers. The gain of a trade
///          comes from Allocator::rate_on_type(); without different speeds there is no trade.
/// Cost     O(n t) per lease with n jobs and t types
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "policy/kit/lease_allocator.h"
#include "policy/kit/owner.h"
#include "policy/registry.h"
#include "rules/fairness/trade.h"

namespace almanac::policy::whole {
namespace {

class GandivaFair final : public LeaseAllocator {
 public:
  GandivaFair(std::unique_ptr<Placement> placement, Host host, const Parameters& told)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), nullptr,
                       std::move(host.type_speeds)),
        lease_s_(seconds(lease())),
        trades_(told.word("trade") == "yes") {}

 private:
  /// An owner, with its values for each type in the order of the stock.
  struct Account {
    Owner owner{};
    bool is_new = true;
    std::vector<double> due{};   // fair share in GPUs
    std::vector<double> pass{};  // GPU time / fair share
    std::vector<JobId> jobs{};
    std::vector<JobId> waiting{};  // the job that has run least first
  };
  using Accounts = std::vector<Account>;  // in order of owners
  struct Book {
    Accounts accounts{};
    std::vector<JobId> filed{};  // the jobs of all accounts, as of the last deal
  };

  Time stands_in_lease(const Deal&, const View&) const override { return kNever; }

  void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) override {
    Accounts& accounts = books_[deal.vc].accounts;
    file_jobs(books_[deal.vc], deal, view);
    set_dues(accounts, deal, view, plan);
    begin_alike(accounts, deal.left.size());
    bool any_fits = false;
    for (Account& account : accounts) {
      const std::size_t before = wishes.size();
      keep(account.jobs, deal, view, wishes, account.waiting);
      for (std::size_t at = before; deal.begins && at < wishes.size(); ++at) {
        const JobId job = wishes[at].job;
        if (asked(job, view).is_cpu_job()) continue;
        charge(account, job, type_held(job, view), deal.left, view);
      }
    }
    for (const Account& account : accounts) {
      any_fits =
          any_fits || std::any_of(account.waiting.begin(), account.waiting.end(),
                                  [&](JobId job) { return is_in(deal.left, asked(job, view)); });
    }
    if (any_fits) start_jobs(accounts, deal.left, view, wishes);
  }

  static std::int64_t milli_of(JobId job, const View& view) {
    const cluster::Demand& demand = asked(job, view);
    return std::int64_t{demand.gpus} * demand.gpu_milli;
  }

  static Account& find(Accounts& accounts, Owner owner) {
    const auto at =
        std::lower_bound(accounts.begin(), accounts.end(), owner,
                         [](const Account& each, Owner wanted) { return each.owner < wanted; });
    const bool is_known = at != accounts.end() && at->owner == owner;
    return is_known ? *at : *accounts.insert(at, {.owner = owner});
  }

  /// Files jobs under their owners, and closes accounts of owners without a job.
  static void file_jobs(Book& book, const Deal& deal, const View& view) {
    if (std::equal(deal.jobs.begin(), deal.jobs.end(), book.filed.begin(), book.filed.end()))
      return;
    book.filed.assign(deal.jobs.begin(), deal.jobs.end());
    Accounts& accounts = book.accounts;
    for (Account& account : accounts) account.jobs.clear();
    for (const JobId job : deal.jobs) {
      find(accounts, owner_of(job, view)).jobs.push_back(job);
    }
    std::erase_if(accounts, [](const Account& each) { return each.jobs.empty(); });
  }

  void set_dues(Accounts& accounts, const Deal& deal, const View& view, const Plan& plan) const {
    double shares = 0;
    for (const Account& each : accounts) shares += share_of(each.owner, view);
    for (Account& account : accounts) {
      const double part = shares > 0 ? share_of(account.owner, view) / shares : 1;
      account.due.clear();
      for (const Stock& each : deal.left) {
        account.due.push_back(part * static_cast<double>(each.milli) / cluster::kWholeGpu);
      }
    }
    if (!trades_ || !tells_types(view)) return;
    fairness::Table due;
    fairness::Table rates;
    for (Account& account : accounts) {
      due.push_back(std::move(account.due));
      std::vector<double>& speeds = rates.emplace_back();
      for (const Stock& each : deal.left) {
        speeds.push_back(rate_of(account.jobs, each.gpu_type, deal.vc, view, plan.ledger));
      }
    }
    due = fairness::trade(std::move(due), rates);
    for (std::size_t at = 0; at < accounts.size(); ++at) accounts[at].due = std::move(due[at]);
  }

  /// Returns the mean speed of an owner's jobs on a type; close to 0 if none accepts it.
  double rate_of(const std::vector<JobId>& jobs, std::uint64_t type, VcId vc, const View& view,
                 const cluster::Ledger& ledger) const {
    double sum = 0;
    std::size_t count = 0;
    for (const JobId job : jobs) {
      const cluster::Demand& demand = asked(job, view);
      if (demand.is_cpu_job()) continue;
      ++count;
      if ((demand.gpu_types & type) == 0) continue;
      sum += rate_on_type(job, type, vc, view, ledger);
    }
    constexpr double kLeast = 1e-3;
    return count == 0 ? kLeast : std::max(kLeast, sum / static_cast<double>(count));
  }

  /// Starts new accounts at the smallest pass, and counts all passes from there.
  static void begin_alike(Accounts& accounts, std::size_t types) {
    for (std::size_t type = 0; type < types; ++type) {
      double least = std::numeric_limits<double>::max();
      for (Account& account : accounts) {
        if (account.is_new) account.pass.resize(types);
        if (!account.is_new) least = std::min(least, account.pass[type]);
      }
      for (Account& account : accounts) {
        if (!account.is_new) account.pass[type] -= least;
      }
    }
    for (Account& account : accounts) account.is_new = false;
  }

  void charge(Account& account, JobId job, std::uint64_t type, const std::vector<Stock>& stock,
              const View& view) const {
    for (std::size_t at = 0; at < stock.size(); ++at) {
      if (stock[at].gpu_type != type) continue;
      const double gpus = static_cast<double>(milli_of(job, view)) / cluster::kWholeGpu;
      account.pass[at] += gpus * lease_s_ / std::max(account.due[at], kTooLittle);
    }
  }

  /// An owner whose turn it is for GPUs of a type.
  struct Turn {
    double pass = 0;
    std::size_t account = 0;
    std::size_t type = 0;

    /// For a heap: the last in turn.
    bool operator<(const Turn& other) const {
      return std::tie(other.pass, other.account, other.type) < std::tie(pass, account, type);
    }
  };

  struct Run {
    Duration attained{};
    std::size_t at = 0;
    JobId job{};

    bool operator<(const Run& other) const {
      return attained != other.attained ? attained < other.attained : at < other.at;
    }
  };

  /// Sorts jobs by how long they have run, keeping the order of equals.
  void put_least_first(std::vector<JobId>& jobs, const View& view) {
    if (jobs.size() < 2) return;
    runs_.resize(jobs.size());
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      runs_[at].attained = view.attained(jobs[at]);
      runs_[at].at = at;
      runs_[at].job = jobs[at];
    }
    if (std::is_sorted(runs_.begin(), runs_.end())) return;
    std::sort(runs_.begin(), runs_.end());
    std::transform(runs_.begin(), runs_.end(), jobs.begin(),
                   [](const Run& run) { return run.job; });
  }

  /// Names waiting jobs until none finds GPUs. GPUs only become fewer, so an owner without a job
  /// for a type now will have none later.
  void start_jobs(Accounts& accounts, std::vector<Stock>& left, const View& view,
                  std::vector<Wish>& wishes) {
    for (Account& account : accounts) put_least_first(account.waiting, view);
    // All running jobs have GPUs again, so the order of turns does not matter.
    const auto all_run = [&](const Account& account) {
      return std::all_of(account.waiting.begin(), account.waiting.end(),
                         [&](JobId job) { return view.progress(job).phase == Phase::running; });
    };
    if (left.size() == 1 && std::all_of(accounts.begin(), accounts.end(), all_run)) {
      for (Account& account : accounts) {
        for (const JobId job : account.waiting) {
          start(account, job, left.front().gpu_type, left, view, wishes);
        }
      }
      return;
    }
    const auto turn_of = [&](std::size_t at, std::size_t type) {
      // Who has sold all of a type comes last there.
      const bool sold = accounts[at].due[type] <= kTooLittle;
      return Turn{sold ? std::numeric_limits<double>::max() : accounts[at].pass[type], at, type};
    };
    turns_.clear();
    for (std::size_t at = 0; at < accounts.size(); ++at) {
      for (std::size_t type = 0; type < left.size() && !accounts[at].waiting.empty(); ++type) {
        turns_.push_back(turn_of(at, type));
      }
    }
    std::make_heap(turns_.begin(), turns_.end());
    while (!turns_.empty()) {
      std::pop_heap(turns_.begin(), turns_.end());
      const auto [pass, at, type] = turns_.back();
      turns_.pop_back();
      if (!start_first(accounts[at], left[type].gpu_type, left, view, wishes)) continue;
      turns_.push_back(turn_of(at, type));
      std::push_heap(turns_.begin(), turns_.end());
    }
  }

  /// Names the first job of an owner that finds GPUs of a type; returns false if none does.
  bool start_first(Account& account, std::uint64_t gpu_type, std::vector<Stock>& left,
                   const View& view, std::vector<Wish>& wishes) const {
    const auto found = std::find_if(account.waiting.begin(), account.waiting.end(), [&](JobId job) {
      return start(account, job, gpu_type, left, view, wishes);
    });
    if (found == account.waiting.end()) return false;
    account.waiting.erase(found);
    return true;
  }

  /// Names a job for GPUs of a type; returns false if there are too few.
  bool start(Account& account, JobId job, std::uint64_t gpu_type, std::vector<Stock>& left,
             const View& view, std::vector<Wish>& wishes) const {
    const std::uint64_t type = asked(job, view).gpu_types & gpu_type;
    if (type == 0 || !take(left, milli_of(job, view), type)) return false;
    charge(account, job, type, left, view);
    Wish& wish = wishes.emplace_back();
    wish.job = job;
    wish.gpu_types = type;
    return true;
  }

  static constexpr double kTooLittle = 1e-9;  // GPUs
  double lease_s_;
  bool trades_;
  std::map<VcId, Book> books_;
  std::vector<Run> runs_;    // of put_least_first()
  std::vector<Turn> turns_;  // of start_jobs()
};

}  // namespace

void register_gandiva_fair(Registry& registry) {
  registry.wholes.add(
      {.name = "gandiva_fair",
       .summary = "GPU time of each type by tickets; users trade fast GPUs for more slow ones",
       .source = "Chaudhary et al. EuroSys'20 (Gandiva-fair)",
       .traits = {.has = {Trait::stops_jobs, Trait::moves_jobs, Trait::leases}},
       .parameters = {number("lease_s", "time between two reallocations", 60, 1, 1e6),
                      word("trade", "whether users trade", {"yes", "no"})}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<GandivaFair>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told);
      });
}

}  // namespace almanac::policy::whole
