import { type Address, parseAddress, type SigningDomain, type TypedDataField } from '@bezel/protocol'
import { type SignatureEngine, recoverAddress, parseSignature } from '../../signatures/recovery.ts'
import { canonicalAction, connectionId, phantomAgentDigest, type PhantomSource, ZERO_ADDRESS } from './phantomAgent.ts'
import type { Envelope, EnvelopeSignature, ExchangeAction } from './envelope.ts'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import {
  typedDataDigest,
  typeHash,
  addressWord,
  stringWord,
  uint256Word,
  type TypedDataWord,
} from '../../signatures/typedData.ts'

/**
 * Yields the addresses that may have signed an L1 action, likeliest first, each once. Any signature recovers to some
 * address, so an address means something only when it is a known one. The action as it was sent comes first, for each
 * network, then its canonical form. Addresses are recovered lazily, so that an ordinary request costs one recovery.
 * Yields nothing for an invalid signature.
 */
export function* l1SignerCandidates(
  engine: SignatureEngine,
  envelope: Envelope,
  sources: readonly PhantomSource[],
): Generator<Address, void> {
  const seen = new Set<Address>()
  for (const id of connectionIds(envelope)) {
    for (const source of sources) {
      const signer = recoverSigner(engine, phantomAgentDigest(source, id), envelope.signature)
      if (signer === undefined || seen.has(signer)) continue
      seen.add(signer)
      yield signer
    }
  }
}

function* connectionIds(envelope: Envelope): Generator<Uint8Array, void> {
  const received = connectionId(envelope)
  yield received
  const action = canonicalAction(envelope.action)
  if (action === undefined) return
  const canonical = connectionId({ ...envelope, action })
  if (Buffer.compare(received, canonical) !== 0) yield canonical
}

/**
 * Returns the master wallet that signed a user-signed action. There is nothing to compare it with: a wrong signature
 * gives an address that nobody owns. `undefined` when the action can't be hashed or the signature is out of range.
 */
export function userSignedSigner(
  engine: SignatureEngine,
  { action, signature }: Pick<Envelope, 'action' | 'signature'>,
): Address | undefined {
  const digest = userSignedDigest(action)
  return digest === undefined ? undefined : recoverSigner(engine, digest, signature)
}

/**
 * Recovers the address whose key signed the digest. Nearly every signature recovers to some address; `undefined` for
 * one out of range or with s in the upper half.
 */
function recoverSigner(
  engine: SignatureEngine,
  digest: Uint8Array,
  { r, s, v }: EnvelopeSignature,
): Address | undefined {
  const signature = parseSignature(`${r}${s.slice(2)}${v.toString(16)}`)
  const signer = signature === undefined ? undefined : recoverAddress(engine, digest, signature)
  return signer === undefined ? undefined : parseAddress(`0x${Buffer.from(signer).toString('hex')}`)
}

/** The types of the struct members. */
export type MemberType = 'string' | 'address' | 'uint64' | 'bool'

/** The EIP-712 struct that a wallet shows for a user-signed action. */
interface UserSignedStruct {
  readonly primaryType: string
  readonly members: readonly (TypedDataField & { readonly type: MemberType })[]
}

/** The structs by `action.type`. The order of the members is part of the signed data. */
export const USER_SIGNED_STRUCTS: Readonly<Record<string, UserSignedStruct>> = {
  approveAgent: struct('ApproveAgent', { agentAddress: 'address', agentName: 'string', nonce: 'uint64' }),
  approveBuilderFee: struct('ApproveBuilderFee', { maxFeeRate: 'string', builder: 'address', nonce: 'uint64' }),
  usdSend: struct('UsdSend', { destination: 'string', amount: 'string', time: 'uint64' }),
  withdraw3: struct('Withdraw', { destination: 'string', amount: 'string', time: 'uint64' }),
  spotSend: struct('SpotSend', { destination: 'string', token: 'string', amount: 'string', time: 'uint64' }),
  usdClassTransfer: struct('UsdClassTransfer', { amount: 'string', toPerp: 'bool', nonce: 'uint64' }),
  sendAsset: struct('SendAsset', {
    destination: 'string',
    sourceDex: 'string',
    destinationDex: 'string',
    token: 'string',
    amount: 'string',
    fromSubAccount: 'string',
    nonce: 'uint64',
  }),
  tokenDelegate: struct('TokenDelegate', {
    validator: 'address',
    wei: 'uint64',
    isUndelegate: 'bool',
    nonce: 'uint64',
  }),
  userDexAbstraction: struct('UserDexAbstraction', { user: 'address', enabled: 'bool', nonce: 'uint64' }),
  userSetAbstraction: struct('UserSetAbstraction', { user: 'address', abstraction: 'string', nonce: 'uint64' }),
  convertToMultiSigUser: struct('ConvertToMultiSigUser', { signers: 'string', nonce: 'uint64' }),
}

const CHAIN_ID_PATTERN = /^0x[0-9a-fA-F]{1,14}$/

const TYPE_HASHES = new Map(
  Object.values(USER_SIGNED_STRUCTS).map((of) => [of.primaryType, typeHash(of.primaryType, of.members)]),
)

/**
 * Returns the digest that a master wallet signs for the action; `undefined` when it is not a user-signed action, or
 * when a member is missing or has another type.
 */
export function userSignedDigest(action: ExchangeAction): Uint8Array | undefined {
  const signed = Object.hasOwn(USER_SIGNED_STRUCTS, action.type) ? USER_SIGNED_STRUCTS[action.type] : undefined
  const domain = domainOf(action.signatureChainId)
  const hash = signed === undefined ? undefined : TYPE_HASHES.get(signed.primaryType)
  if (signed === undefined || domain === undefined || hash === undefined) return undefined
  return typedDataDigest(
    domain,
    hash,
    signed.members.map(({ name, type }) => memberWord(type, memberOf(action, name))),
  )
}

/** Returns the value of a member. An absent agent name is signed as an empty one. */
function memberOf(action: ExchangeAction, name: string): JsonValue | undefined {
  const value = Object.hasOwn(action, name) ? action[name] : undefined
  return name === 'agentName' ? (value ?? '') : value
}

/** Returns the signing domain of the wallet's chain, which may be any chain. */
function domainOf(signatureChainId: JsonValue | undefined): SigningDomain | undefined {
  if (typeof signatureChainId !== 'string' || !CHAIN_ID_PATTERN.test(signatureChainId)) return undefined
  const chainId = Number(signatureChainId)
  if (!Number.isSafeInteger(chainId)) return undefined
  return { name: 'HyperliquidSignTransaction', version: '1', chainId, verifyingContract: ZERO_ADDRESS }
}

function memberWord(type: MemberType, value: JsonValue | undefined): TypedDataWord | undefined {
  if (type === 'bool') return typeof value === 'boolean' ? uint256Word(value ? 1 : 0) : undefined
  if (type === 'uint64') return typeof value === 'number' ? uint256Word(value) : undefined
  if (typeof value !== 'string') return undefined
  return type === 'address' ? addressWord(value) : stringWord(value)
}

/** Builds a struct. The first member is always the name of the network. */
function struct(name: string, members: Readonly<Record<string, MemberType>>): UserSignedStruct {
  const all: Readonly<Record<string, MemberType>> = { hyperliquidChain: 'string', ...members }
  return {
    primaryType: `HyperliquidTransaction:${name}`,
    members: Object.entries(all).map(([member, type]) => ({ name: member, type })),
  }
}
