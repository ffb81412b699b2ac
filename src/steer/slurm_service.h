// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service of a Slurm cluster: watches it, decides by a policy of the registry, moves the
/// levers that an operator has turned on, and answers requests as the service of one machine does.
///
/// Slurm starts, ends and accounts, with or without us. Where its controller does not answer, the
/// levers rest and it is said; when it is back, all it has is told anew.
///
/// One thread decides, under the lock that each request takes. What it asks of the controller, and
/// has done there, it waits for without that lock, and not for ever: a decision that does not come
/// to an end is what the watchdog ends, a controller that is slow is not.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "perf/catalogue.h"
#include "process/bell.h"
#include "process/descriptor.h"
#include "service/foresight.h"
#include "service/inbox.h"
#include "service/inquest.h"
#include "service/notify.h"
#include "service/renewal.h"
#include "service/service.h"
#include "slurm/link.h"
#include "steer/agents.h"
#include "steer/announced.h"
#include "steer/canary.h"
#include "steer/control.h"
#include "steer/decision.h"
#include "steer/driver.h"
#include "steer/lock.h"
#include "steer/mirror.h"
#include "steer/newcomers.h"
#include "steer/past.h"
#include "steer/settings.h"
#include "steer/slimmer.h"
#include "steer/stage.h"

namespace almanac::steer {

struct Config {
  std::string state;            ///< The folder of all that is kept.
  std::string policy = "qssf";  ///< The store's own, if it has one, unless `policy_is_told`.
  bool policy_is_told = false;
  std::string shadow{};
  Settings settings{};
  std::string agents{};  ///< "HOST:PORT" at which agents of nodes are listened for; "" = none.
  std::string agent_secret{};  ///< Path of what they know us by.
  /// How jobs slow each other on a GPU; null = that is not known, and none are brought together.
  std::shared_ptr<const perf::Catalogue> speeds{};
  std::uint64_t seed = 0;
  /// Another way to the same Slurm, for its accounting, which is not read without.
  std::function<Result<std::unique_ptr<slurm::Link>>()> connect{};
  Duration retention = 24h * 365;  ///< Jobs that ended earlier are forgotten.
  /// A controller that has not answered for so long is said to be silent, though it may answer yet:
  /// Slurm's commands try for 40 s where it is gone.
  Duration silence = 15s;
  /// The policy learns of so many jobs that ended before it is begun anew without them.
  std::size_t most_ended = 20'000;
};

class SlurmService final : public service::Service {
 public:
  /// Asks the controller what there is. Fails with conflict when another almanac has the folder or
  /// this Slurm, with unavailable when the controller does not answer, with unsupported where the
  /// cluster is one of a federation.
  static Result<std::unique_ptr<SlurmService>> open(Config config,
                                                    std::unique_ptr<slurm::Link> link);
  ~SlurmService() override;

  void run(const std::atomic<bool>& stop) override;
  void wake() override;
  void reload() override;
  /// One look at the controller and what follows from it; whether there is more to do at once.
  bool step();

  Result<std::vector<store::JobNumber>> submit(store::Submission submission) override;
  Result<void> judge(store::Submission submission) override;
  Result<void> cancel(const std::vector<store::JobNumber>& numbers, const service::Caller& caller,
                      bool now) override;
  Result<void> hold(const std::vector<store::JobNumber>& numbers,
                    const service::Caller& caller) override;
  Result<void> release(const std::vector<store::JobNumber>& numbers,
                       const service::Caller& caller) override;
  Result<void> requeue(const std::vector<store::JobNumber>& numbers,
                       const service::Caller& caller) override;
  Result<void> set_policy(const std::string& policy, const service::Caller& caller) override;
  Result<void> set_shadow(const std::string& policy, const service::Caller& caller) override;
  Result<void> set_drained(const std::string& node, bool drained,
                           const service::Caller& caller) override;
  Result<void> set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                               const service::Caller& caller) override;

  std::uint64_t revision() const override { return revision_; }
  service::Overview overview() const override;
  service::Counters counters() const override;
  Result<std::vector<service::JobView>> jobs(const service::Sought& sought) const override;
  Result<service::JobView> job(store::JobNumber number) const override;
  Result<std::vector<std::string>> explain(store::JobNumber number,
                                           service::Eyes eyes) const override;
  std::optional<service::Expected> expect(store::JobNumber number,
                                          Duration patience) const override;
  Result<std::optional<service::Expected>> foresee(const store::Submission& asked) const override;
  std::vector<service::NodeView> nodes() const override;
  Result<service::Tenancy> tenancy() const override;
  Result<sim::Compactions> compactions() const override;
  std::optional<service::Manager> manager() const override;
  std::optional<service::Comparison> shadow() const override;
  Result<std::string> log_path(store::JobNumber number, bool err) const override;
  const store::Store& store() const override { return store_; }
  const std::string& state() const override { return config_.state; }
  std::shared_ptr<const cluster::Cluster> cluster() const override;
  Status status() const;

 private:
  using Guard = std::unique_lock<std::mutex>;
  using Wish = std::function<Result<void>(slurm::Link&)>;
  struct Watching;  // the shadow, the forecasts, and the cluster that they play on

  SlurmService(Config config, store::Store store, std::unique_ptr<slurm::Link> link,
               slurm::Site site, std::vector<Lock> locks, Driver driver,
               std::unique_ptr<Decider> decider, std::unique_ptr<Agents> agents,
               std::unique_ptr<Slimmer> slimmer);

  // slurm_open.cpp
  Result<void> follow_accounting();
  /// Takes long; any thread.
  Result<std::unique_ptr<Decider>> make_decider(Chosen policy) const;

  // slurm_controls.cpp: what turns levers.
  void take_controls();
  /// Takes back all that was done, as it is asked for.
  Result<void> retreat(const Retreat& how);
  /// Writes the switches where the driver has turned some by itself.
  Result<void> keep_switches();
  void heed_canary();

  // slurm_service.cpp: the thread that decides.
  /// Waits until others have done something: the controller, for the most part. Until that has
  /// taken too long we go on saying that we live.
  void wait_for(const Stage& stage, const std::function<void()>& act);
  void take_wishes();
  Result<slurm::News> ask_news();
  /// Whether the hardware is another now.
  bool take_news(slurm::News news);
  bool decide();
  void slim();
  bool turn_levers();
  /// What levers look at now, under the lock.
  Scene scene() const;
  void tell_agents();
  void save();
  /// What its log says of a job that failed; any thread.
  void hear_why(store::JobNumber job, const std::string& why);
  void say_status();
  void sleep_until_news(const std::atomic<bool>& stop);
  Duration pause() const;

  // slurm_renewal.cpp: the policy begun anew.
  /// When it is to be, or has learned of so many jobs that most of what it keeps is past.
  void renew_decider();
  void make_aside();

  // slurm_newcomers.cpp: jobs that are just being submitted.
  Result<void> listen_to_newcomers();
  Answer rank(slurm::Job newcomer);
  /// Whether a lever is on, and does not rest.
  bool moves(std::string_view lever) const;
  /// Whether the policy says which job is next, or where it runs.
  bool decides() const { return moves("order") || moves("placement"); }

  // slurm_changes.cpp: what users ask.
  Result<void> change(Wish wish);
  /// The job, if it is there and the caller may change it.
  Result<slurm::Job> own(store::JobNumber number, const service::Caller& caller) const;
  using MakeChange = std::function<Result<slurm::JobChange>(const slurm::Job&)>;
  Result<void> change_jobs(const std::vector<store::JobNumber>& numbers,
                           const service::Caller& caller, MakeChange make);
  Result<void> end_jobs(const std::vector<store::JobNumber>& numbers, const service::Caller& caller,
                        slurm::Fate fate);

  // slurm_watching.cpp: the shadow and the forecasts.
  void look_on();
  /// The jobs that the policy sees wait: in its own order where it decides, else in Slurm's.
  std::vector<slurm::JobNumber> queue() const;
  /// The outlook of this world; without jobs where it is another by now, or where Slurm decides.
  service::Outlook outlook(const World& world);
  slurm::Limits limits() const;

  // slurm_views.cpp: of a job of the mirror, under the lock.
  service::JobView view_of(const slurm::Job& job) const;
  std::vector<std::string> explain(const slurm::Job& job, const std::string& shown) const;
  Result<std::vector<std::string>> explain_job(store::JobNumber number, service::Eyes eyes) const;

  // slurm_tenancy.cpp: who had how much of its due.
  Result<service::Tenancy> make_tenancy() const;
  TenantId tenant_of(const store::Job& job) const;
  std::string why_waiting(const slurm::Job& job) const;
  /// What is wrong with the controller, also before its answer has failed; "" = nothing.
  std::string manager_trouble() const;
  std::vector<service::AgentView> said_by_agents() const;
  std::optional<service::Pace> pace_of(const slurm::Job& job) const;

  Config config_;
  service::TenancyKeeper tenancy_;
  store::Store store_;
  std::unique_ptr<slurm::Link> link_;  // of the one thread
  slurm::Site site_;
  std::vector<Lock> locks_;
  process::Bell bell_;
  std::atomic<bool> reload_ = false;
  std::atomic<std::uint64_t> revision_ = 1;
  Time started_{};

  mutable std::mutex mutex_;  // of all below up to wishes_
  Mirror mirror_;
  std::uint64_t hardware_ = 0;  // that world_ is of
  std::shared_ptr<const World> world_;
  std::unique_ptr<Decider> decider_;
  std::unique_ptr<Agents> agents_;  // null = none are listened for; thread-safe
  std::unique_ptr<Slimmer> slimmer_;
  Driver driver_;  // its levers know both
  Switches switches_;
  std::string trouble_;         // of the controller; "" = it answers
  std::string store_trouble_;   // of the disk
  std::string switch_trouble_;  // of the file of switches
  service::Counters counters_;
  double news_s_ = 0;
  std::optional<std::chrono::steady_clock::time_point> asked_at_;  // what is not answered yet
  bool look_again_ = true;                                         // a decision is due
  Announced announced_;
  std::vector<store::Job> ended_;   // not yet in the store
  std::vector<store::Note> notes_;  // likewise
  std::vector<std::pair<std::string, std::string>> values_;
  Time next_moment_{};
  Time next_status_{};
  std::vector<store::Job> taught_;  // ended since forecasts last looked
  std::shared_ptr<Watching> watching_;
  Canary canary_;
  std::string retreat_;            // what the canary died of; "" = it lives
  std::vector<std::string> left_;  // what the last undo did not take back, in words

  service::Inbox<Wish, void> wishes_{bell_};
  std::unique_ptr<Newcomers> newcomers_;  // its thread asks all of the above

  // Only the one thread uses these.
  bool renew_ = false;  // the policy is to be begun anew
  // The last: their threads ask all of the above.
  service::Renewal<std::unique_ptr<Decider>> renewal_{bell_};
  service::Watchdog watchdog_;
  std::unique_ptr<Past> past_;  // null = no accounting is kept
  std::unique_ptr<service::Inquest> inquest_;
};

}  // namespace almanac::steer
