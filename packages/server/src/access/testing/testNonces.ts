import { dirname, join } from 'node:path'
import { parseAddress, type Address } from '@bezel/protocol'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { openNonces, type Nonces } from '../nonces.ts'
import { claimForWrite } from './claimForWrite.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

export const CHAIN = 'arbitrum-sepolia'
export const AGENTS: readonly Address[] = ['0x'.padEnd(42, '1'), '0x'.padEnd(42, '2')].map((text) =>
  parseAddress(text)!,
)
export const AGENT = AGENTS[0]!
/** The time at which the clock of a test starts. */
export const START_MS = 1_700_000_000_000

/** Nonces over a real store and file, with a clock that the test moves. */
export interface TestNonces {
  readonly opened: TestStore
  readonly file: string
  nowMs: number
  nonces: Nonces
  /** Simulates a process that died without cleaning up and one that takes over. */
  restart(): Promise<void>
  read(nonce: string, timestampMs?: number, agent?: Address): boolean
  write(nonce: string, timestampMs?: number, agent?: Address): Promise<boolean>
  /** Claims for a write whose transaction is rolled back afterwards. */
  writeRefused(nonce: string, timestampMs?: number, agent?: Address): Promise<boolean>
  remove(): Promise<void>
}

export async function openTestNonces(maxNonces = 1_000_000): Promise<TestNonces> {
  const opened = openTestStore()
  await migrate(opened.store)
  const file = join(dirname(opened.file), 'nonces.log')
  let nowMs = START_MS
  const open = (): Promise<Nonces> => openNonces({ store: opened.store, file, now: () => nowMs, maxNonces })
  const left: Nonces[] = []
  const test: TestNonces = {
    opened,
    file,
    get nowMs() {
      return nowMs
    },
    set nowMs(ms) {
      nowMs = ms
    },
    nonces: await open(),
    async restart() {
      left.push(test.nonces)
      test.nonces = await open()
    },
    read: (nonce, timestampMs = test.nowMs, agent = AGENT) => test.nonces.claim(CHAIN, agent, nonce, timestampMs),
    write: (nonce, timestampMs = test.nowMs, agent = AGENT) =>
      claimForWrite(test.nonces, opened.store, CHAIN, agent, nonce, timestampMs),
    async writeRefused(nonce, timestampMs = test.nowMs, agent = AGENT) {
      let isClaimed = test.nonces.claim(CHAIN, agent, nonce, timestampMs)
      const refused = opened.store.transaction(TEST_SCOPE, async (sql) => {
        isClaimed &&= await test.nonces.storeClaim(sql, CHAIN, agent, nonce, timestampMs)
        throw new Error('order refused')
      })
      await refused.catch(() => undefined)
      return isClaimed
    },
    async remove() {
      for (const nonces of [...left, test.nonces]) nonces.close()
      await opened.remove()
    },
  }
  return test
}
