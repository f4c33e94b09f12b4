#pragma once

namespace ut::launcher {

/// From now on, this process keeps memory that it frees, so that an update finds the buffers of the one before. Fresh
/// pages would have to be made and cleared by the kernel, one fault each.
void keep_freed_memory();

/// Makes LibTorch throw when memory runs out, so that a message can say whose it was. By default it ends the process.
void throw_when_out_of_memory();

}  // namespace ut::launcher
