#include "apps/demo/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>

namespace onceward::demo {
namespace {

constexpr std::array<std::string_view, kinds> names{"capture",
                                                    "resent",
                                                    "conflict",
                                                    "not JSON",
                                                    "no message id",
                                                    "unknown schema version",
                                                    "no correlation id",
                                                    "no capture request id",
                                                    "amount not positive",
                                                    "handler throws",
                                                    "SQL error",
                                                    "kills its worker"};

// How much of each there is, for so many messages.
std::int64_t conflicts_of(std::int64_t messages) { return std::max<std::int64_t>(3, messages / 1'000); }
std::int64_t poison_of(Kind kind, std::int64_t messages) {
  const std::int64_t least = kind == Kind::no_message_id ? 3 : 1;  // of these one could be taken for another
  return std::max(least, messages / 4'000);
}
constexpr std::int64_t one_resent_of = 20;
constexpr std::int64_t farthest = 400;  // messages between one and what repeats it

// The engine is the standard's, and so the same everywhere; its distributions are not.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  std::mt19937_64 engine_;
};

// A request and the place where it stands among the others.
struct Placed {
  std::int64_t place = 0;
  Request request;
};

class Drawing {
 public:
  Drawing(std::uint64_t seed, std::int64_t messages)
      : chance_(seed), messages_(messages), kinds_(static_cast<std::size_t>(messages), Kind::capture) {}

  std::vector<Request> draw() {
    // Early, since a message that kills its worker is tried a few times.
    kinds_[static_cast<std::size_t>(chance_.between(messages_ / 50, messages_ / 20))] = Kind::kills;
    for (int kind = static_cast<int>(Kind::not_json); kind < static_cast<int>(Kind::kills); ++kind) {
      for (std::int64_t i = 0; i < poison_of(static_cast<Kind>(kind), messages_); ++i) mark(static_cast<Kind>(kind));
    }
    for (std::int64_t i = 0; i < conflicts_of(messages_); ++i) mark(Kind::conflict);
    for (std::int64_t subject = 0; subject < messages_; ++subject) place(subject);
    std::stable_sort(placed_.begin(), placed_.end(),
                     [](const Placed& a, const Placed& b) { return a.place < b.place; });
    std::vector<Request> requests;
    requests.reserve(placed_.size());
    for (const Placed& placed : placed_) {
      requests.push_back(placed.request);
      requests.back().number = static_cast<std::int64_t>(requests.size());
    }
    return requests;
  }

 private:
  // Gives a message that is an ordinary one so far another kind.
  void mark(Kind kind) {
    std::size_t subject = 0;
    do {
      subject = static_cast<std::size_t>(chance_.between(0, messages_ - 1));
    } while (kinds_[subject] != Kind::capture);
    kinds_[subject] = kind;
  }

  void place(std::int64_t subject) {
    const Kind kind = kinds_[static_cast<std::size_t>(subject)];
    const std::int64_t amount = chance_.between(100, 50'000);
    const auto add = [&](std::int64_t place, Kind its, std::int64_t its_amount) {
      placed_.push_back({place, {0, subject, its_amount, its}});
    };
    const auto later = [&] { return 2 * (subject + chance_.between(1, std::min(farthest, messages_ / 4))) + 1; };
    if (kind == Kind::conflict) {
      add(2 * subject, Kind::capture, amount);
      add(later(), Kind::conflict, amount + 100);
    } else if (kind == Kind::capture) {
      add(2 * subject, Kind::capture, amount);
      if (chance_.between(1, one_resent_of) == 1) add(later(), Kind::resent, amount);
    } else {
      add(2 * subject, kind, kind == Kind::not_positive ? -amount : amount);
    }
  }

  Chance chance_;
  const std::int64_t messages_;
  std::vector<Kind> kinds_;  // by subject
  std::vector<Placed> placed_;
};

std::string capture_of(std::uint64_t seed, const Request& request) {
  return fmt::format("cr-{}-{:06}", seed, request.subject);
}
std::string invoice_of(const Request& request) { return fmt::format("INV-{:06}", request.subject); }
std::string id_of(std::uint64_t seed, const Request& request) {
  return fmt::format("pay-{}-{:06}", seed, request.subject);
}
std::string_view currency_of(const Request& request) { return request.kind == Kind::sql_error ? "DOUBLOON" : "EUR"; }

bool shows_id(Kind kind) { return kind != Kind::not_json && kind != Kind::no_message_id; }

// What is kept of a message as its payload: of one that cannot be read, all of it.
std::string kept_of(std::uint64_t seed, const Request& request) {
  return request.kind == Kind::not_json ? bytes_of(seed, request) : payload_of(seed, request);
}

}  // namespace

std::string_view name(Kind kind) { return names[static_cast<std::size_t>(kind)]; }

Plan make_plan(std::uint64_t seed, std::int64_t messages) { return {seed, Drawing(seed, messages).draw()}; }

std::string payload_of(std::uint64_t seed, const Request& request) {
  // Only the envelope tells these apart, and each must be kept.
  if (request.kind == Kind::no_message_id) return R"({"invoice":"INV","amount":1,"currency":"EUR"})";
  const std::string capture = request.kind == Kind::no_capture_request
                                  ? ""
                                  : fmt::format(R"("captureRequestId":"{}",)", capture_of(seed, request));
  const std::string amount = request.kind == Kind::throws ? R"("twelve")" : std::to_string(request.amount);
  const std::string_view instruction = request.kind == Kind::kills ? R"(,"instruction":"abort")" : "";
  return fmt::format(R"({{{}"invoice":"{}","amount":{},"currency":"{}"{}}})", capture, invoice_of(request), amount,
                     currency_of(request), instruction);
}

std::string bytes_of(std::uint64_t seed, const Request& request) {
  const Kind kind = request.kind;
  const std::string id = kind == Kind::no_message_id ? "" : fmt::format(R"("messageId":"{}",)", id_of(seed, request));
  const std::string correlation =
      kind == Kind::no_correlation ? "" : fmt::format(R"("correlationId":"order-{}-{:06}",)", seed, request.subject);
  std::string bytes = fmt::format(
      R"({{{}"producer":"checkout","eventType":"PaymentCaptureRequested","schemaVersion":{},{}"payload":{}}})", id,
      kind == Kind::unknown_schema ? 9 : 1, correlation, payload_of(seed, request));
  if (kind == Kind::not_json) bytes.resize(bytes.size() * 2 / 3);
  return bytes;
}

std::string log_line(std::uint64_t seed, const Request& request) {
  nlohmann::ordered_json line{{"number", request.number},
                              {"kind", name(request.kind)},
                              {"id", shows_id(request.kind) ? id_of(seed, request) : std::string()},
                              {"capture", capture_of(seed, request)},
                              {"invoice", invoice_of(request)},
                              {"amount", request.amount},
                              {"currency", currency_of(request)}};
  if (request.kind >= Kind::not_json) line["payload"] = kept_of(seed, request);
  return line.dump();
}

}  // namespace onceward::demo
