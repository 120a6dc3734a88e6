#include "src/dispatch/policy.h"

#include <algorithm>
#include <array>

#include "src/common/one_line.h"
#include "src/common/sha256.h"
#include "src/common/stored_text.h"
#include "src/worker/failure.h"

namespace onceward::dispatch {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Kind = EndpointAnswer::Kind;

constexpr milliseconds longest_put_off = std::chrono::hours(24);  // whatever the other side asks for
constexpr std::size_t most_reference_bytes = 1024;
// Of an attempt at a call whose outcome was unknown: that nothing came of this one does not end the doubt.
constexpr std::string_view sent_again = "sent_again";

PayloadHash hash_of(std::string_view response) {
  PayloadHash hash;
  hash.bytes = sha256(response);
  return hash;
}

void add_answer(Change& change, const EndpointAnswer& answer) {
  change.detail = storable(one_line(answer.why));
  // A part of a reference is another one.
  if (answer.external_ref.size() <= most_reference_bytes) change.external_ref = storable(answer.external_ref);
  if (answer.status != 0 || !answer.response.empty()) change.response = hash_of(answer.response);
}

}  // namespace

std::string_view name(Kind kind) {
  constexpr std::array<std::string_view, 8> names{"succeeded", "failed", "later",    "not_sent",
                                                  "unknown",   "done",   "not_done", "still_unknown"};
  return names.at(static_cast<std::size_t>(kind));
}

Policy::Policy(const EndpointDeclaration& declaration, bool looks_up, milliseconds longest, std::string owner)
    : declaration_(declaration),
      looks_up_(looks_up),
      look_up_(declaration.look_up.value_or(LookUpDeclaration{})),
      longest_(longest),
      owner_(std::move(owner)) {}

Change Policy::from(const Standing& standing, CallState state) const {
  Change change;
  change.number = standing.number;
  change.before = standing.state;
  change.state = state;
  change.attempts = standing.attempts;
  change.look_ups = standing.look_ups;
  change.last_attempt = standing.last_attempt;
  change.code = standing.code;
  change.detail = standing.detail;
  return change;
}

milliseconds Policy::delay(int attempts) const { return delay_before(std::max(1, attempts), declaration_.retry); }

// The call takes its time, too.
microseconds Policy::key_left(const Standing& standing) const {
  if (!standing.since_first) return microseconds::max();
  return microseconds(declaration_.key_lifetime) - *standing.since_first - longest_;
}

std::string_view Policy::why_not_again(const Standing& standing) const {
  const bool campaign = declaration_.notification == NotificationClass::campaign;
  if (!declaration_.idempotent && !campaign) return looks_up_ ? "look_ups_exhausted" : "outcome_unknown";
  if (declaration_.idempotent && key_left(standing) <= microseconds(0)) return "key_expired";
  if (standing.attempts >= declaration_.retry.attempts) return "attempts_exhausted";
  if (standing.approval_left && *standing.approval_left <= microseconds(0)) return "approval_expired";
  return {};
}

Step Policy::start_call(const Standing& standing) const {
  Step step{.change = from(standing, CallState::attempting), .start = Step::Start::call};
  step.change.due = step.change.lease = declaration_.lease;
  step.change.owner = owner_;
  step.change.last_attempt = standing.last_attempt + 1;
  step.change.attempts = standing.attempts + 1;
  step.change.time = Change::Time::attempt_begins;
  step.change.code = standing.state == CallState::unknown ? sent_again : std::string_view();
  step.change.detail.clear();
  step.within = declaration_.lease - longest_;
  if (standing.approval_left && standing.state != CallState::planned)
    step.within = std::min(step.within, *standing.approval_left);
  if (standing.state == CallState::unknown && declaration_.idempotent) {
    step.within = std::min(step.within, key_left(standing));
  }
  return step;
}

Step Policy::start_look_up(const Standing& standing) const {
  Step step{.change = from(standing, CallState::unknown), .start = Step::Start::look_up};
  step.change.due = step.change.lease = declaration_.lease;
  step.change.owner = owner_;
  step.change.last_attempt = standing.last_attempt + 1;
  step.change.look_ups = standing.look_ups + 1;
  step.within = declaration_.lease - longest_;
  step.settled = standing.since_end && *standing.since_end >= look_up_.settle;
  return step;
}

// Asked for at once where the other side can be; sent again where that does no harm; else a person's.
Change Policy::unknown(const Standing& standing, std::string code, std::string detail) const {
  const bool lost_is_no_matter = declaration_.notification == NotificationClass::best_effort;
  Change change = from(standing, lost_is_no_matter ? CallState::failed : CallState::unknown);
  change.time = Change::Time::attempt_ends;
  change.code = lost_is_no_matter ? "best_effort_unknown" : std::move(code);
  change.detail = std::move(detail);
  if (lost_is_no_matter) return change;
  if (can_look_up(standing)) {
    change.due = milliseconds(0);
  } else if (why_not_again(standing).empty()) {
    change.due = delay(standing.attempts);
  }
  return change;
}

// To where it came from.
Change Policy::back(const Standing& standing, milliseconds due) const {
  if (standing.code == sent_again) {
    Change change = from(standing, CallState::unknown);
    change.due = due;
    change.time = Change::Time::attempt_ends;
    return change;
  }
  Change change = from(standing, standing.approval_left ? CallState::approved : CallState::planned);
  change.due = due;
  return change;
}

// Nothing was done: it is tried again while the budget lasts.
Change Policy::put_off(const Standing& standing, milliseconds after) const {
  if (standing.attempts < declaration_.retry.attempts) {
    return back(standing, std::max(std::min(after, longest_put_off), delay(standing.attempts)));
  }
  Change change = from(standing, standing.code == sent_again ? CallState::unknown : CallState::failed);
  change.code = "attempts_exhausted";
  return change;
}

Step Policy::next(const Standing& standing) const {
  switch (standing.state) {
    case CallState::planned: {
      if (declaration_.approval == Approval::none) return start_call(standing);
      Step step{.change = from(standing, CallState::waiting)};
      step.change.due = milliseconds(0);
      return step;
    }
    case CallState::approved: {
      if (standing.approval_left && *standing.approval_left > microseconds(0)) return start_call(standing);
      Step step{.change = from(standing, CallState::waiting)};
      step.change.due = milliseconds(0);
      step.change.code = "approval_expired";
      return step;
    }
    case CallState::attempting:
      return {.change = unknown(standing, "lease_expired", "whoever made the attempt has fallen silent")};
    default:
      break;
  }
  const std::string_view why_not = why_not_again(standing);
  const bool asked_in_vain = standing.code == name(Kind::still_unknown);
  if (can_look_up(standing) && !(asked_in_vain && why_not.empty())) return start_look_up(standing);
  if (why_not.empty()) return start_call(standing);
  Step step{.change = from(standing, CallState::unknown)};
  step.change.code = why_not;
  return step;
}

Change Policy::call_answered(const Standing& standing, const EndpointAnswer& answer) const {
  Change change;
  switch (answer.kind) {
    case Kind::later:
      change = put_off(standing, answer.after.value_or(milliseconds(0)));
      break;
    case Kind::not_sent:
      change = back(standing, delay(1));
      change.attempts = std::max(0, standing.attempts - 1);
      break;
    case Kind::succeeded:
      change = from(standing, CallState::succeeded);
      break;
    case Kind::failed:
      // A repeat that is refused (the first is still worked on, a token has expired) says nothing of the first.
      change = standing.code == sent_again ? unknown(standing, {}, {}) : from(standing, CallState::failed);
      break;
    default:
      change = unknown(standing, "outcome_unknown", {});
  }
  change.time = Change::Time::attempt_ends;
  add_answer(change, answer);
  if (answer.kind == Kind::succeeded) change.code.clear();
  if (answer.kind == Kind::failed || (answer.kind != Kind::unknown && change.due)) change.code = name(answer.kind);
  if (answer.kind == Kind::failed && change.state == CallState::unknown) change.code = "refused_again";
  return change;
}

Change Policy::look_up_answered(const Standing& standing, const Asked& asked, const EndpointAnswer& answer) const {
  Change change = from(standing, CallState::unknown);
  const milliseconds every = look_up_.every;
  if (answer.kind == Kind::done) {
    change.state = CallState::succeeded;
    change.time = Change::Time::attempt_ends;
  } else if (answer.kind == Kind::not_done && asked.settled) {
    change = put_off(standing, milliseconds(0));
    change.time = Change::Time::attempt_ends;
  } else if (answer.kind == Kind::not_done) {
    // It may still be on its way: this one has told nothing, and time bounds how many there are.
    const microseconds left = look_up_.settle - standing.since_end.value_or(microseconds(0));
    change.due = std::max(every, std::chrono::ceil<milliseconds>(left));
    change.look_ups = std::max(0, standing.look_ups - 1);
  } else if (answer.kind == Kind::not_sent || answer.kind == Kind::later) {
    // Nobody was asked: an outage uses up none.
    change.due = std::max(every, std::min(answer.after.value_or(milliseconds(0)), longest_put_off));
    change.look_ups = std::max(0, standing.look_ups - 1);
  } else if (why_not_again(standing).empty()) {
    change.due = delay(standing.attempts);
  } else if (can_look_up(standing)) {
    change.due = every;
  }
  add_answer(change, answer);
  if (change.state != CallState::failed) change.code = name(answer.kind);
  if (change.state == CallState::unknown && !change.due) change.code = "look_ups_exhausted";
  return change;
}

// A definite answer to the very attempt that was taken for unknown ends that doubt; a yes is true whatever was thought since.
bool Policy::concerns(const Standing& standing, const Asked& asked, Kind kind) const {
  const bool unknown = standing.state == CallState::unknown;
  const bool open = standing.state == CallState::planned || standing.state == CallState::approved ||
                    standing.state == CallState::waiting;
  if (asked.look_up) {
    if (kind == Kind::done) return unknown || open;
    return unknown && standing.owner == owner_ && standing.last_attempt == asked.attempt;
  }
  if (standing.last_call != asked.attempt) return false;
  if (standing.state == CallState::attempting && standing.owner == owner_) return true;
  if (kind == Kind::unknown) return false;
  if (kind == Kind::succeeded) return unknown || open;
  // Whatever came before this attempt was definite only if it is the first that counts.
  return unknown && standing.attempts == 1;
}

std::optional<Change> Policy::answered(const Standing& standing, const Asked& asked,
                                       const EndpointAnswer& answer) const {
  if (!concerns(standing, asked, answer.kind)) return std::nullopt;
  return asked.look_up ? look_up_answered(standing, asked, answer) : call_answered(standing, answer);
}

Change Policy::told(const EndpointAnswer& answer) {
  Change change;
  add_answer(change, answer);
  return change;
}

Change Policy::given_back(const Standing& standing) const {
  if (standing.state == CallState::unknown) {
    Change change = from(standing, CallState::unknown);
    change.due = delay(1);
    change.look_ups = std::max(0, standing.look_ups - 1);
    return change;
  }
  Change change = back(standing, delay(1));
  change.attempts = std::max(0, standing.attempts - 1);
  if (change.state == CallState::unknown) change.code = "outcome_unknown";
  return change;
}

}  // namespace onceward::dispatch
