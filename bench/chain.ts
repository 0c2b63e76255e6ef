import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Provider } from '@nomicfoundation/edr'
import { privateKeyToAccount } from 'viem/accounts'
import { createLocalChain } from '../packages/devnet/src/chain/createLocalChain.ts'
import { createRawProvider } from '../packages/devnet/src/chain/edrProvider.ts'
import { createRpcServer } from '../packages/devnet/src/rpc/createRpcServer.ts'
import type { ClientJob, ClientResult } from './chain/client.ts'

// Compares JSON-RPC over HTTP with EDR called in this process: the same requests in the same run.
//
// Peer: handleRequest on a chain of its own, with two requests in flight. That is its best, because it holds one lock
// and more would only wait. No HTTP, no framing.
// Ours: the devnet's server in this process. The client (chain/client.ts) is another process, on keep-alive
// connections.
// Every round runs peer, single requests and batches one after the other, so that noise of the machine hits all of
// them. Printed is the median of the rounds. Transactions are signed beforehand; their time includes mining the block
// with all of them.

const ROUNDS = 5

const CALLS_PER_ROUND = 2_000

const TRANSACTIONS_PER_ROUND = 400

const BATCH_LENGTH = 50

const SINGLE_CONNECTIONS = 4

const BATCH_CONNECTIONS = 2

const PEER_IN_FLIGHT = 2

const SINGLE_LIMIT = 0.35

const BATCH_LIMIT = 0.7

const CHAIN_ID = 421_614

const CONTRACT = `0x${'44'.repeat(20)}`

// Bytecode that repeats sixteen times: hash 32 bytes of memory, read the storage slot of the hash, write both back to
// memory. Then it returns a word.
const CONTRACT_CODE = '0x60105b602060002080546020526000526001900380600257 60206000f3'.replace(' ', '')

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)

interface Row {
  name: string
  ours: number[]
  peer: number[]
  limit: number
}

interface Setup {
  peer: Provider
  client: ChildProcess
  port: number
}

/** Prints the table. Returns true when every ratio reaches its limit. */
export async function run(): Promise<boolean> {
  const { setup, close } = await start()
  const rows = createRows()
  for (let round = 0; round <= ROUNDS; round += 1) await runRound(setup, rows, round)
  await close()
  return printRows(Object.values(rows))
}

function createRows(): Record<'callSingle' | 'callBatch' | 'sendSingle' | 'sendBatch', Row> {
  const row = (name: string, limit: number): Row => ({ name, ours: [], peer: [], limit })
  return {
    callSingle: row('eth_call/s, single', SINGLE_LIMIT),
    callBatch: row(`eth_call/s, batches of ${BATCH_LENGTH}`, BATCH_LIMIT),
    sendSingle: row('transactions/s, single', SINGLE_LIMIT),
    sendBatch: row(`transactions/s, batches of ${BATCH_LENGTH}`, BATCH_LIMIT),
  }
}

async function start(): Promise<{ setup: Setup; close: () => Promise<void> }> {
  const accounts = [{ address: account.address, balanceWei: 10n ** 24n }]
  const peer = await createRawProvider({ chainId: CHAIN_ID, genesisTimeS: Math.floor(Date.now() / 1000), accounts })
  const chain = await createLocalChain({ slug: 'bench', chainId: CHAIN_ID, blockMs: 0, accounts })
  const server = createRpcServer({ chains: new Map([['bench', chain]]) })
  const port = await server.listen(0)
  const client = fork(new URL('./chain/client.ts', import.meta.url))
  await chain.request('hardhat_setCode', [CONTRACT, CONTRACT_CODE])
  await peer.handleRequest(toBody('hardhat_setCode', [CONTRACT, CONTRACT_CODE]))
  const close = async (): Promise<void> => {
    client.kill()
    await server.close()
    await chain.stop()
  }
  return { setup: { peer, client, port }, close }
}

/**
 * Runs one round; round 0 only warms up. The peer's chain and ours get the same nonces, half in single requests and
 * half in batches.
 */
async function runRound(setup: Setup, rows: ReturnType<typeof createRows>, round: number): Promise<void> {
  const calls = Array.from({ length: CALLS_PER_ROUND }, () =>
    toBody('eth_call', [{ to: CONTRACT, data: '0x' }, 'latest']),
  )
  const measured: [Row, string[]][] = [
    [rows.callSingle, calls],
    [rows.callBatch, calls],
    [rows.sendSingle, await signTransfers(2 * round)],
    [rows.sendBatch, await signTransfers(2 * round + 1)],
  ]
  for (const [row, bodies] of measured) {
    const mines = row === rows.sendSingle || row === rows.sendBatch
    const batched = row === rows.callBatch || row === rows.sendBatch
    const peerMs = await runPeer(setup.peer, bodies, mines)
    const oursMs = await runOurs(setup, batched ? toBatches(bodies) : bodies, batched, mines)
    if (round === 0) continue
    row.peer.push((bodies.length / peerMs) * 1000)
    row.ours.push((bodies.length / oursMs) * 1000)
  }
}

async function runPeer(peer: Provider, bodies: readonly string[], mines: boolean): Promise<number> {
  let next = 0
  const started = performance.now()
  const lane = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      const answer: unknown = (await peer.handleRequest(body)).data
      if (typeof answer !== 'string' || !answer.startsWith('{"result"'))
        throw new Error(`the peer failed: ${String(answer)}`)
    }
  }
  await Promise.all(Array.from({ length: PEER_IN_FLIGHT }, lane))
  if (mines) await peer.handleRequest(toBody('evm_mine', []))
  return performance.now() - started
}

async function runOurs({ client, port }: Setup, bodies: string[], batched: boolean, mines: boolean): Promise<number> {
  const connections = batched ? BATCH_CONNECTIONS : SINGLE_CONNECTIONS
  const sendMs = await runClient(client, { port, path: '/bench', bodies, connections })
  if (!mines) return sendMs
  return sendMs + (await runClient(client, { port, path: '/bench', bodies: [toBody('evm_mine', [])], connections: 1 }))
}

async function runClient(client: ChildProcess, job: ClientJob): Promise<number> {
  client.send(job)
  const [{ ms, error }] = (await once(client, 'message')) as [ClientResult]
  if (error !== undefined) throw new Error(`our server failed: ${error}`)
  return ms
}

function toBody(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

function toBatches(bodies: readonly string[]): string[] {
  const count = Math.ceil(bodies.length / BATCH_LENGTH)
  return Array.from(
    { length: count },
    (_, index) => `[${bodies.slice(index * BATCH_LENGTH, (index + 1) * BATCH_LENGTH).join(',')}]`,
  )
}

function signTransfers(block: number): Promise<string[]> {
  const first = block * TRANSACTIONS_PER_ROUND
  return Promise.all(
    Array.from({ length: TRANSACTIONS_PER_ROUND }, async (_, index) => {
      const fees = { gas: 21_000n, maxFeePerGas: 1_000_000_000n, maxPriorityFeePerGas: 1_000n }
      const raw = await account.signTransaction({
        type: 'eip1559',
        chainId: CHAIN_ID,
        nonce: first + index,
        to: account.address,
        ...fees,
      })
      return toBody('eth_sendRawTransaction', [raw])
    }),
  )
}

function printRows(rows: readonly Row[]): boolean {
  const results = rows.map(({ name, ours, peer, limit }) => ({ name, ours: median(ours), peer: median(peer), limit }))
  console.log('JSON-RPC server (ours) beside EDR in process (peer), median of', ROUNDS, 'rounds')
  console.table(
    Object.fromEntries(
      results.map(({ name, ours, peer, limit }) => [
        name,
        {
          ours: Math.round(ours),
          peer: Math.round(peer),
          ratio: (ours / peer).toFixed(2),
          limit,
          met: ours / peer >= limit,
        },
      ]),
    ),
  )
  return results.every(({ ours, peer, limit }) => ours / peer >= limit)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
