#pragma once

namespace ut::launcher {

/// What this process gives back it keeps for itself from now on, so that an update finds the buffers of the one before:
/// fresh pages have to be made and cleared by the kernel, one fault each.
void keep_freed_memory();

/// LibTorch throws where there is no more memory, so that it can be told whose; by itself it ends the process.
void throw_when_out_of_memory();

}  // namespace ut::launcher
