import {
  AGENT_AUTHORIZATION_FIELDS,
  AGENT_REVOCATION_FIELDS,
  API_KEY_ISSUE_FIELDS,
  type SigningDomain,
} from '@bezel/protocol'
import { addressWord, stringWord, structType, typedDataDigest, uint256Word, type TypedDataWord } from './typedData.ts'

/** A struct that a wallet signs. */
export interface SignedStruct {
  readonly domain: SigningDomain
  /** Type in the words of EIP-712, primary type first. */
  readonly type: string
  /** Values of the members by name, as they are signed. */
  readonly values: Readonly<Record<string, string | number>>
  /** `undefined` when a value can't be encoded. */
  readonly digest: Uint8Array | undefined
}

/** A request for a read-only API key: its label, and the time of the request in epoch ms. */
interface ApiKeyIssue {
  readonly label: string
  readonly timestamp: number
}

/** A trader's revocation of an agent, and its time in epoch ms. */
interface AgentRevocation {
  readonly agent: string
  readonly timestamp: number
}

/** A trader's authorisation of an agent, with the values of the request body. */
export interface AuthorizationMessage {
  readonly agent: string
  readonly name: string | null
  readonly markets: 'all' | readonly string[]
  readonly maxLeverage: string | null
  readonly dailySpendCapUsd: string | null
  /** Expiry in epoch ms; `null` means never and signs like 0. */
  readonly expiresAt: number | null
  readonly permissions: string
  /** Time of the authorisation in epoch ms. */
  readonly timestamp: number
}

const authorizationOf = structOf('AgentAuthorization', AGENT_AUTHORIZATION_FIELDS)
const revocationOf = structOf('AgentRevocation', AGENT_REVOCATION_FIELDS)
const keyIssueOf = structOf('ApiKeyIssue', API_KEY_ISSUE_FIELDS)

/** Returns the struct that a trader signs to authorise an agent. */
export function agentAuthorization(domain: SigningDomain, of: AuthorizationMessage): SignedStruct {
  return authorizationOf(domain, {
    agent: of.agent,
    name: of.name ?? '',
    markets: of.markets === 'all' ? '*' : of.markets.join(','),
    maxLeverage: of.maxLeverage ?? '',
    dailySpendCapUsd: of.dailySpendCapUsd ?? '',
    expiresAt: of.expiresAt ?? 0,
    permissions: of.permissions,
    timestamp: of.timestamp,
  })
}

/** Returns the struct that a trader signs to revoke an agent. */
export function agentRevocation(domain: SigningDomain, { agent, timestamp }: AgentRevocation): SignedStruct {
  return revocationOf(domain, { agent, timestamp })
}

/** Returns the struct that a trader signs to get an API key. */
export function apiKeyIssue(domain: SigningDomain, { label, timestamp }: ApiKeyIssue): SignedStruct {
  return keyIssueOf(domain, { label, timestamp })
}

interface Field<Name extends string> {
  readonly name: Name
  readonly type: 'address' | 'string' | 'uint256'
}

/** Returns the function that makes structs of one type. The hash of the type is computed once. */
function structOf<Name extends string>(primaryType: string, fields: readonly Field<Name>[]) {
  const type = structType(primaryType, fields)
  const typeWord = stringWord(type)
  return (domain: SigningDomain, values: Readonly<Record<Name, string | number>>): SignedStruct => {
    const members = fields.map((field) => memberWord(field.type, values[field.name]))
    return { domain, type, values, digest: typedDataDigest(domain, typeWord, members) }
  }
}

function memberWord(type: Field<string>['type'], value: string | number): TypedDataWord | undefined {
  if (type === 'uint256') return uint256Word(value)
  return type === 'address' ? addressWord(String(value)) : stringWord(String(value))
}
