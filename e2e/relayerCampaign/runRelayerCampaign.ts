import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { readChainTruth } from '../campaign/chainTruth.ts'
import { problemsOfStore } from '../campaign/checkStore.ts'
import { killAgainAndAgain, type KillerOptions } from '../campaign/killer.ts'
import { createKillableService, type KillableService } from '../campaign/killableService.ts'
import type { CampaignOptions, CampaignReport } from '../campaign/runCampaign.ts'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { readStore } from '../campaign/storedOrders.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { createChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { createCampaignTrader, post, type CampaignTrader } from './campaignTrader.ts'
import { createEnvelopeJournal, type EnvelopeJournal } from './envelopeJournal.ts'
import { problemsOfChain } from './problemsOfChain.ts'
import { problemsOfEnvelopes } from './problemsOfEnvelopes.ts'
import { problemsOfPositions, problemsOfShown } from './problemsOfHoldings.ts'
import { problemsOfOutbox } from './problemsOfOutbox.ts'
import { readOutbox } from './readOutbox.ts'
import { readRelayedTransactions } from '@bezel/testkit/relayedTransactions.ts'
import { settle } from './settle.ts'
import { traderLife } from './traderLife.ts'
import { runTraderLoop } from './traderLoop.ts'

/** The traders, each with its agent and whether it is long. */
const TRADERS = [
  ['trader-1', 'agent-1', true],
  ['trader-2', 'agent-2', false],
  ['trader-3', 'agent-3', true],
] as const
/** The number of parallel loops of one trader. */
const LOOPS = 4
/** Time for the last answers to agree with the chain once nothing changes any more. */
const CONVERGE_MS = 30_000
const CONVERGE_POLL_MS = 250

const CHAIN_SETTINGS = { DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' }
const SERVICE_SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
}

type Stage = KillerOptions & {
  readonly journal: EnvelopeJournal
  readonly devnet: RunningDevnet
  readonly traders: readonly CampaignTrader[]
}

/**
 * Lets traders trade through the facade while the service is killed `kills` times, then compares its state and its
 * answers with the chain.
 */
export async function runRelayerCampaign(of: CampaignOptions): Promise<CampaignReport> {
  const devnet = await startDevnet(CHAIN_SETTINGS)
  const service = createKillableService(await lastingPort(), {
    ...SERVICE_SETTINGS,
    BEZEL_DATA: devnet.folder,
    BEZEL_RELAYER_KEY: keyOf(devnet, 'relayer'),
    // Starting the service costs most here, so its compiled code is cached.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(devnet.folder, 'compiled'),
  })
  try {
    const stage = await open(devnet, service, of)
    await trade(stage)
    return await judge(stage)
  } finally {
    await service.close()
    await devnet.stop()
  }
}

function keyOf({ file }: RunningDevnet, account: string): `0x${string}` {
  return file.accounts.find(({ name }) => name === account)!.privateKey
}

async function open(devnet: RunningDevnet, service: KillableService, of: CampaignOptions): Promise<Stage> {
  const chain = createChainClient(devnet.file)
  const random = createSeededRandom(of.seed)
  const journal = createEnvelopeJournal()
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  service.start()
  await service.once('ready')
  const relayer = chain.account('relayer').address
  const traders: CampaignTrader[] = []
  for (const [traderName, agentName, isLong] of TRADERS) {
    const account = chain.account(traderName)
    await approve(service.url, keyOf(devnet, traderName), chain.account(agentName).address)
    await chain.send(account, 'setTradingDelegate', [relayer])
    const key = keyOf(devnet, agentName)
    const stream = random.stream(`client of ${traderName}`)
    traders.push(createCampaignTrader({ service, journal, random: stream, address: account.address, isLong, key }))
  }
  // More blocks than any later reorganisation removes.
  await chain.control('hardhat_mine', 20)
  // The compile cache is written only at a regular exit.
  await service.stop()
  service.start()
  return { ...of, devnet, service, chain, journal, random, traders }
}

/** Approves an agent with the master wallet, as a client of the exchange does. */
async function approve(url: string, masterKey: string, agentAddress: string): Promise<void> {
  const action = {
    type: 'approveAgent',
    hyperliquidChain: 'Testnet',
    signatureChainId: '0x66eee',
    agentAddress: agentAddress.toLowerCase(),
    agentName: '',
    nonce: Date.now(),
  }
  const { expiresAfter: _none, ...envelope } = signUserSigned(masterKey, action)
  const reply = await post(url, 'exchange', JSON.stringify(envelope))
  assert.match(reply?.text ?? 'no answer', /"status":"ok"/)
}

/** Trades until the killer has finished and every loop has completed its current work. */
async function trade(stage: Stage): Promise<void> {
  const { journal, random, traders } = stage
  let isOver = false
  const loops = traders.flatMap((trader, place) =>
    Array.from({ length: LOOPS }, (_, loop) => {
      const name = `${TRADERS[place]![0]}-${loop}`
      return runTraderLoop({ trader, journal, random: random.stream(name), isOver: () => isOver })
    }),
  )
  const killer = { ...stage, random: random.stream('killer') }
  const killing = killAgainAndAgain(killer, traderLife(killer))
  try {
    // The first loop that fails ends the campaign; otherwise the killer does.
    await Promise.race([killing, Promise.all(loops)])
  } finally {
    isOver = true
  }
  await Promise.all(loops)
}

async function judge(stage: Stage): Promise<CampaignReport> {
  const { devnet, chain, service, journal, traders } = stage
  const file = join(devnet.folder, 'bezel.db')
  const addresses = traders.map(({ address }) => address)
  await settle(chain, addresses, file)
  const shown = await converge(stage)
  await service.stop()
  const relayer = chain.account('relayer').address
  const outbox = readOutbox(file)
  const stored = await readStore(file)
  const truth = await readChainTruth(chain)
  const transactions = await readRelayedTransactions(chain, relayer)
  const usedNonces = await chain.client.getTransactionCount({ address: relayer })
  const positions = await Promise.all(addresses.map((address) => problemsOfPositions(chain, address, outbox)))
  const problems = [
    ...journal.problems,
    ...shown,
    ...problemsOfChain(transactions, { diamond: chain.diamond, relayer, usedNonces }),
    ...problemsOfOutbox(outbox, transactions),
    ...problemsOfEnvelopes({ journal, outbox, transactions, truth }),
    // An order that a reorganisation removed from the chain stays without a status.
    ...problemsOfStore({ ...stored, orders: stored.orders.filter(({ status }) => status !== null) }, truth),
    ...positions.flat(),
    ...service.complaints.map((line) => `the service complained: ${line}`),
  ]
  journal.counts.set('transactions of the relayer', transactions.length)
  journal.counts.set('nonces burnt', transactions.filter(({ input }) => input === '0x').length)
  journal.counts.set('transactions that reverted', transactions.filter((of) => !of.hasSucceeded).length)
  return { problems, counts: journal.counts }
}

/**
 * Compares the final answers with the chain. They have some time to agree, because the follower may be a block behind.
 */
async function converge({ chain, traders }: Stage): Promise<string[]> {
  for (const deadlineMs = Date.now() + CONVERGE_MS; ; await sleep(CONVERGE_POLL_MS)) {
    const problems = (await Promise.all(traders.map((trader) => problemsOfShown(chain, trader)))).flat()
    if (problems.length === 0 || Date.now() > deadlineMs) return problems
  }
}
