// Runs the handler over the new messages of a round. While all goes well it does nothing else. After a failure whose cause
// is not known it goes carefully: in chunks with a mark after each, so that what has worked is kept, and by halves where a
// chunk fails, until those that cannot succeed are found.
#pragma once

#include <set>

#include "src/worker/handling.h"

namespace onceward {

class Effects {
 public:
  explicit Effects(Handling& handling) : handling_(handling) {}

  // `again`: roll back and run the round once more; it knows more now.
  Ran run(UnitOfWork& unit, Round& round, Part firsts);

  // A run over `firsts` has failed, and the failure is no outage. False if nothing was learned from it.
  bool blame(Round& round, const UnitOfWork& unit, Part firsts, const Failure& failure);
  void committed();

  // Messages that fail only in company: they are to be run by themselves.
  bool company_fails() const { return company_fails_; }
  void begin(const Round& round) {
    company_fails_ = false;
    handling_.begin(round);
  }

 private:
  Ran run_carefully(UnitOfWork& unit, Round& round, Part firsts);
  Ran run_chunk(UnitOfWork& unit, Round& round, Part chunk);
  bool find_culprits(UnitOfWork& unit, Round& round, Part part);
  enum class Keep { yes, no };
  std::optional<Failure> attempt(UnitOfWork& unit, Round& round, Part part, Keep keep);

  Handling& handling_;
  int careful_ = 0;  // rounds still to be run carefully
  bool company_fails_ = false;
};

}  // namespace onceward
