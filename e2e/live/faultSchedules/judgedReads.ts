import { diamondAbi, type Order, type Position } from '@bezel/protocol'
import type { Answer } from '@bezel/testkit/agentClient.ts'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import type { Address } from 'viem'

/** Reads during the faults, judged when the chain tells what was true at each block. */
export interface JudgedReads {
  /** Reads the positions and the resting orders of every trader once. */
  readAll(): Promise<void>
  /** Returns the reads that were true at no block from `fromBlock` on, and how many were told. */
  judge(fromBlock: number): Promise<{ readonly problems: string[]; readonly told: number; readonly refused: number }>
}

/** The answers to one kind of read, by the trader, each once. */
type Answers = Map<Address, Set<string>>

type ChainTrades = Awaited<ReturnType<typeof readTradesAt>>

const P10 = 1e10

export function createJudgedReads(chain: ChainClient, clients: readonly TradingClient[]): JudgedReads {
  const positions: Answers = new Map()
  const orders: Answers = new Map()
  const problems: string[] = []
  const counts = { told: 0, refused: 0 }

  function note(answers: Answers, { trader }: TradingClient, answer: Answer, textOf: (data: never) => string): void {
    if (answer.status === 503) return void (counts.refused += 1)
    if (answer.status !== 200) return void problems.push(`a read: ${answer.status} ${JSON.stringify(answer.body)}`)
    counts.told += 1
    const known = answers.get(trader.address) ?? new Set()
    answers.set(trader.address, known.add(textOf(answer.body.data as never)))
  }

  return {
    async readAll() {
      for (const client of clients) {
        note(positions, client, await client.account('/positions', 'listPositions'), textOfPositions)
        note(orders, client, await client.account('/orders', 'listOpenOrders'), textOfOrders)
      }
    },
    async judge(fromBlock) {
      const head = Number(await chain.client.getBlockNumber({ cacheTime: 0 }))
      for (const { trader } of clients) {
        const { decimals } = chain.collateral('USDC')
        const states: ChainTrades[] = []
        for (let block = fromBlock; block <= head; block += 1) {
          states.push(await readTradesAt(chain, trader.address, block))
        }
        const held = new Set(states.map((trades) => textOfHeld(trades, decimals)))
        const resting = new Set(states.map(textOfResting))
        for (const [what, told, truths] of [
          ['positions', positions, held],
          ['resting orders', orders, resting],
        ] as const) {
          for (const text of told.get(trader.address) ?? []) {
            if (!truths.has(text)) problems.push(`${trader.address} was told of ${what} that no block had: ${text}`)
          }
        }
      }
      return { problems, ...counts }
    },
  }
}

function readTradesAt({ client, diamond }: ChainClient, trader: Address, block: number) {
  const read = { address: diamond, abi: diamondAbi, functionName: 'getTrades', args: [trader] } as const
  return client.readContract({ ...read, blockNumber: BigInt(block) })
}

function textOfPositions(positions: readonly Position[]): string {
  return sorted(
    positions.map(({ side, collateral, leverage, entryPrice, sl, tp }) => [
      side,
      Number(collateral),
      Number(leverage),
      Number(entryPrice),
      Number(sl),
      Number(tp),
    ]),
  )
}

function textOfHeld(trades: ChainTrades, decimals: number): string {
  return sorted(
    trades
      .filter(({ tradeType }) => tradeType === 0)
      .map(({ long, collateralAmount, leverage, openPrice, sl, tp }) => [
        sideOf(long),
        Number(collateralAmount) / 10 ** decimals,
        leverage / 1e3,
        Number(openPrice) / P10,
        Number(sl) / P10,
        Number(tp) / P10,
      ]),
  )
}

function textOfOrders(orders: readonly Order[]): string {
  return sorted(
    orders
      .filter(({ status, type }) => status === 'open' && type !== 'market')
      .map(({ type, side, price, leverage }) => [type, side, Number(price), Number(leverage)]),
  )
}

function textOfResting(trades: ChainTrades): string {
  return sorted(
    trades
      .filter(({ tradeType }) => tradeType !== 0)
      .map(({ tradeType, long, openPrice, leverage }) => [
        tradeType === 1 ? 'limit' : 'stop',
        sideOf(long),
        Number(openPrice) / P10,
        leverage / 1e3,
      ]),
  )
}

function sideOf(long: boolean): string {
  return long ? 'long' : 'short'
}

function sorted(rows: readonly (readonly (string | number)[])[]): string {
  return rows
    .map((row) => row.join(' '))
    .toSorted()
    .join('; ')
}
