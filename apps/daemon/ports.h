// From URLs to ports: the one place that knows every adapter.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "onceward/port/source.h"
#include "onceward/port/store.h"

namespace onceward::daemon {

// Throws Fault; std::invalid_argument for a URL that names no store. A statement runs no longer than `bound`.
std::unique_ptr<Store> open_store(const std::string& url, std::chrono::milliseconds bound = std::chrono::minutes(1));
// Throws Fault; std::invalid_argument for a URL that names no source we have.
std::unique_ptr<Source> open_source(const std::string& url, const EnvelopeLimits& limits);

}  // namespace onceward::daemon
