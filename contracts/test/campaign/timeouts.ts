/** Blocks after which a market request can be reclaimed. Fewer than deployed, so that campaigns reach it. */
export const MARKET_TIMEOUT_BLOCKS = 20
/** Blocks for which a trigger blocks further triggers. */
export const TRIGGER_TIMEOUT_BLOCKS = 8
