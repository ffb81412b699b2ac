// SPDX-License-Identifier: Apache-2.0

/// \file
/// What stands behind Service: the state, and the one thread that changes it.
///
/// A step of that thread: what users want, what has ended, what may join the queue, the round, all
/// that changed to the disk, and only then the processes. So whatever runs was on the disk before
/// it ran, and what is not yet there runs when the disk is back. What a user wants is on the disk
/// before any of it is done: what the disk refuses has not happened.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fair_mutex.h"
#include "gpu/nvml.h"
#include "machine/book.h"
#include "machine/deeds.h"
#include "machine/forgetting.h"
#include "machine/hooks.h"
#include "machine/local_service.h"
#include "machine/maintenance.h"
#include "machine/measured.h"
#include "machine/start_trouble.h"
#include "machine/starter.h"
#include "machine/vitals.h"
#include "policy/composition.h"
#include "policy/contract/host.h"
#include "predict/estimator.h"
#include "process/bell.h"
#include "schedule/admission.h"
#include "schedule/round.h"
#include "service/foresight.h"
#include "service/inbox.h"
#include "service/journal.h"
#include "service/notify.h"
#include "service/outbox.h"
#include "service/renewal.h"
#include "service/service_time.h"
#include "service/tenancy.h"
#include "trace/trace.h"

namespace almanac::machine {

class Core : public service::Service, public schedule::Actuator {
 public:
  void run(const std::atomic<bool>& stop) override;
  void wake() override;
  void reload() override;

  Result<std::vector<store::JobNumber>> submit(store::Submission submission) override;
  Result<void> judge(store::Submission submission) override;
  Result<void> cancel(const std::vector<store::JobNumber>& numbers, const service::Caller& caller,
                      bool now) override;
  Result<void> update(const std::vector<store::JobNumber>& numbers, const store::Amended& wanted,
                      const service::Caller& caller) override;
  Result<void> hold(const std::vector<store::JobNumber>& numbers,
                    const service::Caller& caller) override;
  Result<void> release(const std::vector<store::JobNumber>& numbers,
                       const service::Caller& caller) override;
  Result<void> requeue(const std::vector<store::JobNumber>& numbers,
                       const service::Caller& caller) override;
  Result<void> set_policy(const std::string& policy, const service::Caller& caller) override;
  Result<void> set_shadow(const std::string& policy, const service::Caller& caller) override;
  Result<std::int64_t> announce(const service::Window& window,
                                const service::Caller& caller) override;
  Result<void> call_off(std::int64_t number, const service::Caller& caller) override;
  std::vector<service::Window> maintenance() const override;
  Result<void> set_drained(const std::string& node, bool drained,
                           const service::Caller& caller) override;
  Result<void> set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                               const service::Caller& caller) override;
  std::uint64_t revision() const override { return revision_; }
  service::Overview overview() const override;
  service::Counters counters() const override;
  Result<std::vector<service::JobView>> jobs(const service::Sought& sought) const override;
  Result<service::JobView> job(store::JobNumber number) const override;
  Result<service::Tenancy> tenancy() const override;
  Result<sim::Compactions> compactions() const override;
  Result<std::vector<std::string>> explain(store::JobNumber number,
                                           service::Eyes eyes) const override;
  std::vector<service::NodeView> nodes() const override;
  Result<std::string> log_path(store::JobNumber number, bool err) const override;
  const store::Store& store() const override { return store_; }
  const std::string& state() const override { return config_.state; }
  std::shared_ptr<const cluster::Cluster> cluster() const override;

 protected:
  /// What the folder of a service has.
  struct Opened {
    Config config;
    store::Store store;
    policy::Composition composition{};
    std::vector<store::Job> unfinished{};
  };
  static Result<Opened> open(Config config);
  explicit Core(Opened opened);
  /// Takes over what an earlier service left: the first thing that is asked of it.
  Result<void> recover(std::vector<store::Job> unfinished);

  const Config& config() const { return config_; }
  /// The driver's word on a GPU; "" = it is well again. Does not wait.
  void hear_of_gpu(NodeId node, int gpu, const std::string& trouble);
  /// Who is told of each job that has failed; it must not wait.
  void tell_of_failures(std::function<void(const store::Job&)> tell);
  /// What the log of a job that has failed says.
  void hear_why(store::JobNumber job, const std::string& why);
  /// Jobs that have a process, to be measured.
  Patients patients();
  /// Counts no energy in time that the clock jumped over.
  void heed_jump();
  void take_note(const Sight& sight);
  /// Whether the policy is to hear of any.
  bool hear_reports(const std::vector<Report>& reported);
  /// Has users hear what take_note() found that they should; takes as long as the hook does.
  void send_letters();
  /// The present for a forecast, and what has ended, which is told once.
  service::Outlook outlook();
  /// Keeps what jobs were told.
  void keep(std::vector<store::Told> told);

 private:
  /// What the store said of jobs that have ended, to whoever asks before the deciding thread is
  /// asked: that is not to read thousands of them.
  struct LookedUp {
    Duration at{};  // since boot
    std::map<store::JobNumber, bool> well{};
    std::map<store::JobNumber, store::Job> jobs{};
  };
  struct Entrant {
    store::Submission asked;
    bool is_judged_only = false;
    LookedUp looked_up{};
  };
  /// A change of anything but jobs.
  struct Change {
    store::Store::Batch kept{};   ///< Must be on the disk before any of it is done.
    std::function<void()> act{};  ///< Does it.
  };
  /// Looks, and changes nothing.
  using PlanChange = std::function<Result<Change>()>;
  /// A change of jobs that a user asks for.
  struct Request {
    service::Wish wish{};
    service::Caller caller{};
    LookedUp looked_up{};
  };
  /// The caller of a change, or of a submission, that waits until it is on the disk.
  struct Awaited {
    service::Journal::Number number = 0;  ///< Of the wish whose records are written; 0 = of none.
    std::size_t jobs = 0;
    std::function<void(const Result<void>&)> answer{};
  };
  /// The jobs that a wish changes, and the records of the first of them as they become.
  struct Judged {
    std::vector<store::JobNumber> jobs{};  // in order
    std::map<store::JobNumber, store::Job> first{};
  };
  struct OutOfService {
    std::set<NodeId> drained{};
    std::map<std::pair<NodeId, int>, std::string> gpus{};  ///< And why.
  };
  /// A policy that is to begin, and what it believes.
  struct Successor {
    policy::Composition composition{};
    std::unique_ptr<trace::Trace> trace{};  // of no jobs yet; its names are the estimator's
    std::unique_ptr<predict::Estimator> estimator{};
    std::vector<policy::PastUse> past_use{};  // of those that ended before
    Time taught_until{};                      // by those that ended before
    bool is_taught = true;
  };
  using Lock = std::unique_lock<FairMutex>;

  // core.cpp: the loop.
  void step(Lock& lock);
  void wait_for_news(Duration at_most);
  void take_exits();
  void take_excesses();
  void take_policy_file();
  /// Lets those join the queue that wait for nothing else any more, some thousands at a time.
  void let_in();
  /// What keeps a pending job from the policy; nothing = it may join the queue.
  WaitsFor waits_for(const Entry& entry) const;
  /// One that waits aside is looked at again.
  void look_at(Entry& entry) { book_.wait(entry, {WaitsFor::What::a_look}); }
  void decide();
  void launch(Lock& lock);
  Time next_alarm() const;

  // saving.cpp: what has changed, to the disk.
  store::Commit commit(Lock& lock, const store::Store::Batch& batch);
  void save(Lock& lock);
  /// A job that has ended is the store's alone.
  void leave_book(store::JobNumber number);

  // submissions.cpp: new jobs.
  void take_entrants(Lock& lock);
  /// The numbers of what was submitted with the same key; none = it is new.
  Result<std::vector<store::JobNumber>> submitted(const store::Submission& asked) const;
  /// How those ended that it is to follow. Any thread.
  LookedUp look_up_followed(const store::Submission& asked) const;
  /// The journal has a new job, whose record is written later.
  void cover_submission(const store::Job& job, Time at);
  /// Adds those tasks of an array to the book whose records an earlier service did not write.
  Result<void> restore_tasks(const service::Wish& submitted);

  // wishes.cpp: what users want.
  /// Has the deciding thread do what `plan` comes to, and waits until that is on the disk.
  Result<void> change(PlanChange plan);
  /// The same for jobs.
  Result<void> change(Request request);
  /// Takes one change, because the next must be judged against its effects, and returns whether it
  /// did. Its caller is answered by answer_awaited().
  bool take_wish(Lock& lock);
  Result<void> take(Lock& lock, const PlanChange& plan);
  /// Returns its number in the journal; 0 = it changes nothing.
  Result<service::Journal::Number> take(Lock& lock, Request request);
  /// Answers those whose changes are on the disk: in the records or, where it takes nothing now, in
  /// the journal.
  void answer_awaited(Lock& lock);
  void refuse_all();
  Result<Entry*> own(store::JobNumber number, const service::Caller& caller);
  /// Looks up those of its jobs that have ended and are to run again. Fails where one of them may
  /// not be changed; of several, those that have ended are left alone.
  Result<Judged> judge(Request& request);
  /// Fails where such a change may not be made of it.
  Result<void> may_amend(const store::Job& job, const Request& request);
  /// Of one that has ended.
  Result<void> may_run_again(store::JobNumber number, Request& request);
  /// Does what the journal has. `ended`: the records of those that run again.
  void apply(const service::Wish& wish, const std::map<store::JobNumber, store::Job>& ended);
  void amend(Entry& entry, store::Job after, const service::Wish& wish);
  /// Puts one that has ended back into the book.
  Entry& bring_back(store::Job ended);
  /// Those of them that have ended, without what they run. Any thread.
  Result<LookedUp> look_up_ended(const std::vector<store::JobNumber>& numbers) const;
  /// Whether what was looked up of a job, or an array, holds still.
  bool holds(const LookedUp& looked_up, store::JobNumber number) const;
  /// A job is the store's alone from now on, or is so no more.
  void has_moved(const store::Job& job);
  /// As Book asks.
  std::optional<bool> ended_well(store::JobNumber number) const;
  /// Reads the journal that an earlier service left, and adds the jobs that it alone has.
  Result<void> read_journal();
  /// Does what it has for jobs whose records lack it.
  Result<void> apply_journal();

  // jobs.cpp: what happens to a job.
  Result<std::vector<store::Job>> enlist(const store::Submission& asked);
  /// Why no job like this can ever run here; nothing = it can.
  std::optional<std::string> never(const store::Job& job);
  /// Makes of it what life.h has for that event.
  void happen(Entry& entry, const life::Event& event);
  /// Makes `becomes` of it, with all that follows from it.
  void follow(Entry& entry, Next becomes);
  void join(Entry& entry);
  /// It neither runs nor waits any more as the policy sees it.
  void leave_round(Entry& entry, Time at);
  void leave_queue(Entry& entry);
  /// The policy knows it no more.
  void leave_policy(Entry& entry);
  /// The policy wants it no more.
  void dismiss(JobId id, const char* why);
  void process_gone(Entry& entry, const shepherd::Outcome& how);
  /// Of a process of which nothing can be told now: it is looked at again later.
  void look_later(Entry& entry, const shepherd::Outcome& how);
  /// What follows from its end.
  void settle(Entry& entry);
  /// What follows where it is to begin again.
  void waits_anew(Entry& entry);
  void start_process(Lock& lock, Entry& entry, const store::Job& whole);
  /// Has the instances stand that it is to run on.
  Result<void> make_instances(Lock& lock, const Entry& entry);
  void has_process(Entry& entry, shepherd::Run run);
  /// Puts the folder of a run whose last word is damaged beside the others, for people to look at.
  static void keep_damaged(const std::string& folder, const std::string& why);
  /// When a process must have ended by its time limit, since boot; nothing = it has none.
  std::optional<Duration> limit_of(const Entry& entry) const;
  void resize_process(Entry& entry);
  /// Says on which processors those run whom the round has started or resized.
  void pin();
  /// Processors for a job that holds whole cores; empty = it is not pinned.
  std::vector<int> cores_for(const Entry& entry) const;
  bool is_free_of_others(const Entry& entry) const;
  void note(const store::Job& job, std::string what, std::string detail = {});
  /// Tells its process to end, as its record has it.
  void tell_to_end(Entry& entry);
  /// Kills what has not ended though it was told to, and its grace is over.
  void press();
  /// A start has failed for want of what all need.
  void start_failed(store::JobNumber number, const std::string& why);
  /// A start has failed for a reason of the job's own: it gives its GPUs back and is tried later,
  /// or has failed for good.
  void put_off(Entry& entry, const std::string& why);
  /// A shepherd went before anything of its job ran. Gives what becomes of the job.
  life::NotStarted judge_start(Entry& entry, const shepherd::Outcome& how);
  /// A start has failed since the job's user is not known: no job of that user starts for now.
  void account_failed(Entry& entry, const std::string& why);
  /// Looks whether accounts are back.
  void heed_accounts();
  /// Whether it is time to start something.
  bool may_start();
  void start_works();
  void touch(Entry& entry) {
    book_.recount(entry);
    outbox_.mark(entry.job.number);
  }

  // moving.cpp: jobs that go on on other GPUs.
  /// Its process is to use what the job holds now, and no more of what it held.
  void go_on(Entry& entry);
  /// Its policy may want another batch of it.
  void heed_batch(Entry& entry);
  /// Tells those whose new GPUs others have left.
  void tell_moved();
  /// Gives on what jobs leave, once they say that they use what they were told of.
  void take_words();
  /// Measures how long a job takes from being told of other GPUs to its next step, and lets
  /// policies know the mean of that.
  void measure_move(Entry& entry);
  /// It is ended, and begun anew on what its job holds.
  void move_by_restart(Entry& entry, const std::string& why);
  /// What others have still of a job's GPUs that are to leave them.
  std::vector<cluster::Grant> not_left(const Entry& entry) const;
  /// What its process uses, whatever the store has: an earlier service may not have told it.
  void find_out_what_it_uses(Entry& entry);
  /// Its process is to go, and has until then what it may use.
  void lets_go(Entry& entry);

  // recovery.cpp: what an earlier service left.
  Result<void> check_store_is_of_runs() const;
  Result<void> take_over_runs();
  std::vector<cluster::Grant> whole_machine() const;
  /// Takes what a running job holds; fails with conflict where the cluster has it no more.
  Result<void> take(const store::Job& job, cluster::Ledger& room);
  /// Settles a job that cannot have what it held, if nothing of it runs any more: the machine has
  /// come back without a GPU. False where it runs on.
  bool settle_gone(Entry& entry, const Error& why);

  // maintenance.cpp
  Result<void> read_maintenance();
  /// Takes out of the queue what would not end before it.
  void heed_maintenance();

  /// Forgets history from time to time, beside the rounds.
  void go_on_forgetting();

  // succession.cpp: one policy after the other.
  /// Takes long; any thread.
  Result<Successor> prepare(policy::Composition composition, Time now) const;
  /// One that has learned nothing.
  Successor untaught(policy::Composition composition) const;
  /// Gives the policy that begins all that may join its queue.
  void take_in();
  /// Has it learn from whoever ended while it was prepared.
  void catch_up(Successor& next) const;
  /// What trials report to the store until now, for the policy that begins.
  policy::PastReports past_reports() const;
  /// Gives all jobs that the policy knows to a new one, and lets go of those that have ended.
  void begin_policy(Successor next);
  /// Ends the present one where nothing waits for that.
  void retire_policy();
  /// Begins the policy anew when another is wanted, or most jobs that this one knows have ended.
  void renew_policy();
  void prepare_aside();
  bool is_worn() const;
  cluster::GpuMask trouble_mask(NodeId node) const;
  std::optional<NodeId> node_called(const std::string& name) const;
  /// Brings what is drained or out of service to the round, and keeps it.
  void apply_service(NodeId node, OutOfService out);
  Change put_out(NodeId node, OutOfService out);
  /// `out` with another word on a GPU.
  static OutOfService with(OutOfService out, NodeId node, int gpu, const std::string& trouble);
  /// As the store keeps it.
  std::string to_json(const OutOfService& out) const;
  Result<void> read_service();

  // Actuator: called from within the round.
  void start(JobId job) override;
  void stop(JobId job) override;
  void vacate(JobId job) override;
  void end(JobId job, bool runs) override;
  void decline(JobId job) override;
  void resize(JobId job) override;
  void sleep(NodeId node) override;
  void boot(NodeId node) override;

  // accounting.cpp: what is drawn.
  /// Adds what a job's process has drawn since that was last counted.
  void count_energy(Entry& entry, Time to);
  /// Adds what a look has found to what is kept of each job.
  void count_use(const Sight& sight);
  /// What the run of a job that has gone has said since it was looked at.
  void hear_last_word(const Entry& entry);
  /// Has the store keep what a job has reported.
  void keep_reports(store::JobNumber job, const std::vector<perf::OwnProgress::Metric>& reported);
  /// Says of jobs whose GPUs are idle what is to be done, and does it or has it done.
  void heed_idle(const Sight& sight);
  void heed_idle(Entry& entry, service::IdleStep step);
  /// As measured; else by the model, 0 without one.
  double draw_w() const;

  // views.cpp
  /// Where each job stands in the line of its virtual cluster, from 1; 0 = it stands in none. By
  /// JobId. Of very many jobs it may be as it was some tenths of a second ago, and lack the latest.
  const std::vector<std::int64_t>& places() const;
  std::int64_t place_of(JobId job) const;
  /// Calls `look` with each job of a larger number than `above`, in order of number, with the lock
  /// for some of them at a time: the deciding thread is to wait for no part of a long list. It
  /// gives what the job has cost, of 2,000 a time, or nothing where it has seen enough.
  void look_at_all(store::JobNumber above,
                   const std::function<std::optional<int>(const Entry&)>& look) const;
  Result<service::Tenancy> tenancy_now() const;
  /// It, if it runs, and whoever runs on some of its GPUs.
  std::vector<store::Job> beside(store::JobNumber number) const;
  /// The present for a forecast, without what has ended.
  service::Outlook present() const;
  /// The same, under the lock.
  service::Outlook look() const;
  /// Those that hold GPUs: they run, or are to go from where they ran. In order of number.
  std::vector<const Entry*> holders() const;
  /// The waiting jobs that a forecast is made of.
  std::vector<const Entry*> next_in_line() const;
  service::JobView view_of(const Entry& entry) const;
  std::vector<service::NodeView> nodes_now() const;
  int gpus_busy() const;
  std::string why_aside(const Entry& entry, std::string& word) const;
  /// Of one that waits for a time.
  std::string why_later(const Entry& entry, std::string& word) const;
  /// When a job that waits goes before all others; "" = it does, or never will.
  std::string beside_age_cap(store::JobNumber number) const;

  std::string folder_of(const store::Job& job) const;
  Entry& entry_of(JobId id) { return *book_.find(numbers_[index(id)]); }
  bool in_round(const Entry& entry, policy::Phase phase) const {
    return entry.id != kNoJob && round_->progress(entry.id).phase == phase;
  }

  Config config_;
  store::Store store_;
  mutable FairMutex mutex_;  // of all below up to bell_
  service::ServiceTime clock_;
  Time now_{};
  Time started_{};
  std::unique_ptr<trace::Trace> trace_;    // of the jobs that the policy has been told of
  std::vector<store::JobNumber> numbers_;  // by JobId
  Book book_;
  const LookedUp* looked_up_ = nullptr;  // of the submission that is taken now
  /// When jobs, and arrays, left the book or came back to it, since boot; of some minutes.
  std::map<store::JobNumber, Duration> moved_;
  Maintenance maintenance_;
  Gate gate_;  // counts what is in the book
  Measured measured_;
  service::IdleWatch idle_;
  policy::Composition composition_;
  std::unique_ptr<policy::Policy> policy_;
  std::unique_ptr<schedule::Round> round_;
  std::optional<gpu::Nvml> cutter_;               // where instances are made
  std::optional<schedule::Admission> admission_;  // for what is asked, before it is a job
  std::vector<policy::Event> events_;
  std::set<Time> wakes_;
  std::set<store::JobNumber> processes_;  // that have one
  bool learns_ = false;                   // the policy has not learned yet from those that ended
  bool holds_back_ = false;               // none starts before it has
  service::Outbox outbox_{config_.state};
  Deeds deeds_;
  std::function<void(const store::Job&)> tell_of_failure_;
  std::unique_ptr<Hooks> hooks_;  // null = there are none
  Time next_moment_{};
  std::optional<double> gpu_use_;                   // of all GPUs, as last measured
  std::map<std::pair<NodeId, int>, double> gpu_w_;  // of each that tells, as last measured
  std::vector<service::IdleLetter> letters_;        // that users are to hear
  std::vector<GpuExcess> excesses_;                 // as last measured
  std::vector<store::Job> ended_;                   // since the last outlook
  OutOfService out_;
  std::int64_t last_number_ = 0;
  Starter starter_;
  Accounts accounts_{ask_for_user};
  Forgetting forgetting_{store_, outbox_, config_.retention, config_.requeue_for};
  service::Counters counters_;
  std::atomic<std::uint64_t> revision_ = 1;
  bool changed_ = false;
  struct Line {
    std::vector<std::int64_t> places{};  // by JobId
    bool has_changed = true;
    std::chrono::steady_clock::time_point good_until{};
  };
  mutable Line line_;
  service::TenancyKeeper tenancy_;

  std::atomic<bool> reload_ = false;
  process::Bell bell_;
  service::Inbox<Entrant, std::vector<store::JobNumber>> entrants_{bell_};
  service::Inbox<std::variant<PlanChange, Request>, void> wishes_{bell_};
  std::vector<Awaited> awaited_;
  process::Bell ends_;  // the service: nobody waits for commands of the site any more

  std::optional<policy::Composition> wanted_;  // that a file says since it was read last
  // The last: its threads use what is above.
  service::Renewal<Successor> renewal_{bell_};
};

}  // namespace almanac::machine
