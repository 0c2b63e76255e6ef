import assert from 'node:assert/strict'
import process from 'node:process'
import { revocation, type Answer } from '@bezel/testkit/agentClient.ts'
import type { PrivateKeyAccount } from 'viem/accounts'
import { authenticate, openStream, subscribeTo, type StreamClient } from '../stream/streamClient.ts'
import { captureSigned, captureStruct, type Captured } from './captured.ts'
import { askAt, captureOrder, firstOrder, newAgent } from './frontRaces.ts'
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
    const read = await askAt(url, () => captureRead(cluster, trader, agent))
    assert.equal(read.status, 200, JSON.stringify(read.body))
  }
  const writes = await Promise.all(
    urls.flatMap((url) => [1, 2].map(async () => [url, await captureOrder(cluster, agent)] as const)),
  )
  const revoked = await askAt(urls[at % urls.length]!, async () =>
    captureStruct('DELETE', `/agents/${agent.address}`, await revocation(cluster.domain, trader, agent.address)),
  )
  const revokedMs = performance.now()
  assert.equal(revoked.status, 200, JSON.stringify(revoked.body))
  const commit = commitOf(revoked)

  const problems: string[] = []
  const written = Promise.all(writes.map(async ([url, write]) => refusalOf(await askAt(url, () => write))))
  const reads = urls.map(async (url) => {
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      let sentMs = 0
      const answer = await askAt(url, async () => {
        const captured = await captureRead(cluster, trader, agent)
        sentMs = performance.now()
        return captured
      })
      if (answer.status !== 200) return refusalOf(answer)
      // What a read is told comes from memory, which says how far it is: no further than before the revocation.
      if (commitOf(answer) >= commit)
        problems.push(`a read was answered as of ${commitOf(answer)}, revoked by ${commit}`)
      if (sentMs - revokedMs > READS_END_MS) problems.push(`a read was answered ${sentMs - revokedMs} ms later`)
    }
    return 'reads go on'
  })
  const sockets = streams.map(async (stream) => {
    for (let [polls, id] = [0, 0]; polls < MAX_POLLS; id++) {
      stream.send({ op: 'subscribe', channel: 'fills', id })
      const { json } = await stream.next('an answer', (told) => told.id === id)
      // A node that could not ask for the commits of the others in time says nothing of the agent.
      if (json.op === 'error' && json.code === 'NOT_READY') continue
      if (json.op === 'error') return json.code
      polls += 1
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
  await authenticate(stream, domain, agent)
  await subscribeTo(stream, 'orders')
  return stream
}

function refusalOf({ status, body }: Answer): string {
  return body.code ?? `${status}`
}

function commitOf({ headers }: Answer): number {
  return Number(headers.get('x-service-commit')?.split(':')[1])
}
