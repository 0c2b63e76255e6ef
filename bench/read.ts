import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify from 'fastify'
import { startDevnet, type RunningDevnet } from '../e2e/devnet/startDevnet.ts'
import { readServerConfig } from '../packages/server/src/config.ts'
import { run as runService } from '../packages/server/src/run.ts'
import { signedHeaders, type Signer } from './client/signGets.ts'
import type { ReadJob, ReadResult } from './read/client.ts'
import { openPositions, POSITIONS } from './read/openPositions.ts'
import { openPeerAccess } from './read/peerAccess.ts'

// Reads against a bare fastify route that sends the same bytes, in the same run.
//
// Ours: the service in this process, with a real local chain and feed beside it, so that prices tick and blocks come while it answers.
// Peer: fastify without options in this process, one route, the bytes ready; of a private read it also verifies the signature and
// claims the nonce, with the same functions. The client (read/client.ts) is another process.
// Every round runs peer and ours one after the other, so that noise of the machine hits both; what is printed is the median of the rounds.

const CHAIN = 'arbitrum-sepolia'
const ROUNDS = 7
const ROUND_MS = 1_500
const CONNECTIONS = 8

/** `limit` is what must be reached; without one the ratio is only shown. */
interface Read {
  readonly name: string
  readonly path: string
  readonly limit: number | undefined
  /** Of a private read. */
  readonly signer?: Signer
}

const PUBLIC_READS: readonly Read[] = [
  { name: 'GET markets', path: `/v1/${CHAIN}/markets`, limit: 0.7 },
  { name: 'GET prices', path: `/v1/${CHAIN}/prices`, limit: undefined },
]

interface Row extends Read {
  readonly ours: number
  readonly peer: number
}

interface Server {
  readonly port: number
  readonly close: () => Promise<void>
}

/** Prints the table; true when every ratio reaches its limit. */
export async function run(): Promise<boolean> {
  const client = fork(new URL('./read/client.ts', import.meta.url))
  const devnet = await startDevnet()
  const service = await startService(devnet)
  const positions = await openPositions(devnet, `http://127.0.0.1:${service.port}`)
  const reads = [...PUBLIC_READS, { name: `GET ${POSITIONS} positions, signed`, ...positions, limit: 0.8 }]
  const rows: Row[] = []
  for (const read of reads) {
    const peer = await startPeer(read, await readBytes(service.port, read))
    rows.push({ ...read, ...(await compare(client, read, service.port, peer.port)) })
    await peer.close()
  }
  await service.close()
  await devnet.stop()
  client.kill()
  return print(rows)
}

async function startService(devnet: RunningDevnet): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const config = readServerConfig({
    PORT: '0',
    LOG_LEVEL: 'silent',
    BEZEL_DATA: folder,
    BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
    BEZEL_IP_LIMIT: '1000000',
    BEZEL_AGENT_LIMIT: '1000000',
  })
  const service = await runService(config)
  while ((await fetch(`${service.url}/ready`)).status !== 200) await new Promise((soon) => setTimeout(soon, 20))
  const close = async (): Promise<void> => {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { port: Number(new URL(service.url).port), close }
}

async function startPeer({ path, signer }: Read, bytes: Buffer): Promise<Server> {
  const app = fastify()
  const access = signer === undefined ? undefined : await openPeerAccess(signer)
  app.get(path, async (request, reply) => {
    if (access?.isAllowed(request) === false) throw new Error('a good request was refused')
    return reply.type('application/json; charset=utf-8').send(bytes)
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const close = async (): Promise<void> => {
    await app.close()
    await access?.close()
  }
  return { port: Number(new URL(url).port), close }
}

async function readBytes(port: number, { path, signer }: Read): Promise<Buffer> {
  const headers = signer === undefined ? {} : signedHeaders(signer, path)
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

async function compare(
  client: ChildProcess,
  { path, signer }: Read,
  oursPort: number,
  peerPort: number,
): Promise<{ ours: number; peer: number }> {
  const ours: number[] = []
  const peer: number[] = []
  const job = { path, connections: CONNECTIONS, forMs: ROUND_MS, ...(signer === undefined ? {} : { signer }) }
  // Round 0 only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const peerRate = await measure(client, { ...job, port: peerPort })
    const oursRate = await measure(client, { ...job, port: oursPort })
    if (round === 0) continue
    peer.push(peerRate)
    ours.push(oursRate)
  }
  return { ours: median(ours), peer: median(peer) }
}

async function measure(client: ChildProcess, job: ReadJob): Promise<number> {
  client.send(job)
  const [{ perSecond, error }] = (await once(client, 'message')) as [ReadResult]
  if (error !== undefined) throw new Error(`a read failed: ${error}`)
  return perSecond
}

function print(rows: readonly Row[]): boolean {
  console.log('Reads per second (ours) beside a bare fastify route with the same bytes (peer), median of', ROUNDS)
  console.table(
    Object.fromEntries(
      rows.map(({ name, ours, peer, limit }) => [
        name,
        {
          ours: Math.round(ours),
          peer: Math.round(peer),
          ratio: (ours / peer).toFixed(2),
          limit: limit ?? '-',
          met: ours / peer >= (limit ?? 0),
        },
      ]),
    ),
  )
  return rows.every(({ ours, peer, limit }) => ours / peer >= (limit ?? 0))
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
