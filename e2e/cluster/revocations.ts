import assert from 'node:assert/strict'
import process from 'node:process'
import { revocation, type Answer } from '@bezel/testkit/agentClient.ts'
import type { PrivateKeyAccount } from 'viem/accounts'
import { authMessage, openStream, type StreamClient } from '../stream/streamClient.ts'
import { captureSigned, captureStruct, sendCaptured, type Captured } from './captured.ts'
import { captureOrder, firstOrder, newAgent } from './frontRaces.ts'
import type { Cluster } from './openCluster.ts'

/** Agents that are revoked, five for each round of the races. */
export const REVOCATIONS = 5 * Number(process.env['CAMPAIGN'] ?? 1)
/** Reads, and messages on a socket, within which every node has to refuse. */
const MAX_POLLS = 20
/** Time after which no read is answered any more. Judged only in a campaign, which has the machine to itself. */
const READS_END_MS = process.env['CAMPAIGN'] === undefined ? Infinity : 1_000

/** The end of what a socket listens to, and what it is told once that has ended. */
const SOCKET_CODES: ReadonlySet<string> = new Set(['AGENT_REVOKED', 'UNAUTHENTICATED'])

/** Revokes an agent that trades, reads and listens at every node. Returns what went wrong. */
export async function revokeOnce(cluster: Cluster, at: number): Promise<string[]> {
  const { trader, agent } = await newAgent(cluster, 'trader-5')
  await firstOrder(cluster, agent)
  const urls = Array.from({ length: cluster.size }, (_, node) => cluster.urlOf(node))
  const streams = await Promise.all(urls.map((url) => listen(cluster, agent, url)))
  for (const url of urls) {
    const read = await sendCaptured(url, await captureRead(cluster, trader, agent))
    assert.equal(read.status, 200, JSON.stringify(read.body))
  }
  const body = await revocation(cluster.domain, trader, agent.address)
  const writes = await Promise.all(
    urls.flatMap((url) => [1, 2].map(async () => [url, await captureOrder(cluster, agent)] as const)),
  )
  const revoked = await sendCaptured(urls[at % urls.length]!, captureStruct('DELETE', `/agents/${agent.address}`, body))
  const revokedMs = performance.now()
  assert.equal(revoked.status, 200, JSON.stringify(revoked.body))
  const commit = commitOf(revoked)

  const problems: string[] = []
  const written = Promise.all(writes.map(async ([url, write]) => refusalOf(await sendCaptured(url, write))))
  const reads = urls.map(async (url) => {
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const captured = await captureRead(cluster, trader, agent)
      const sentMs = performance.now()
      const answer = await sendCaptured(url, captured)
      if (answer.status !== 200) return refusalOf(answer)
      // What a read is told comes from memory, which says how far it is: no further than before the revocation.
      if (commitOf(answer) >= commit)
        problems.push(`a read was answered as of ${commitOf(answer)}, revoked by ${commit}`)
      if (sentMs - revokedMs > READS_END_MS) problems.push(`a read was answered ${sentMs - revokedMs} ms later`)
    }
    return 'reads go on'
  })
  const sockets = streams.map(async (stream) => {
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      stream.send({ op: 'subscribe', channel: 'fills', id: polls })
      const { json } = await stream.next('an answer', ({ id }) => id === polls)
      if (json.op === 'error') return json.code
    }
    return 'the socket goes on'
  })
  for (const code of [...(await written), ...(await Promise.all(reads))]) {
    if (code !== 'AGENT_REVOKED') problems.push(`a revoked agent was told ${code}`)
  }
  for (const code of await Promise.all(sockets)) {
    if (!SOCKET_CODES.has(code)) problems.push(`the socket of a revoked agent was told ${code}`)
  }
  for (const stream of streams) stream.cut()
  return problems
}

function captureRead({ domain }: Cluster, trader: PrivateKeyAccount, agent: PrivateKeyAccount): Promise<Captured> {
  return captureSigned({ domain, agent }, 'listPositions', 'GET', `/account/${trader.address}/positions`)
}

async function listen({ domain }: Cluster, agent: PrivateKeyAccount, url: string): Promise<StreamClient> {
  const stream = await openStream(url)
  stream.send(await authMessage(domain, agent))
  await stream.next('authenticated', ({ op }) => op === 'authenticated')
  stream.send({ op: 'subscribe', channel: 'orders' })
  await stream.next('a snapshot', ({ channel, snapshot }) => channel === 'orders' && snapshot === true)
  return stream
}

function refusalOf({ status, body }: Answer): string {
  return body.code ?? `${status}`
}

function commitOf({ headers }: Answer): number {
  return Number(headers.get('x-service-commit')?.split(':')[1])
}
