import type { Address, SigningDomain } from '@bezel/protocol'
import { typedDataDigest } from '../../signatures/typedDataDigest.ts'
import { stringWord } from '../../signatures/typedDataWord.ts'
import { typeHash } from '../../signatures/typeHash.ts'
import type { PhantomSource } from './phantomSource.ts'

export const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Address

/** The same for every chain and service: nothing in it says where an action belongs. */
const DOMAIN: SigningDomain = { name: 'Exchange', version: '1', chainId: 1337, verifyingContract: ZERO_ADDRESS }
const TYPE_HASH = typeHash('Agent', [
  { name: 'source', type: 'string' },
  { name: 'connectionId', type: 'bytes32' },
])
const SOURCE_WORDS = { a: stringWord('a'), b: stringWord('b') }

/** What an agent signs for an L1 action. */
export function phantomAgentDigest(source: PhantomSource, connectionId: Uint8Array): Uint8Array {
  const digest = typedDataDigest(DOMAIN, TYPE_HASH, [SOURCE_WORDS[source], connectionId])
  if (digest === undefined) throw new RangeError('a connection id has 32 bytes')
  return digest
}
