/** Names of the headers that carry credentials. */
export function credentialHeaders(prefix: string): readonly string[] {
  return ['Agent', 'Timestamp', 'Nonce', 'Signature', 'Api-Key'].map((suffix) => prefix + suffix)
}
