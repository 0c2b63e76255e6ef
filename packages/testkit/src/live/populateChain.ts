import assert from 'node:assert/strict'
import { patientHttp, P10, type ChainClient } from '../chainClient.ts'
import type { RunningDevnet } from '../startDevnet.ts'
import { createWalletClient, getAddress, keccak256, stringToHex, type Address, type Hex } from 'viem'
import { createDeployment } from '../../../../contracts/deployment.ts'
import { encodePopulate, type PopulatedMarket, type PopulatedTrader } from '../../../../contracts/populate.ts'

/** BTC, ETH and LINK. */
const MARKETS: readonly PopulatedMarket[] = [
  { pairIndex: 0, price: 60_000n * P10 },
  { pairIndex: 1, price: 2_500n * P10 },
  { pairIndex: 2, price: 20n * P10 },
]

/** Number of trades in a transaction, each in a block of its own: the local chain keeps a trace of it in memory. */
const TRADES_PER_TRANSACTION = 60

const GAS = 100_000_000n

/** Number of empty blocks behind the trades, so that a reorganisation does not store them again. */
const EMPTY_BLOCKS = 130

/**
 * Draws traders who together open this many trades: most of them one or two, one in ten a dozen, one in a hundred very
 * many. `first` and `last` are the first and the last of them.
 */
export function drawTraders(trades: number, first: Address, last: Address): PopulatedTrader[] {
  const traders: PopulatedTrader[] = [{ trader: first, trades: 3 }]
  let left = trades - 6
  for (let i = 1; left > 0; i += 1) {
    const wanted = i % 100 === 0 ? 60 : i % 10 === 0 ? 12 : i % 3 === 0 ? 2 : 1
    const count = Math.min(wanted, left)
    const trader = getAddress(`0x${keccak256(stringToHex(`populated trader ${i}`)).slice(-40)}`)
    traders.push({ trader, trades: count })
    left -= count
  }
  return [...traders, { trader: last, trades: 3 }]
}

/**
 * Writes the trades of these traders into the Diamond of a local chain, as if they were opened long ago. `drawMarkets`
 * returns the markets of one transaction's trades, each as likely as it is often among them; default: three of them.
 */
export async function populateChain(
  { devnet, chain }: { readonly devnet: RunningDevnet; readonly chain: ChainClient },
  traders: readonly PopulatedTrader[],
  drawMarkets: () => readonly PopulatedMarket[] = () => MARKETS,
): Promise<void> {
  const account = chain.account('deployer')
  const transport = patientHttp(devnet.file.chains['arbitrum-sepolia']!.rpcUrl)
  const wallet = createWalletClient({ account, transport })
  let nonce = await chain.client.getTransactionCount({ address: account.address })

  async function send(to: Address | null, data: Hex): Promise<void> {
    const fees = { gas: GAS, maxFeePerGas: 1_000_000_000n, maxPriorityFeePerGas: 1n, chain: chain.client.chain! }
    const hash = await wallet.sendTransaction({ to, data, nonce, ...fees })
    nonce += 1
    await chain.control('evm_mine')
    assert.equal((await chain.client.getTransactionReceipt({ hash })).status, 'success')
  }

  const deployment = createDeployment(account.address, nonce)
  const populate = deployment.deploy('Populate')
  for (const { to, data } of deployment.transactions) await send(to, data)
  for (const part of partsOf(traders)) await send(chain.diamond, encodePopulate(populate, part, drawMarkets()))
  await chain.control('hardhat_mine', EMPTY_BLOCKS)
}

function partsOf(traders: readonly PopulatedTrader[]): PopulatedTrader[][] {
  const parts: PopulatedTrader[][] = []
  let size = Infinity
  for (const of of traders) {
    size += of.trades
    if (size <= TRADES_PER_TRANSACTION) {
      parts.at(-1)!.push(of)
      continue
    }
    parts.push([of])
    size = of.trades
  }
  return parts
}
