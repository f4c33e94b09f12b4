#include "base/error.h"
#include "dist/nccl.h"

namespace ut::dist {

bool has_nccl() { return false; }

std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator>, const NcclOptions&) {
  throw base::BadInput("NCCL is left out of this build; ./quickstart build --cuda makes one that has it");
}

}  // namespace ut::dist
