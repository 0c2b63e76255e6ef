import type { Recording } from './record.ts'

/** A block in the JSON that the stand-in node serves. */
export interface ServedBlock {
  readonly number: number
  readonly hash: string
  /** The block with its transactions. */
  readonly block: string
  /** Logs of the Diamond, as a list without its brackets. */
  readonly logs: string
  readonly logCount: number
}

/** Number of traders that do the same thing at the same time. */
const COHORT = 20
const BLOCK_MS = 250
const START_S = 1_750_000_000
/** Bloom filter with every bit set: any contract may have logs. */
const FULL_BLOOM = `0x${'ff'.repeat(256)}`

const hex = (number: number): string => `0x${number.toString(16)}`
const word = (kind: string, number: number): string => `0x${(kind + number.toString(16)).padStart(64, '0')}`

/**
 * Makes a chain from a recording: the same transactions and logs for many traders, in blocks of `logsPerBlock` logs or
 * a few more, until there are `totalLogs`. Block numbers, hashes and addresses are new; everything else is as the
 * contracts wrote it.
 */
export function renumber(recording: Recording, totalLogs: number, logsPerBlock: number): ServedBlock[] {
  const blocks: ServedBlock[] = []
  let block = startBlock(1)
  let made = 0
  let transactions = 0
  for (let cohort = 0; made < totalLogs; cohort += 1) {
    for (const { transaction, logs } of recording.transactions) {
      for (let at = 0; at < COHORT && made < totalLogs; at += 1) {
        const trader = (0xbeec_0000_0000 + cohort * COHORT + at).toString(16).padStart(40, '1')
        transactions += 1
        block.add(
          JSON.stringify({ ...transaction, hash: word('a', transactions) }).replaceAll(recording.trader, trader),
          logs.map((log) => JSON.stringify(log).replaceAll(recording.trader, trader)),
          word('a', transactions),
        )
        made += logs.length
        if (block.logCount() < logsPerBlock) continue
        blocks.push(block.end())
        block = startBlock(blocks.length + 1)
      }
    }
  }
  if (block.logCount() > 0) blocks.push(block.end())
  return blocks
}

/** Returns a block without logs. */
export function emptyBlock(number: number): ServedBlock {
  return startBlock(number).end()
}

function startBlock(number: number) {
  const hash = word('b', number)
  const transactions: string[] = []
  const logs: string[] = []
  return {
    logCount: () => logs.length,
    add(transaction: string, added: readonly string[], transactionHash: string): void {
      const place = { blockNumber: hex(number), blockHash: hash, transactionIndex: hex(transactions.length) }
      transactions.push(JSON.stringify({ ...(JSON.parse(transaction) as object), ...place }))
      for (const log of added) {
        const at = { ...place, transactionHash, logIndex: hex(logs.length) }
        logs.push(JSON.stringify({ ...(JSON.parse(log) as object), ...at }))
      }
    },
    end(): ServedBlock {
      const timestamp = hex(START_S + Math.floor((number * BLOCK_MS) / 1_000))
      const head = { number: hex(number), hash, parentHash: word('b', number - 1), timestamp, logsBloom: FULL_BLOOM }
      const block = `${JSON.stringify(head).slice(0, -1)},"transactions":[${transactions.join(',')}]}`
      return { number, hash, block, logs: logs.join(','), logCount: logs.length }
    },
  }
}
