import type { SigningDomain } from '@bezel/protocol'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import { typedDataDigest } from '../../signatures/typedDataDigest.ts'
import { addressWord, stringWord, uint256Word, type TypedDataWord } from '../../signatures/typedDataWord.ts'
import { typeHash } from '../../signatures/typeHash.ts'
import type { ExchangeAction } from './envelope.ts'
import { ZERO_ADDRESS } from './phantomAgentDigest.ts'
import { USER_SIGNED_STRUCTS, type MemberType } from './userSignedStructs.ts'

const CHAIN_ID_PATTERN = /^0x[0-9a-fA-F]{1,14}$/
const TYPE_HASHES = new Map(
  Object.values(USER_SIGNED_STRUCTS).map((of) => [of.primaryType, typeHash(of.primaryType, of.members)]),
)

/** What a master wallet signs for the action; `undefined` when it is no user-signed action or a member is missing or of another type. */
export function userSignedDigest(action: ExchangeAction): Uint8Array | undefined {
  const struct = Object.hasOwn(USER_SIGNED_STRUCTS, action.type) ? USER_SIGNED_STRUCTS[action.type] : undefined
  const domain = domainOf(action.signatureChainId)
  const hash = struct === undefined ? undefined : TYPE_HASHES.get(struct.primaryType)
  if (struct === undefined || domain === undefined || hash === undefined) return undefined
  return typedDataDigest(
    domain,
    hash,
    struct.members.map(({ name, type }) => memberWord(type, memberOf(action, name))),
  )
}

/** An agent without a name signs as one with an empty name. */
function memberOf(action: ExchangeAction, name: string): JsonValue | undefined {
  const value = Object.hasOwn(action, name) ? action[name] : undefined
  return name === 'agentName' ? (value ?? '') : value
}

/** The chain of the wallet, which may be any: it is used as it is given. */
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
