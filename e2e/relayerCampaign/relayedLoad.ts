import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import { isSame, readRelayedTransactions } from '@bezel/testkit/relayedTransactions.ts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'
import { BUSY, untilSettled } from '@bezel/testkit/untilSettled.ts'
import { readChainTruth } from '../campaign/chainTruth.ts'
import { problemsOfStore } from '../campaign/checkStore.ts'
import type { KillableService } from '../campaign/killableService.ts'
import { readCampaign, type ListRows } from '../campaign/storedOrders.ts'
import { captureApproval, isAccepted, sendCaptured } from '../cluster/captured.ts'
import { createCampaignTrader, type CampaignTrader } from './campaignTrader.ts'
import { createEnvelopeJournal, type EnvelopeJournal } from './envelopeJournal.ts'
import { problemsOfChain } from './problemsOfChain.ts'
import { problemsOfEnvelopes } from './problemsOfEnvelopes.ts'
import { problemsOfPositions, problemsOfShown } from './problemsOfHoldings.ts'
import { problemsOfOutbox } from './problemsOfOutbox.ts'
import { readOutbox } from './readOutbox.ts'
import { settle } from './settle.ts'
import { runTraderLoop } from './traderLoop.ts'

/** A trader of the load: its name, that of its agent, and whether it is long. */
export type LoadTrader = readonly [trader: string, agent: string, isLong: boolean]

/** The number of parallel loops of one trader. */
const LOOPS = 4
/** Time for the last answers to agree with the chain once nothing changes any more. */
const CONVERGE_MS = PATIENCE_MS
const CONVERGE_POLL_MS = 250

/** Traders who trade through the facade, and what they saw. */
export interface RelayedLoad {
  readonly devnet: RunningDevnet
  readonly service: KillableService
  readonly chain: ChainClient
  readonly journal: EnvelopeJournal
  readonly random: SeededRandom
  readonly traders: readonly CampaignTrader[]
}

export function keyOf({ file }: RunningDevnet, account: string): `0x${string}` {
  return file.accounts.find(({ name }) => name === account)!.privateKey
}

/** Lets the relayer act for the traders. The service must be ready. */
export async function openRelayedLoad(
  of: Omit<RelayedLoad, 'journal' | 'traders'>,
  names: readonly LoadTrader[],
): Promise<RelayedLoad> {
  const { devnet, service, chain, random } = of
  const journal = createEnvelopeJournal()
  const relayer = chain.account('relayer').address
  const traders: CampaignTrader[] = []
  for (const [traderName, agentName, isLong] of names) {
    const account = chain.account(traderName)
    await approve(service.url, keyOf(devnet, traderName), chain.account(agentName).address)
    await chain.send(account, 'setTradingDelegate', [relayer])
    const key = keyOf(devnet, agentName)
    const stream = random.stream(`client of ${traderName}`)
    traders.push(createCampaignTrader({ service, journal, random: stream, address: account.address, isLong, key }))
  }
  return { ...of, journal, traders }
}

/** Approves an agent with the master wallet, as a client of the exchange does. */
async function approve(url: string, masterKey: string, agentAddress: string): Promise<void> {
  const answer = await untilSettled(() => sendCaptured(url, captureApproval(masterKey, agentAddress)), BUSY)
  assert.ok(isAccepted(answer), JSON.stringify(answer.body))
}

/** Trades in parallel loops until `isOver`. */
export function runRelayedLoad(
  { journal, random, traders }: RelayedLoad,
  isOver: () => boolean,
  loops = LOOPS,
): Promise<void>[] {
  return traders.flatMap((trader) =>
    Array.from({ length: loops }, (_, loop) => {
      const stream = random.stream(`${trader.address}-${loop}`)
      return runTraderLoop({ trader, journal, random: stream, isOver })
    }),
  )
}

/** Waits until nothing changes any more, and returns the differences between what the facade shows and the chain. */
export async function settleRelayedLoad({ chain, traders }: RelayedLoad, listRows: ListRows): Promise<string[]> {
  await settle(
    chain,
    traders.map(({ address }) => address),
    listRows,
  )
  // The answers have some time to agree, because the follower may be a block behind.
  for (const deadlineMs = Date.now() + CONVERGE_MS; ; await sleep(CONVERGE_POLL_MS)) {
    const problems = (await Promise.all(traders.map((trader) => problemsOfShown(chain, trader)))).flat()
    if (problems.length === 0 || Date.now() > deadlineMs) return problems
  }
}

/** Compares the store of a settled service with the chain and with what the traders were told. */
export async function judgeRelayedLoad(
  { chain, journal, traders }: RelayedLoad,
  listRows: ListRows,
): Promise<string[]> {
  const relayer = chain.account('relayer').address
  const read = await readOutbox(listRows)
  // Agents of the native interface send their attempts themselves.
  const outbox = { ...read, attempts: read.attempts.filter(({ sender }) => isSame(sender, relayer)) }
  const stored = await readCampaign(listRows)
  const truth = await readChainTruth(chain)
  const transactions = await readRelayedTransactions(chain, relayer)
  const usedNonces = await chain.client.getTransactionCount({ address: relayer })
  const positions = await Promise.all(traders.map(({ address }) => problemsOfPositions(chain, address, outbox)))
  journal.counts.set('transactions of the relayer', transactions.length)
  journal.counts.set('nonces burnt', transactions.filter(({ input }) => input === '0x').length)
  journal.counts.set('transactions that reverted', transactions.filter((of) => !of.hasSucceeded).length)
  return [
    ...journal.problems,
    ...problemsOfChain(transactions, { diamond: chain.diamond, relayer, usedNonces }),
    ...problemsOfOutbox(outbox, transactions),
    ...problemsOfEnvelopes({ journal, outbox, transactions, truth }),
    // An order that a reorganisation removed from the chain stays without a status.
    ...problemsOfStore({ ...stored, orders: stored.orders.filter(({ status }) => status !== null) }, truth),
    ...positions.flat(),
  ]
}
