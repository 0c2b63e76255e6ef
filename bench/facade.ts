import { fork } from 'node:child_process'
import { startDevnet } from '@bezel/testkit/startDevnet.ts'
import { measureBurst } from './facade/measureBurst.ts'
import { measureOrders } from './facade/measureOrders.ts'
import { compareRead, printRows, type Row } from './read/compareRead.ts'
import { openPositions, POSITIONS } from './read/openPositions.ts'
import { startReadService } from './read/startReadService.ts'

// The Hyperliquid-shaped facade.
//
// Reads are compared with a bare fastify POST route that sends the same bytes, as in bench/read.ts. Orders are timed
// from the first byte of the envelope until the node has the transaction, less the parts that are unavoidable. Those
// parts are measured alone, in the same run, with the same node and disk (prepare/floor.ts), one of each after the
// other. At last, twenty orders are sent within a second.

const INFO = '/hl/arbitrum-sepolia/info'
const LIMIT = 0.7

/** Prints the tables. Returns true when every limit is met. */
export async function run(): Promise<boolean> {
  const areReadsFast = await measureReads()
  const areOrdersFast = await measureOrders()
  const isBurstInOrder = await measureBurst()
  return areReadsFast && areOrdersFast && isBurstInOrder
}

async function measureReads(): Promise<boolean> {
  const client = fork(new URL('./read/client.ts', import.meta.url))
  const devnet = await startDevnet()
  const service = await startReadService(devnet)
  const { path } = await openPositions(devnet, `http://127.0.0.1:${service.port}`)
  const user = /0x[0-9a-fA-F]{40}/.exec(path)![0]
  const reads = [
    { name: 'metaAndAssetCtxs', body: { type: 'metaAndAssetCtxs' } },
    { name: `clearinghouseState of ${POSITIONS} positions`, body: { type: 'clearinghouseState', user } },
  ]
  const rows: Row[] = []
  for (const { name, body } of reads) {
    rows.push(await compareRead(client, service, { name, path: INFO, body: JSON.stringify(body), limit: LIMIT }))
  }
  await service.close()
  await devnet.stop()
  client.kill()
  return printRows(rows)
}
