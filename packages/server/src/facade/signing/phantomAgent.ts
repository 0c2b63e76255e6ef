import type { Address, SigningDomain } from '@bezel/protocol'
import { isLive, type ServedChain } from '../../chain/servedChain.ts'
import type { SourcesSetting } from '../../settings/facadeSettings.ts'
import { typedDataDigest, typeHash, stringWord, addressBytes, keccak256 } from '../../signatures/typedData.ts'
import { Encoder } from '@msgpack/msgpack'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import type { Envelope, ExchangeAction } from './envelope.ts'

/**
 * The network that a client signs for: its phantom agent says `a` for the exchange's mainnet and `b` for its testnet.
 */
export type PhantomSource = 'a' | 'b'

/** The names of the same networks in user-signed actions. */
export const HYPERLIQUID_CHAINS: Readonly<Record<PhantomSource, string>> = { a: 'Mainnet', b: 'Testnet' }

export const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Address

/** The signing domain. It is the same for every chain and service, so nothing in it says where an action belongs. */
const DOMAIN: SigningDomain = { name: 'Exchange', version: '1', chainId: 1337, verifyingContract: ZERO_ADDRESS }

const TYPE_HASH = typeHash('Agent', [
  { name: 'source', type: 'string' },
  { name: 'connectionId', type: 'bytes32' },
])

const SOURCE_WORDS = { a: stringWord('a'), b: stringWord('b') }

/** Returns the digest that an agent signs for an L1 action. */
export function phantomAgentDigest(source: PhantomSource, idOfConnection: Uint8Array): Uint8Array {
  const digest = typedDataDigest(DOMAIN, TYPE_HASH, [SOURCE_WORDS[source], idOfConnection])
  if (digest === undefined) throw new RangeError('a connection id has 32 bytes')
  return digest
}

/**
 * Both networks, the testnet first because most clients sign for it when they use another server than the exchange's
 * own.
 */
const BOTH: readonly PhantomSource[] = ['b', 'a']

const TESTNET: readonly PhantomSource[] = ['b']

/**
 * Returns the networks that an envelope may be signed for. The scheme binds neither chain nor service, so where real
 * money is at stake only the testnet is accepted: an envelope meant for the exchange's own mainnet can then never be
 * replayed here.
 */
export function allowedSources(
  chain: Pick<ServedChain, 'slug' | 'testnet' | 'diamond'>,
  setting: SourcesSetting,
): readonly PhantomSource[] {
  if (setting !== 'auto') return setting === 'both' ? BOTH : TESTNET
  return isLiveMainnet(chain) ? TESTNET : BOTH
}

/** True for a chain with the live contracts where real money is traded. */
export function isLiveMainnet(chain: Pick<ServedChain, 'slug' | 'testnet' | 'diamond'>): boolean {
  return isLive(chain) && !chain.testnet
}

/** The parts of an envelope that the hash covers: all but the signature. */
export type SignedParts = Pick<Envelope, 'action' | 'nonce' | 'vaultAddress' | 'expiresAfter'>

const UINT64_BYTES = 8

const NO_VAULT = Uint8Array.of(0)

const NOTHING = new Uint8Array()

// One encoder for the process, because it reuses its buffer instead of making one for each request.
const encoder = new Encoder()

/** Hashes an L1 action with its nonce, vault and expiry. The phantom agent that a client signs carries this hash. */
export function connectionId({ action, nonce, vaultAddress, expiresAfter }: SignedParts): Uint8Array {
  const parts = [encodeAction(action), uint64(nonce), vaultPart(vaultAddress), expiryPart(expiresAfter)]
  return keccak256(Buffer.concat(parts))
}

/**
 * Encodes an action as MessagePack, with its keys in the order they were sent. The bytes belong to the shared encoder:
 * they are valid until the next call.
 */
export function encodeAction(action: ExchangeAction): Uint8Array {
  return encoder.encodeSharedRef(action)
}

function vaultPart(vaultAddress: Envelope['vaultAddress']): Uint8Array {
  if (vaultAddress === null) return NO_VAULT
  return Uint8Array.of(1, ...(addressBytes(vaultAddress) ?? NOTHING))
}

/** Encodes the expiry. An absent expiry adds no byte, unlike an absent vault. */
function expiryPart(expiresAfter: number | null): Uint8Array {
  return expiresAfter === null ? NOTHING : Uint8Array.of(0, ...uint64(expiresAfter))
}

/** Encodes a number as 8 bytes, big endian. */
function uint64(value: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(UINT64_BYTES)
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), 0)
  bytes.writeUInt32BE(value % 2 ** 32, UINT64_BYTES / 2)
  return bytes
}

/**
 * The keys of an object in their canonical order, each with the shape of its value. The shape of a list is the shape of
 * its items.
 */
interface Shape {
  readonly [key: string]: Shape | 'decimal' | 'asIs'
}

const ORDER: Shape = {
  a: 'asIs',
  b: 'asIs',
  p: 'decimal',
  s: 'decimal',
  r: 'asIs',
  t: { limit: { tif: 'asIs' }, trigger: { isMarket: 'asIs', triggerPx: 'decimal', tpsl: 'asIs' } },
  c: 'asIs',
}

/** The canonical shapes of the trading actions, by `action.type`. */
const SHAPES: Readonly<Record<string, Shape>> = {
  order: { type: 'asIs', orders: ORDER, grouping: 'asIs', builder: { b: 'asIs', f: 'asIs' } },
  cancel: { type: 'asIs', cancels: { a: 'asIs', o: 'asIs' }, f: 'asIs' },
  cancelByCloid: { type: 'asIs', cancels: { asset: 'asIs', cloid: 'asIs' }, f: 'asIs' },
  modify: { type: 'asIs', oid: 'asIs', order: ORDER, a: 'asIs' },
  batchModify: { type: 'asIs', modifies: { oid: 'asIs', order: ORDER }, a: 'asIs' },
  updateLeverage: { type: 'asIs', asset: 'asIs', isCross: 'asIs', leverage: 'asIs' },
  updateIsolatedMargin: { type: 'asIs', asset: 'asIs', isBuy: 'asIs', ntli: 'asIs' },
  scheduleCancel: { type: 'asIs', time: 'asIs' },
}

const TRAILING_ZEROS = /^(-?\d+)(?:\.0*|(\.\d*?[1-9])0+)$/

/**
 * Returns the action as the exchange itself would write it: keys in canonical order, prices and sizes without trailing
 * zeros. The meaning stays and nothing is left out: an unknown key stays and spoils the signature. `undefined` for
 * actions without a canonical form.
 */
export function canonicalAction(action: ExchangeAction): ExchangeAction | undefined {
  const shape = Object.hasOwn(SHAPES, action.type) ? SHAPES[action.type] : undefined
  return shape === undefined ? undefined : (canonical(action, shape) as ExchangeAction)
}

function canonical(value: JsonValue, shape: Shape[string] | undefined): JsonValue {
  if (shape === 'decimal') return typeof value === 'string' ? value.replace(TRAILING_ZEROS, '$1$2') : value
  if (shape === undefined || shape === 'asIs' || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item) => canonical(item, shape))
  const known = Object.keys(shape).filter((key) => Object.hasOwn(value, key))
  const others = Object.keys(value).filter((key) => !Object.hasOwn(shape, key))
  return Object.fromEntries([...known, ...others].map((key) => [key, canonical(value[key]!, shape[key])]))
}
