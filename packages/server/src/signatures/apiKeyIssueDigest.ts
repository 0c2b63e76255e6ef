import { API_KEY_ISSUE_FIELDS, type SigningDomain } from '@bezel/protocol'
import { typedDataDigest } from './typedDataDigest.ts'
import { stringWord, uint256Word } from './typedDataWord.ts'
import { typeHash } from './typeHash.ts'

/** The label of a read-only API key, and when it is asked for (epoch ms). */
export interface ApiKeyIssue {
  readonly label: string
  readonly timestamp: number
}

const TYPE_HASH = typeHash('ApiKeyIssue', API_KEY_ISSUE_FIELDS)

/** What a trader signs to get an API key; `undefined` when a value can't be encoded. */
export function apiKeyIssueDigest(domain: SigningDomain, of: ApiKeyIssue): Uint8Array | undefined {
  return typedDataDigest(domain, TYPE_HASH, [stringWord(of.label), uint256Word(of.timestamp)])
}
