/** Which clock a market trades by; `hours.ts` gives each its hours. Stocks and indices share one. */
export type MarketSession = 'crypto' | 'forex' | 'stocks' | 'commodities'
