/** Blocks after which a market request can be taken back: fewer than deployed, so that campaigns get there. */
export const MARKET_TIMEOUT_BLOCKS = 20
/** Blocks for which a trigger keeps others off. */
export const TRIGGER_TIMEOUT_BLOCKS = 8
