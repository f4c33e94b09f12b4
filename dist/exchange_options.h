#pragma once

namespace ut::dist {

/// How keys and values reach the ranks that share a sequence. all_gather: all at once. broadcast: one rank's rows after
/// another's, and attention goes on over those that have arrived. ring: rows go from neighbour to neighbour, likewise.
/// heads: every rank gets all positions of some of the heads.
enum class ExchangeForm { all_gather, broadcast, ring, heads };
/// What is sent for a row: keys beside values (2d), or its state (d), of which each rank makes keys and values itself.
enum class Sent { keys_values, states };
/// Which positions of a sequence a rank holds. contiguous: one span. zigzag: of twice as many spans as ranks one from
/// the front and one from the back, so that under a causal mask every rank has as much to see.
enum class Cut { contiguous, zigzag };

struct ExchangeOptions {
  ExchangeForm form = ExchangeForm::all_gather;
  Sent sent = Sent::keys_values;
  Cut cut = Cut::contiguous;
};

}  // namespace ut::dist
