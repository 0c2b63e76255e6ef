import {
  AGENT_AUTHORIZATION_FIELDS,
  type SigningDomain,
  AGENT_REVOCATION_FIELDS,
  API_KEY_ISSUE_FIELDS,
} from '@bezel/protocol'
import { typedDataDigest, typeHash, addressWord, stringWord, uint256Word } from './typedData.ts'

/** A request for a read-only API key: its label, and the time of the request in epoch ms. */
interface ApiKeyIssue {
  readonly label: string
  readonly timestamp: number
}

const API_KEY_ISSUE_TYPE = typeHash('ApiKeyIssue', API_KEY_ISSUE_FIELDS)

/** A trader's revocation of an agent, and its time in epoch ms. */
interface AgentRevocation {
  readonly agent: string
  readonly timestamp: number
}

const REVOCATION_TYPE = typeHash('AgentRevocation', AGENT_REVOCATION_FIELDS)

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

const AUTHORIZATION_TYPE = typeHash('AgentAuthorization', AGENT_AUTHORIZATION_FIELDS)

/** Returns the digest that a trader signs to authorise an agent; `undefined` when a value can't be encoded. */
export function agentAuthorizationDigest(domain: SigningDomain, of: AuthorizationMessage): Uint8Array | undefined {
  return typedDataDigest(domain, AUTHORIZATION_TYPE, [
    addressWord(of.agent),
    stringWord(of.name ?? ''),
    stringWord(of.markets === 'all' ? '*' : of.markets.join(',')),
    stringWord(of.maxLeverage ?? ''),
    stringWord(of.dailySpendCapUsd ?? ''),
    uint256Word(of.expiresAt ?? 0),
    stringWord(of.permissions),
    uint256Word(of.timestamp),
  ])
}

/** Returns the digest that a trader signs to revoke an agent; `undefined` when a value can't be encoded. */
export function agentRevocationDigest(domain: SigningDomain, of: AgentRevocation): Uint8Array | undefined {
  return typedDataDigest(domain, REVOCATION_TYPE, [addressWord(of.agent), uint256Word(of.timestamp)])
}

/** Returns the digest that a trader signs to get an API key; `undefined` when a value can't be encoded. */
export function apiKeyIssueDigest(domain: SigningDomain, of: ApiKeyIssue): Uint8Array | undefined {
  return typedDataDigest(domain, API_KEY_ISSUE_TYPE, [stringWord(of.label), uint256Word(of.timestamp)])
}
