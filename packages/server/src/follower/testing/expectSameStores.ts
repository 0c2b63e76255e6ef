import assert from 'node:assert/strict'
import type { ChainSlug } from '@bezel/protocol'
import type { Store } from '../../store/sql.ts'
import { describeStore, type DescribeOptions } from './describeStore.ts'

/**
 * Fails with the difference when two stores differ about a chain. Both followers must stand still at the same block.
 */
export async function expectSameStores(
  ours: Store,
  reference: Store,
  chain: ChainSlug,
  options: DescribeOptions = { withRequests: true },
): Promise<void> {
  assert.deepEqual(await describeStore(ours, chain, options), await describeStore(reference, chain, options))
}
