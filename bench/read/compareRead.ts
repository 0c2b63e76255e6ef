import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { signedHeaders, type Signer } from '../client/signGets.ts'
import type { ReadJob, ReadResult } from './client.ts'
import { openPeerAccess } from './peerAccess.ts'
import type { Server } from './startReadService.ts'

const ROUNDS = 7
const ROUND_MS = 1_500
const CONNECTIONS = 8

/** A read to compare. `limit` is the ratio to reach; without one the ratio is only printed. */
export interface Read {
  readonly name: string
  readonly path: string
  readonly limit: number | undefined
  /** Signs the requests of a private read. */
  readonly signer?: Signer
  /** Body of a read by POST. */
  readonly body?: string
}

/** Rates in reads per second. */
export interface Row extends Read {
  readonly ours: number
  readonly peer: number
}

/** Measures one read of the service beside a peer that sends the same bytes. */
export async function compareRead(client: ChildProcess, service: Server, read: Read): Promise<Row> {
  const peer = await startPeer(read, await readBytes(service.port, read))
  const rates = await compare(client, read, service.port, peer.port)
  await peer.close()
  return { ...read, ...rates }
}

async function startPeer({ path, signer, body }: Read, bytes: Buffer): Promise<Server> {
  const app = fastify()
  const access = signer === undefined ? undefined : await openPeerAccess(signer)
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (access?.isAllowed(request) === false) throw new Error('a good request was refused')
    return reply.type('application/json; charset=utf-8').send(bytes)
  }
  if (body === undefined) app.get(path, answer)
  else app.post(path, answer)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const close = async (): Promise<void> => {
    await app.close()
    await access?.close()
  }
  return { port: Number(new URL(url).port), close }
}

async function readBytes(port: number, { path, signer, body }: Read): Promise<Buffer> {
  const headers = signer === undefined ? {} : signedHeaders(signer, path)
  const posted = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const init = body === undefined ? { headers } : { ...posted, body }
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, init)
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

async function compare(
  client: ChildProcess,
  { path, signer, body }: Read,
  oursPort: number,
  peerPort: number,
): Promise<{ ours: number; peer: number }> {
  const ours: number[] = []
  const peer: number[] = []
  const more = { ...(signer === undefined ? {} : { signer }), ...(body === undefined ? {} : { body }) }
  const job = { path, connections: CONNECTIONS, forMs: ROUND_MS, ...more }
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

/** Prints the table. Returns true when every ratio reaches its limit. */
export function printRows(rows: readonly Row[]): boolean {
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
