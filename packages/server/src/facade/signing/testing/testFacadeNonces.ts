import { parseAddress, type Address } from '@bezel/protocol'
import { migrate } from '../../../store/migrate.ts'
import { openTestStore, type TestStore } from '../../../store/testStore.ts'
import { createFacadeNonces, type FacadeNonces } from '../facadeNonces.ts'

export const SIGNERS: readonly Address[] = ['0x'.padEnd(42, '1'), '0x'.padEnd(42, '2')].map((text) =>
  parseAddress(text)!,
)
export const SIGNER = SIGNERS[0]!
/** Where the clock of a test starts. */
export const START_MS = 1_700_000_000_000

/** Nonces over a real store, with a clock that the test moves. */
export interface TestFacadeNonces {
  readonly opened: TestStore
  nowMs: number
  nonces: FacadeNonces
  /** A process that ended without a word and one that takes over. */
  restart(): Promise<void>
  /** As a write does: taken early, claimed in its transaction. */
  write(nonce: number, signer?: Address): Promise<boolean>
  /** A write whose transaction is rolled back after the claim. */
  writeRefused(nonce: number, signer?: Address): Promise<boolean>
  use(nonce: number, signer?: Address): Promise<boolean>
  stored(): Promise<number>
  remove(): Promise<void>
}

export async function openTestFacadeNonces(maxNonces = 500_000): Promise<TestFacadeNonces> {
  const opened = openTestStore()
  await migrate(opened.store)
  const open = (): Promise<FacadeNonces> =>
    createFacadeNonces({ store: opened.store, now: () => test.nowMs, maxNonces })
  const test: TestFacadeNonces = {
    opened,
    nowMs: START_MS,
    nonces: undefined as unknown as FacadeNonces,
    async restart() {
      await opened.reopen()
      test.nonces = await open()
    },
    write: async (nonce, signer = SIGNER) =>
      test.nonces.take(signer, nonce) && opened.store.transaction((sql) => test.nonces.claim(sql, signer, nonce)),
    async writeRefused(nonce, signer = SIGNER) {
      if (!test.nonces.take(signer, nonce)) return false
      let isClaimed = false
      const refused = opened.store.transaction(async (sql) => {
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
  test.nonces = await open()
  return test
}
