import type { TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import type { TradeSettings } from './sdkPackageTrade.ts'

/** Returns the keys of two accounts of the local chain, and the addresses to trade at. */
export function tradeSettings({ devnet: { file }, url }: TradingWorld, trader: string, agent: string): TradeSettings {
  const keyOf = (name: string) => file.accounts.find((account) => account.name === name)!.privateKey
  return {
    baseUrl: url(),
    rpcUrl: file.chains['arbitrum-sepolia']!.rpcUrl,
    diamond: file.chains['arbitrum-sepolia']!.diamond,
    traderKey: keyOf(trader),
    agentKey: keyOf(agent),
  }
}
