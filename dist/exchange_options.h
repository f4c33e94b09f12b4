#pragma once

namespace ut::dist {

/// How keys and values reach the ranks that share a sequence. all_gather: all at once. broadcast: each rank sends to
/// every other, one rank's rows arrive after another's, and attention goes on over those that have. ring: rows go from
/// neighbour to neighbour, and attention overlaps in the same way. heads: every rank gets all positions of some of the
/// heads.
enum class ExchangeForm { all_gather, broadcast, ring, heads };
/// What is sent for a row: its keys and values (2d), or its state (d), from which each rank makes keys and values
/// itself.
enum class Sent { keys_values, states };
/// Which positions of a sequence a rank holds. contiguous: one span. zigzag: the sequence is cut into twice as many
/// spans as ranks, and a rank holds one from the front and one from the back, so that under a causal mask all ranks
/// have the same work.
enum class Cut { contiguous, zigzag };

struct ExchangeOptions {
  ExchangeForm form = ExchangeForm::all_gather;
  Sent sent = Sent::keys_values;
  Cut cut = Cut::contiguous;
};

}  // namespace ut::dist
