import { Price } from '@bezel/protocol'
import { parseUnits, zeroAddress } from 'viem'
import { authorization, call, send } from '@bezel/testkit/agentClient.ts'
import { createChainClient, tradeOf } from '@bezel/testkit/chainClient.ts'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { signedHeaders, type Signer } from '../client/signGets.ts'

/** Number of open positions of a busy trader. */
export const POSITIONS = 20

const CHAIN = 'arbitrum-sepolia'
/** Number of markets used. These never close, so the benchmark runs at any hour. */
const MARKETS = 10
const SLIPPAGE_P = 5_000
const POLL_MS = 50

/**
 * Opens positions of a trader on the local chain and delegates an agent. Returns the path and signer to read them, once
 * the service shows them all.
 */
export async function openPositions(
  devnet: RunningDevnet,
  url: string,
): Promise<{ readonly path: string; readonly signer: Signer }> {
  const chain = createChainClient(devnet.file, CHAIN)
  const [trader, agent] = [chain.account('trader-1'), chain.account('agent-1')]
  const { domain } = (await call(url, `/v1/${CHAIN}`)).body.signing
  await send(url, 'POST', `/v1/${CHAIN}/agents`, await authorization(domain, trader, agent))
  await chain.send(trader, 'setTradingDelegate', [agent.address])

  const pairs = await cryptoPairs(url)
  for (let at = 0; at < POSITIONS; at += 1) {
    const { pairIndex, openPrice } = pairs[at % pairs.length]!
    const trade = { ...tradeOf(chain, trader.address, { price: 1n, long: at % 2 === 0 }), pairIndex, openPrice }
    await chain.send(trader, 'openTrade', [trade, SLIPPAGE_P, zeroAddress])
  }

  const path = `/v1/${CHAIN}/account/${trader.address}/positions`
  const { privateKey } = devnet.file.accounts.find(({ name }) => name === 'agent-1')!
  const signer: Signer = { privateKey, agent: agent.address, domain, operation: 'listPositions' }
  for (let open = 0; open < POSITIONS; await new Promise((soon) => setTimeout(soon, POLL_MS))) {
    open = (await call(url, path, { headers: signedHeaders(signer, path) })).body.data?.length ?? 0
  }
  return { path, signer }
}

async function cryptoPairs(url: string): Promise<{ readonly pairIndex: number; readonly openPrice: bigint }[]> {
  const markets: { symbol: string; pairIndex: number; group: string }[] = (await call(url, `/v1/${CHAIN}/markets`)).body
    .data
  const prices: { market: string; mark: string }[] = (await call(url, `/v1/${CHAIN}/prices`)).body.data
  const markOf = new Map(prices.map(({ market, mark }) => [market, mark]))
  return markets
    .filter(({ group }) => group === 'crypto')
    .slice(0, MARKETS)
    .map(({ symbol, pairIndex }) => ({ pairIndex, openPrice: parseUnits(markOf.get(symbol)!, Price.decimals) }))
}
