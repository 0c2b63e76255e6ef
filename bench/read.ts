import { fork } from 'node:child_process'
import { startDevnet } from '@bezel/testkit/startDevnet.ts'
import { compareRead, printRows, type Read, type Row } from './read/compareRead.ts'
import { openPositions, POSITIONS } from './read/openPositions.ts'
import { startReadService } from './read/startReadService.ts'

// Compares reads with a bare fastify route that sends the same bytes, in the same run.
//
// Ours: the service in this process, beside a real local chain and feed, so that prices tick and blocks arrive while it
// answers.
// Peer: fastify without options in this process, with one route and the bytes ready. For a private read it also
// verifies the signature and claims the nonce, with the same functions. The client (read/client.ts) is another process.
// Every round runs peer and ours one after the other, so that noise of the machine hits both. Printed is the median of
// the rounds.

const CHAIN = 'arbitrum-sepolia'

const PUBLIC_READS: readonly Read[] = [
  { name: 'GET markets', path: `/v1/${CHAIN}/markets`, limit: 0.7 },
  { name: 'GET prices', path: `/v1/${CHAIN}/prices`, limit: undefined },
]

/** Prints the table. Returns true when every ratio reaches its limit. */
export async function run(): Promise<boolean> {
  const client = fork(new URL('./read/client.ts', import.meta.url))
  const devnet = await startDevnet()
  const service = await startReadService(devnet)
  const positions = await openPositions(devnet, `http://127.0.0.1:${service.port}`)
  const reads = [...PUBLIC_READS, { name: `GET ${POSITIONS} positions, signed`, ...positions, limit: 0.8 }]
  const rows: Row[] = []
  for (const read of reads) rows.push(await compareRead(client, service, read))
  await service.close()
  await devnet.stop()
  client.kill()
  return printRows(rows)
}
