// From URLs to ports: the one place that knows every adapter. A URL may hold ${NAME}: with_environment(). A mistake in one
// is std::invalid_argument, and holds no secret.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "onceward/adapter/embedded.h"
#include "onceward/adapter/kafka.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/rabbitmq.h"
#include "onceward/declaration.h"
#include "onceward/endpoint_declaration.h"
#include "onceward/log.h"
#include "onceward/port/endpoint.h"
#include "onceward/port/publisher.h"
#include "onceward/port/source.h"
#include "onceward/port/store.h"

namespace onceward::daemon {

// What a store is opened for. Only the first makes a database that is not there.
enum class StoreUse : std::uint8_t { all, existing, reading };
// Throws Fault. A statement runs no longer than `bound`.
std::unique_ptr<Store> open_store(const std::string& url, std::chrono::milliseconds bound = std::chrono::minutes(1),
                                  StoreUse use = StoreUse::all);
// Whatever the URL itself tells is wrong with it; connects to nobody.
void check_store(const std::string& url);

// Rings when somebody else has staged a message; nothing for a store that cannot tell.
std::unique_ptr<PostgresBell> hang_bell(const std::string& store, std::function<void()> ring);

// Everything a source's URL says; connects to nobody.
using SourceOptions = std::variant<EmbeddedOptions, RabbitmqSourceOptions, KafkaSourceOptions>;
SourceOptions read_source(const std::string& url);
// And whether it fits the consumer.
SourceOptions read_source(const Declaration& consumer);
// Throws Fault. The log outlives the source. A keeper is for a source whose streams somebody else keeps.
std::unique_ptr<Source> open_source(const std::string& url, const EnvelopeLimits& limits, Log& log = silent_log(),
                                    std::unique_ptr<StreamKeeper> keeper = nullptr);

// For somebody who only looks: a queue that is not there is not made, no more than `most` messages are taken from one, and
// no group is joined. A topic is read from its beginning, or its end if `from_end`; else as the URL says. Throws Fault.
struct Looking {
  std::uint16_t most = 1;
  std::optional<bool> from_end{};  // of a topic
};
std::unique_ptr<Source> open_to_look(const std::string& url, const Looking& looking);

// One place to publish to.
struct Target {
  std::unique_ptr<Publisher> publisher;
  std::string destination{};
  std::optional<std::string> key{};  // of every message; nothing: the message's own

  std::string_view key_of(const Envelope& envelope) const;
};
// Everything a target's URL says; connects to nobody.
using TargetOptions = std::variant<EmbeddedOptions, RabbitmqTarget, KafkaTarget>;
TargetOptions read_target_options(const std::string& url);
// Without its publisher; connects to nobody.
Target read_target(const std::string& url);
// As far as their hosts tell.
bool is_same_broker(const RabbitmqConnection& one, const RabbitmqConnection& other);
// Whether what is published there comes from this source, as far as their URLs tell; where an exchange leads they do not.
bool leads_back(const std::string& target, const std::string& source);
// Looks whether the place is there. Throws Fault.
Target open_target(const std::string& url, Log& log = silent_log());

// What it says with every ${NAME} replaced: in URLs, headers. Throws std::invalid_argument for one that is not set.
EndpointDeclaration with_environment(const EndpointDeclaration& declaration);
// An external system by its URL's scheme. Throws std::invalid_argument where none is made of it: a callback is given in C++.
std::unique_ptr<Endpoint> open_endpoint(const EndpointDeclaration& declaration, Log& log = silent_log());

}  // namespace onceward::daemon
