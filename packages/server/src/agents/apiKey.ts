import { createHash, randomBytes } from 'node:crypto'

const PREFIX = 'bz_'
const KEY_BYTES = 32
const KEY_PATTERN = /^bz_[A-Za-z0-9_-]{43}$/

/** A fresh key: 32 random bytes, so guessing is hopeless and a plain hash of it safe to keep. */
export function createApiKey(): string {
  return PREFIX + randomBytes(KEY_BYTES).toString('base64url')
}

/** What is kept of a key, hex; `undefined` for text that can't be one. Looking a hash up says nothing about the key by its time. */
export function hashApiKey(key: string): string | undefined {
  return KEY_PATTERN.test(key) ? createHash('sha256').update(key).digest('hex') : undefined
}
