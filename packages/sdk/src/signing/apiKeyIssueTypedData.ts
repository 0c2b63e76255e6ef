import { API_KEY_ISSUE_FIELDS } from '@bezel/protocol/wire'
import type { SigningDomain, TypedData } from './signer.ts'

/** What a trader signs to get a read-only key. */
export function apiKeyIssueTypedData(
  domain: SigningDomain,
  { label, timestamp }: { readonly label: string; readonly timestamp: number },
): TypedData {
  return {
    domain,
    primaryType: 'ApiKeyIssue',
    types: { ApiKeyIssue: API_KEY_ISSUE_FIELDS },
    message: { label, timestamp: BigInt(timestamp) },
  }
}
