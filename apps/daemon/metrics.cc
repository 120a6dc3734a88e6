#include "apps/daemon/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <utility>
#include <vector>

#include "onceward/version.h"

namespace onceward::daemon {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<std::pair<std::string, std::string>>;

class Families {
 public:
  MetricFamily& add(std::string name, std::string help, MetricType type) {
    MetricFamily& family = families_.emplace_back();
    family.name = std::move(name);
    family.help = std::move(help);
    family.type = type;
    return family;
  }
  const std::vector<MetricFamily>& all() const { return families_; }

 private:
  std::vector<MetricFamily> families_;
};

ClientMetric& labelled(MetricFamily& family, const Labels& labels) {
  ClientMetric& metric = family.metric.emplace_back();
  for (const auto& [name, value] : labels) metric.label.push_back({name, value});
  return metric;
}

double value_of(const std::atomic<std::uint64_t>& count) {
  return static_cast<double>(count.load(std::memory_order_relaxed));
}

using Count = ConsumerTally::Count ConsumerTally::*;
struct Labelled {
  std::string value;
  Count count;
};

// One family with a label of our own beside the consumer, or none.
MetricFamily& add_counters(Families& families, const Tallies& tallies, std::string name, std::string help,
                           std::string label, const std::vector<Labelled>& counts) {
  MetricFamily& family = families.add(std::move(name), std::move(help), MetricType::Counter);
  for (const auto& [consumer, tally] : tallies) {
    for (const Labelled& counted : counts) {
      Labels labels{{"consumer", consumer}};
      if (!label.empty()) labels.emplace_back(label, counted.value);
      labelled(family, labels).counter.value = value_of(tally->*counted.count);
    }
  }
  return family;
}

void add_counter(Families& families, const Tallies& tallies, std::string name, std::string help, Count count) {
  add_counters(families, tallies, std::move(name), std::move(help), {}, {{{}, count}});
}

using T = ConsumerTally;

void add_deliveries(Families& families, const Tallies& tallies, const IngressTallies& ingress) {
  add_counters(families, tallies, "onceward_consumer_deliveries_total", "Deliveries by what the claim answered.",
               "verdict",
               {{"first", &T::first},
                {"duplicate", &T::duplicate},
                {"business_duplicate", &T::business_duplicate},
                {"conflict", &T::conflict},
                {"held", &T::held},
                {"fenced", &T::fenced},
                {"refused", &T::refused}});
  add_counters(families, tallies, "onceward_consumer_duplicates_total", "Duplicates: a normal signal, no error.",
               "kind", {{"transport", &T::duplicate}, {"business", &T::business_duplicate}});
  add_counter(families, tallies, "onceward_consumer_duplicate_conflicts_total", "The same id with other content.",
              &T::conflict);
  MetricFamily& conflicts = add_counters(families, tallies, "onceward_idempotency_conflicts_total",
                                         "The same key with other content.", "what", {{"payload", &T::conflict}});
  for (const auto& [consumer, tally] : ingress) {
    labelled(conflicts, {{"consumer", consumer}, {"what", "request"}}).counter.value = value_of(tally->mismatched);
  }
  add_counter(families, tallies, "onceward_consumer_redelivered_total", "Deliveries that had been delivered before.",
              &T::redelivered);
  MetricFamily& modes =
      families.add("onceward_consumer_messages_by_mode_total", "Claimed messages by their mode.", MetricType::Counter);
  for (const auto& [consumer, tally] : tallies) {
    for (std::size_t mode = 0; mode < tally->by_mode.size(); ++mode) {
      labelled(modes, {{"consumer", consumer}, {"mode", std::string(name(static_cast<Mode>(mode)))}}).counter.value =
          value_of(tally->by_mode[mode]);
    }
  }
}

void add_ingress(Families& families, const IngressTallies& ingress) {
  using I = IngressTally;
  constexpr std::pair<const char*, I::Count I::*> answers[] = {
      {"accepted", &I::accepted},     {"repeated", &I::repeated}, {"in_flight", &I::in_flight},
      {"mismatched", &I::mismatched}, {"refused", &I::refused},   {"failed", &I::failed}};
  MetricFamily& family = families.add("onceward_ingress_requests_total", "Requests at the front door by their answer.",
                                      MetricType::Counter);
  for (const auto& [consumer, tally] : ingress) {
    for (const auto& [answer, count] : answers) {
      labelled(family, {{"consumer", consumer}, {"answer", answer}}).counter.value = value_of(tally->*count);
    }
  }
}

void add_source(Families& families, const Tallies& tallies) {
  add_counter(families, tallies, "onceward_source_records_received_total", "Deliveries taken from the source.",
              &T::received);
  add_counters(families, tallies, "onceward_source_settles_total", "Answers to the source.", "result",
               {{"success", &T::settled}, {"failure", &T::settle_failed}});
  add_counter(families, tallies, "onceward_consumer_settle_failures_after_commit_total",
              "Commits whose answer to the source was lost: a duplicate will come, and is harmless.",
              &T::settle_failed);
  add_counter(families, tallies, "onceward_source_outages_total", "Times the source went away.", &T::source_outages);
}

void add_inbox(Families& families, const Tallies& tallies) {
  add_counter(families, tallies, "onceward_inbox_inserted_total", "Rows of the inbox that were committed.", &T::first);
  add_counter(families, tallies, "onceward_inbox_claimed_total", "Messages that were claimed to be run.", &T::first);
  add_counter(families, tallies, "onceward_consumer_processed_total", "Messages whose effect was committed.",
              &T::processed);
  add_counter(families, tallies, "onceward_inbox_processed_total", "Messages whose effect was committed.",
              &T::processed);
  add_counters(families, tallies, "onceward_inbox_attempts_total", "Attempts by outcome.", "outcome",
               {{"processed", &T::processed},
                {"ignored", &T::ignored},
                {"rejected", &T::rejected},
                {"retried", &T::retried},
                {"quarantined", &T::quarantined}});
  add_counter(families, tallies, "onceward_inbox_retryable_failed_total", "Attempts that will be made again.",
              &T::retried);
  add_counter(families, tallies, "onceward_inbox_quarantined_total", "Claimed messages that were given to a person.",
              &T::quarantined);
  add_counters(families, tallies, "onceward_quarantine_entered_total", "Messages parked for a person.", "reason",
               {{"refused", &T::refused}, {"conflict", &T::conflict}, {"failed", &T::quarantined}});
  add_counters(families, tallies, "onceward_effect_failures_total", "Attempts that ended in the message's own failure.",
               "class",
               {{"returned", &T::returned},
                {"thrown", &T::thrown},
                {"statement", &T::statement},
                {"field", &T::field},
                {"deadly", &T::deadly}});
  add_counter(families, tallies, "onceward_inbox_alone_total",
              "Messages that ran by themselves, since one of them may have ended a worker.", &T::alone);
}

void add_durations(Families& families, const Tallies& tallies, std::string name, std::string help,
                   Durations T::* member) {
  MetricFamily& family = families.add(std::move(name), std::move(help), MetricType::Histogram);
  for (const auto& [consumer, tally] : tallies) {
    const Durations& durations = tally->*member;
    auto& histogram = labelled(family, {{"consumer", consumer}}).histogram;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < durations.counts.size(); ++i) {
      sum += durations.counts[i].load(std::memory_order_relaxed);
      const bool last = i == Durations::bounds.size();
      histogram.bucket.push_back({sum, last ? std::numeric_limits<double>::infinity() : Durations::bounds[i]});
    }
    histogram.sample_count = sum;
    histogram.sample_sum = value_of(durations.microseconds) / 1e6;
  }
}

void add_store(Families& families, const Tallies& tallies) {
  add_counter(families, tallies, "onceward_store_reruns_total", "Transactions that had to be run again.", &T::reruns);
  add_counter(families, tallies, "onceward_store_commits_in_doubt_total", "Commits that were not answered.",
              &T::in_doubt);
  add_counter(families, tallies, "onceward_store_outages_total", "Times the store went away.", &T::outages);
  add_durations(families, tallies, "onceward_inbox_claim_duration_seconds", "The claim of a batch.", &T::claim);
  add_durations(families, tallies, "onceward_effect_duration_seconds", "The handlers of a batch.", &T::effect);
  add_durations(families, tallies, "onceward_inbox_processing_duration_seconds",
                "A batch, from its claim to its commit.", &T::batch);
}

void add_backlogs(Families& families, const Backlogs& backlogs) {
  const auto add = [&](std::string name, std::string help, double Backlog::* member) {
    MetricFamily& family = families.add(std::move(name), std::move(help), MetricType::Gauge);
    for (const auto& [consumer, backlog] : backlogs.consumers) {
      if (backlog.*member >= 0) labelled(family, {{"consumer", consumer}}).gauge.value = backlog.*member;
    }
  };
  add("onceward_inbox_pending", "Messages that wait for their next attempt.", &Backlog::waiting);
  add("onceward_inbox_oldest_pending_age_seconds", "Age of the oldest of them.", &Backlog::oldest_waiting_seconds);
  add("onceward_inbox_oldest_claimed_age_seconds", "Time since the oldest attempt that has not ended was begun.",
      &Backlog::oldest_claimed_seconds);
  add("onceward_quarantine_parked", "Messages that wait for a person.", &Backlog::quarantined);
}

void add_outbox(Families& families, const OutboxBacklog& outbox) {
  const auto add = [&](std::string name, std::string help, double value) {
    MetricFamily& family = families.add(std::move(name), std::move(help), MetricType::Gauge);
    if (value >= 0) labelled(family, {}).gauge.value = value;
  };
  add("onceward_outbox_pending", "Messages that have not been published, counted up to 100001.", outbox.pending);
  add("onceward_outbox_oldest_pending_age_seconds", "Age of the oldest of them.", outbox.oldest_pending_seconds);
  add("onceward_outbox_quarantined", "Outgoing messages that wait for a person.", outbox.quarantined);
}

void add_relay(Families& families, const RelayTally& tally) {
  using Counted = std::pair<std::string, const RelayTally::Count*>;
  const auto add = [&](std::string name, std::string help, const std::string& label,
                       const std::vector<Counted>& counts) {
    MetricFamily& family = families.add(std::move(name), std::move(help), MetricType::Counter);
    for (const auto& [value, count] : counts) {
      labelled(family, label.empty() ? Labels{} : Labels{{label, value}}).counter.value = value_of(*count);
    }
  };
  add("onceward_outbox_publish_attempts_total", "Messages given to a broker, by its receipt.", "receipt",
      {{"confirmed", &tally.published},
       {"refused", &tally.refused},
       {"put_off", &tally.put_off},
       {"in_doubt", &tally.in_doubt}});
  add("onceward_outbox_quarantine_entered_total", "Outgoing messages that were given to a person.", {},
      {{{}, &tally.set_aside}});
  add("onceward_relay_fenced_total", "Times another relay had taken over keys of this one.", {}, {{{}, &tally.fenced}});
  add("onceward_relay_outages_total", "Times the relay had to wait for one of its sides.", "side",
      {{"store", &tally.store_outages}, {"broker", &tally.publisher_outages}});
}

void add_dispatchers(Families& families, const std::vector<const DispatchPost*>& posts) {
  using Pick = const DispatchTally::Count& (*)(const DispatchPost&);
  using Counted = std::pair<std::string, Pick>;
  const auto add = [&](std::string name, std::string help, const std::string& label,
                       const std::vector<Counted>& counts) {
    MetricFamily& family = families.add(std::move(name), std::move(help), MetricType::Counter);
    for (const DispatchPost* const post : posts) {
      for (const auto& [value, pick] : counts) {
        Labels labels{{"target", post->name()}};
        if (!label.empty()) labels.emplace_back(label, value);
        labelled(family, labels).counter.value = value_of(pick(*post));
      }
    }
  };
  using P = const DispatchPost&;
  add("onceward_ledger_attempts_total", "Calls to external systems, by how they ended.", "outcome",
      {{"succeeded", [](P post) -> auto& { return post.tally().succeeded; }},
       {"failed", [](P post) -> auto& { return post.tally().failed; }},
       {"later", [](P post) -> auto& { return post.tally().put_off; }},
       {"not_sent", [](P post) -> auto& { return post.tally().not_sent; }},
       {"unknown", [](P post) -> auto& { return post.tally().unknown; }},
       {"lease_expired", [](P post) -> auto& { return post.tally().expired; }}});
  add("onceward_ledger_reconciliations_total", "Look-ups of calls whose outcome was unknown, by what was found.",
      "result",
      {{"done", [](P post) -> auto& { return post.tally().found_done; }},
       {"not_done", [](P post) -> auto& { return post.tally().found_not_done; }},
       {"still_unknown", [](P post) -> auto& { return post.tally().still_unknown; }}});
  add("onceward_ledger_fenced_total", "Answers that came when the attempt was no longer ours.", {},
      {{{}, [](P post) -> auto& { return post.tally().fenced; }}});
  add("onceward_ledger_circuit_opened_total", "Times an external system was left alone, since calls came to nothing.",
      {}, {{{}, [](P post) -> auto& { return post.tally().circuit_opened; }}});
}

// Counted where calls are staged, which need not be where they are made.
void add_repeats(Families& families, const RepeatTallies& repeats) {
  const auto add = [&](std::string name, std::string help, DispatchTally::Count RepeatTally::* count) {
    MetricFamily& family = families.add(std::move(name), std::move(help), MetricType::Counter);
    for (const auto& [endpoint, tally] : repeats) {
      labelled(family, {{"target", endpoint}}).counter.value = value_of(tally.*count);
    }
  };
  add("onceward_ledger_duplicates_total", "Calls that were staged again under their key: one intent.",
      &RepeatTally::same);
  add("onceward_ledger_key_conflicts_total", "Calls that were staged with other content under a key that is taken.",
      &RepeatTally::conflict);
}

// Of endpoints that are declared here, and of any other that somebody has staged calls for.
void add_ledger(Families& families, const Backlogs& backlogs, const std::vector<const DispatchPost*>& posts) {
  std::map<std::string, LedgerBacklog> all = backlogs.ledger;
  if (backlogs.ledger_known) {
    for (const DispatchPost* const post : posts) all.try_emplace(post->name());
  }
  const auto add = [&](std::string name, std::string help, double LedgerBacklog::* member) {
    MetricFamily& family = families.add(std::move(name), std::move(help), MetricType::Gauge);
    for (const auto& [endpoint, open] : all) labelled(family, {{"target", endpoint}}).gauge.value = open.*member;
  };
  add("onceward_ledger_pending", "Calls that are to be made or under way, counted up to 100001.",
      &LedgerBacklog::pending);
  add("onceward_ledger_oldest_pending_age_seconds", "Time since the oldest of them was due.",
      &LedgerBacklog::oldest_pending_seconds);
  add("onceward_ledger_unknown", "Calls that may have been made, counted up to 100001.", &LedgerBacklog::unknown);
  add("onceward_ledger_waiting_approval", "Calls that wait for a person's approval, counted up to 100001.",
      &LedgerBacklog::waiting);
}

}  // namespace

std::string metrics_text(const Tallies& tallies, const Backlogs& backlogs, const OtherTallies& others) {
  Families families;
  labelled(families.add("onceward_build_info", "The running version.", MetricType::Gauge),
           {{"version", std::string(version())}})
      .gauge.value = 1;
  add_deliveries(families, tallies, others.ingress);
  add_ingress(families, others.ingress);
  add_source(families, tallies);
  add_inbox(families, tallies);
  add_store(families, tallies);
  add_backlogs(families, backlogs);
  add_outbox(families, backlogs.outbox);
  if (others.relay != nullptr) add_relay(families, *others.relay);
  if (!others.dispatchers.empty()) add_dispatchers(families, others.dispatchers);
  if (others.repeats != nullptr) add_repeats(families, *others.repeats);
  add_ledger(families, backlogs, others.dispatchers);
  return prometheus::TextSerializer().Serialize(families.all());
}

}  // namespace onceward::daemon
