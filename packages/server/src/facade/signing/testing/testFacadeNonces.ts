import { parseAddress, type Address } from '@bezel/protocol'
import { migrate } from '../../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../../store/testing/testStore.ts'
import { createFacadeNonces, type FacadeNonces } from '../facadeNonces.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

export const SIGNERS: readonly Address[] = ['0x'.padEnd(42, '1'), '0x'.padEnd(42, '2')].map((text) =>
  parseAddress(text)!,
)
export const SIGNER = SIGNERS[0]!
/** The start of a test's clock, epoch ms. */
export const START_MS = 1_700_000_000_000

/** Nonces over a real store, with a clock that the test moves. */
export interface TestFacadeNonces {
  readonly opened: TestStore
  nowMs: number
  nonces: FacadeNonces
  /** Replaces the process by a new one over the same store, without a clean shutdown. */
  restart(): Promise<void>
  /** Takes a nonce and claims it in a transaction, as a write does. */
  write(nonce: number, signer?: Address): Promise<boolean>
  /** Makes a write whose transaction is rolled back after the claim. */
  writeRefused(nonce: number, signer?: Address): Promise<boolean>
  use(nonce: number, signer?: Address): Promise<boolean>
  stored(): Promise<number>
  remove(): Promise<void>
}

export async function openTestFacadeNonces(maxNonces = 500_000): Promise<TestFacadeNonces> {
  const opened = openTestStore()
  await migrate(opened.store)
  let nowMs = START_MS
  const open = (): Promise<FacadeNonces> => createFacadeNonces({ store: opened.store, now: () => nowMs, maxNonces })
  const test: TestFacadeNonces = {
    opened,
    get nowMs() {
      return nowMs
    },
    set nowMs(value) {
      nowMs = value
    },
    nonces: await open(),
    async restart() {
      await opened.reopen()
      test.nonces = await open()
    },
    write: async (nonce, signer = SIGNER) =>
      test.nonces.take(signer, nonce) &&
      opened.store.transaction(TEST_SCOPE, (sql) => test.nonces.claim(sql, signer, nonce)),
    async writeRefused(nonce, signer = SIGNER) {
      if (!test.nonces.take(signer, nonce)) return false
      let isClaimed = false
      const refused = opened.store.transaction(TEST_SCOPE, async (sql) => {
        isClaimed = await test.nonces.claim(sql, signer, nonce)
        throw new Error('order refused')
      })
      await refused.catch(() => undefined)
      return isClaimed
    },
    use: (nonce, signer = SIGNER) => test.nonces.use(signer, nonce),
    stored: async () =>
      Number((await opened.store.read.get<{ n: bigint }>('select count(*) as n from facade_nonces'))!.n),
    remove: () => opened.remove(),
  }
  return test
}
