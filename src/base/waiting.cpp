#include "base/waiting.h"

namespace footnote {

namespace {

thread_local ThreadLender* lender_of_thread = nullptr;
thread_local int waiting_depth = 0;

}  // namespace

LentThread::LentThread(ThreadLender& lender) { lender_of_thread = &lender; }

LentThread::~LentThread() { lender_of_thread = nullptr; }

Waiting::Waiting() {
  if (waiting_depth++ == 0 && lender_of_thread != nullptr) lender_of_thread->begin_waiting();
}

Waiting::~Waiting() {
  if (--waiting_depth == 0 && lender_of_thread != nullptr) lender_of_thread->end_waiting();
}

}  // namespace footnote
