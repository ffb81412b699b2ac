// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/priority.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "slurmctld/priority/billing.h"
#include "slurmctld/priority/usage_reset.h"

namespace almanac::slurmctld {
namespace {

/// Cuts off fractions of a second.
Time to_second(Time time) {
  return Time(std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()));
}

std::int64_t seconds_between(Time from, Time to) {
  return std::chrono::floor<std::chrono::seconds>(to - from).count();
}

}  // namespace

Priorities::Priorities(const site::Site& site, text::TimeZone zone)
    : site_(&site),
      zone_(std::move(zone)),
      scales_(site),
      tree_(site.associations),
      usage_(site),
      classic_(tree_, site.config.priority.dampening, site.config.priority.depth_oblivious),
      accrual_(site, tree_),
      standings_(site.associations.size()) {
  for (const site::Partition& each : site.partitions) {
    const site::Qos* const qos = each.qos.empty() ? nullptr : site.find_qos(each.qos);
    partition_qos_.push_back(qos == nullptr ? kNowhere
                                            : static_cast<std::uint32_t>(qos - site.qos.data()));
  }
  if (site.usage_at != kNoTime) last_pass_ = to_second(site.usage_at);
}

std::uint32_t Priorities::qos_of(std::uint32_t partition) const {
  return partition == kNowhere ? kNowhere : partition_qos_[partition];
}

AccrualJob Priorities::accrual_job(const Record& record) const {
  return {record.job.association, record.job.qos, qos_of(record.partition)};
}

std::uint32_t Priorities::submit(PriorityJob job, Time now) {
  const std::uint32_t number = job.number;
  Record& record = jobs_[number];
  ALMANAC_CHECK(record.job.number == 0 || record.ended, "job {} is there already", number);
  record = {};
  if (!job.partitions.empty()) record.partition = job.partitions.front();
  record.job = std::move(job);
  record.submitted = to_second(now);
  ageless_.insert(number);
  return compute(record, to_second(now));
}

void Priorities::set_eligible(std::uint32_t number, Time since) {
  jobs_.at(number).eligible = to_second(since);
}

void Priorities::set_ineligible(std::uint32_t number) {
  Record& record = jobs_.at(number);
  record.eligible = kNoTime;
  stop_ageing(record);
}

void Priorities::hold(std::uint32_t number) {
  Record& record = jobs_.at(number);
  record.held = true;
  record.score.priority = 0;
  std::fill(record.score.in_partition.begin(), record.score.in_partition.end(), 0);
  stop_ageing(record);
}

void Priorities::release(std::uint32_t number, Time now) {
  Record& record = jobs_.at(number);
  record.held = false;
  record.eligible = to_second(now);
  compute(record, to_second(now));
}

void Priorities::begin_to_age(Record& record, Time since, bool limited) {
  record.ages = since;
  record.counted = limited;
  if (limited) accrual_.count(accrual_job(record), 1);
}

void Priorities::stop_ageing(Record& record) {
  if (record.counted) accrual_.count(accrual_job(record), -1);
  record.counted = false;
  record.ages = kNoTime;
  if (record.started == kNoTime) ageless_.insert(record.job.number);
}

void Priorities::build_queue(Time now) {
  now = to_second(now);
  for (auto at = ageless_.begin(); at != ageless_.end();) {
    Record& record = jobs_.at(*at);
    if (scales_.settings().accrue_always) {
      begin_to_age(record, record.submitted, false);
    } else if (!site_->config.enforced.limits) {
      if (record.eligible != kNoTime) begin_to_age(record, record.eligible, false);
    } else if (!record.held && record.eligible != kNoTime && record.eligible <= now) {
      const Accrual::Verdict verdict = accrual_.judge(accrual_job(record));
      if (verdict != Accrual::Verdict::full) {
        const bool is_free = verdict == Accrual::Verdict::unlimited;
        begin_to_age(record, is_free ? record.eligible : now, true);
      }
    }
    at = record.ages == kNoTime ? std::next(at) : ageless_.erase(at);
  }
}

void Priorities::set_total_cpus(std::uint32_t number, std::uint32_t cpus) {
  jobs_.at(number).job.size.total_cpus = cpus;
}

void Priorities::set_partition(std::uint32_t number, std::uint32_t partition) {
  Record& record = jobs_.at(number);
  if (record.partition == partition) return;
  // The partition's QOS counts the jobs that age, too.
  if (record.counted) accrual_.count(accrual_job(record), -1);
  record.partition = partition;
  if (record.counted) accrual_.count(accrual_job(record), 1);
  if (!record.held) record.score.priority = priority(number, partition);
}

void Priorities::start(std::uint32_t number, Time now, std::uint32_t partition,
                       site::TresCounts held) {
  set_partition(number, partition);
  Record& record = jobs_.at(number);
  if (record.counted) accrual_.count(accrual_job(record), -1);
  record.counted = false;
  ageless_.erase(number);
  record.started = to_second(now);
  record.job.size.held = std::move(held);
  for (const site::TresCount& each : record.job.size.held) {
    if (each.tres == site::kCpu) {
      record.job.size.total_cpus = static_cast<std::uint32_t>(each.count);
    }
  }
  record.billable = billable(record.job.size.held, site_->partitions[partition].billing_weights,
                             scales_.settings(), site_->tres);
}

void Priorities::end(std::uint32_t number, Time at) {
  Record& record = jobs_.at(number);
  if (record.started != kNoTime) charge(record, to_second(at));
  if (record.counted) accrual_.count(accrual_job(record), -1);
  record.counted = false;
  ageless_.erase(number);
  record.ended = true;
  if (!keeps_ended_jobs_) jobs_.erase(number);
}

void Priorities::requeue(std::uint32_t number, Time at) {
  Record& record = jobs_.at(number);
  if (record.started != kNoTime && !record.ended) charge(record, to_second(at));
  record.started = kNoTime;
  record.ended = false;
  record.submitted = to_second(at);
  record.job.size.held.clear();
  set_ineligible(number);
}

std::uint32_t Priorities::update(std::uint32_t number, Time now) {
  return compute(jobs_.at(number), to_second(now));
}

void Priorities::charge(const Record& record, Time until) {
  if (record.job.association == kNowhere) return;
  const Time from = std::max(record.started, last_pass_);
  usage_.add({record.job.association, record.job.qos, qos_of(record.partition),
              std::max<std::int64_t>(seconds_between(from, until), 0), record.billable,
              &record.job.size.held},
             tree_);
}

void Priorities::reset_usage_if_due(Time now) {
  const site::UsageReset period = scales_.settings().usage_reset;
  if (period == site::UsageReset::none) return;
  if (next_reset_ == kNoTime) {
    if (period == site::UsageReset::now) usage_.reset();
    next_reset_ = next_usage_reset(period, last_pass_ == kNoTime ? now : last_pass_, zone_);
  }
  if (now < next_reset_) return;
  usage_.reset();
  while (next_reset_ <= now) next_reset_ = next_usage_reset(period, next_reset_, zone_);
}

void Priorities::pass(Time now) {
  now = to_second(now);
  reset_usage_if_due(now);
  const bool is_fair_tree = scales_.settings().is_fair_tree();
  // The classic formula sees accounts as they were before this pass.
  if (!is_fair_tree) classic_.begin_pass(usage_, standings_);
  const bool decays = last_pass_ != kNoTime && now > last_pass_;
  if (decays) usage_.decay(seconds_between(last_pass_, now));
  const bool counts_running = scales_.settings().calculate_running;
  const auto wants_priority = [&](const Record& record) {
    const bool waits = record.started == kNoTime && !record.ended;
    return !record.held && (waits || counts_running);
  };
  if (is_fair_tree) {
    for (auto& [number, record] : jobs_) {
      if (record.started != kNoTime && !record.ended) charge(record, now);
    }
    walk_ = rank_fair_tree(tree_, usage_, standings_);
    for (auto& [number, record] : jobs_) {
      if (wants_priority(record)) compute(record, now);
    }
  } else if (decays) {
    // Job by job: a job's factor sees what those before it in the list have just been charged.
    for (auto& [number, record] : jobs_) {
      if (record.ended) continue;
      if (record.started != kNoTime) charge(record, now);
      if (wants_priority(record)) compute(record, now);
    }
  }
  last_pass_ = now;
}

void Priorities::reconfigure(const site::PrioritySettings& settings) {
  scales_.configure(settings);
  usage_.set_half_life(settings.decay_half_life);
  classic_.configure(settings.dampening, settings.depth_oblivious);
  next_reset_ = kNoTime;
}

void Priorities::change_accounts(const site::Site& site) {
  ALMANAC_CHECK(site.associations.size() == tree_.size(), "{} associations, not {}",
                site.associations.size(), tree_.size());
  site_ = &site;
  const site::PrioritySettings settings = scales_.settings();
  scales_ = Scales(site);
  scales_.configure(settings);
  tree_ = AssociationTree(site.associations);
  usage_.change_qos(site.qos);
  classic_.read_shares();
  accrual_.change_limits(site);
}

std::uint32_t Priorities::priority(std::uint32_t number, std::uint32_t partition) const {
  const Record& record = jobs_.at(number);
  const std::vector<std::uint32_t>& partitions = record.job.partitions;
  if (record.score.in_partition.empty()) return record.score.priority;
  const auto found = std::find(partitions.begin(), partitions.end(), partition);
  if (found == partitions.end()) return 0;
  return record.score.in_partition[static_cast<std::size_t>(found - partitions.begin())];
}

std::optional<Time> Priorities::ages_since(std::uint32_t number) const {
  const Time since = jobs_.at(number).ages;
  return since == kNoTime ? std::nullopt : std::optional(since);
}

void Priorities::judge_user(AssociationAt at) {
  if (!scales_.settings().is_fair_tree()) classic_.judge(at, usage_, standings_);
}

double Priorities::fair_share(AssociationAt association) {
  if (association == kNowhere || scales_.settings().weight_fair_share == 0) return 0;
  if (scales_.settings().is_fair_tree()) return standings_[association].factor;
  return classic_.factor(association, usage_, standings_);
}

std::uint32_t Priorities::compute(Record& record, Time now) {
  const PriorityJob& job = record.job;
  Score& score = record.score;
  Factors& factors = score.factors;
  factors.age = record.ages == kNoTime ? 0 : scales_.age(now - record.ages);
  factors.association = job.association == kNowhere
                            ? 0
                            : scales_.association(site_->associations[job.association].priority);
  factors.fair_share = fair_share(job.association);
  factors.qos = job.qos == kNowhere ? 0 : scales_.qos(site_->qos[job.qos].priority);
  factors.site = job.site_factor;
  factors.nice = job.nice;
  const auto set_partition_factors = [&](std::uint32_t partition) {
    factors.partition = scales_.partition(partition);
    scales_.tres(job.size, partition, factors.tres);
  };
  const auto store = [&](std::uint32_t& stored, std::uint32_t priority) {
    if (!scales_.settings().increase_only || priority > stored) stored = priority;
  };
  if (record.partition == kNowhere) {
    store(score.priority, scales_.sum(factors));
    return score.priority;
  }
  factors.size = scales_.size(job.size, record.partition);
  if (job.partitions.size() > 1) {
    score.in_partition.resize(job.partitions.size(), 0);
    for (std::size_t at = 0; at < job.partitions.size(); ++at) {
      set_partition_factors(job.partitions[at]);
      store(score.in_partition[at], scales_.sum_in_other_partition(factors));
    }
  }
  set_partition_factors(record.partition);
  store(score.priority, scales_.sum(factors));
  return score.priority;
}

}  // namespace almanac::slurmctld
