import type { FillHistoryEntry } from '@bezel/protocol'
import { problemsOfBooks, type TraderBooks } from '@bezel/testkit/booksBalance.ts'
import {
  readHeldByOrders,
  readWitnessedLogs,
  readWitnessedTokens,
  tokenMoves,
  type TokenWitness,
} from '@bezel/testkit/tokenWitness.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { patient, SYMBOLS, type AccountingWorld } from './accountingWorld.ts'

/**
 * Compares the books of every trader and collateral with the chain, while nothing happens on it. Throws what is wrong;
 * the follower has time to catch up. Adds the actions of all entries to those that were told.
 */
export async function checkBooks(world: AccountingWorld, when: string): Promise<void> {
  let problems: string[] = []
  const balance = async (): Promise<boolean> => {
    // A busy machine may not answer in time; then it is asked again.
    problems = await problemsNow(world).catch((error: unknown) => [String(error)])
    return problems.length === 0
  }
  await patient(() => `the books balance ${when}:\n${problems.join('\n')}`, balance)
  world.count('books checked')
}

async function problemsNow(world: AccountingWorld): Promise<string[]> {
  const { chain, traders } = world
  const tokens = await readWitnessedTokens(chain, SYMBOLS)
  const logs = await readWitnessedLogs(chain, tokens)
  const problems: string[] = []
  for (const { account, client } of traders) {
    const trader = account.address
    const books = await readBooks(client)
    if (books === undefined) return ['the service does not answer']
    for (const { action } of books.fills) world.told.add(action)
    for (const token of tokens) {
      const held = await readHeldByOrders(chain, trader, token.symbol)
      const witness: TokenWitness = { ...tokenMoves(logs, { diamond: chain.diamond, trader, token }), held }
      const found = problemsOfBooks(books, witness, token)
      if (found.length === 0) continue
      const own = books.fills.filter(({ collateralSymbol }) => collateralSymbol === token.symbol)
      problems.push(...found.map((problem) => `${trader}: ${problem}`), ...own.map((entry) => JSON.stringify(entry)))
    }
  }
  return problems
}

/** Reads all that the service says of a trader; `undefined` when it is not ready. */
async function readBooks(client: TradingClient): Promise<TraderBooks | undefined> {
  const orders = await client.account('/orders', 'listOpenOrders')
  const positions = await client.account('/positions', 'listPositions')
  const fills = await readAllFills(client)
  if (fills === undefined || orders.status !== 200 || positions.status !== 200) return undefined
  return { fills, openOrders: orders.body.data, positions: positions.body.data }
}

/** Reads the whole history of a trader, page by page. */
async function readAllFills(client: TradingClient): Promise<FillHistoryEntry[] | undefined> {
  const fills: FillHistoryEntry[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await client.account(`/fills?limit=50${cursor && `&cursor=${cursor}`}`, 'listFills')
    if (page.status !== 200) return undefined
    fills.push(...(page.body.data as FillHistoryEntry[]))
    cursor = page.body.nextCursor as string | null
  }
  return fills
}
