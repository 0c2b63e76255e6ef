import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { call, type Answer } from '@bezel/testkit/agentClient.ts'
import { startService } from '@bezel/testkit/startService.ts'
import { PATIENCE_MS, until } from '@bezel/testkit/until.ts'
import { BUSY, untilSettled } from '@bezel/testkit/untilSettled.ts'
import { problemsOfHoldings } from '../campaign/checkAnswers.ts'
import type { BesideStage } from '../campaign/runCampaign.ts'
import { rowsOfFile, type ListRows } from '../campaign/storedOrders.ts'
import { CHAIN_PATH } from './captured.ts'

const LOOK_PAUSE_MS = 100

/** Returns what a node shows that the chain, the store or a service that has read the whole chain anew does not. */
export async function inspectNodes(stage: BesideStage, listRows: ListRows): Promise<string[]> {
  const { chain, service, clientsAt } = stage
  const problems: string[] = []
  for (const node of service.nodes ?? []) {
    for (const client of clientsAt(node)) {
      const found = await settledProblems(() => problemsOfHoldings(chain, client))
      problems.push(...found.map((problem) => `${node.url}: ${problem}`))
    }
    problems.push(...(await problemsOfAgents(node.url, listRows)))
  }
  return [...problems, ...(await problemsOfIndex(stage, listRows))]
}

/** Looks until nothing is wrong, for as long as a test waits: a node may be a block behind. */
async function settledProblems(look: () => Promise<string[]>): Promise<string[]> {
  for (const deadlineMs = Date.now() + PATIENCE_MS; ; await sleep(LOOK_PAUSE_MS)) {
    const problems = await look()
    if (problems.length === 0 || Date.now() > deadlineMs) return problems
  }
}

/** Compares the agents that a node shows with those of the store. */
async function problemsOfAgents(url: string, listRows: ListRows): Promise<string[]> {
  const problems: string[] = []
  for (const row of await listRows('select agent, trader, revoked from agents order by agent')) {
    const ask = (): Promise<Answer> => call(url, `${CHAIN_PATH}/agents/${String(row.agent)}`)
    const { status, body } = await untilSettled(ask, BUSY)
    const shown = `${body.agent?.trader} ${body.agent?.status === 'revoked'}`
    const stored = `${String(row.trader)} ${Number(row.revoked) === 1}`
    if (status !== 200 || shown !== stored)
      problems.push(`${url} shows ${String(row.agent)} as ${shown}, stored ${stored}`)
  }
  return problems
}

const OPEN_POSITIONS = 'select trader, trade_index, state from positions where is_open = 1'

/** Lists the trades of the open positions. */
async function listTrades(listRows: ListRows): Promise<string[]> {
  const rows = await listRows(OPEN_POSITIONS)
  return rows
    .map((row) => {
      const { trade } = JSON.parse(String(row.state)) as { readonly trade: unknown }
      return `${String(row.trader)} ${String(row.trade_index)} ${JSON.stringify(trade)}`
    })
    .toSorted()
}

/** Compares the open positions of the store with those of a service that starts with nothing on the same chain. */
async function problemsOfIndex({ devnet }: BesideStage, listRows: ListRows): Promise<string[]> {
  const folder = join(devnet.folder, 'fresh')
  mkdirSync(folder)
  const service = await startService(devnet, {
    BEZEL_DATA: folder,
    BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
  })
  const fresh = rowsOfFile(join(folder, 'bezel.db'))
  try {
    let problem = ''
    // It follows the chain, on which nothing changes any more.
    await until('it has read the chain', async (saw) => {
      const [stored, indexed] = [await listTrades(listRows), await listTrades(fresh)]
      problem =
        stored.join('\n') === indexed.join('\n') ? '' : `stored\n${stored.join('\n')}\nindexed\n${indexed.join('\n')}`
      saw(problem)
      return problem === ''
    })
    return []
  } finally {
    await service.stop()
  }
}
