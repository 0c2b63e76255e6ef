import { fork } from 'node:child_process'
import { startDevnet } from '@bezel/testkit/startDevnet.ts'
import { compareRead, printRows } from './read/compareRead.ts'
import { startReadService } from './read/startReadService.ts'

// Compares candle reads with a bare fastify route that sends the same bytes, in the same run: see bench/read.ts.

const PATH = '/v1/arbitrum-sepolia/markets/BTC-USD/candles'

/** Prints the table. Returns true when the ratio reaches its limit. */
export async function run(): Promise<boolean> {
  const client = fork(new URL('./read/client.ts', import.meta.url))
  const devnet = await startDevnet()
  const service = await startReadService(devnet)
  const row = await compareRead(client, service, { name: 'GET 500 candles', path: PATH, limit: 0.7 })
  await service.close()
  await devnet.stop()
  client.kill()
  return printRows([row])
}
